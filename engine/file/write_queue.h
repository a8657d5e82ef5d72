// The queue of a process's writers: who leads, who follows. Knows no LMDB.
//
// A writer that finds nobody leading becomes the leader: it takes the requests that wait (its own first), has
// them run as one group, and tells each its outcome. While it waits for the disk, others queue up: they are
// the next group.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>

#include "engine/file/environment.h"
#include "engine/file/patience.h"
#include "engine/file/this_thread.h"
#include "engine/file/transaction.h"
#include "sql/error.h"

namespace quire::engine {

struct WriteRequest {
  const std::function<Result<void>(WriteTransaction&)>* work = nullptr;  // null: wants the lead alone
  Sync sync = Sync::with_commit;
  Clock::time_point deadline{};  // past it, it is not begun any more
  Result<void> outcome{};

 private:
  friend class WriteQueue;
  enum class State : uint8_t { waiting, taken, done };
  std::atomic<State> state = State::waiting;  // changed under the queue's mutex
  std::condition_variable wake;
};

class WriteQueue {
 public:
  // A group commit is bounded so that its first member is not kept waiting by a flood of others.
  static constexpr size_t kMostInGroup = 128;
  // Fills in the outcomes of a group; an error where it could not be begun while its leader has patience.
  using RunGroup = std::function<Result<void>(std::span<WriteRequest* const>, const Patience&)>;

  // Returns the outcome of `work`; `run_group` is called if this thread comes to lead a group. busy, or
  // interrupted, if the work was not begun while there was patience, whatever it waited for.
  Result<void> run(const std::function<Result<void>(WriteTransaction&)>& work, Sync sync,
                   const Patience& patience, const RunGroup& run_group);

  // Takes the lead alone, until release.
  Result<void> take_lead(const Patience& patience);
  void release();
  // Whether the calling thread leads.
  bool is_led_here() const;

 private:
  Result<void> check_not_leading() const;
  // Looks for a while whether the leader is done, since a short commit ends before a thread has gone to
  // sleep.
  void look_out(std::unique_lock<std::mutex>& lock, const WriteRequest& request) const;
  // Waits until the request leads or is done; false where the patience is over before.
  bool wait_for_turn(std::unique_lock<std::mutex>& lock, WriteRequest& request, const Patience& patience);
  void wake_next();
  // The group could not be begun while its leader had patience: who has time waits on, before all others.
  void put_back(std::span<WriteRequest* const> group, const WriteRequest& leader, const Error& error);

  mutable std::mutex mutex_;
  std::deque<WriteRequest*> waiting_;
  ThreadNumber leader_ = ThreadNumber::none;
  std::atomic<uint64_t> groups_ = 0;  // that have ended
};

}  // namespace quire::engine
