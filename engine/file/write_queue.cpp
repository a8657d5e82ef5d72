#include "engine/file/write_queue.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace quire::engine {
namespace {

constexpr const char* kBusy = "other writers of this process held the file until the busy timeout";
// So long an interrupt may go unseen: it only sets a number, as a signal handler may.
constexpr std::chrono::milliseconds kBetweenLooks{10};

// False where the patience is over first.
template <typename IsThere>
bool wait_until(std::condition_variable& wake, std::unique_lock<std::mutex>& lock, const Patience& patience,
                const IsThere& is_there) {
  if (patience.interrupts == nullptr) return wake.wait_until(lock, patience.deadline, is_there);
  while (!is_there()) {
    if (patience.is_over()) return false;
    wake.wait_until(lock, std::min(patience.deadline, Clock::now() + kBetweenLooks));
  }
  return true;
}

}  // namespace

Result<void> WriteQueue::check_not_leading() const {
  if (leader_ != this_thread()) return {};
  return fail(ErrorCode::misuse, "this thread already holds a write transaction; use that one");
}

// By the clock, and without giving the processor away: where others want it, it would come back once each has
// had its slice of time, which is thousands of times as long as a short commit. The next one alone does so;
// those behind it would keep the leader from its processor, and are woken with a group.
void WriteQueue::look_out(std::unique_lock<std::mutex>& lock, const WriteRequest& request) const {
  constexpr std::chrono::microseconds kLongest{20};
  const uint64_t groups = groups_;
  lock.unlock();
  const Clock::time_point end = Clock::now() + kLongest;
  while (request.state != WriteRequest::State::done && groups_ == groups && Clock::now() < end) {
  }
  lock.lock();
}

bool WriteQueue::wait_for_turn(std::unique_lock<std::mutex>& lock, WriteRequest& request,
                               const Patience& patience) {
  const auto is_my_turn = [&] {
    return request.state == WriteRequest::State::done ||
           (leader_ == ThreadNumber::none && waiting_.front() == &request);
  };
  if (!is_my_turn() && waiting_.front() == &request) look_out(lock, request);
  while (!wait_until(request.wake, lock, patience, is_my_turn)) {
    if (request.state == WriteRequest::State::waiting) {
      std::erase(waiting_, &request);
      wake_next();
      return false;
    }
    // Taken into a group: the leader is running it, and must be let finish with it.
    request.wake.wait(lock, [&] { return request.state != WriteRequest::State::taken; });
  }
  return true;
}

void WriteQueue::put_back(std::span<WriteRequest* const> group, const WriteRequest& leader,
                          const Error& error) {
  for (size_t i = group.size(); i-- > 0;) {
    WriteRequest& member = *group[i];
    const bool is_leaders_own = error.code == ErrorCode::busy || error.code == ErrorCode::interrupted;
    if (&member != &leader && is_leaders_own && Clock::now() < member.deadline) {
      member.state = WriteRequest::State::waiting;
      waiting_.push_front(&member);
    } else {
      member.outcome = std::unexpected(error);
    }
  }
}

void WriteQueue::wake_next() {
  if (leader_ == ThreadNumber::none && !waiting_.empty()) waiting_.front()->wake.notify_one();
}

Result<void> WriteQueue::run(const std::function<Result<void>(WriteTransaction&)>& work, Sync sync,
                             const Patience& patience, const RunGroup& run_group) {
  std::unique_lock lock(mutex_);
  QUIRE_TRY(check_not_leading());
  WriteRequest request;
  request.work = &work;
  request.sync = sync;
  request.deadline = patience.deadline;
  waiting_.push_back(&request);
  if (!wait_for_turn(lock, request, patience)) return patience.error(kBusy);
  if (request.state == WriteRequest::State::done) return std::move(request.outcome);

  leader_ = this_thread();
  std::array<WriteRequest*, kMostInGroup> places;
  size_t taken = 0;
  while (!waiting_.empty() && taken < kMostInGroup && waiting_.front()->work != nullptr) {
    waiting_.front()->state = WriteRequest::State::taken;
    places[taken++] = waiting_.front();
    waiting_.pop_front();
  }
  const std::span<WriteRequest* const> group(places.data(), taken);
  lock.unlock();
  const auto begun = run_group(group, patience);
  lock.lock();
  leader_ = ThreadNumber::none;
  ++groups_;
  if (!begun) put_back(group, request, begun.error());
  // Once a request is done and the lock let go, it is gone: wake it while the lock is held.
  for (WriteRequest* member : group) {
    if (member->state == WriteRequest::State::taken) member->state = WriteRequest::State::done;
    if (member != &request) member->wake.notify_one();
  }
  wake_next();
  return std::move(request.outcome);
}

Result<void> WriteQueue::take_lead(const Patience& patience) {
  std::unique_lock lock(mutex_);
  QUIRE_TRY(check_not_leading());
  WriteRequest request;
  waiting_.push_back(&request);
  if (!wait_for_turn(lock, request, patience)) return patience.error(kBusy);
  waiting_.pop_front();
  leader_ = this_thread();
  return {};
}

bool WriteQueue::is_led_here() const {
  const std::lock_guard lock(mutex_);
  return leader_ == this_thread();
}

void WriteQueue::release() {
  const std::lock_guard lock(mutex_);
  leader_ = ThreadNumber::none;
  ++groups_;
  wake_next();
}

}  // namespace quire::engine
