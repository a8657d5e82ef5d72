// Reads a container's change feed within one snapshot, in the order of LSNs: latest versions, or all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/container/container.h"
#include "engine/container/feed_row.h"
#include "engine/file/file_cursor.h"
#include "sql/error.h"
#include "sql/value/value.h"

namespace quire::engine {

// What a reader of the feed wants to see.
struct FeedScope {
  // Empty: all partitions. A prefix of a hierarchical key: those under it.
  std::vector<sql::Value> partition_key;
  std::string epk_prefix;       // its hashes
  uint32_t from_timestamp = 0;  // changes from then on
  bool with_expired = false;    // also items that have expired and are still stored

  bool covers(Bytes item_key) const noexcept { return item_key.starts_with(epk_prefix); }
};

// A change, in place: good as long as bytes of its snapshot are.
struct FeedEntry {
  FeedRowKind kind = FeedRowKind::item;  // item: what it was is not known, as latest versions do not tell
  Lsn lsn{};                             // of the write: the reader's place
  Lsn transaction{};                     // of its transaction: what users see
  uint32_t timestamp = 0;
  sql::Value current;   // undefined where the item has gone
  sql::Value previous;  // the version before, where it is known
  Lsn previous_transaction{};
};

// Latest versions: each item once, with its newest version; an update moves it to the end.
class LatestCursor {
 public:
  // Changes later than `after`. `store`, the snapshot and `scope` outlive the cursor.
  static Result<LatestCursor> open(ContainerStore& store, const Transaction& snapshot, const FeedScope& scope,
                                   Lsn after);
  // False at the end.
  Result<bool> next(FeedEntry& entry);

 private:
  // Items of an interval of keys, smallest LSN first, a bounded number at a time.
  struct Selection {
    std::string from, until;  // keys, both included; an empty `until`: as far as the prefix `from` goes
    Lsn up_to{};
    bool is_complete = false;  // the last of them are in `items`
    size_t at = 0;
    struct Item {
      Lsn lsn{};
      Bytes key, record;
    };
    std::vector<Item> items;
  };
  struct Walk {
    FileCursor items;
    std::string from, until;
    Lsn up_to{};
    bool is_begun = false;
  };

  LatestCursor(ContainerStore& store, const Transaction& snapshot, const FeedScope& scope, Lsn after,
               FileCursor rows)
      : store_(&store), snapshot_(&snapshot), scope_(&scope), after_(after), rows_(std::move(rows)) {}
  Result<bool> next_of_walk(FeedEntry& entry);
  Result<bool> next_of_selection(FeedEntry& entry);
  // Looks at one row; true if that gave an entry. Sets is_done_ behind the last.
  Result<bool> next_row(FeedEntry& entry);
  Result<bool> item_row(const FeedRow& row, Lsn lsn, FeedEntry& entry);
  Result<void> open_range(const FeedRow& row, Lsn last);
  Result<void> select();
  // Whether the reader wants an item, which is then the entry.
  Result<bool> offer(Bytes key, Bytes record, FeedEntry& entry);

  ContainerStore* store_;
  const Transaction* snapshot_;
  const FeedScope* scope_;
  Lsn after_;
  Lifetime lifetime_;
  FileCursor rows_;
  bool is_begun_ = false;
  bool is_done_ = false;
  std::optional<Walk> walk_;
  std::optional<Selection> selection_;
};

// All versions and deletions that are still kept.
class VersionCursor {
 public:
  // misuse if the container keeps none. With `must_have_all` invalid_argument if changes later than `after`
  // have gone; otherwise it begins with the oldest that is kept.
  static Result<VersionCursor> open(ContainerStore& store, const Transaction& snapshot,
                                    const FeedScope& scope, Lsn after, bool must_have_all);
  Result<bool> next(FeedEntry& entry);

 private:
  VersionCursor(ContainerStore& store, const Transaction& snapshot, const FeedScope& scope, FileCursor rows)
      : store_(&store), snapshot_(&snapshot), scope_(&scope), rows_(std::move(rows)) {}
  Result<bool> offer(const FeedRow& row, Lsn lsn, FeedEntry& entry);
  // The item as a change before left it, if that is kept; undefined otherwise.
  Result<sql::Value> version_at(Lsn lsn) const;

  ContainerStore* store_;
  const Transaction* snapshot_;
  const FeedScope* scope_;
  FileCursor rows_;
  bool is_there_ = false;  // rows_ stands on a row that was not looked at
};

}  // namespace quire::engine
