#include "engine/file/background_task.h"

#include <system_error>
#include <utility>

namespace quire::engine {

bool BackgroundTask::begin(std::function<void()> act) {
  if (!thread_.joinable()) {
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    act_ = std::move(act);
  }
  changed_.notify_all();
  return true;
}

bool BackgroundTask::wait(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return !act_; });
}

// What has begun is done, also when the thread is asked to end.
void BackgroundTask::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return static_cast<bool>(act_); })) {
    lock.unlock();
    act_();
    lock.lock();
    act_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace quire::engine
