// One write transaction from its locks to its commit. The holder leads the WriteQueue. Internal to
// engine/file.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "engine/file/file_state.h"
#include "engine/file/transaction.h"
#include "engine/file/write_queue.h"
#include "sql/error.h"

namespace quire::engine {

class WriteSession {
 public:
  using Retry = WriteTransaction::Retry;

  // Whether it may be small (small_commits.h), and what is done where it turns out not to be.
  enum class Size : uint8_t { any, small_or_again, small_or_moved };
  // Takes the lock between processes and LMDB's, adopting a map that another process has grown, and removes
  // tables that were dropped.
  static Result<std::unique_ptr<WriteSession>> begin(FileState& state, const Patience& patience, Size size,
                                                     Sync sync = Sync::with_commit);
  // Rolls back what was not committed.
  ~WriteSession();
  WriteSession(const WriteSession&) = delete;
  WriteSession& operator=(const WriteSession&) = delete;

  WriteTransaction& transaction() noexcept { return *transaction_; }
  // Why the work has to be run again from the start, if it has.
  Retry retry() const noexcept { return transaction_->retry_; }
  bool is_active() const noexcept { return transaction_ && transaction_->handle() != nullptr; }
  Result<void> commit();
  void rollback() noexcept;

  // `work` on a nested transaction, committed into `parent` or undone; a request of its own or part of the
  // parent's.
  static Result<void> run_nested(WriteTransaction& parent,
                                 const std::function<Result<void>(WriteTransaction&)>& work,
                                 bool is_request = false);

 private:
  explicit WriteSession(FileState& state) : state_(&state) {}
  Result<void> start(const Patience& patience, Size size, Sync sync);
  Result<void> begin_transaction(Clock::time_point deadline);
  Result<void> begin_on_snapshot();
  bool remove_dropped_tables();
  // Before LMDB commits: whether that has to wait for the disk.
  Result<bool> must_wait();
  int commit_tree(bool is_logged) noexcept;
  // How many commits that are pending this one takes along into LMDB's tree.
  uint32_t taken_in() const noexcept;
  Result<void> commit_small();
  void end_handle() noexcept;
  bool remove_table(const std::string& name);
  void finish() noexcept;

  struct Delete {
    void operator()(WriteTransaction* transaction) const noexcept { delete transaction; }
  };
  FileState* state_;
  bool is_entered_ = false;
  bool is_locked_ = false;
  Durability durability_ = Durability::full;
  std::unique_ptr<WriteTransaction, Delete> transaction_;
};

// Runs a group of requests in one commit, again if the map was full, and fills in their outcomes. An error
// where that could not be begun while there was patience.
Result<void> run_group(FileState& state, std::span<WriteRequest* const> group,
                       const Patience& patience) noexcept;

// Returns when all that was committed is as durable as was asked for. busy, io.
Result<void> sync_commits(FileState& state, Clock::time_point deadline);

}  // namespace quire::engine
