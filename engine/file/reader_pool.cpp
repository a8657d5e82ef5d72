#include "engine/file/reader_pool.h"

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "engine/file/lmdb_error.h"

namespace quire::engine {

ReaderPool::~ReaderPool() {
  for (MDB_txn* transaction : idle_) mdb_txn_abort(transaction);
}

void ReaderPool::enter(std::unique_lock<std::mutex>& lock) {
  if (waiting_for_idle_ != 0) [[unlikely]]
    changed_.wait_for(lock, kGiveWay, [&] { return waiting_for_idle_ == 0; });
  ++at_work_;
}

void ReaderPool::enter() {
  std::unique_lock lock(mutex_);
  enter(lock);
}

void ReaderPool::leave() noexcept {
  const std::lock_guard lock(mutex_);
  count_out();
}

void ReaderPool::count_out() noexcept {
  --at_work_;
  if (waiting_for_idle_ != 0) [[unlikely]]
    changed_.notify_all();
  if (when_idle_ && at_work_ == 0) [[unlikely]]
    std::exchange(when_idle_, nullptr)();
}

Result<MDB_txn*> ReaderPool::begin() {
  QUIRE_TRY(process_.check());
  MDB_txn* transaction = nullptr;
  {
    std::unique_lock lock(mutex_);
    if (idle_.capacity() == 0) [[unlikely]]
      idle_.reserve(kMostIdle);  // so that end() needs no memory
    enter(lock);
    if (!idle_.empty()) {
      transaction = idle_.back();
      idle_.pop_back();
    }
  }
  QUIRE_TRY(start_or_adopt(transaction));
  return transaction;
}

Result<void> ReaderPool::renew(MDB_txn* transaction) {
  QUIRE_TRY(process_.check());
  mdb_txn_reset(transaction);
  return start_or_adopt(transaction);
}

// Begins or renews; the caller has entered, and is counted out again on failure.
Result<void> ReaderPool::start_or_adopt(MDB_txn*& transaction) {
  int code = start(transaction);
  if (code == MDB_READERS_FULL) {
    int dead = 0;
    mdb_reader_check(environment_, &dead);
    if (dead > 0) code = start(transaction);
  }
  while (code == MDB_MAP_RESIZED) {
    leave();
    if (auto adopted = adopt_map_size(Clock::now() + busy_timeout_); !adopted) {
      if (transaction != nullptr) mdb_txn_abort(transaction);
      return adopted;
    }
    enter();
    code = start(transaction);
  }
  if (code == MDB_SUCCESS) [[likely]]
    return {};
  if (transaction != nullptr) mdb_txn_abort(transaction);
  leave();
  return std::unexpected(lmdb_error(code, "begin a snapshot"));
}

int ReaderPool::begin(unsigned flags, MDB_txn*& transaction) noexcept {
  return is_map_lost_ ? MDB_PANIC : mdb_txn_begin(environment_, nullptr, flags, &transaction);
}

int ReaderPool::start_unchecked(MDB_txn*& transaction) {
  if (transaction != nullptr) return is_map_lost_ ? MDB_PANIC : mdb_txn_renew(transaction);
  const int code = begin(MDB_RDONLY, transaction);
  if (code != MDB_SUCCESS) transaction = nullptr;
  return code;
}

// LMDB notes the number of the newest commit, and then copies where its trees begin: from one of two places,
// which the next commit but one takes. A snapshot that was held up in between is of that one, or of half of
// it, and has the number of the first, by which what is pending and the roots of trees are found. While its
// number is the newest there is, neither can be. A writer that was held up between the two may take long; one
// that has another lock file never tells its numbers here.
int ReaderPool::start(MDB_txn*& transaction) {
  constexpr uint64_t kTriesAtOnce = 1000;
  constexpr std::chrono::microseconds kBetweenTries{100};
  Clock::time_point end{};
  for (uint64_t tries = 1;; ++tries) {
    const int code = start_unchecked(transaction);
    if (code != MDB_SUCCESS) return code;
    std::atomic_thread_fence(std::memory_order_acquire);
    MDB_envinfo info;
    mdb_env_info(environment_, &info);
    if (info.me_last_txnid == mdb_txn_id(transaction)) [[likely]]
      return MDB_SUCCESS;
    mdb_txn_reset(transaction);
    if (tries < kTriesAtOnce) continue;
    if (tries == kTriesAtOnce) end = Clock::now() + busy_timeout_;
    if (Clock::now() > end) return ESTALE;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

void ReaderPool::end(MDB_txn* transaction) noexcept {
  if (!process_.is_this()) [[unlikely]]
    return;
  mdb_txn_reset(transaction);
  {
    const std::lock_guard lock(mutex_);
    count_out();
    if (idle_.size() < kMostIdle) {
      idle_.push_back(transaction);
      return;
    }
  }
  mdb_txn_abort(transaction);
}

Result<void> ReaderPool::while_idle(Clock::time_point deadline, const std::function<int()>& act) {
  std::unique_lock lock(mutex_);
  ++waiting_for_idle_;
  const bool is_idle = changed_.wait_until(lock, deadline, [&] { return at_work_ == 0; });
  int code = MDB_SUCCESS;
  if (is_idle) {
    map_.forget();
    code = is_map_lost_ ? MDB_PANIC : act();
  }
  if (code != MDB_SUCCESS) is_map_lost_ = true;
  --waiting_for_idle_;
  changed_.notify_all();
  if (!is_idle)
    return fail(
        ErrorCode::busy,
        "the file's map has to grow, but snapshots of this process were held open all the time; end them "
        "and try again");
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "grow the file's map"));
  return {};
}

bool ReaderPool::try_while_alone(const std::function<void()>& act) {
  const std::lock_guard lock(mutex_);
  if (at_work_ != 1) return false;
  act();
  return true;
}

void ReaderPool::when_idle(std::function<void()> act) {
  const std::lock_guard lock(mutex_);
  when_idle_ = std::move(act);
  if (at_work_ == 0) std::exchange(when_idle_, nullptr)();
}

bool ReaderPool::is_idle() noexcept {
  const std::lock_guard lock(mutex_);
  return at_work_ == 0;
}

bool ReaderPool::is_idleness_wanted() noexcept {
  const std::lock_guard lock(mutex_);
  return waiting_for_idle_ != 0;
}

Result<void> ReaderPool::adopt_map_size(Clock::time_point deadline) {
  return while_idle(deadline, [&] { return mdb_env_set_mapsize(environment_, 0); });
}

}  // namespace quire::engine
