#include "engine/script/watchdog.h"

#include <atomic>
#include <system_error>

namespace quire::engine {
namespace {

// How late a script may be stopped. Also how often the thread looks, as long as scripts run.
constexpr auto kTick = std::chrono::milliseconds(10);
// It goes on looking for so long after the last script, so that scripts in quick succession need not wake it.
constexpr int kIdleTicks = 50;

}  // namespace

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> Watchdog::start() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return {};
  try {
    thread_ = std::thread(&Watchdog::run, this);
  } catch (const std::system_error&) {
    return fail(ErrorCode::out_of_memory,
                "the system gives no more threads, and a script needs one that ends it in time");
  }
  return {};
}

Watchdog::Watch::Watch(Watchdog& watchdog, Clock::time_point deadline, unsigned char*& stack_limit)
    : watchdog_(watchdog), deadline_(deadline), stack_limit_(stack_limit) {
  const std::lock_guard lock(watchdog.mutex_);
  place_ = watchdog.watches_.insert(watchdog.watches_.end(), this);
  if (watchdog.is_asleep_) watchdog.wake_.notify_one();
}

Watchdog::Watch::~Watch() {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.watches_.erase(place_);
}

bool Watchdog::Watch::has_struck() const noexcept {
  const std::lock_guard lock(watchdog_.mutex_);
  return has_struck_;
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  int idle = 0;
  while (!stops_) {
    idle = watches_.empty() ? idle + 1 : 0;
    if (idle > kIdleTicks) {
      is_asleep_ = true;
      wake_.wait(lock, [this] { return stops_ || !watches_.empty(); });
      is_asleep_ = false;
      idle = 0;
      continue;
    }
    wake_.wait_for(lock, kTick, [this] { return stops_; });
    const auto now = Clock::now();
    for (Watch* const watch : watches_) {
      if (now < watch->deadline_) continue;
      // Again and again, since a host function that the script calls may have set its own limit meanwhile.
      watch->has_struck_ = true;
      std::atomic_ref(watch->stack_limit_)
          .store(reinterpret_cast<unsigned char*>(UINTPTR_MAX), std::memory_order_relaxed);
    }
  }
}

}  // namespace quire::engine
