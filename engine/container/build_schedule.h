// Who of the threads that build indexes does what. The entries of each index are collected, by any of them,
// in one list or in several; one inserts the lists, in the order of the indexes, so that each belongs at the
// end of what is there, and collects too while none is ready.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/container/entry_collector.h"

namespace quire::engine {

class BuildSchedule {
 public:
  // A list of an index's entries: of the items behind a position.
  struct Piece {
    size_t index = 0;      // the how many-th
    std::string position;  // empty: all items
    CollectedEntries collected;
    bool is_last = false;  // of its index
  };

  explicit BuildSchedule(size_t indexes) : indexes_(indexes) {}

  // ---- Any thread

  // What is to be collected next, in memory that has been used before. Nothing: all is being collected, or as
  // many lists are in use as there may be.
  std::optional<Piece> begin() {
    const std::lock_guard lock(mutex_);
    return can_begin() ? std::optional(begun()) : std::nullopt;
  }
  // The same when there is something. Nothing: it is over.
  std::optional<Piece> wait_to_begin() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_closed_ || turn_ == indexes_ || can_begin(); });
    return can_begin() ? std::optional(begun()) : std::nullopt;
  }
  // Its position is that of the last item that it is of.
  void give(Piece piece) {
    const std::lock_guard lock(mutex_);
    if (!piece.is_last) rest_.emplace(piece.index, piece.position);
    ready_[piece.index].push_back(std::move(piece));
    changed_.notify_all();
  }
  // Nobody needs to go on.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  bool is_closed() const {
    const std::lock_guard lock(mutex_);
    return is_closed_;
  }

  // ---- The one that inserts

  // The list whose turn it is, if it is ready.
  std::optional<Piece> take() {
    const std::lock_guard lock(mutex_);
    const auto found = ready_.find(turn_);
    if (found == ready_.end()) return std::nullopt;
    Piece piece = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) ready_.erase(found);
    if (piece.is_last) ++turn_;
    changed_.notify_all();
    return piece;
  }
  // It has been inserted; its memory is used again.
  void give_back(CollectedEntries used) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(used));
    --in_use_;
    changed_.notify_all();
  }
  // Until there may be something to do.
  void wait(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest, [this] { return is_closed_ || ready_.contains(turn_) || can_begin(); });
  }
  // All lists have been taken, or it was closed.
  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return is_closed_ || turn_ == indexes_;
  }

 private:
  // One that is inserted, two that are collected, one that waits.
  static constexpr size_t kMostLists = 4;

  bool can_begin() const noexcept {
    return !is_closed_ && in_use_ < kMostLists && (!rest_.empty() || next_ < indexes_);
  }
  // The rest of an index comes first. So the list whose turn it is can always be made: that of the one before
  // it has become free.
  Piece begun() {
    Piece piece;
    if (rest_.empty()) {
      piece.index = next_++;
    } else {
      auto first = rest_.extract(rest_.begin());
      piece.index = first.key();
      piece.position = std::move(first.mapped());
    }
    if (!spare_.empty()) {
      piece.collected = std::move(spare_.back());
      spare_.pop_back();
    }
    ++in_use_;
    return piece;
  }

  const size_t indexes_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  size_t next_ = 0;                     // the first index of which nobody has begun a list
  std::map<size_t, std::string> rest_;  // by index: the position behind which it goes on
  std::map<size_t, std::deque<Piece>> ready_;
  size_t turn_ = 0;  // the index whose lists are inserted
  std::vector<CollectedEntries> spare_;
  size_t in_use_ = 0;
  bool is_closed_ = false;
};

// However its block is left.
struct CloseScheduleAtEnd {
  BuildSchedule& schedule;
  ~CloseScheduleAtEnd() { schedule.close(); }
};

}  // namespace quire::engine
