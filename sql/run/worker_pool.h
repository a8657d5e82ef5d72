// Threads that queries share their work with, and buffers for the text that these write, both kept from one
// query to the next: to begin a thread, and to take fresh memory, takes as long as looking up some hundreds
// of items. Both are there until the pool ends; there are as many as were needed at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace quire::sql {

// Thread-safe.
class WorkerPool {
 public:
  WorkerPool() = default;
  // What was begun has to be done: nobody would be told of its end.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Has a thread that has nothing to do, or a new one, call `act`, and then `done`, from when on it has
  // nothing to do again. Neither may throw. False, and nothing happens, if there is none to be had.
  bool begin(std::function<void()> act, std::function<void()> done) noexcept;

  // Empty, but with the memory of one that was given; that of large ones, and of many, is not kept.
  std::string take_buffer() noexcept;
  void give_buffer(std::string buffer) noexcept;

 private:
  static constexpr size_t kMostBuffers = 32;
  static constexpr size_t kLargestBuffer = size_t{128} << 10;

  struct Worker {
    std::function<void()> act, done;  // empty: it has nothing to do
    std::condition_variable has_to_act;
    std::thread thread;
  };

  void run(Worker& worker);

  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;  // room for all of them; who has been so for the least time is the last
  bool is_ending_ = false;
  std::vector<std::string> buffers_;
};

}  // namespace quire::sql
