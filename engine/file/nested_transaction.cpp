// Nested transactions, in LMDB's tree and beside it, and the way from one to the other.
#include <lmdb.h>

#include "engine/file/change_list.h"
#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/pending_view.h"
#include "engine/file/small_commits.h"
#include "engine/file/transaction.h"

namespace quire::engine {

Result<void> WriteTransaction::begin_nested() {
  if (is_small()) {
    changes_before_ = pending_->newest()->make_savepoint();
    return {};
  }
  const int code = mdb_txn_begin(state_->environment(), parent_->handle_, 0, &handle_);
  if (code != MDB_SUCCESS) {
    handle_ = nullptr;
    return std::unexpected(lmdb_error(code, "begin a nested transaction"));
  }
  changes_before_ = changes().size();
  return {};
}

Result<void> WriteTransaction::commit_nested() {
  MDB_txn* const own = std::exchange(handle_, nullptr);
  if (is_small()) pending_->newest()->release(changes_before_, parent_->changes_before_);
  const int code = is_small() ? MDB_SUCCESS : mdb_txn_commit(own);
  if (code == MDB_SUCCESS) {
    committed();
    return {};
  }
  if (code == MDB_MAP_FULL) note(Retry::map_full);
  changes().return_to(changes_before_);
  rolled_back();
  return std::unexpected(lmdb_error(code, "commit a nested transaction"));
}

void WriteTransaction::undo_nested() noexcept {
  MDB_txn* const own = std::exchange(handle_, nullptr);
  if (is_small()) {
    pending_->newest()->return_to(changes_before_);
    pending_->newest()->release(changes_before_, parent_->changes_before_);
  } else if (own != nullptr) {
    mdb_txn_abort(own);
    changes().return_to(changes_before_);
  }
  rolled_back();
}

// ---- Out of what is pending

Result<void> WriteTransaction::move_to_tree() {
  WriteTransaction& first = outermost();
  // Cursors still stand in it.
  const std::shared_ptr<const PendingView> pending = first.taken_in_ = pending_;
  note(Retry::not_small);  // as long as a part of it is missing
  QUIRE_TRY(first.begin_writing());
  QUIRE_TRY(move_to_tree(*pending, pending->newest()->changes()));
  pending->newest()->return_to(0);
  first.retry_ = Retry::none;
  return {};
}

// What it has seen of the tree stays where it is until it ends: bytes that were handed out lie there.
Result<void> WriteTransaction::begin_writing() {
  if (handle_ != snapshot_) return {};
  QUIRE_TRY(state_->small_commits().take_back(state_->deadline()));
  QUIRE_ASSIGN(int code, state_->small_commits().apply_what_was_handed_over());
  MDB_txn* writing = nullptr;
  if (code == MDB_SUCCESS) code = state_->readers().begin(0, writing);
  if (code == MDB_MAP_FULL) note(Retry::map_full);
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "begin a write transaction"));
  handle_ = writing;
  return {};
}

// Those that this is nested in come first.
Result<void> WriteTransaction::move_to_tree(const PendingView& pending, size_t upto) {
  pending_.reset();
  upto_ = 0;
  const size_t from = changes_before_;
  int code = MDB_SUCCESS;
  if (parent_ != nullptr) {
    handle_ = nullptr;
    if (parent_->is_small()) QUIRE_TRY(parent_->move_to_tree(pending, from));
    QUIRE_TRY(begin_nested());
  } else {
    QUIRE_ASSIGN(code, state_->small_commits().put_into(handle_));
    changes().start(true);
  }
  const auto put_own = [&](uint32_t slot, const PendingCommits::Change& change) {
    code = put_into_tree(handle_, slot, change);
    if (code == MDB_SUCCESS) changes().note(slot, change.key, change.record.size());
    return code == MDB_SUCCESS;
  };
  if (code == MDB_SUCCESS) pending.newest()->for_each_change(from, upto, put_own);
  if (code == MDB_SUCCESS) return {};
  if (code == MDB_MAP_FULL) note(Retry::map_full);
  return std::unexpected(lmdb_error(state_->explain_io_error(code), "write to the file"));
}

}  // namespace quire::engine
