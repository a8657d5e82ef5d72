#include <algorithm>

#include "engine/container/feed_cursor.h"

namespace quire::engine {
namespace {

// Entries that a selection holds, 40 bytes each; more than that are found by walking the keys again.
constexpr size_t kMostSelected = size_t{1} << 19;
// A partition's feed is read from the partition's items, sorted, unless so few changes of all partitions are
// left that their rows are looked at sooner.
constexpr uint64_t kFewChanges = 1024;

uint64_t number_of(Lsn lsn) noexcept {
  return static_cast<uint64_t>(lsn);
}

}  // namespace

Result<LatestCursor> LatestCursor::open(ContainerStore& store, const Transaction& snapshot,
                                        const FeedScope& scope, Lsn after) {
  QUIRE_TRY(store.refresh(snapshot));
  QUIRE_ASSIGN(const ContainerStatistics statistics, store.statistics(snapshot));
  QUIRE_ASSIGN(FileCursor rows, FileCursor::open(snapshot, store.feed_.table()));
  LatestCursor cursor(store, snapshot, scope, after, std::move(rows));
  if (!scope.with_expired) {
    QUIRE_ASSIGN(cursor.lifetime_, store.lifetime_in_scan(snapshot));
  }
  const uint64_t changes =
      number_of(statistics.last_lsn) - std::min(number_of(statistics.last_lsn), number_of(after));
  cursor.is_done_ = changes == 0;
  if (!scope.epk_prefix.empty() && changes > kFewChanges) {
    cursor.is_done_ = true;  // with the rows
    cursor.selection_ = Selection();
    cursor.selection_->from = scope.epk_prefix;
    cursor.selection_->up_to = statistics.last_lsn;
  }
  return cursor;
}

Result<bool> LatestCursor::next(FeedEntry& entry) {
  for (;;) {
    if (walk_) {
      QUIRE_ASSIGN(const bool is_found, next_of_walk(entry));
      if (is_found) return true;
      walk_.reset();
    }
    if (selection_) {
      QUIRE_ASSIGN(const bool is_found, next_of_selection(entry));
      if (is_found) return true;
      selection_.reset();
    }
    if (is_done_) return false;
    QUIRE_ASSIGN(const bool is_found, next_row(entry));
    if (is_found) return true;
  }
}

Result<bool> LatestCursor::next_row(FeedEntry& entry) {
  QUIRE_ASSIGN(const bool is_there,
               is_begun_ ? rows_.next() : rows_.seek(FeedKey::latest(Lsn{number_of(after_) + 1}).bytes()));
  is_begun_ = true;
  if (!is_there || !is_latest_key(rows_.key())) {
    is_done_ = true;
    return false;
  }
  const std::optional<FeedRow> row = read_feed_row(rows_.record());
  if (!row) return std::unexpected(store_->damaged_feed());
  const Lsn lsn = lsn_of_feed_key(rows_.key());
  if (row->timestamp < scope_->from_timestamp) return false;
  if (row->kind == FeedRowKind::item) return item_row(*row, lsn, entry);
  QUIRE_TRY(open_range(*row, lsn));
  return false;
}

Result<bool> LatestCursor::item_row(const FeedRow& row, Lsn lsn, FeedEntry& entry) {
  if (!scope_->covers(row.item_key)) return false;
  QUIRE_ASSIGN(const std::optional<Bytes> record, snapshot_->get(store_->items_table(), row.item_key));
  if (!record || !has_known_layout(*record) || read_header(*record).lsn != lsn)
    return std::unexpected(store_->damaged_feed());
  return offer(row.item_key, *record, entry);
}

Result<bool> LatestCursor::offer(Bytes key, Bytes record, FeedEntry& entry) {
  const sql::Value root = store_->root_of(record);
  if (root.is_undefined()) [[unlikely]]
    return std::unexpected(store_->damaged(key));
  const RecordHeader header = read_header(record);
  if (header.timestamp < scope_->from_timestamp) return false;
  if (lifetime_.has_ended(header, snapshot_->now())) return false;
  if (!scope_->partition_key.empty() && !store_->is_in_partition(root, scope_->partition_key)) return false;
  entry = {.kind = FeedRowKind::item,
           .lsn = header.lsn,
           .transaction = transaction_lsn(header.lsn, header.place),
           .timestamp = header.timestamp,
           .current = root,
           .previous = {},
           .previous_transaction = {}};
  after_ = header.lsn;
  return true;
}

// ---- Ranges

Result<void> LatestCursor::open_range(const FeedRow& row, Lsn last) {
  // The prefix sorts before the keys that begin with it.
  const std::string from(std::max(row.first_key, Bytes(scope_->epk_prefix)));
  if (row.kind == FeedRowKind::unordered_range) {
    selection_ = Selection();
    selection_->from = from;
    selection_->until = row.last_key;
    selection_->up_to = last;
    return {};
  }
  if (row.last_key < Bytes(scope_->epk_prefix)) return {};
  QUIRE_ASSIGN(FileCursor items, FileCursor::open(*snapshot_, store_->items_table()));
  walk_.emplace(Walk{.items = std::move(items),
                     .from = from,
                     .until = std::string(row.last_key),
                     .up_to = last,
                     .is_begun = false});
  return {};
}

// Between the keys of the range there may be items that were written before or later: their LSNs tell.
Result<bool> LatestCursor::next_of_walk(FeedEntry& entry) {
  for (;;) {
    QUIRE_ASSIGN(const bool is_there, walk_->is_begun ? walk_->items.next() : walk_->items.seek(walk_->from));
    walk_->is_begun = true;
    if (!is_there || walk_->items.key() > Bytes(walk_->until) || !scope_->covers(walk_->items.key()))
      return false;
    const Bytes record = walk_->items.record();
    if (!has_known_layout(record)) return std::unexpected(store_->damaged(walk_->items.key()));
    const Lsn lsn = read_header(record).lsn;
    if (lsn <= after_ || lsn > walk_->up_to) continue;
    QUIRE_ASSIGN(const bool is_wanted, offer(walk_->items.key(), record, entry));
    if (is_wanted) return true;
  }
}

Result<void> LatestCursor::select() {
  const auto by_lsn = [](const Selection::Item& a, const Selection::Item& b) { return a.lsn < b.lsn; };
  Selection& selection = *selection_;
  selection.items.clear();
  selection.at = 0;
  selection.is_complete = true;
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(*snapshot_, store_->items_table()));
  QUIRE_ASSIGN(bool is_there, cursor.seek(selection.from));
  while (is_there && scope_->covers(cursor.key()) &&
         (selection.until.empty() || cursor.key() <= Bytes(selection.until))) {
    const Bytes record = cursor.record();
    if (!has_known_layout(record)) return std::unexpected(store_->damaged(cursor.key()));
    const Lsn lsn = read_header(record).lsn;
    if (lsn > after_ && lsn <= selection.up_to) selection.items.push_back({lsn, cursor.key(), record});
    if (selection.items.size() == 2 * kMostSelected) {
      std::ranges::nth_element(selection.items, selection.items.begin() + kMostSelected, by_lsn);
      selection.items.resize(kMostSelected);
      selection.is_complete = false;
    }
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  std::ranges::sort(selection.items, by_lsn);
  // Past this many, some that are smaller may have been let go.
  if (!selection.is_complete) selection.items.resize(std::min(selection.items.size(), kMostSelected));
  return {};
}

Result<bool> LatestCursor::next_of_selection(FeedEntry& entry) {
  for (;;) {
    Selection& selection = *selection_;
    if (selection.at == selection.items.size()) {
      if (selection.is_complete) return false;
      QUIRE_TRY(select());
      continue;
    }
    const Selection::Item& item = selection.items[selection.at++];
    after_ = item.lsn;
    QUIRE_ASSIGN(const bool is_wanted, offer(item.key, item.record, entry));
    if (is_wanted) return true;
  }
}

}  // namespace quire::engine
