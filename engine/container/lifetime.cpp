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

// The first entry of a kind, if its time is not after `latest`.
Result<std::optional<std::string>> first_until(FileCursor& cursor, IndexNumber number, bool is_own,
                                               int64_t latest) {
  std::string prefix;
  append_index_number(number, prefix);
  prefix += encoded(is_own, std::nullopt);
  QUIRE_ASSIGN(const bool is_there, cursor.seek(prefix));
  if (!is_there || !cursor.key().starts_with(prefix)) return std::nullopt;
  const auto entry =
      parse_index_entry(cursor.key(), cursor.record(), {.scope_bytes = 0, .is_descending = {false, false}});
  if (!entry) return damaged();
  sql::Arena arena;
  const auto second = sql::decode_key(entry->values.substr(prefix.size() - kIndexNumberBytes), false, arena);
  if (!second || second->kind() != sql::Kind::integer) return damaged();
  if (second->as_integer() > latest) return std::nullopt;
  return std::string(entry->item_key);
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

Result<std::optional<std::string>> find_expired(const Transaction& transaction, Table indexes,
                                                IndexNumber number, const Lifetime& lifetime) {
  if (!lifetime.is_on()) return std::nullopt;
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, indexes));
  const int64_t now = transaction.now();
  QUIRE_ASSIGN(std::optional<std::string> own, first_until(cursor, number, true, now));
  if (own || lifetime.default_ttl < 0) return own;
  return first_until(cursor, number, false, now - lifetime.default_ttl);
}

}  // namespace quire::engine
