#include "engine/file/write_session.h"

#include <algorithm>
#include <exception>
#include <new>

#include "engine/file/disk_room.h"
#include "engine/file/file_format.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/lmdb_value.h"
#include "sql/value/memory_budget.h"

namespace quire::engine {
namespace {

using Work = std::function<Result<void>(WriteTransaction&)>;

// No exception of a work leaves its transaction.
Result<void> call(const Work& work, WriteTransaction& transaction) {
  try {
    return work(transaction);
  } catch (const sql::MemoryLimitExceeded& error) {
    return fail(ErrorCode::out_of_memory, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "memory ran out");
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal, error.what());
  } catch (...) {
    return fail(ErrorCode::internal, "an exception of unknown type");
  }
}

}  // namespace

Result<std::unique_ptr<WriteSession>> WriteSession::begin(FileState& state, const Patience& patience,
                                                          Size size, Sync sync) {
  std::unique_ptr<WriteSession> session(new WriteSession(state));
  QUIRE_TRY(session->start(patience, size, sync));
  return session;
}

WriteSession::~WriteSession() {
  rollback();
}

Result<void> WriteSession::start(const Patience& patience, Size size, Sync sync) {
  const Clock::time_point deadline = patience.deadline;
  QUIRE_TRY(state_->write_lock().acquire(patience));
  is_locked_ = true;
  durability_ = state_->durability();
  if (sync == Sync::later && durability_ == Durability::full) durability_ = Durability::relaxed;
  // Beside others who are at work, who may be so for long, dropped tables have to stay anyhow.
  const bool removes_tables = state_->tables().has_dropped() && state_->readers().is_idle();
  const bool may_be_small = size != Size::any && !removes_tables;
  SmallCommits& small = state_->small_commits();
  QUIRE_TRY(small.prepare(durability_, may_be_small, deadline));
  bool is_first = small.is_newest(nullptr);
  if (!is_first && !begin_on_snapshot()) {
    // All places for snapshots may be taken: LMDB's transaction takes none.
    QUIRE_TRY(small.apply(deadline));
    is_first = true;
  }
  if (is_first) QUIRE_TRY(begin_transaction(deadline));
  transaction_->can_run_again_ = size != Size::small_or_moved;
  if (is_first && !state_->is_in_memory())
    QUIRE_TRY(state_->anchor().prepare(durability_, mdb_txn_id(transaction_->handle_) - 1));
  if (may_be_small) transaction_->pending_ = small.begin(durability_, transaction_->handle_);
  if (transaction_->is_small()) {
    transaction_->upto_ = transaction_->pending_->last() + 1;
    return state_->anchor().check_trust();
  }
  // What is synced later is much, and comes to no log.
  state_->log().changes().start(durability_ != Durability::none && sync != Sync::later);
  if (!state_->tables().has_dropped() || remove_dropped_tables()) return {};
  // What failed has spoilt the transaction; the tables can wait.
  mdb_txn_abort(std::exchange(transaction_->handle_, nullptr));
  transaction_.reset();
  state_->readers().leave();
  is_entered_ = false;
  return begin_transaction(deadline);
}

Result<void> WriteSession::begin_on_snapshot() {
  const uint64_t tables_version = state_->tables().version();
  transaction_.reset(new WriteTransaction(state_, nullptr, nullptr, state_->now()));
  transaction_->tables_version_ = tables_version;
  QUIRE_ASSIGN(transaction_->snapshot_, state_->readers().begin());
  transaction_->handle_ = transaction_->snapshot_;
  return {};
}

Result<void> WriteSession::begin_transaction(Clock::time_point deadline) {
  const uint64_t tables_version = state_->tables().version();
  for (;;) {
    state_->readers().enter();
    is_entered_ = true;
    // Its memory is taken first: what begins must be sure to end.
    transaction_.reset(new WriteTransaction(state_, nullptr, nullptr, state_->now()));
    const int code = state_->readers().begin(0, transaction_->handle_);
    if (code == MDB_SUCCESS) break;
    transaction_.reset();
    state_->readers().leave();
    is_entered_ = false;
    if (code != MDB_MAP_RESIZED)
      return std::unexpected(lmdb_error(state_->explain_io_error(code), "begin a write transaction"));
    QUIRE_TRY(state_->readers().adopt_map_size(deadline));
  }
  transaction_->tables_version_ = tables_version;
  return {};
}

// A dropped table is empty, and nobody who begins now may use it; but LMDB closes the handle in the act, so
// no older snapshot of this process may be at work. Otherwise the next write transaction tries again, as it
// does where this one fails, for want of room in the map: then false.
bool WriteSession::remove_dropped_tables() {
  TableRegistry& tables = state_->tables();
  bool is_sound = true;
  state_->readers().try_while_alone([&] {
    state_->log().changes().give_up();
    for (std::string& name : tables.take_dropped()) {
      is_sound = is_sound && remove_table(name);
      if (!is_sound) tables.add_dropped(std::move(name));
    }
  });
  return is_sound;
}

bool WriteSession::remove_table(const std::string& name) {
  TableRegistry& tables = state_->tables();
  MDB_txn* const handle = transaction_->handle();
  const std::optional<Table> open = tables.find(name);
  if (!open) return true;
  MDB_val key = lmdb_value(name), record;
  const int found = mdb_get(handle, state_->facts.main, &key, &record);
  if (found == MDB_NOTFOUND) {  // another process has removed it, when it opened the file
    mdb_dbi_close(state_->environment(), open->slot());
    tables.forget(name, *open);
    return true;
  }
  if (found != MDB_SUCCESS || mdb_drop(handle, open->slot(), 1) != MDB_SUCCESS) return false;
  tables.forget(name, *open);
  const std::string row = dropped_table_row(name);
  key = lmdb_value(row);
  const int code = mdb_del(handle, state_->facts.meta.slot(), &key, nullptr);
  return code == MDB_SUCCESS || code == MDB_NOTFOUND;
}

Result<void> WriteSession::commit() {
  if (!transaction_) return fail(ErrorCode::misuse, "the transaction has ended");
  if (transaction_->is_small()) return commit_small();
  QUIRE_ASSIGN(const bool waits, must_wait());
  state_->let_commits_wait(waits);
  const bool is_logged = durability_ == Durability::full && !waits;
  const bool must_give_up = durability_ == Durability::full && waits && transaction_->taken_in_ != nullptr;
  const int code = commit_tree(is_logged);
  if (code == MDB_SUCCESS) {
    transaction_->committed();
    // Until the anchor has gone, a crash takes the file back to it. Nobody was told of the commit.
    const Result<void> settled = must_give_up ? state_->anchor().give_up() : Result<void>();
    const bool is_due = is_logged ? state_->log().is_due() : state_->anchor().is_due();
    const bool has_anchor = is_logged || durability_ == Durability::relaxed;
    finish();
    state_->commits().notify();
    if (has_anchor) state_->anchor_keeper().note_commit(is_due);
    return settled;
  }
  const int cause = state_->explain_io_error(code);
  if (code == MDB_MAP_FULL) transaction_->note(Retry::map_full);
  transaction_->rolled_back();
  if (is_logged) {
    state_->log().withdraw(state_->anchor());
    // Without the log, pages that it keeps may be taken; what is pending is in it alone.
    if (is_no_room(cause) && taken_in() == 0 && state_->anchor().give_up()) {
      state_->log().stand_back();
      transaction_->note(Retry::log_given_up);
    }
  }
  return std::unexpected(lmdb_error(cause, "commit"));
}

uint32_t WriteSession::taken_in() const noexcept {
  const auto pending = transaction_->taken_in_ == nullptr ? nullptr : state_->small_commits().newest();
  return pending == nullptr ? 0 : pending->last();
}

int WriteSession::commit_tree(bool is_logged) noexcept {
  MDB_txn* const handle = std::exchange(transaction_->handle_, nullptr);
  if (transaction_->taken_in_ == nullptr) return mdb_txn_commit(handle);
  const uint32_t own = is_logged && state_->log().has_put_down() ? 1 : 0;
  return state_->small_commits().commit_with_pending(handle, own);
}

Result<bool> WriteSession::must_wait() {
  const CommitLog::Commit commit{.transaction = transaction_->handle_,
                                 .meta = state_->facts.meta.slot(),
                                 .tables = state_->tables(),
                                 .anchor = state_->anchor(),
                                 .pending = taken_in()};
  if (durability_ == Durability::relaxed) state_->log().expect_small(commit);
  if (durability_ != Durability::full) return false;
  if (state_->small_commits().has_failed()) return true;
  QUIRE_ASSIGN(const bool is_logged, state_->log().take(commit));
  return !is_logged;
}

// LMDB's transaction has only read. The log takes the commit, or it cannot be small.
Result<void> WriteSession::commit_small() {
  const bool has_changes = transaction_->pending_->newest()->changes() != 0;
  if (has_changes) {
    QUIRE_ASSIGN(const bool is_in_log, state_->small_commits().commit());
    if (!is_in_log) {
      QUIRE_TRY(transaction_->must_have_tree());
      return commit();
    }
  }
  end_handle();
  transaction_->committed();
  finish();
  state_->commits().notify();
  if (has_changes) state_->anchor_keeper().note_commit(false);
  return {};
}

void WriteSession::rollback() noexcept {
  if (transaction_ && transaction_->handle_ != nullptr) {
    end_handle();
    if (transaction_->is_small()) transaction_->pending_->newest()->return_to(0);
    if (transaction_->taken_in_ != nullptr) transaction_->taken_in_->newest()->return_to(0);
    transaction_->rolled_back();
  }
  finish();
}

// A snapshot ends in finish().
void WriteSession::end_handle() noexcept {
  MDB_txn* const handle = std::exchange(transaction_->handle_, nullptr);
  if (handle != transaction_->snapshot_) mdb_txn_abort(handle);
}

void WriteSession::finish() noexcept {
  if (transaction_ && transaction_->owns_tables_) {
    transaction_->owns_tables_ = false;
    state_->tables().release();
  }
  if (transaction_ && transaction_->snapshot_ != nullptr)
    state_->readers().end(std::exchange(transaction_->snapshot_, nullptr));
  if (is_entered_) state_->readers().leave();
  if (is_locked_) state_->write_lock().release();
  is_entered_ = is_locked_ = false;
}

Result<void> WriteSession::run_nested(WriteTransaction& parent, const Work& work, bool is_request) {
  WriteTransaction nested(parent.state_, parent.handle_, &parent, parent.now());
  if (is_request) nested.request_ = &nested;
  const uint64_t size_before = nested.request_->size_;
  QUIRE_TRY(nested.begin_nested());
  parent.nested_ = &nested;
  const auto outcome = call(
      [&](WriteTransaction& transaction) -> Result<void> {
        QUIRE_TRY(work(transaction));
        transaction.prepare_to_commit();
        return {};
      },
      nested);
  parent.nested_ = nullptr;
  if (outcome) return nested.commit_nested();
  nested.undo_nested();
  nested.return_to_size(size_before);
  return outcome;
}

namespace {

// Runs the members once; how many of them succeeded.
size_t run_members(WriteTransaction& transaction, std::span<WriteRequest* const> group) {
  size_t succeeded = 0;
  for (WriteRequest* request : group) {
    request->outcome = group.size() == 1 ? call(*request->work, transaction)
                                         : WriteSession::run_nested(transaction, *request->work, true);
    if (request->outcome) ++succeeded;
  }
  return succeeded;
}

template <typename Held>
struct ReleaseAtEnd {
  Held& held;
  ~ReleaseAtEnd() { held.release(); }
};

Sync sync_of(std::span<WriteRequest* const> group) {
  const bool is_later =
      std::ranges::all_of(group, [](const WriteRequest* request) { return request->sync == Sync::later; });
  return is_later ? Sync::later : Sync::with_commit;
}

// One attempt; whether and why it must be repeated.
Result<WriteSession::Retry> try_group(FileState& state, std::span<WriteRequest* const> group,
                                      const Patience& patience, WriteSession::Size size) {
  QUIRE_ASSIGN(const std::unique_ptr<WriteSession> session,
               WriteSession::begin(state, patience, size, sync_of(group)));
  const size_t succeeded = run_members(session->transaction(), group);
  if (session->retry() != WriteSession::Retry::none) {
    session->rollback();
    return session->retry();
  }
  if (succeeded == 0) return WriteSession::Retry::none;
  auto committed = session->commit();
  if (!committed && session->retry() == WriteSession::Retry::none) {
    for (WriteRequest* request : group)
      if (request->outcome) request->outcome = committed;
  }
  return session->retry();
}

Result<void> run_until_done(FileState& state, std::span<WriteRequest* const> group, Patience patience) {
  // What is synced later is much.
  const bool is_much = sync_of(group) == Sync::later;
  for (auto size = is_much ? WriteSession::Size::any : WriteSession::Size::small_or_again;;) {
    QUIRE_ASSIGN(const WriteSession::Retry retry, try_group(state, group, patience, size));
    if (retry == WriteSession::Retry::none) return {};
    if (retry == WriteSession::Retry::not_small) size = WriteSession::Size::any;
    // The group has had its turn; what it waits for from here on, it waits for anew.
    patience.deadline = state.deadline();
    if (retry == WriteSession::Retry::map_full) QUIRE_TRY(state.grow_map(patience.deadline));
  }
}

}  // namespace

Result<void> run_group(FileState& state, std::span<WriteRequest* const> group,
                       const Patience& patience) noexcept {
  try {
    return run_until_done(state, group, patience);
  } catch (const std::exception&) {
    // Nothing was committed: after a commit nothing needs memory. The message is short enough to need none.
    return std::unexpected(Error{ErrorCode::out_of_memory, "memory ran out"});
  }
}

// What is not synced is behind an anchor, which is given up when it is. What is pending came later: its
// anchor, one with a log, was made behind all that was committed then.
Result<void> sync_commits(FileState& state, Clock::time_point deadline) {
  if (state.durability() != Durability::full) return {};
  QUIRE_TRY(state.queue().take_lead({deadline}));
  const ReleaseAtEnd lead{state.queue()};
  QUIRE_TRY(state.write_lock().acquire({deadline}));
  const ReleaseAtEnd lock{state.write_lock()};
  SmallCommits& small = state.small_commits();
  QUIRE_TRY(small.prepare(Durability::full, true, deadline));
  if (!small.is_newest(nullptr)) return {};
  const MapHold hold(state.readers());
  return state.anchor().prepare(Durability::full, state.newest_of_tree());
}

}  // namespace quire::engine
