// Read transactions, kept for reuse, and the gate that the map's growth needs.
//
// A reader's place in LMDB's reader table costs a system-wide mutex to get, so ended snapshots are only reset
// and lie ready: to begin one anew is a renewal. LMDB allows the map to be moved only while the process has
// no transaction at work, so every transaction, the writer's too, is counted here.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "engine/file/own_process.h"
#include "sql/error.h"

namespace quire::engine {

using Clock = std::chrono::steady_clock;

// Where LMDB's map of the file is, once somebody has seen it, and how many pages of it a snapshot of this
// process may have.
class KnownMap {
 public:
  const char* begin() const noexcept { return begin_.load(std::memory_order_acquire); }  // null: not known
  uint64_t pages() const noexcept { return pages_.load(std::memory_order_acquire); }
  // Whether the system reads the file exactly (map_advice.h).
  bool is_read_exactly() const noexcept { return is_read_exactly_.load(std::memory_order_relaxed); }
  void note_read_exactly() noexcept { is_read_exactly_.store(true, std::memory_order_relaxed); }
  void note(const char* begin, uint64_t pages) noexcept {
    uint64_t before = pages_.load(std::memory_order_relaxed);
    while (before < pages && !pages_.compare_exchange_weak(before, pages)) {
    }
    begin_.store(begin, std::memory_order_release);
  }
  void forget() noexcept {
    is_read_exactly_.store(false, std::memory_order_relaxed);
    begin_.store(nullptr, std::memory_order_release);
  }

 private:
  std::atomic<const char*> begin_ = nullptr;
  std::atomic<uint64_t> pages_ = 0;
  std::atomic<bool> is_read_exactly_ = false;
};

class ReaderPool {
 public:
  ReaderPool(MDB_env* environment, std::chrono::milliseconds busy_timeout)
      : environment_(environment), busy_timeout_(busy_timeout) {}
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  // A snapshot of now. Adopts a map that another process has grown, waiting for this process's transactions
  // to end for the busy timeout, then busy.
  Result<MDB_txn*> begin();
  // Moves a snapshot to now; on failure it has ended.
  Result<void> renew(MDB_txn* transaction);
  // Leaves one alone that is a parent's.
  void end(MDB_txn* transaction) noexcept;
  // begin() and renew() check it themselves.
  const OwnProcess& process() const noexcept { return process_; }

  // mdb_txn_begin for who has entered; MDB_PANIC where there is no map any more.
  int begin(unsigned flags, MDB_txn*& transaction) noexcept;
  // LMDB lets the old map go before it takes a new one: where there was no memory for that, nothing can be
  // read until the file is opened again.
  bool is_map_lost() const noexcept { return is_map_lost_; }

  // Counts a transaction that is not of this pool, from before it begins until after it ends.
  void enter();
  void leave() noexcept;

  // Calls `act` while no transaction of this process is at work, and none can begin; waits for that until
  // `deadline`, then fails with busy. `act` sets the size of the map and gives LMDB's code.
  Result<void> while_idle(Clock::time_point deadline, const std::function<int()>& act);
  // The same for a caller that is itself counted, without waiting: false if others are at work.
  bool try_while_alone(const std::function<void()>& act);
  // Calls `act`, which must not throw, the next time that no transaction of this process is at work: at once,
  // if none is. It takes the place of one that has not been called yet.
  void when_idle(std::function<void()> act);
  // Of use to who has a transaction at work, since it may be moved otherwise.
  KnownMap& map() noexcept { return map_; }
  // Whether no transaction of this process is at work.
  bool is_idle() noexcept;
  // Whether somebody waits in while_idle.
  bool is_idleness_wanted() noexcept;

  // Takes the map size that another process has set. No transaction of the caller may be at work.
  Result<void> adopt_map_size(Clock::time_point deadline);

 private:
  // How long a new transaction gives way to one who waits for an idle process. Bounded, since the thread that
  // begins may itself hold the transaction that is waited for.
  static constexpr std::chrono::milliseconds kGiveWay{200};
  // More than so many idle ones are given back to LMDB.
  static constexpr size_t kMostIdle = 64;

  void enter(std::unique_lock<std::mutex>& lock);
  void count_out() noexcept;  // under the mutex
  int start_unchecked(MDB_txn*& transaction);
  // LMDB's code; the snapshot is of the commit that it is numbered by.
  int start(MDB_txn*& transaction);
  Result<void> start_or_adopt(MDB_txn*& transaction);

  OwnProcess process_;
  MDB_env* environment_;
  std::chrono::milliseconds busy_timeout_;
  std::atomic<bool> is_map_lost_ = false;
  KnownMap map_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<MDB_txn*> idle_;
  size_t at_work_ = 0;
  size_t waiting_for_idle_ = 0;
  std::function<void()> when_idle_;
};

// Keeps the map where it is: for what reads it without a transaction of its own. Not within while_idle.
class MapHold {
 public:
  explicit MapHold(ReaderPool& readers) : readers_(readers) { readers_.enter(); }
  ~MapHold() { readers_.leave(); }
  MapHold(const MapHold&) = delete;
  MapHold& operator=(const MapHold&) = delete;

 private:
  ReaderPool& readers_;
};

}  // namespace quire::engine
