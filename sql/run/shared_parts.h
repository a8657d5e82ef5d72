// Work that several threads share in parts, whose outcomes are taken in order. Each thread does the next part
// that nobody has begun. Who takes, and would have to wait, does one meanwhile: a thread that only took would
// have to be woken for each part, on a processor that another is using.
//
// Threads run ahead of what is taken by a few parts each, which bounds memory.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "sql/error.h"
#include "sql/run/worker_pool.h"

namespace quire::sql {

// Of a thread that has no memory: so short that to say it takes none.
inline Error no_memory_for_part() {
  return {ErrorCode::out_of_memory, "memory ran out"};
}

template <typename Part>
class SharedParts {
 public:
  // Does the part of that number, from 0, in the place of one that was taken before; whether there may be
  // others behind it. A worker's parts are done one at a time, their numbers growing: those of worker 0 by
  // the caller of take(), those of each other by a thread of the pool's. Must not throw.
  using Work = std::function<bool(size_t worker, size_t number, Part& part)>;

  SharedParts() = default;
  ~SharedParts() { stop(); }
  SharedParts(const SharedParts&) = delete;
  SharedParts& operator=(const SharedParts&) = delete;

  // Of at most `count` parts. False if the machine gives no more threads: nothing was begun. The pool must
  // outlive what is begun.
  bool begin(WorkerPool& pool, size_t workers, size_t count, Work work) {
    stop();
    work_ = std::move(work);
    ahead_ = kPartsAhead * workers;
    places_.resize(ahead_ + 1);  // and the one that is taken
    for (Place& place : places_) place.is_done = false;
    next_ = taken_ = 0;
    end_ = count;
    is_stopped_ = false;
    for (size_t worker = 1; worker < workers; ++worker) {
      if (begin_worker(pool, worker)) continue;
      stop();
      return false;
    }
    return true;
  }

  // Of all parts, while nothing is under way.
  void for_each(const std::function<void(Part&)>& act) {
    for (Place& place : places_) act(place.part);
  }

  // The next part, good until the next call; null behind the last.
  Part* take() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (taken_ == end_) return nullptr;
      Place& place = place_of(taken_);
      if (place.is_done) {
        place.is_done = false;
        ++taken_;
        lock.unlock();
        has_room_.notify_all();
        return &place.part;
      }
      if (may_begin())
        do_next(0, lock);
      else
        is_ready_.wait(lock);
    }
  }

  // Returns when no thread is at work.
  void stop() {
    std::unique_lock lock(mutex_);
    is_stopped_ = true;
    has_room_.notify_all();
    is_ready_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  static constexpr size_t kPartsAhead = 4;  // a worker
  struct Place {
    Part part;
    bool is_done = false;  // and not taken yet
  };

  Place& place_of(size_t number) { return places_[number % places_.size()]; }
  bool may_begin() const { return next_ < std::min(end_, taken_ + ahead_); }

  bool begin_worker(WorkerPool& pool, size_t worker) {
    const std::lock_guard lock(mutex_);
    const bool has_begun = pool.begin([this, worker] { run(worker); }, [this] { end_worker(); });
    running_ += has_begun;
    return has_begun;
  }

  void run(size_t worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      has_room_.wait(lock, [this] { return is_stopped_ || next_ >= end_ || may_begin(); });
      if (is_stopped_ || next_ >= end_) break;
      do_next(worker, lock);
      is_ready_.notify_one();
    }
  }

  void end_worker() {
    const std::lock_guard lock(mutex_);
    --running_;
    is_ready_.notify_one();  // before the lock is free, and with it everything else
  }

  void do_next(size_t worker, std::unique_lock<std::mutex>& lock) {
    const size_t number = next_++;
    Place& place = place_of(number);
    lock.unlock();
    const bool has_more = work_(worker, number, place.part);
    lock.lock();
    place.is_done = true;
    if (!has_more) end_ = std::min(end_, number + 1);
  }

  Work work_;
  size_t ahead_ = 0;
  std::mutex mutex_;  // guards what follows; a part that is under way is its worker's
  std::condition_variable has_room_, is_ready_;
  std::vector<Place> places_;
  size_t next_ = 0;   // to be begun
  size_t taken_ = 0;  // so many
  size_t end_ = 0;
  bool is_stopped_ = false;
  size_t running_ = 0;  // threads of the pool's
};

}  // namespace quire::sql
