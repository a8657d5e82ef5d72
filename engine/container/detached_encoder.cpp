#include "engine/container/detached_encoder.h"

#include <string>
#include <vector>

namespace quire::engine {

DetachedEncoder::DetachedEncoder(Environment& environment, ContainerStore& store,
                                 std::unique_ptr<sql::KeyDictionary> names)
    : environment_(&environment),
      store_(&store),
      names_(std::move(names)),
      keys_(std::make_unique<FixedKeys>(store.definition(), *names_)),
      encoder_(store.definition(), *keys_, store.hash(), *names_) {}

Result<DetachedEncoder> DetachedEncoder::create(Environment& environment, ContainerStore& store) {
  auto names = sql::KeyDictionary::create();
  if (!names) return fail(ErrorCode::limit_exceeded, "this process has too many containers open");
  DetachedEncoder encoder(environment, store, std::move(names));
  // The fixed keys are the first names of every dictionary of the container.
  encoder.durable_names_ = encoder.names_->size();
  QUIRE_TRY(encoder.copy_names());
  return encoder;
}

Result<void> DetachedEncoder::copy_names() {
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment_->begin_read());
  QUIRE_TRY(store_->load_names(snapshot, *names_));
  durable_names_ = names_->size();
  return {};
}

template <typename Source>
Result<const EncodedItem*> DetachedEncoder::encode_any(const Source& source, MissingId missing_id) {
  for (;;) {
    auto item = encoder_.encode(source, missing_id);
    if (names_->size() == durable_names_) return item;
    std::vector<std::string> new_names;
    for (size_t i = durable_names_; i < names_->size(); ++i)
      new_names.emplace_back(names_->name(static_cast<sql::KeyNumber>(i)));
    names_->truncate(durable_names_);
    if (!item) return item;
    QUIRE_TRY(store_->reserve_names(*environment_,
                                    std::vector<std::string_view>(new_names.begin(), new_names.end())));
    QUIRE_TRY(copy_names());
  }
}

template Result<const EncodedItem*> DetachedEncoder::encode_any(const std::string_view&, MissingId);
template Result<const EncodedItem*> DetachedEncoder::encode_any(const sql::Value&, MissingId);

}  // namespace quire::engine
