// Commits that go to the log alone. LMDB copies some dozen pages for a commit of one item; here its changes
// go to the log (commit_log.h), and beside LMDB's tree in memory (pending_commits.h), where snapshots see
// them. They are applied to the tree many at a time, in the order of their keys: by a commit of LMDB's that
// does nothing else, or by one whose transaction could not be small, nor wait until that was done.
//
// Where they come without an end, a thread does that while the writer goes on with a list, and a part of the
// log, of their own (hand_over()); by several commits of LMDB's where it is many keys. Until it is done, the
// anchor and LMDB's writing are the thread's.
//
// Only while nobody else has the file open: others would not see what this process has in memory. Who opens a
// file waits until what is pending is applied (sole_use.h). After a crash the log's commits are made again.
//
// Internal to engine/file.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "engine/file/background_task.h"
#include "engine/file/environment.h"
#include "engine/file/pending_pool.h"
#include "engine/file/pending_view.h"
#include "engine/file/reader_pool.h"
#include "sql/error.h"

namespace quire::engine {

class FileState;

// What a commit has made of a key, in LMDB's tree: LMDB's code.
int put_into_tree(MDB_txn* transaction, uint32_t slot, const PendingCommits::Change& change) noexcept;

class SmallCommits {
 public:
  explicit SmallCommits(FileState& state) : state_(state) {}

  // ---- For readers, from any thread

  // What is pending; null: nothing. What was committed before the call is in it, or in LMDB's newest commit.
  std::shared_ptr<const PendingView> newest();
  bool is_newest(const PendingView* pending) const noexcept {
    return address_.load(std::memory_order_acquire) == pending;
  }
  // Returns when what the writer has had LMDB commit is no longer pending.
  void wait_for_newest() { const std::lock_guard lock(applying_); }

  // ---- For the holder of the write lock

  // Before a transaction of that durability begins: applies what is pending, unless the transaction may add
  // to it, or to a list that follows it where it has been handed over; then it needs no more than a snapshot
  // of LMDB's. As apply().
  Result<void> prepare(Durability durability, bool may_be_small, Clock::time_point deadline);
  // Once LMDB's transaction has begun: what its changes go to; null: to LMDB's tree.
  std::shared_ptr<const PendingView> begin(Durability durability, MDB_txn* transaction);
  // The changes at hand are in the log, and seen, as durable as they should be; false: they have no room in
  // the log, and nothing has happened. io, out_of_memory.
  Result<bool> commit();
  // Returns when nothing is under way behind the writer's back: LMDB's tree can be written to. busy past the
  // deadline.
  Result<void> take_back(Clock::time_point deadline);
  // Then, where what was under way has come to nothing: as a commit of its own, without waiting for anybody.
  // LMDB's code, or what keeps the file from being written to.
  Result<int> apply_what_was_handed_over();
  // Then: what is pending becomes a part of LMDB's transaction, which is committed by commit_with_pending().
  // As above.
  Result<int> put_into(MDB_txn* transaction);
  // LMDB's commit of a transaction in which what is pending is, and `own` commits behind it that are in the
  // log: LMDB's code. If it fails, all of it is pending as it was.
  int commit_with_pending(MDB_txn* transaction, uint32_t own) noexcept;
  // Has LMDB commit what is pending, without a sync. Waits for what is under way, and for snapshots where the
  // map has to grow: busy. no_space, io, out_of_memory: it is pending still.
  Result<void> apply(Clock::time_point deadline);
  // The same where nobody can be told of an error: whether nothing is pending.
  bool apply_if_possible(Clock::time_point deadline) noexcept;
  // Whether the anchor must be given up once what is pending is LMDB's: the log is not that of the anchor.
  bool has_failed() const noexcept { return has_failed_; }
  // Whether another process waits for this one to apply what is pending. From any thread.
  bool is_anyone_waiting() const noexcept;
  // At the end: nothing is under way any more.
  void wait_for_thread();
  // Nothing is pending, and there is no log: others may open the file. Memory that was kept for more is let
  // go.
  void let_others_in() noexcept;

 private:
  // What the thread has come to.
  struct Outcome {
    bool is_applied = false;
    bool is_anchored = false;  // the log's part that was handed over is of no use any more
  };

  // By how many of LMDB's commits it is to be applied.
  static uint32_t commits_for(const PendingCommits& list, Durability durability) noexcept;
  Result<void> hand_over(Clock::time_point deadline);
  bool should_log_grow() noexcept;
  Outcome apply_behind(const PendingCommits& pending, uint64_t upto) noexcept;
  Result<int> apply_newest();
  Result<int> commit_alone(const PendingCommits& list, uint64_t upto);
  Result<int> put_into(MDB_txn* transaction, const PendingCommits& list);
  void note_committed(uint32_t commits) noexcept;
  void set(std::shared_ptr<const PendingView> pending) noexcept;

  FileState& state_;
  PendingPool pool_;
  std::mutex applying_;  // held while LMDB commits what is pending, and until that is known here
  std::mutex mutex_;     // guards pending_ where the write lock does not
  std::shared_ptr<const PendingView> pending_;
  std::atomic<const PendingView*> address_ = nullptr;  // of pending_
  Durability durability_ = Durability::full;           // of what is pending
  std::atomic<bool> is_alone_ = false;                 // no other process can open the file
  bool is_handed_over_ = false;                        // the thread is at work, or nobody has asked since
  bool has_failed_ = false;                            // what was handed over has to be applied here
  Outcome outcome_;                                    // the thread's, until it is done
  std::shared_ptr<const PendingView> after_;           // what is pending once it is
  BackgroundTask task_;
};

}  // namespace quire::engine
