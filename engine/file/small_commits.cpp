#include "engine/file/small_commits.h"

#include <lmdb.h>

#include <new>

#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/sole_use.h"

namespace quire::engine {

std::shared_ptr<PendingCommits> SmallCommits::newest() {
  if (is_newest(nullptr)) return nullptr;
  const std::lock_guard lock(mutex_);
  return pending_;
}

void SmallCommits::set(std::shared_ptr<PendingCommits> pending) noexcept {
  const std::lock_guard lock(mutex_);
  address_.store(pending.get(), std::memory_order_release);
  pending_.swap(pending);
}

Result<void> SmallCommits::prepare(Durability durability, bool may_be_small, Clock::time_point deadline) {
  // What is taken back stays until all of it goes.
  constexpr size_t kMostMemory = size_t{16} << 20, kMostTakenBack = 1000;
  const bool may_stay = may_be_small && pending_ != nullptr && durability == durability_ &&
                        state_.log().has_room() && pending_->memory() <= kMostMemory &&
                        pending_->taken_back() <= kMostTakenBack;
  return may_stay ? Result<void>() : apply(deadline);
}

std::shared_ptr<PendingCommits> SmallCommits::begin(Durability durability, MDB_txn* transaction) {
  if (pending_ != nullptr) return pending_;
  if (!state_.anchor_keeper().is_at_work() ||
      !state_.log().is_ready(durability, state_.anchor(), transaction, state_.facts.meta.slot()) ||
      is_open_elsewhere(state_.data_descriptor()))
    return nullptr;
  if (!is_alone_ && !keep_others_out(state_.data_descriptor())) return nullptr;
  is_alone_ = true;
  state_.write_lock().keep(true);
  try {
    // Whatever comes of the transaction: who waits is let in.
    state_.anchor_keeper().note_commit(false);
    set(std::make_shared<PendingCommits>(mdb_txn_id(transaction) - 1, state_.log().bytes()));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  durability_ = durability;
  return pending_;
}

Result<bool> SmallCommits::commit() {
  PendingCommits& pending = *pending_;
  QUIRE_ASSIGN(const bool is_in_log, state_.log().take_small(pending, {.tables = state_.tables(),
                                                                       .anchor = state_.anchor(),
                                                                       .durability = durability_}));
  if (is_in_log) pending.publish();
  return is_in_log;
}

// ---- Into LMDB's tree

Result<void> SmallCommits::apply(Clock::time_point deadline) {
  if (pending_ == nullptr) return {};
  while (pending_->last() != 0) {
    QUIRE_ASSIGN(const int code, apply_once());
    if (code == MDB_SUCCESS) return {};
    if (code != MDB_MAP_FULL && code != MDB_MAP_RESIZED)
      return std::unexpected(lmdb_error(state_.explain_io_error(code), "apply the last commits"));
    QUIRE_TRY(code == MDB_MAP_FULL ? state_.grow_map(deadline) : state_.readers().adopt_map_size(deadline));
  }
  set(nullptr);
  return {};
}

bool SmallCommits::apply_if_possible(Clock::time_point deadline) noexcept {
  try {
    return apply(deadline).has_value();
  } catch (const std::bad_alloc&) {
    return false;  // of an error's text
  }
}

// One attempt: LMDB's code.
Result<int> SmallCommits::apply_once() {
  const MapHold hold(state_.readers());
  MDB_txn* transaction = nullptr;
  const int code = state_.readers().begin(0, transaction);
  if (code != MDB_SUCCESS) return code;
  const auto put = put_into(transaction);
  if (!put || *put != MDB_SUCCESS) {
    mdb_txn_abort(transaction);
    return put;
  }
  state_.let_commits_wait(false);
  return commit_with_pending(transaction, 0);
}

Result<int> SmallCommits::put_into(MDB_txn* transaction) {
  if (durability_ == Durability::relaxed)
    QUIRE_TRY(state_.anchor().prepare(durability_, mdb_txn_id(transaction) - 1));
  int code = MDB_SUCCESS;
  pending_->for_each(pending_->last(), [&](uint32_t slot, const PendingCommits::Change& change) {
    code = put_into_tree(transaction, slot, change);
    return code == MDB_SUCCESS;
  });
  return code;
}

int SmallCommits::commit_with_pending(MDB_txn* transaction, uint32_t own) noexcept {
  const std::lock_guard lock(applying_);
  const int code = mdb_txn_commit(transaction);
  if (code != MDB_SUCCESS) return code;
  if (const uint32_t commits = pending_->last() + own; commits != 0) state_.log().note_applied(commits);
  set(nullptr);
  return code;
}

int put_into_tree(MDB_txn* transaction, uint32_t slot, const PendingCommits::Change& change) noexcept {
  MDB_val key{change.key.size(), const_cast<char*>(change.key.data())};
  MDB_val record{change.record.size(), const_cast<char*>(change.record.data())};
  if (!change.is_erased) return mdb_put(transaction, slot, &key, &record, 0);
  const int code = mdb_del(transaction, slot, &key, nullptr);
  return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

// ---- Other processes

bool SmallCommits::is_anyone_waiting() const noexcept {
  return is_alone_ && is_open_elsewhere(state_.data_descriptor());
}

void SmallCommits::let_others_in() noexcept {
  if (!is_alone_.exchange(false)) return;
  state_.write_lock().keep(false);
  quire::engine::let_others_in(state_.data_descriptor());
}

}  // namespace quire::engine
