#include "engine/container/lifetime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/catalog/container_definition.h"
#include "engine/file/file_cursor.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"
#include "sql/value/key_encoding.h"

namespace quire::engine {
namespace {

constexpr std::string_view kRow = "lifetime";

std::string encoded(bool is_own, std::optional<uint32_t> second) {
  std::string values;
  sql::encode_key(sql::Value::boolean(is_own), values);
  if (second) sql::encode_key(sql::Value::integer(*second), values);
  return values;
}

std::unexpected<Error> damaged() {
  return fail(ErrorCode::corrupt, "the times at which a container's items expire are damaged");
}

std::string key_prefix(IndexNumber number, bool is_own, std::optional<uint32_t> second) {
  std::string prefix;
  append_index_number(number, prefix);
  prefix += encoded(is_own, second);
  return prefix;
}

// Calls `visit` with the item's key of each entry of a kind whose time is not after `latest`, until it says
// false, the cursor standing on the entry; of those from key `from` on, if that is of the kind.
Result<void> visit_until(FileCursor& cursor, IndexNumber number, bool is_own, int64_t latest, Bytes from,
                         const ExpiredVisitor& visit) {
  const std::string prefix = key_prefix(number, is_own, std::nullopt);
  sql::Arena arena;
  QUIRE_ASSIGN(bool is_there, cursor.seek(from.starts_with(prefix) ? from : prefix));
  while (is_there && cursor.key().starts_with(prefix)) {
    const auto entry =
        parse_index_entry(cursor.key(), cursor.record(), {.scope_bytes = 0, .is_descending = {false, false}});
    if (!entry) return damaged();
    const auto second =
        sql::decode_key(entry->values.substr(prefix.size() - kIndexNumberBytes), false, arena);
    if (!second || second->kind() != sql::Kind::integer) return damaged();
    if (second->as_integer() > latest) return {};
    QUIRE_ASSIGN(const bool goes_on, visit(entry->item_key));
    if (!goes_on) return {};
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return {};
}

}  // namespace

Result<Lifetime> read_lifetime(const Transaction& transaction, Table statistics) {
  QUIRE_ASSIGN(const std::optional<Bytes> row, transaction.get(statistics, kRow));
  Lifetime lifetime;
  if (!row) return lifetime;
  static_assert(sizeof lifetime == 16);
  if (row->size() != sizeof lifetime) return damaged();
  std::memcpy(&lifetime, row->data(), sizeof lifetime);
  return lifetime;
}

Result<void> write_lifetime(WriteTransaction& transaction, Table statistics, const Lifetime& lifetime) {
  return transaction.put(statistics, kRow, {reinterpret_cast<const char*>(&lifetime), sizeof lifetime});
}

Result<uint32_t> expiry_of(const sql::Value& ttl, uint32_t timestamp, const Lifetime& lifetime) {
  if (ttl.is_undefined() || ttl.is_null()) return kExpiryOfContainer;
  const int64_t seconds = ttl.kind() == sql::Kind::integer ? ttl.as_integer() : 0;
  if (seconds == -1) return kNeverExpires;
  if (seconds >= 1 && seconds <= kLongestTtl)
    return static_cast<uint32_t>(std::min<int64_t>(timestamp + seconds, kNeverExpires - 1));
  if (!lifetime.is_on()) return kExpiryOfContainer;
  std::string text;
  sql::write_json(ttl, text);
  return fail(ErrorCode::invalid_argument,
              fmt::format("the item's \"ttl\" is {}; it must be -1 or a number of seconds from 1 to {}",
                          shortened(text), kLongestTtl));
}

Index expiry_index() {
  Index index;
  index.name = "time to live";
  for (const char* name : {"ttl", "_ts"}) index.parts.push_back({{sql::IndexStep{name, false}}, false});
  index.is_of_expiry = true;
  return index;
}

void add_expiry_entry(IndexNumber number, const RecordHeader& header, Bytes item_key, EntryList& entries) {
  if (header.expiry == kNeverExpires) return;
  const bool is_own = header.expiry != kExpiryOfContainer;
  entries.add(number, {}, encoded(is_own, is_own ? header.expiry : header.timestamp), item_key);
}

Result<void> visit_expired(const Transaction& transaction, Table indexes, IndexNumber number,
                           const Lifetime& lifetime, const ExpiredVisitor& visit) {
  if (!lifetime.is_on()) return {};
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, indexes));
  const int64_t now = transaction.now();
  bool goes_on = true;
  const ExpiredVisitor look = [&](Bytes item_key) -> Result<bool> {
    QUIRE_ASSIGN(goes_on, visit(item_key));
    return goes_on;
  };
  QUIRE_TRY(visit_until(cursor, number, true, now, {}, look));
  if (!goes_on || lifetime.default_ttl < 0) return {};
  return visit_until(cursor, number, false, now - lifetime.default_ttl, {}, look);
}

Result<std::optional<std::string>> find_expired(const Transaction& transaction, Table indexes,
                                                IndexNumber number, const Lifetime& lifetime) {
  std::optional<std::string> found;
  QUIRE_TRY(visit_expired(transaction, indexes, number, lifetime, [&](Bytes item_key) -> Result<bool> {
    found = std::string(item_key);
    return false;
  }));
  return found;
}

Result<std::vector<std::string>> ExpiryFront::next(const WriteTransaction& transaction, Table indexes,
                                                   IndexNumber number, const Lifetime& lifetime,
                                                   size_t most) {
  std::vector<std::string> found;
  if (!lifetime.is_on() || most == 0) return found;
  if (looks_++ % kLooksFromThere == 0) from_ = {};
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, indexes));
  for (const bool is_own : {true, false}) {
    if (!is_own && lifetime.default_ttl < 0) break;
    const int64_t latest = transaction.now() - (is_own ? 0 : lifetime.default_ttl);
    if (latest < 0) break;
    std::string& from = from_[is_own];
    QUIRE_TRY(visit_until(cursor, number, is_own, latest, from, [&](Bytes item_key) -> Result<bool> {
      found.emplace_back(item_key);
      if (found.size() == most) from = cursor.key();
      return found.size() < most;
    }));
    if (found.size() == most) break;
    // All that has expired: what is written from now on ends later.
    from = key_prefix(number, is_own, static_cast<uint32_t>(latest + 1));
  }
  return found;
}

}  // namespace quire::engine
