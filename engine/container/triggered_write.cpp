// Writes with triggers around them: all of it happens within the transaction, or nothing.
#include <fmt/format.h>

#include "engine/container/container.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

// An item that is replaced stays the one that it is, whatever a pre-trigger makes of it.
Result<void> check_same_id(std::string_view id, std::string_view item) {
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const sql::Value document, reader.to_value(item, arena));
  const sql::Value left = document.member("id");
  if (id.empty() || (left.is_string() && left.as_string() == id)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("a pre-trigger gave item '{}' another id, or none; an item's id does not change",
                          shortened(id)));
}

// Of a write, that there is an item is the outcome.
Result<void> taken_away(std::string_view id) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("a post-trigger deleted item '{}', which this write made, or gave it another id: "
                          "nothing of it is kept",
                          shortened(id)));
}

}  // namespace

Result<ItemOutcome> ContainerStore::write_triggered(WriteTransaction& transaction, std::string item,
                                                    Mode mode, const WriteOptions& options) {
  sql::JsonReader reader;
  sql::Arena arena;
  WriteOptions plain = options;
  plain.triggers = {.pre = {}, .post = {}, .runs_always = false};
  const auto given = reader.to_value(item, arena);
  // What is no item fails as it does without triggers.
  if (!given || !given->is_object()) return write_item(transaction, std::string_view(item), mode, plain);
  constexpr WriteKind kKinds[] = {WriteKind::create, WriteKind::upsert,
                                  WriteKind::replace};  // as Mode counts
  TriggeredWrite write{.kind = kKinds[static_cast<size_t>(mode)], .exists = mode == Mode::replace};
  if (mode == Mode::upsert && id_of(*given).is_string()) {
    QUIRE_ASSIGN(const std::optional<Item> existing,
                 read(transaction, partition_key_of(*given), id_of(*given).as_string()));
    write.exists = existing.has_value();
  }
  const std::string replaced(id_of(*given).is_string() ? id_of(*given).as_string() : std::string_view());
  bool created = false;
  std::string id;
  std::string key_text;  // the item's JSON, for its partition key
  sql::Value root;       // of it
  QUIRE_TRY(transaction.nested([&](WriteTransaction& inner) -> Result<void> {
    QUIRE_TRY(triggers_->before(inner, *this, write, options.triggers, item));
    if (mode == Mode::replace) QUIRE_TRY(check_same_id(replaced, item));
    QUIRE_ASSIGN(const ItemOutcome written, write_item(inner, std::string_view(item), mode, plain));
    created = written.created;
    id = id_of(written.item.root).as_string();
    write_item_json(written.item.root, key_text);
    QUIRE_TRY(triggers_->after(inner, *this, write, options.triggers, item, key_text));
    QUIRE_ASSIGN(root, reader.to_value(key_text, arena));
    QUIRE_ASSIGN(const std::optional<Item> left, read(inner, partition_key_of(root), id));
    return left ? Result<void>() : taken_away(id);
  }));
  // A post-trigger may have written the item again.
  QUIRE_ASSIGN(const std::optional<Item> stored, read(transaction, partition_key_of(root), id));
  if (!stored) return std::unexpected(not_found(id));
  const RecordHeader header = stored->header();
  return ItemOutcome{.item = *stored,
                     .etag = make_etag(entry_.etag_salt, header.lsn),
                     .timestamp = header.timestamp,
                     .created = created};
}

Result<void> ContainerStore::erase_triggered(WriteTransaction& transaction,
                                             std::span<const sql::Value> partition_key, std::string_view id,
                                             std::string_view if_match, const TriggerRequest& request) {
  QUIRE_ASSIGN(const std::optional<Item> stored, read(transaction, partition_key, id));
  if (!stored) return std::unexpected(not_found(id));
  std::string item;
  write_item_json(stored->root, item);
  const TriggeredWrite write{.kind = WriteKind::remove, .exists = true};
  return transaction.nested([&](WriteTransaction& inner) -> Result<void> {
    const std::string as_it_was = item;
    QUIRE_TRY(triggers_->before(inner, *this, write, request, item));
    QUIRE_TRY(erase(inner, partition_key, id, if_match, {.pre = {}, .post = {}, .runs_always = false}));
    return triggers_->after(inner, *this, write, request, as_it_was, "");
  });
}

}  // namespace quire::engine
