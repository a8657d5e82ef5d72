// Time to live (DIALECT.md, section 10). A container says whether its items expire, and when those that do
// not say so themselves; a record has what its item says, from when it was written on, whether or not it
// counts now. So a container whose default changes is right at once, without a look at its items.
//
// The default is a row of <c>/stats, beside the definition in the catalog that it comes from, so that every
// transaction sees its own:
//
//   byte 0..7    seconds; -1: no default; 0: items do not expire
//        8..15   number of the commit that made it so
//
// Where items expire, an index that queries do not see has an entry for each item that may: two values,
// whether the item says when, and the second at which it expires, or else that at which it was written. So
// its first entries of either kind tell whether any item has expired, and which.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/container/record.h"
#include "engine/file/transaction.h"
#include "engine/index/index_entry.h"
#include "engine/index/index_set.h"
#include "sql/error.h"
#include "sql/value/value.h"

namespace quire::engine {

// RecordHeader::expiry of an item that leaves it to its container, and of one that says -1.
inline constexpr uint32_t kExpiryOfContainer = 0;
inline constexpr uint32_t kNeverExpires = UINT32_MAX;

struct Lifetime {
  int64_t default_ttl = 0;
  uint64_t since = 0;

  bool is_on() const noexcept { return default_ttl != 0; }
  friend bool operator==(const Lifetime&, const Lifetime&) = default;
  bool has_ended(uint32_t timestamp, uint32_t expiry, uint32_t now) const noexcept {
    if (!is_on() || expiry == kNeverExpires) return false;
    if (expiry != kExpiryOfContainer) return expiry <= now;
    return default_ttl > 0 && int64_t{timestamp} + default_ttl <= now;
  }
  bool has_ended(const RecordHeader& header, uint32_t now) const noexcept {
    return has_ended(header.timestamp, header.expiry, now);
  }
};

// Off where there is no row.
Result<Lifetime> read_lifetime(const Transaction& transaction, Table statistics);
Result<void> write_lifetime(WriteTransaction& transaction, Table statistics, const Lifetime& lifetime);

// Of an item's "ttl". Where items expire, invalid_argument for one that is no number of seconds; else such
// a one counts as none.
Result<uint32_t> expiry_of(const sql::Value& ttl, uint32_t timestamp, const Lifetime& lifetime);

// The index of expiry, without a number, and its entry for an item, if it has one.
Index expiry_index();
void add_expiry_entry(IndexNumber number, const RecordHeader& header, Bytes item_key, EntryList& entries);
// Calls `visit` with the key of each item that has expired, by the index of that number, until it says false.
using ExpiredVisitor = std::function<Result<bool>(Bytes item_key)>;
Result<void> visit_expired(const Transaction& transaction, Table indexes, IndexNumber number,
                           const Lifetime& lifetime, const ExpiredVisitor& visit);
// The first of them; nothing if there is none.
Result<std::optional<std::string>> find_expired(const Transaction& transaction, Table indexes,
                                                IndexNumber number, const Lifetime& lifetime);

// Where a look for expired items begins: behind those that writes before have found and erased. Their entries
// stay in the tree until the log is applied to it, thousands of them, and each walk from the start would pass
// over all. A hint: what an undone write leaves before it is found by the next look from the start.
class ExpiryFront {
 public:
  // The keys of the next expired items, `most` at most, for a write transaction that erases them.
  Result<std::vector<std::string>> next(const WriteTransaction& transaction, Table indexes,
                                        IndexNumber number, const Lifetime& lifetime, size_t most);

 private:
  static constexpr uint32_t kLooksFromThere = 256;
  std::array<std::string, 2> from_;  // keys of entries: by the default, by the items' own "ttl"
  uint32_t looks_ = 0;
};

}  // namespace quire::engine
