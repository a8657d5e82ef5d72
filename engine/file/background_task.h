// One thing at a time, done by a thread of its own for somebody who goes on meanwhile. Internal to
// engine/file.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "engine/file/reader_pool.h"

namespace quire::engine {

// Calls are those of one thread at a time.
class BackgroundTask {
 public:
  // Has the thread call `act`, which must not throw, where nothing else is under way; the thread is begun the
  // first time. False, and nothing happens, if there is none to be had.
  bool begin(std::function<void()> act);
  // Returns when what was begun last is done: the caller sees what it has done. False past the deadline.
  bool wait(Clock::time_point deadline);
  // Whether that is so.
  bool is_done() { return wait(Clock::now()); }

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;  // guards `act_`
  std::condition_variable_any changed_;
  std::function<void()> act_;  // empty: nothing is under way
  std::jthread thread_;        // the last member: it ends before the others do
};

}  // namespace quire::engine
