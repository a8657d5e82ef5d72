#include "sql/run/worker_pool.h"

#include <exception>
#include <new>
#include <utility>

namespace quire::sql {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (const auto& worker : workers_) worker->has_to_act.notify_one();
  }
  for (const auto& worker : workers_) worker->thread.join();
}

bool WorkerPool::begin(std::function<void()> act, std::function<void()> done) noexcept try {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    workers_.reserve(workers_.size() + 1);
    idle_.reserve(workers_.size() + 1);
    auto worker = std::make_unique<Worker>();
    worker->act = std::move(act);
    worker->done = std::move(done);
    worker->thread = std::thread([this, &worker = *worker] { run(worker); });
    workers_.push_back(std::move(worker));
    return true;
  }
  Worker& worker = *idle_.back();
  idle_.pop_back();
  worker.act = std::move(act);
  worker.done = std::move(done);
  worker.has_to_act.notify_one();
  return true;
} catch (const std::exception&) {  // no memory, or no thread
  return false;
}

void WorkerPool::run(Worker& worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    worker.has_to_act.wait(lock, [&] { return worker.act || is_ending_; });
    if (!worker.act) return;
    const std::function<void()> act = std::exchange(worker.act, nullptr);
    const std::function<void()> done = std::exchange(worker.done, nullptr);
    lock.unlock();
    act();
    lock.lock();
    idle_.push_back(&worker);
    lock.unlock();
    done();
    lock.lock();
  }
}

std::string WorkerPool::take_buffer() noexcept {
  const std::lock_guard lock(mutex_);
  if (buffers_.empty()) return {};
  std::string buffer = std::move(buffers_.back());
  buffers_.pop_back();
  return buffer;
}

void WorkerPool::give_buffer(std::string buffer) noexcept try {
  if (buffer.capacity() > kLargestBuffer) return;
  buffer.clear();
  const std::lock_guard lock(mutex_);
  if (buffers_.size() < kMostBuffers) buffers_.push_back(std::move(buffer));
} catch (const std::bad_alloc&) {  // no memory to keep it in
}

}  // namespace quire::sql
