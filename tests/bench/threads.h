// Several threads that begin at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/bench/work.h"

namespace quire::bench {

// Seconds that the threads take together. `make_task` gives each of them, by number, what it is to do, a
// callable; none begins before all are made. What a thread throws is thrown here.
template <typename MakeTask>
double seconds_of_threads(size_t threads, const MakeTask& make_task) {
  std::atomic<size_t> ready = 0;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto work = [&](size_t number) {
    bool is_counted = false;
    try {
      auto task = make_task(number);
      ++ready;
      is_counted = true;
      while (ready < threads) std::this_thread::yield();
      task();
    } catch (...) {
      if (!is_counted) ++ready;
      const std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
    }
  };
  const double seconds = seconds_of([&] {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
  });
  if (failure) std::rethrow_exception(failure);
  return seconds;
}

}  // namespace quire::bench
