// A reader of a container's change feed: from its start through what there is, snapshot after snapshot, and
// on as changes come.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "engine/container/feed_cursor.h"
#include "engine/container/feed_token.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

enum class FeedStart : uint8_t { beginning, now, time, token };

struct FeedOptions {
  FeedMode mode = FeedMode::latest_version;
  FeedStart start = FeedStart::beginning;
  uint32_t from_timestamp = 0;  // time: changes from then on, Unix seconds
  std::string_view token = {};
  // Empty: all partitions; may be a prefix of a hierarchical key.
  std::span<const sql::Value> partition_key = {};
  const std::atomic<uint64_t>* interrupts = nullptr;  // a change of it ends a wait with interrupted
  // How long a snapshot may be held: then the feed goes on with a newer one. Empty: as long as it lasts.
  std::function<std::chrono::milliseconds()> most_age = {};
};

// One thread at a time. Must end before the Environment.
class Feed {
 public:
  // invalid_argument: a token that does not fit, all versions of a container that keeps none.
  static Result<std::unique_ptr<Feed>> open(Environment& environment, std::shared_ptr<ContainerStore> store,
                                            const FeedOptions& options);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // The next change; if there is none, waits for one for that long, then false. What an entry points to is
  // good until the next call. invalid_argument where versions that were to come have gone, interrupted.
  Result<bool> next(std::chrono::milliseconds patience);
  const FeedEntry& entry() const noexcept { return entry_; }
  // The entry as JSON: the item with its system properties and _lsn, or Cosmos's envelope of all versions.
  void write_json(std::string& out) const;
  // Stands for the place behind the last entry; any process may go on from it.
  std::string token() const;

 private:
  void write_deleted_key(std::string& out) const;
  using Cursor = std::variant<LatestCursor, VersionCursor>;

  Feed(Environment& environment, std::shared_ptr<ContainerStore> store, const FeedOptions& options)
      : environment_(environment),
        store_(std::move(store)),
        interrupts_(options.interrupts),
        most_age_(options.most_age) {}
  Result<void> start(const FeedOptions& options);
  // invalid_argument: the token is of changes that this file has never seen.
  Result<void> check_history(const Transaction& snapshot, Lsn last) const;
  Result<void> set_partition(std::span<const sql::Value> partition_key);
  // The next change of what the file has now.
  Result<bool> next_now();
  Result<void> open_cursor();
  void end_snapshot() noexcept;
  bool is_snapshot_too_old() const;
  // Until there is a newer commit than the one that was read to its end; false past the deadline.
  Result<bool> wait(std::chrono::steady_clock::time_point deadline) const;

  Environment& environment_;
  std::shared_ptr<ContainerStore> store_;
  const std::atomic<uint64_t>* interrupts_;
  std::function<std::chrono::milliseconds()> most_age_;
  FeedPosition position_;
  FeedScope scope_;
  std::unique_ptr<char[]> text_;  // what the strings of the partition key point to
  // Whether versions that are missing are an error: not where the feed was asked for what there is.
  bool must_have_all_ = false;
  uint64_t seen_commit_ = 0;
  std::optional<ReadTransaction> snapshot_;
  std::chrono::steady_clock::time_point begun_;  // the snapshot
  std::optional<Cursor> cursor_;                 // within snapshot_
  FeedEntry entry_;
};

}  // namespace quire::engine
