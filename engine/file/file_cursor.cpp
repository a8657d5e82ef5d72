#include "engine/file/file_cursor.h"

#include <lmdb.h>

#include <algorithm>
#include <cstdint>

#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_view.h"

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
  return FileCursor(cursor, transaction.is_write() ? 0 : transaction.state().facts.page_bytes);
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
  return move(MDB_FIRST);
}
Result<bool> FileCursor::last() {
  return move(MDB_LAST);
}
Result<bool> FileCursor::next() {
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
  MDB_val key{target.size(), const_cast<char*>(target.data())}, record;
  const int code = mdb_cursor_get(cursor_.get(), &key, &record, MDB_SET_RANGE);
  if (code == MDB_NOTFOUND) return false;
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "read the file"));
  key_ = {static_cast<const char*>(key.mv_data), key.mv_size};
  record_ = {static_cast<const char*>(record.mv_data), record.mv_size};
  return true;
}

}  // namespace quire::engine
