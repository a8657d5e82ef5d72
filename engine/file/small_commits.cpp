#include "engine/file/small_commits.h"

#include <lmdb.h>

#include <algorithm>
#include <new>
#include <utility>

#include "engine/file/file_format.h"
#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/lmdb_value.h"
#include "engine/file/sole_use.h"

namespace quire::engine {

std::shared_ptr<const PendingView> SmallCommits::newest() {
  if (is_newest(nullptr)) return nullptr;
  const std::lock_guard lock(mutex_);
  return pending_;
}

void SmallCommits::set(std::shared_ptr<const PendingView> pending) noexcept {
  const std::lock_guard lock(mutex_);
  address_.store(pending.get(), std::memory_order_release);
  pending_.swap(pending);
}

Result<void> SmallCommits::prepare(Durability durability, bool may_be_small, Clock::time_point deadline) {
  if (pending_ == nullptr) return {};
  if (!may_be_small || durability != durability_ || has_failed_) return apply(deadline);
  // What is taken back stays until all of it goes.
  constexpr size_t kMostMemory = size_t{16} << 20, kMostTakenBack = 1000;
  const PendingCommits& newest = *pending_->newest();
  const bool has_room =
      state_.log().has_room() && newest.memory() <= kMostMemory && newest.taken_back() <= kMostTakenBack;
  if (has_room) return {};
  return should_log_grow() ? apply(deadline) : hand_over(deadline);
}

bool SmallCommits::should_log_grow() noexcept {
  const MapHold hold(state_.readers());
  return !state_.readers().is_map_lost() && state_.log().should_grow(state_.environment());
}

std::shared_ptr<const PendingView> SmallCommits::begin(Durability durability, MDB_txn* transaction) {
  if (pending_ != nullptr) return pending_;
  try {
    if (!state_.log().is_ready(durability, state_.anchor(), transaction, state_.facts.meta.slot()))
      return nullptr;
    // Whatever comes of the transaction: the anchor is given up one day, and who waits is let in.
    state_.anchor_keeper().note_commit(false);
    if (!state_.anchor_keeper().is_at_work() || is_open_elsewhere(state_.data_descriptor())) return nullptr;
    if (!is_alone_ && !keep_others_out(state_.data_descriptor())) return nullptr;
    is_alone_ = true;
    state_.write_lock().keep(true);
    auto list = pool_.take(mdb_txn_id(transaction) - 1, state_.log().bytes());
    set(std::make_shared<PendingView>(std::move(list), nullptr));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  durability_ = durability;
  return pending_;
}

Result<bool> SmallCommits::commit() {
  QUIRE_ASSIGN(const bool is_in_log, state_.log().take_small(*pending_, {.tables = state_.tables(),
                                                                         .anchor = state_.anchor(),
                                                                         .durability = durability_}));
  if (is_in_log) pending_->newest()->publish();
  return is_in_log;
}

// ---- Into LMDB's tree, behind the writer's back

namespace {

// So many commits of LMDB's. One may have nothing to write: what is left may be keys that were never there
// and are erased.
class TreeCommits {
 public:
  TreeCommits(FileState& state, uint64_t commits, size_t keys)
      : state_(state), left_(commits), keys_of_one_(keys / commits + 1) {}
  TreeCommits(const TreeCommits&) = delete;
  TreeCommits& operator=(const TreeCommits&) = delete;
  ~TreeCommits() {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  }

  // Each LMDB's code.
  int begin() noexcept {
    return transaction_ != nullptr ? MDB_SUCCESS : state_.readers().begin(0, transaction_);
  }
  int put(uint32_t slot, const PendingCommits::Change& change) noexcept {
    int code = begin();
    if (code == MDB_SUCCESS) code = put_into_tree(transaction_, slot, change);
    if (code == MDB_SUCCESS && ++keys_ % keys_of_one_ == 0 && left_ > 1) code = commit();
    return code;
  }
  int finish() noexcept {
    int code = MDB_SUCCESS;
    while (code == MDB_SUCCESS && left_ > 0) {
      code = begin();
      if (code == MDB_SUCCESS) code = commit();
    }
    return code;
  }

 private:
  int commit() noexcept {
    int code = rewrite_format_row(transaction_, state_.facts.meta.slot());
    if (code != MDB_SUCCESS) return code;
    state_.let_commits_wait(false);
    code = mdb_txn_commit(std::exchange(transaction_, nullptr));
    if (--left_ > 0 && code == MDB_SUCCESS) state_.begin_writeback();
    return code;
  }

  FileState& state_;
  uint64_t left_;
  size_t keys_of_one_;
  size_t keys_ = 0;
  MDB_txn* transaction_ = nullptr;
};

}  // namespace

// A list of many keys is applied by several commits of LMDB's, each of which keeps the pages that it writes
// in memory: one takes the memory of the one before, and those that are written are on their way to the disk
// meanwhile. With `relaxed` it is one: the log counts behind LMDB's newest commit alone.
uint32_t SmallCommits::commits_for(const PendingCommits& list, Durability durability) noexcept {
  constexpr size_t kKeysOfOne = 2048, kMost = 8;
  if (durability != Durability::full) return 1;
  return static_cast<uint32_t>(std::clamp<size_t>(list.keys() / kKeysOfOne, 1, kMost));
}

// There are two lists and two halves of the log: what was handed over before must be done. All that takes
// memory comes before anything is changed.
Result<void> SmallCommits::hand_over(Clock::time_point deadline) {
  const auto newest = pending_->newest();
  // What the thread would do next is done while it is waited for.
  if (is_handed_over_ && !task_.is_done()) newest->put_in_order();
  QUIRE_TRY(take_back(deadline));
  if (has_failed_ || newest->last() == 0) return apply(deadline);
  const uint64_t upto = newest->base() + commits_for(*newest, durability_);
  auto next = pool_.take(upto, state_.log().bytes());
  next->remember_appended(*newest);
  auto both = std::make_shared<PendingView>(next, newest);
  after_ = std::make_shared<PendingView>(std::move(next), nullptr);
  std::function<void()> act = [this, newest, upto] { outcome_ = apply_behind(*newest, upto); };
  if (!state_.log().turn_over(upto)) return apply(deadline);
  set(std::move(both));
  outcome_ = {};
  is_handed_over_ = task_.begin(std::move(act));
  has_failed_ = !is_handed_over_;
  return is_handed_over_ ? Result<void>() : apply(deadline);
}

SmallCommits::Outcome SmallCommits::apply_behind(const PendingCommits& pending, uint64_t upto) noexcept {
  try {
    const auto code = commit_alone(pending, upto);
    if (!code || *code != MDB_SUCCESS) return {};
    if (durability_ != Durability::full) return {.is_applied = true, .is_anchored = true};
    const MapHold hold(state_.readers());  // the anchor begins a snapshot
    const bool is_anchored = !state_.readers().is_map_lost() && state_.anchor().set_with_log().has_value();
    return {.is_applied = true, .is_anchored = is_anchored};
  } catch (const std::bad_alloc&) {
    return {};  // of an error's text
  }
}

Result<void> SmallCommits::take_back(Clock::time_point deadline) {
  if (!is_handed_over_) return {};
  if (!task_.wait(deadline))
    return fail(ErrorCode::busy, "the last commits are on their way to the file still; try again");
  is_handed_over_ = false;
  has_failed_ = !outcome_.is_anchored;
  if (outcome_.is_applied) set(std::move(after_));
  if (!has_failed_ && durability_ == Durability::full) state_.anchor_keeper().note_moved();
  return {};
}

Result<int> SmallCommits::apply_what_was_handed_over() {
  if (pending_ == nullptr || pending_->applying() == nullptr) return MDB_SUCCESS;
  QUIRE_ASSIGN(const int code, commit_alone(*pending_->applying(), pending_->base()));
  if (code == MDB_SUCCESS) set(std::move(after_));
  return code;
}

// ---- Into LMDB's tree

Result<void> SmallCommits::apply(Clock::time_point deadline) {
  if (pending_ == nullptr) return {};
  QUIRE_TRY(take_back(deadline));
  const bool must_give_up = has_failed_ && durability_ == Durability::full;
  while (pending_ != nullptr && pending_->commits() != 0) {
    const bool is_newest = pending_->applying() == nullptr;
    QUIRE_ASSIGN(const int code, is_newest ? apply_newest() : apply_what_was_handed_over());
    if (code == MDB_SUCCESS) continue;
    if (code != MDB_MAP_FULL && code != MDB_MAP_RESIZED)
      return std::unexpected(lmdb_error(state_.explain_io_error(code), "apply the last commits"));
    QUIRE_TRY(code == MDB_MAP_FULL ? state_.grow_map(deadline) : state_.readers().adopt_map_size(deadline));
  }
  set(nullptr);
  has_failed_ = false;
  // Both halves of the log are in use: before it can go on, neither may be.
  if (must_give_up) QUIRE_TRY(state_.anchor().give_up());
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
Result<int> SmallCommits::apply_newest() {
  const MapHold hold(state_.readers());
  MDB_txn* transaction = nullptr;
  const int code = state_.readers().begin(0, transaction);
  if (code != MDB_SUCCESS) return code;
  const auto put = put_into(transaction, *pending_->newest());
  if (!put || *put != MDB_SUCCESS) {
    mdb_txn_abort(transaction);
    return put;
  }
  state_.let_commits_wait(false);
  return commit_with_pending(transaction, 0);
}

// One attempt, of which a part, or all, may have been done before: LMDB's code.
Result<int> SmallCommits::commit_alone(const PendingCommits& list, uint64_t upto) {
  const uint64_t newest = state_.newest_of_tree();
  if (newest >= upto) return MDB_SUCCESS;
  const MapHold hold(state_.readers());
  TreeCommits commits(state_, newest < list.base() ? 1 : upto - newest, list.keys());
  int code = commits.begin();
  if (code == MDB_SUCCESS && durability_ == Durability::relaxed)
    QUIRE_TRY(state_.anchor().prepare(durability_, newest));
  if (code != MDB_SUCCESS) return code;
  list.apply_each([&](uint32_t slot, const PendingCommits::Change& change) {
    code = commits.put(slot, change);
    return code == MDB_SUCCESS;
  });
  return code == MDB_SUCCESS ? commits.finish() : code;
}

Result<int> SmallCommits::put_into(MDB_txn* transaction, const PendingCommits& list) {
  if (durability_ == Durability::relaxed)
    QUIRE_TRY(state_.anchor().prepare(durability_, mdb_txn_id(transaction) - 1));
  int code = MDB_SUCCESS;
  list.apply_each([&](uint32_t slot, const PendingCommits::Change& change) {
    code = put_into_tree(transaction, slot, change);
    return code == MDB_SUCCESS;
  });
  return code;
}

Result<int> SmallCommits::put_into(MDB_txn* transaction) {
  return put_into(transaction, *pending_->newest());
}

int SmallCommits::commit_with_pending(MDB_txn* transaction, uint32_t own) noexcept {
  const std::lock_guard lock(applying_);
  const int code = mdb_txn_commit(transaction);
  if (code == MDB_SUCCESS) note_committed(pending_->last() + own);
  return code;
}

void SmallCommits::note_committed(uint32_t commits) noexcept {
  if (commits != 0) state_.log().note_applied(commits);
  set(nullptr);
  has_failed_ = false;
}

int put_into_tree(MDB_txn* transaction, uint32_t slot, const PendingCommits::Change& change) noexcept {
  MDB_val key = lmdb_value(change.key);
  MDB_val record = lmdb_value(change.record);
  if (!change.is_erased) return mdb_put(transaction, slot, &key, &record, 0);
  const int code = mdb_del(transaction, slot, &key, nullptr);
  return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

void SmallCommits::wait_for_thread() {
  constexpr std::chrono::hours kForEver{24};
  (void)take_back(Clock::now() + kForEver);
}

// ---- Other processes

bool SmallCommits::is_anyone_waiting() const noexcept {
  return is_alone_ && is_open_elsewhere(state_.data_descriptor());
}

void SmallCommits::let_others_in() noexcept {
  pool_.clear();
  if (!is_alone_.exchange(false)) return;
  state_.write_lock().keep(false);
  quire::engine::let_others_in(state_.data_descriptor());
}

}  // namespace quire::engine
