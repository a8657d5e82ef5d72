// What the functions of quire.h that write items have in common.
#pragma once

#include <cstring>
#include <string_view>
#include <thread>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "engine/container/container.h"
#include "engine/query/item_condition.h"
#include "quire/quire.h"

namespace quire::engine {

inline Result<void> check_transaction(const quire_container& container,
                                      const quire_transaction& transaction) {
  if (&transaction.database != &container.database)
    return fail(ErrorCode::misuse, "the transaction and the container belong to different databases");
  if (transaction.owner != this_thread())
    return fail(ErrorCode::misuse, "a transaction belongs to the thread that began it");
  return transaction.handle.check_process();
}

// Runs `work`, which is all or nothing by itself only if it is one write of the container, in the caller's
// transaction, in that of BEGIN if the thread has one, or in one of its own.
template <typename Work>
Result<void> write(quire_container& container, quire_transaction* transaction, const Work& work) {
  if (transaction == nullptr) {
    auto& session = container.database.session();
    const auto current = session.current();
    return current.transaction != nullptr ? current.transaction->nested(work) : session.write(work);
  }
  QUIRE_TRY(check_transaction(container, *transaction));
  WriteTransaction& within = transaction->write->transaction();
  QUIRE_TRY(within.check_no_nested());
  return work(within);
}

inline ItemCondition condition_on(quire_container& container, const WriteTransaction& transaction,
                                  std::string_view condition) {
  if (condition.empty()) return {};
  return [&, condition, options = container.database.condition_options()](const sql::Value& root) {
    return holds_for(container.database.containers(), container.store, transaction, condition, root, options);
  };
}

inline void fill(quire_item_info& info, const Etag& etag, uint32_t timestamp, bool created) {
  static_assert(sizeof info.etag > sizeof etag.text);
  info = {};
  std::memcpy(info.etag, etag.text, sizeof etag.text);
  info.timestamp = timestamp;
  info.created = created ? 1 : 0;
}

inline std::string_view text_or_empty(const char* text) {
  return text != nullptr ? std::string_view(text) : std::string_view();
}

}  // namespace quire::engine
