// From a thread that makes something to one that uses it, with one of them waiting between. Each takes what
// it holds by itself, so that three exist at a time at most.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace quire::engine {

// One thread puts, one takes, either closes.
template <typename T>
class Handover {
 public:
  // Waits until there is room; false if it was closed: nobody wants it.
  bool put(T made) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_closed_ || !waiting_; });
    if (is_closed_) return false;
    waiting_ = std::move(made);
    changed_.notify_all();
    return true;
  }
  // Waits for so long; nothing: there is none yet, or none any more.
  std::optional<T> take(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest, [this] { return is_closed_ || waiting_; });
    std::optional<T> taken = std::exchange(waiting_, std::nullopt);
    changed_.notify_all();
    return taken;
  }
  // What was used, for its memory: to be made anew.
  void give_back(T used) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(used));
  }
  // What was given back last, or a fresh one.
  T spare() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return T();
    T last = std::move(spare_.back());
    spare_.pop_back();
    return last;
  }
  // What waits can still be taken.
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  // Cheap.
  bool is_closed() const noexcept { return is_closed_.load(std::memory_order_relaxed); }
  // Nothing waits, and nothing will.
  bool is_over() const noexcept {
    const std::lock_guard lock(mutex_);
    return is_closed_ && !waiting_;
  }

 private:
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::optional<T> waiting_;
  std::vector<T> spare_;
  std::atomic<bool> is_closed_ = false;
};

// However its block is left.
template <typename T>
struct CloseAtEnd {
  Handover<T>& handover;
  ~CloseAtEnd() { handover.close(); }
};

}  // namespace quire::engine
