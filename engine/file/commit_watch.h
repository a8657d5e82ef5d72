// Where threads wait for somebody's next commit. A writer of this process wakes them; that one of another
// process has committed is seen by looking, as nothing tells. Internal to engine/file.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "engine/file/reader_pool.h"

namespace quire::engine {

class CommitWatch {
 public:
  // After each commit. Costs a look at a counter while nobody waits.
  void notify() noexcept {
    if (waiting_.load() == 0) return;
    const std::lock_guard lock(mutex_);
    committed_.notify_all();
  }

  // Until `newest()`, the number of the newest commit of any process, exceeds `seen`; false past the
  // deadline.
  template <typename Newest>
  bool wait(uint64_t seen, Clock::time_point deadline, const Newest& newest) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    bool is_newer = newest() > seen;
    for (Clock::time_point now; !is_newer && (now = Clock::now()) < deadline; is_newer = newest() > seen)
      committed_.wait_until(lock, std::min(deadline, now + kBetweenLooks));
    --waiting_;
    return is_newer;
  }

 private:
  // A look costs a microsecond.
  static constexpr std::chrono::milliseconds kBetweenLooks{5};

  std::mutex mutex_;
  std::condition_variable committed_;
  std::atomic<uint32_t> waiting_ = 0;
};

}  // namespace quire::engine
