// Keeps the change feed (feed_row.h) equal to the items, within the transactions that write them.
//
// Latest versions are always kept, since users of Cosmos expect them of every container: a row of some 70
// bytes for an item that is written by itself, one for thousands that an import appends. All versions, with
// what was before and with deletions, are kept for as long as the definition's changeFeedPolicy says.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "engine/catalog/change_feed_policy.h"
#include "engine/catalog/container_definition.h"
#include "engine/container/feed_row.h"
#include "engine/container/statistics.h"
#include "engine/file/transaction.h"
#include "sql/error.h"

namespace quire::engine {

// Versions past their time that one write removes at most: more than it adds, so that they come to an end.
inline constexpr uint64_t kMostTrimmedByOneWrite = 8;

// As the definition's "changeFeedPolicy" has it; 0 without one.
Result<uint32_t> retention_minutes_of(const ContainerDefinition& definition);

// Versions from before this moment are past their time.
inline uint32_t retained_from(const ContainerStatistics& statistics, uint32_t now) noexcept {
  if (statistics.retention_minutes == 0) return UINT32_MAX;
  const uint64_t kept = uint64_t{statistics.retention_minutes} * 60;
  return kept >= now ? 0 : now - static_cast<uint32_t>(kept);
}

// One write of an item, as the feed sees it.
struct FeedChange {
  FeedRowKind kind{};  // created, replaced, deleted or expired
  Lsn lsn{};
  uint32_t timestamp = 0;
  Bytes item_key;
  Lsn previous{};      // of the item's write before; 0 for none
  uint32_t place = 0;  // as of RecordHeader
  uint32_t previous_place = 0;
};

class ChangeFeed {
 public:
  explicit ChangeFeed(Table table) noexcept : table_(table) {}
  Table table() const noexcept { return table_; }

  // add() of an item's write with that LSN is to come: asks for the memory that it will look at.
  void ask_for(const WriteTransaction& transaction, Lsn lsn) const noexcept {
    transaction.ask_for(table_, FeedKey::latest(lsn).bytes());
  }
  // The item's row, in the place of the one that it had. `record` is kept where versions are: of the item
  // after the change, or before it where it goes; empty where none are kept.
  Result<void> add(WriteTransaction& transaction, const FeedChange& change, Bytes record,
                   ContainerStatistics& statistics) const;
  // The version alone, of an item whose row a FeedRun writes.
  Result<void> add_version(WriteTransaction& transaction, const FeedChange& change, Bytes record) const;
  // Removes versions past their time, `most` at most.
  Result<void> trim(WriteTransaction& transaction, ContainerStatistics& statistics, uint32_t now,
                    uint64_t most) const;
  // The policy is another one from here on.
  static void set_retention(uint32_t minutes, ContainerStatistics& statistics);

 private:
  // Where the ranges ended that were found last, by the LSNs that were looked for: a hint, to be looked at
  // before it is believed. 0: nothing is known.
  class KnownRanges {
   public:
    Lsn end(Lsn lsn) const noexcept { return Lsn{ends_[place(lsn)].load(std::memory_order_relaxed)}; }
    void note(Lsn lsn, Lsn end) noexcept {
      ends_[place(lsn)].store(static_cast<uint64_t>(end), std::memory_order_relaxed);
    }

   private:
    static constexpr uint64_t kNeighbours = kMostInRange / 8, kPlaces = 128;
    static size_t place(Lsn lsn) noexcept { return static_cast<uint64_t>(lsn) / kNeighbours % kPlaces; }
    std::array<std::atomic<uint64_t>, kPlaces> ends_{};
  };

  // The item's write of that LSN is its newest no more.
  Result<void> forget(WriteTransaction& transaction, Lsn lsn) const;
  Result<bool> forget_in_known_range(WriteTransaction& transaction, Lsn lsn) const;
  Result<void> forget_in_range(WriteTransaction& transaction, FeedRow row, Lsn last) const;

  Table table_;
  mutable KnownRanges known_ranges_;
};

// Items that are appended to their table one after another, each with the next LSN.
class FeedRun {
 public:
  explicit FeedRun(const ChangeFeed& feed) : table_(feed.table()) {}

  // The row is written when it is full, and by end().
  Result<void> add(WriteTransaction& transaction, Lsn lsn, uint32_t timestamp, Bytes item_key) {
    if (items_ == 0) [[unlikely]]
      begin(lsn, item_key);
    last_ = lsn;
    newest_ = std::max(newest_, timestamp);
    if (++items_ < kMostInRange) [[likely]]
      return {};
    return end(transaction, item_key);
  }
  // Before a write that is no append. `last_key`: of the last item added.
  Result<void> end(WriteTransaction& transaction, Bytes last_key);

 private:
  void begin(Lsn lsn, Bytes item_key);

  Table table_;
  uint64_t items_ = 0;
  Lsn first_{}, last_{};
  uint32_t newest_ = 0;  // timestamp; those of a recovered file differ
  std::string first_key_;
};

}  // namespace quire::engine
