#include "engine/file/file_cursor.h"

#include <lmdb.h>

#include <algorithm>
#include <cstdint>

#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_view.h"
#include "engine/file/pending_view.h"

namespace quire::engine {
namespace {

// How many of the keys behind `first`, before `last`, which is not, are less than `end`.
size_t keys_before(const PageView& page, size_t first, size_t last, Bytes end) {
  size_t low = first, high = last;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (page.key(middle) < end ? low : high) = middle;
  }
  return low - first;
}

}  // namespace

// The two walks that together are the cursor's. A key that is in both is the pending one's.
struct FileCursor::Beside {
  Beside(const PendingView::Walk& walk, const Transaction* from) : pending(walk), writer(from) {}

  PendingView::Walk pending;
  const Transaction* writer;  // whose cursor it is; null: a snapshot's
  bool has_tree = false;      // the tree's walk stands on:
  Bytes tree_key = {}, tree_record = {};
  enum class Direction : uint8_t { none, forward, backward } direction = Direction::none;
};

FileCursor::FileCursor(MDB_cursor* cursor, uint32_t page_bytes) : cursor_(cursor), page_bytes_(page_bytes) {}
FileCursor::FileCursor(FileCursor&& other) noexcept = default;
FileCursor& FileCursor::operator=(FileCursor&& other) noexcept = default;
FileCursor::~FileCursor() = default;

void FileCursor::Close::operator()(MDB_cursor* cursor) const noexcept {
  mdb_cursor_close(cursor);
}

Result<FileCursor> FileCursor::open(const Transaction& transaction, Table table) {
  if (!transaction.state().tables().is_current(table))
    return std::unexpected(lmdb_error(MDB_BAD_DBI, "open a cursor"));
  MDB_cursor* cursor = nullptr;
  const int code = mdb_cursor_open(transaction.handle(), table.slot(), &cursor);
  // A slot that this transaction does not know is an invalid argument to mdb_cursor_open.
  if (code != MDB_SUCCESS)
    return std::unexpected(lmdb_error(code == EINVAL ? MDB_BAD_DBI : code, "open a cursor"));
  FileCursor opened(cursor, transaction.is_write() ? 0 : transaction.state().facts.page_bytes);
  if (const PendingView* const pending = transaction.pending()) {
    PendingView::Walk walk(*pending, table.slot(), transaction.upto());
    // What a writer adds is seen by its cursors, of which there may be some already.
    if (transaction.is_write() || walk.seek({})) {
      opened.beside_ = std::make_unique<Beside>(walk, transaction.is_write() ? &transaction : nullptr);
      opened.page_bytes_ = 0;
    }
  }
  return opened;
}

Result<bool> FileCursor::move(int operation) {
  MDB_val key, record;
  const int code = mdb_cursor_get(cursor_.get(), &key, &record, static_cast<MDB_cursor_op>(operation));
  if (code == MDB_SUCCESS) [[likely]] {
    key_ = {static_cast<const char*>(key.mv_data), key.mv_size};
    record_ = {static_cast<const char*>(record.mv_data), record.mv_size};
    return true;
  }
  if (code == MDB_NOTFOUND) return false;
  return std::unexpected(lmdb_error(code, "read the file"));
}

Result<bool> FileCursor::first() {
  QUIRE_ASSIGN(const bool has_both, is_beside());
  return has_both ? first_of_both() : move(MDB_FIRST);
}
Result<bool> FileCursor::last() {
  QUIRE_ASSIGN(const bool has_both, is_beside());
  return has_both ? last_of_both() : move(MDB_LAST);
}
Result<bool> FileCursor::next() {
  if (beside_ != nullptr) [[unlikely]]
    return has_left_pending() ? go_on_in_tree(true) : next_of_both();
  auto is_there = move(MDB_NEXT);
  if (page_bytes_ != 0 && is_there && *is_there) [[likely]]
    fetch_ahead();
  return is_there;
}

// Asks for the memory of the entries that come soon, since each is far from the last: without it, half of a
// scan's time is LMDB's first look at each. Of what is read here only hints are made, and all of it lies in
// the page of memory that holds the key; so a file with pages of another size, or a damaged one, does no
// harm.
void FileCursor::fetch_ahead() noexcept {
  constexpr size_t kAhead = 4;
  constexpr size_t kPage = layout::kUsualPage;
  constexpr size_t kLine = 64;
  const char* const node = key_.data() - layout::kNodeHeader;
  const size_t place = reinterpret_cast<uintptr_t>(node) % kPage;
  const char* const page = node - place;
  const char* const table = page + layout::kPageHeader;
  const size_t table_end = layout::load<uint16_t>(page + 12);
  if (table_end <= layout::kPageHeader || table_end > place) [[unlikely]]
    return;
  const size_t count = (table_end - layout::kPageHeader) / 2;
  const auto place_of = [&](size_t number) { return layout::load<uint16_t>(table + 2 * number); };
  number_ = number_ + 1 < count && place_of(number_ + 1) == place ? number_ + 1 : 0;
  const size_t wanted = number_ + kAhead;
  const auto fetch = [](uintptr_t at) {
    __builtin_prefetch(reinterpret_cast<const char*>(at));
    __builtin_prefetch(reinterpret_cast<const char*>(at + kLine));
  };
  const auto begin = reinterpret_cast<uintptr_t>(page);
  if (wanted < count) return fetch(begin + place_of(wanted));
  // Tables that were filled in order go on in the page behind this one, from its end downwards, in entries of
  // much the same size.
  const size_t size = (kPage - place_of(count - 1)) / count;
  __builtin_prefetch(reinterpret_cast<const char*>(begin + kPage));
  fetch(begin + 2 * kPage - std::min(kPage, (wanted - count + 1) * size));
}

Result<bool> FileCursor::previous() {
  if (beside_ != nullptr) [[unlikely]]
    return has_left_pending() ? go_on_in_tree(false) : previous_of_both();
  return move(MDB_PREV);
}

// A page at a time: the place of its last key tells how many there are before it.
Result<uint64_t> FileCursor::skip_before(Bytes end, uint64_t most) {
  uint64_t skipped = 0;
  while (page_bytes_ != 0 && skipped < most) {
    const PageView page = PageView::around(key_.data(), page_bytes_);
    const size_t number = number_in(page);
    if (number == page.size()) break;
    size_t ahead = std::min<uint64_t>(page.size() - 1 - number, most - skipped);
    if (ahead == 0) {
      QUIRE_ASSIGN(const bool is_there, move(MDB_NEXT));
      if (!is_there) break;
      if (key_ >= end) {
        QUIRE_TRY(move(MDB_PREV));
        break;
      }
      ++skipped;
      continue;
    }
    const bool is_end = page.key(number + ahead) >= end;
    if (is_end) ahead = keys_before(page, number, number + ahead, end);
    if (ahead > 0) QUIRE_TRY(stand_on(page.key(number + ahead)));
    number_ = number + ahead;
    skipped += ahead;
    if (is_end) break;
  }
  return skipped;
}

// Of the entry that the cursor stands on; the size of the page, where it does not know it.
size_t FileCursor::number_in(const PageView& page) const noexcept {
  const auto place = static_cast<size_t>(key_.data() - layout::kNodeHeader - page.begin());
  if (number_ < page.size() && page.place(number_) == place) return number_;
  size_t number = 0;
  while (number < page.size() && page.place(number) != place) ++number;
  return number;
}

Result<void> FileCursor::stand_on(Bytes key) {
  MDB_val wanted{key.size(), const_cast<char*>(key.data())}, record;
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
  MDB_val key{target.size(), const_cast<char*>(target.data())}, record;
  const int code = mdb_cursor_get(cursor_.get(), &key, &record, MDB_SET_RANGE);
  if (code == MDB_NOTFOUND) return false;
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "read the file"));
  key_ = {static_cast<const char*>(key.mv_data), key.mv_size};
  record_ = {static_cast<const char*>(record.mv_data), record.mv_size};
  return true;
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
  if (is_fresh) return move(is_forward ? MDB_FIRST : MDB_LAST);
  QUIRE_ASSIGN(const bool is_there, seek(from));
  if (is_forward) return is_there && key_ == from ? move(MDB_NEXT) : is_there;
  return move(is_there ? MDB_PREV : MDB_LAST);
}

Result<void> FileCursor::stay_in_tree() {
  if (beside_ == nullptr || !has_left_pending()) return {};
  QUIRE_TRY(follow());
  return stand_on(key_);
}

Result<bool> FileCursor::move_tree(int operation, Bytes target) {
  MDB_val key{target.size(), const_cast<char*>(target.data())}, record;
  const int code = mdb_cursor_get(cursor_.get(), &key, &record, static_cast<MDB_cursor_op>(operation));
  beside_->has_tree = code == MDB_SUCCESS;
  if (code == MDB_SUCCESS) {
    beside_->tree_key = {static_cast<const char*>(key.mv_data), key.mv_size};
    beside_->tree_record = {static_cast<const char*>(record.mv_data), record.mv_size};
    return true;
  }
  if (code == MDB_NOTFOUND) return false;
  return std::unexpected(lmdb_error(code, "read the file"));
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
    if (is_same) QUIRE_TRY(move_tree(is_forward ? MDB_NEXT : MDB_PREV));
    is_forward ? both.pending.next() : both.pending.seek_before(pending_key);
  }
}

Result<bool> FileCursor::first_of_both() {
  QUIRE_TRY(move_tree(MDB_FIRST));
  beside_->pending.seek({});
  return settle(true);
}

Result<bool> FileCursor::last_of_both() {
  QUIRE_TRY(move_tree(MDB_LAST));
  beside_->pending.last();
  return settle(false);
}

Result<bool> FileCursor::seek_both(Bytes target) {
  QUIRE_TRY(move_tree(MDB_SET_RANGE, target));
  beside_->pending.seek(target);
  return settle(true);
}

Result<bool> FileCursor::next_of_both() {
  Beside& both = *beside_;
  if (both.direction == Beside::Direction::none) return first_of_both();
  if (both.direction == Beside::Direction::backward) {
    QUIRE_TRY(move_tree(MDB_SET_RANGE, key_));
    both.pending.seek(key_);
  }
  if (both.has_tree && both.tree_key == key_) QUIRE_TRY(move_tree(MDB_NEXT));
  if (both.pending.is_there() && both.pending.change().key == key_) both.pending.next();
  return settle(true);
}

Result<bool> FileCursor::previous_of_both() {
  Beside& both = *beside_;
  if (both.direction == Beside::Direction::none) return last_of_both();
  if (both.direction == Beside::Direction::forward) {
    QUIRE_ASSIGN(const bool is_there, move_tree(MDB_SET_RANGE, key_));
    QUIRE_TRY(move_tree(is_there ? MDB_PREV : MDB_LAST));
    both.pending.seek_before(key_);
  } else {
    if (both.has_tree && both.tree_key == key_) QUIRE_TRY(move_tree(MDB_PREV));
    if (both.pending.is_there() && both.pending.change().key == key_) both.pending.seek_before(key_);
  }
  return settle(false);
}

}  // namespace quire::engine
