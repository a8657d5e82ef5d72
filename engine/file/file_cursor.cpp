#include "engine/file/file_cursor.h"

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/lmdb_value.h"
#include "engine/file/pending_view.h"

namespace quire::engine {

// The two walks that together are the cursor's. A key that is in both is the pending one's.
struct FileCursor::Beside {
  Beside(const PendingView::Walk& walk, const Transaction* from) : pending(walk), writer(from) {}

  PendingView::Walk pending;
  const Transaction* writer;  // whose cursor it is; null: a snapshot's
  bool has_tree = false;      // the tree's walk stands on:
  Bytes tree_key = {}, tree_record = {};
  enum class Direction : uint8_t { none, forward, backward } direction = Direction::none;
};

FileCursor::FileCursor() noexcept = default;
FileCursor::FileCursor(FileCursor&& other) noexcept = default;
FileCursor& FileCursor::operator=(FileCursor&& other) noexcept = default;
FileCursor::~FileCursor() = default;

void FileCursor::Close::operator()(MDB_cursor* cursor) const noexcept {
  mdb_cursor_close(cursor);
}

Result<FileCursor> FileCursor::open(const Transaction& transaction, Table table) {
  if (!transaction.state().tables().is_current(table))
    return std::unexpected(lmdb_error(MDB_BAD_DBI, "open a cursor"));
  FileCursor opened;
  if (!transaction.is_write())
    if (const auto tree = TableTree::of(transaction, table)) opened.tree_.emplace(*tree);
  if (!opened.tree_) QUIRE_TRY(opened.open_in_lmdb(transaction, table));
  if (const PendingView* const pending = transaction.pending()) {
    PendingView::Walk walk(*pending, table.slot(), transaction.upto());
    // What a writer adds is seen by its cursors, of which there may be some already.
    if (transaction.is_write() || walk.seek({}))
      opened.beside_ = std::make_unique<Beside>(walk, transaction.is_write() ? &transaction : nullptr);
  }
  return opened;
}

Result<void> FileCursor::open_in_lmdb(const Transaction& transaction, Table table) {
  MDB_cursor* cursor = nullptr;
  const int code = mdb_cursor_open(transaction.handle(), table.slot(), &cursor);
  // A slot that this transaction does not know is an invalid argument to mdb_cursor_open.
  if (code != MDB_SUCCESS)
    return std::unexpected(lmdb_error(code == EINVAL ? MDB_BAD_DBI : code, "open a cursor"));
  cursor_.reset(cursor);
  return {};
}

Result<bool> FileCursor::move(Step step, Bytes target) {
  return this->step(step, target, key_, record_);
}

Result<bool> FileCursor::step(Step step, Bytes target, Bytes& key, Bytes& record) {
  if (!tree_) return step_in_lmdb(step, target, key, record);
  const auto walk = [&] {
    switch (step) {
      case Step::first:
        return tree_->first();
      case Step::last:
        return tree_->last();
      case Step::next:
        return tree_->next();
      case Step::previous:
        return tree_->previous();
      case Step::seek:
        break;
    }
    return tree_->seek(target);
  };
  auto is_there = walk();
  if (is_there && *is_there) {
    key = tree_->key();
    record = tree_->record();
  }
  return is_there;
}

Result<bool> FileCursor::step_in_lmdb(Step step, Bytes target, Bytes& key, Bytes& record) {
  constexpr std::array kOperations{MDB_FIRST, MDB_LAST, MDB_NEXT, MDB_PREV, MDB_SET_RANGE};
  MDB_val found = lmdb_value(target), data;
  const int code = mdb_cursor_get(cursor_.get(), &found, &data, kOperations[static_cast<size_t>(step)]);
  if (code == MDB_NOTFOUND) return false;
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "read the file"));
  key = {static_cast<const char*>(found.mv_data), found.mv_size};
  record = {static_cast<const char*>(data.mv_data), data.mv_size};
  return true;
}

Result<bool> FileCursor::first() {
  QUIRE_ASSIGN(const bool has_both, is_beside());
  return has_both ? first_of_both() : move(Step::first);
}
Result<bool> FileCursor::last() {
  QUIRE_ASSIGN(const bool has_both, is_beside());
  return has_both ? last_of_both() : move(Step::last);
}
Result<bool> FileCursor::next() {
  if (beside_ != nullptr) [[unlikely]]
    return has_left_pending() ? go_on_in_tree(true) : next_of_both();
  return move(Step::next);
}

Result<bool> FileCursor::previous() {
  if (beside_ != nullptr) [[unlikely]]
    return has_left_pending() ? go_on_in_tree(false) : previous_of_both();
  return move(Step::previous);
}

Result<uint64_t> FileCursor::skip_before(Bytes end, uint64_t most) {
  const std::optional<Bytes> tree_end = end_in_tree(end);
  if (!tree_end) return 0;
  const auto skipped = tree_->skip_before(*tree_end, most);
  if (skipped) note_tree_entry();
  return skipped;
}

Result<size_t> FileCursor::read_before(Bytes end, std::span<TreeEntry> entries) {
  const std::optional<Bytes> tree_end = end_in_tree(end);
  if (!tree_end) return 0;
  auto count = tree_->read_before(*tree_end, entries);
  if (count) note_tree_entry();
  return count;
}

Result<void> FileCursor::stand_on(Bytes key) {
  MDB_val wanted = lmdb_value(key), record;
  const int code = mdb_cursor_get(cursor_.get(), &wanted, &record, MDB_SET_KEY);
  if (code != MDB_SUCCESS)
    return std::unexpected(lmdb_error(code == MDB_NOTFOUND ? MDB_CORRUPTED : code, "read the file"));
  key_ = {static_cast<const char*>(wanted.mv_data), wanted.mv_size};
  record_ = {static_cast<const char*>(record.mv_data), record.mv_size};
  return {};
}

Result<bool> FileCursor::seek(Bytes target) {
  if (target.empty()) return first();
  QUIRE_ASSIGN(const bool has_both, is_beside());
  if (has_both) return seek_both(target);
  return move(Step::seek, target);
}

// ---- Beside what is pending

// A writer's may have come into the tree: then a cursor is one of the tree alone.
bool FileCursor::has_left_pending() const noexcept {
  return beside_->writer != nullptr && beside_->writer->pending() == nullptr;
}

Result<bool> FileCursor::is_beside() {
  QUIRE_TRY(follow());
  return beside_ != nullptr;
}

// Where the writer's changes have come into the tree: there too, and into LMDB's transaction that they are
// in.
Result<void> FileCursor::follow() {
  if (beside_ == nullptr || !has_left_pending()) return {};
  MDB_txn* const transaction = beside_->writer->handle();
  if (mdb_cursor_txn(cursor_.get()) != transaction) {
    MDB_cursor* cursor = nullptr;
    const int code = mdb_cursor_open(transaction, mdb_cursor_dbi(cursor_.get()), &cursor);
    if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "open a cursor"));
    cursor_.reset(cursor);
  }
  beside_.reset();
  return {};
}

// The key that it stands on may have been erased since.
Result<bool> FileCursor::go_on_in_tree(bool is_forward) {
  const bool is_fresh = beside_->direction == Beside::Direction::none;
  const Bytes from = key_;
  QUIRE_TRY(follow());
  if (is_fresh) return move(is_forward ? Step::first : Step::last);
  QUIRE_ASSIGN(const bool is_there, seek(from));
  if (is_forward) return is_there && key_ == from ? move(Step::next) : is_there;
  return move(is_there ? Step::previous : Step::last);
}

Result<void> FileCursor::stay_in_tree() {
  if (beside_ == nullptr || !has_left_pending()) return {};
  QUIRE_TRY(follow());
  return stand_on(key_);
}

Result<bool> FileCursor::move_tree(Step step, Bytes target) {
  auto is_there = this->step(step, target, beside_->tree_key, beside_->tree_record);
  beside_->has_tree = is_there && *is_there;
  return is_there;
}

// What is pending does not matter until the walk comes to the next of its keys. A key that both walks stand
// on is the pending one's, and lies elsewhere.
std::optional<Bytes> FileCursor::end_in_tree(Bytes end) const noexcept {
  if (!tree_) return std::nullopt;
  if (beside_ == nullptr) return end;
  const Beside& both = *beside_;
  const bool is_in_tree =
      both.direction == Beside::Direction::forward && both.has_tree && both.tree_key.data() == key_.data();
  if (!is_in_tree) return std::nullopt;
  return both.pending.is_there() ? std::min(end, both.pending.change().key) : end;
}

void FileCursor::note_tree_entry() noexcept {
  key_ = tree_->key();
  record_ = tree_->record();
  if (beside_ == nullptr) return;
  beside_->tree_key = key_;
  beside_->tree_record = record_;
}

bool FileCursor::stand_on_pending() noexcept {
  const PendingView::Change change = beside_->pending.change();
  key_ = change.key;
  record_ = change.record;
  return !change.is_erased;
}

// Stands on the nearer of the two walks, going on over keys that were erased.
Result<bool> FileCursor::settle(bool is_forward) {
  Beside& both = *beside_;
  both.direction = is_forward ? Beside::Direction::forward : Beside::Direction::backward;
  for (;;) {
    const bool has_pending = both.pending.is_there();
    if (!has_pending && !both.has_tree) return false;
    const Bytes pending_key = has_pending ? both.pending.change().key : Bytes();
    const bool is_same = has_pending && both.has_tree && pending_key == both.tree_key;
    const bool is_pending =
        has_pending && (!both.has_tree || is_same || (pending_key < both.tree_key) == is_forward);
    if (!is_pending) {
      key_ = both.tree_key;
      record_ = both.tree_record;
      return true;
    }
    if (!both.pending.change().is_erased) return stand_on_pending();
    if (is_same) QUIRE_TRY(move_tree(is_forward ? Step::next : Step::previous));
    is_forward ? both.pending.next() : both.pending.seek_before(pending_key);
  }
}

Result<bool> FileCursor::first_of_both() {
  QUIRE_TRY(move_tree(Step::first));
  beside_->pending.seek({});
  return settle(true);
}

Result<bool> FileCursor::last_of_both() {
  QUIRE_TRY(move_tree(Step::last));
  beside_->pending.last();
  return settle(false);
}

Result<bool> FileCursor::seek_both(Bytes target) {
  QUIRE_TRY(move_tree(Step::seek, target));
  beside_->pending.seek(target);
  return settle(true);
}

Result<bool> FileCursor::next_of_both() {
  Beside& both = *beside_;
  if (both.direction == Beside::Direction::none) return first_of_both();
  if (both.direction == Beside::Direction::backward) {
    QUIRE_TRY(move_tree(Step::seek, key_));
    both.pending.seek(key_);
  }
  if (both.has_tree && both.tree_key == key_) QUIRE_TRY(move_tree(Step::next));
  if (both.pending.is_there() && both.pending.change().key == key_) both.pending.next();
  return settle(true);
}

Result<bool> FileCursor::previous_of_both() {
  Beside& both = *beside_;
  if (both.direction == Beside::Direction::none) return last_of_both();
  if (both.direction == Beside::Direction::forward) {
    QUIRE_ASSIGN(const bool is_there, move_tree(Step::seek, key_));
    QUIRE_TRY(move_tree(is_there ? Step::previous : Step::last));
    both.pending.seek_before(key_);
  } else {
    if (both.has_tree && both.tree_key == key_) QUIRE_TRY(move_tree(Step::previous));
    if (both.pending.is_there() && both.pending.change().key == key_) both.pending.seek_before(key_);
  }
  return settle(false);
}

}  // namespace quire::engine
