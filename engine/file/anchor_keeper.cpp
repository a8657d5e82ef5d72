#include "engine/file/anchor_keeper.h"

#include <unistd.h>

#include <system_error>

#include "engine/file/anchor.h"
#include "engine/file/file_state.h"

namespace quire::engine {

void AnchorKeeper::note_commit(bool is_urgent) {
  const auto is_news = [](std::atomic<bool>& flag) {
    return !flag.load(std::memory_order_relaxed) && !flag.exchange(true);
  };
  const bool is_first = is_news(has_work_);
  if (!(is_urgent && is_news(is_urgent_)) && !is_first) return;
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) {
    wake_.notify_one();
    return;
  }
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    // Until a later commit gets a thread, the anchor is moved by writers and at the end alone.
    has_work_ = false;
    is_urgent_ = false;
  }
}

bool AnchorKeeper::is_at_work() noexcept {
  const std::lock_guard lock(mutex_);
  return thread_.joinable();
}

void AnchorKeeper::stop() noexcept {
  thread_ = std::jthread();
}

void AnchorKeeper::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    rest(lock, stop);
    if (stop.stop_requested()) return;
    wait(lock, stop);
    if (stop.stop_requested()) return;
    has_work_ = false;
    lock.unlock();
    const bool is_done = move_on(is_urgent_);
    lock.lock();
    is_urgent_ = false;
    if (!is_done) has_work_ = true;
  }
}

void AnchorKeeper::rest(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  const auto has_work = [&] { return has_work_.load(); };
  const Anchor& anchor = state_.anchor();
  while (!stop.stop_requested() && !has_work()) {
    if (anchor.held_commit() == 0) {
      wake_.wait(lock, stop, has_work);
    } else if (!wake_.wait_for(lock, stop, kLongest, has_work) && !stop.stop_requested() &&
               anchor.is_passed()) {
      lock.unlock();
      while_writing([&](Clock::time_point deadline) {
        if (!state_.small_commits().take_back(deadline)) return false;
        const MapHold hold(state_.readers());
        state_.anchor().let_go_if_passed();
        return true;
      });
      lock.lock();
    }
  }
}

void AnchorKeeper::wait(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  Clock::time_point end = Clock::now() + kLongest;
  SmallCommits& small = state_.small_commits();
  while (Clock::now() < end && !stop.stop_requested()) {
    if (wake_.wait_for(lock, stop, kBetweenLooks, [&] { return is_urgent_.load(); })) return;
    if (small.is_anyone_waiting()) return;
    if (is_moved_.exchange(false)) end = Clock::now() + kLongest;
  }
}

template <typename Act>
bool AnchorKeeper::while_writing(const Act& act) const {
  constexpr std::chrono::milliseconds kPatience{100};
  const Clock::time_point deadline = Clock::now() + kPatience;
  if (!state_.queue().take_lead({deadline})) return false;
  bool is_done = false;
  if (state_.write_lock().acquire({deadline})) {
    is_done = act(deadline);
    state_.write_lock().release();
  }
  state_.queue().release();
  return is_done;
}

bool AnchorKeeper::move_on(bool is_urgent) const {
  SmallCommits& small = state_.small_commits();
  const bool is_anyone_waiting = small.is_anyone_waiting();
  const Durability durability = state_.durability();
  if (state_.readers().is_map_lost()) return true;
  const auto apply = [&](Clock::time_point deadline) { return small.apply_if_possible(deadline); };
  if (!is_urgent && !small.is_newest(nullptr) && !while_writing(apply)) return false;
  // Most of it without the writers' lock.
  if (fdatasync(state_.data_descriptor()) != 0) state_.anchor().distrust();
  // Who writes to the log moves its anchor, too, and gives it up some time later.
  if (is_urgent && !is_anyone_waiting && durability == Durability::full) return false;
  return while_writing([&](Clock::time_point deadline) {
    if (!apply(deadline)) return false;
    const uint64_t newest = state_.newest_of_tree();
    const MapHold hold(state_.readers());
    state_.anchor().hurry();
    const bool is_done = state_.anchor().prepare(durability, newest).has_value();
    if (is_done) small.let_others_in();
    return is_done;
  });
}

}  // namespace quire::engine
