// The rows of <c>/feed. Two series share the table, each in the order of LSNs, big-endian:
//
//   latest versions   key: LSN of an item's last write (8)
//   all versions      key: FF | LSN of a change (8); only while the container's definition retains them
//
// A latest row moves to the end when its item is written again, and goes when the item goes. Items that an
// import appended share one row for up to kMostInRange of them: they lie between two item keys with ascending
// LSNs, so the items themselves are the feed, and importing costs next to nothing. Little-endian values:
//
//   item    byte 0      1
//                1..4   _ts of the write
//                5..    item key
//   range   byte 0      2: LSNs ascend with the keys; 3: they do not, as in a file of format 2 or older
//                1..4   _ts of the newest item; FFFFFFFF: unknown
//                5..12  LSN of the first item; the key has that of the last
//               13..20  how many of the items are still there with that write
//               21..22  length of the first item key
//               23..    first item key, last item key; both empty: all items
//   version byte 0      4 created, 5 replaced, 6 deleted, 7 expired
//                1..4   when: Unix seconds
//                5..12  LSN of the item's version before, 0 for none
//               13..14  length of the item key
//               15..    item key, then the record (record.h): after the change; before it where the item went
//           where the place (record.h) of the change or of the version before is not 0, the kind has 80
//           added, and the two places come before the item key, 4 bytes each
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/container/record.h"
#include "engine/file/table.h"

namespace quire::engine {

// So many that a row is nothing beside its items, so few that reading on from the middle is quick.
inline constexpr uint64_t kMostInRange = 4096;

struct FeedKey {
  static constexpr size_t kLatestBytes = 8;
  static constexpr size_t kVersionBytes = 9;

  static FeedKey latest(Lsn lsn) noexcept { return FeedKey(lsn, 1); }
  static FeedKey version(Lsn lsn) noexcept { return FeedKey(lsn, 0); }
  Bytes bytes() const noexcept { return {bytes_ + from_, sizeof bytes_ - from_}; }

 private:
  FeedKey(Lsn lsn, size_t from) noexcept;
  char bytes_[kVersionBytes];
  size_t from_;
};

inline bool is_latest_key(Bytes key) noexcept {
  return key.size() == FeedKey::kLatestBytes;
}
// Of a key of either series.
Lsn lsn_of_feed_key(Bytes key) noexcept;

enum class FeedRowKind : uint8_t {
  item = 1,
  ordered_range = 2,
  unordered_range = 3,
  created = 4,
  replaced = 5,
  deleted = 6,
  expired = 7,
};

inline constexpr uint32_t kUnknownTimestamp = UINT32_MAX;

// A row read in place. Which members mean something depends on the kind.
struct FeedRow {
  FeedRowKind kind{};
  uint32_t timestamp = 0;
  Bytes item_key;  // item, version
  // range
  Lsn first{};
  uint64_t live = 0;
  Bytes first_key, last_key;
  // version
  Lsn previous{};
  uint32_t place = 0;
  uint32_t previous_place = 0;
  Bytes record;

  bool is_range() const noexcept {
    return kind == FeedRowKind::ordered_range || kind == FeedRowKind::unordered_range;
  }
};

// Of a latest row: tells it from others that have had its LSN, and stays the same for as long as it is there.
uint64_t feed_row_identity(Bytes row) noexcept;

// Nothing if the bytes are no row.
std::optional<FeedRow> read_feed_row(Bytes row) noexcept;
// Fills `out` anew with a row that is no version.
void write_feed_row(const FeedRow& row, std::string& out);
// What stands before a version's record.
void write_version_head(const FeedRow& row, std::string& out);

}  // namespace quire::engine
