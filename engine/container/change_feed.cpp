#include "engine/container/change_feed.h"

#include "engine/file/file_cursor.h"

namespace quire::engine {
namespace {

Error damaged_feed() {
  return {ErrorCode::corrupt, "the change feed of a container is damaged"};
}

// LSNs ascend, so a latest row is the table's last, unless versions are kept, whose keys come after it.
Result<void> put_last(WriteTransaction& transaction, Table table, Bytes key, Bytes row) {
  QUIRE_ASSIGN(const bool is_last, transaction.append(table, key, row));
  if (is_last) return {};
  return transaction.put(table, key, row);
}

}  // namespace

Result<uint32_t> retention_minutes_of(const ContainerDefinition& definition) {
  for (const auto& [name, json] : definition.other_properties)
    if (name == "changeFeedPolicy") return retention_minutes_from_json(json);
  return 0;
}

// ---- Writing

Result<void> ChangeFeed::add(WriteTransaction& transaction, const FeedChange& change, Bytes record,
                             ContainerStatistics& statistics) const {
  if (statistics.retention_minutes > 0) QUIRE_TRY(add_version(transaction, change, record));
  if (change.kind != FeedRowKind::created) QUIRE_TRY(forget(transaction, change.previous));
  if (change.kind == FeedRowKind::created || change.kind == FeedRowKind::replaced) {
    FeedRow row;
    row.kind = FeedRowKind::item;
    row.timestamp = change.timestamp;
    row.item_key = change.item_key;
    thread_local std::string bytes;
    write_feed_row(row, bytes);
    QUIRE_TRY(put_last(transaction, table_, FeedKey::latest(change.lsn).bytes(), bytes));
  }
  return trim(transaction, statistics, change.timestamp, kMostTrimmedByOneWrite);
}

Result<void> ChangeFeed::add_version(WriteTransaction& transaction, const FeedChange& change,
                                     Bytes record) const {
  FeedRow row;
  row.kind = change.kind;
  row.timestamp = change.timestamp;
  row.previous = change.previous;
  row.place = change.place;
  row.previous_place = change.previous_place;
  row.item_key = change.item_key;
  std::string bytes;
  write_version_head(row, bytes);
  bytes += record;
  return put_last(transaction, table_, FeedKey::version(change.lsn).bytes(), bytes);
}

// An item that was written by itself has a row of its own, which a look-up finds. Else the range that it lies
// in is the first row from there on. Where neither is, there is nothing to forget.
Result<void> ChangeFeed::forget(WriteTransaction& transaction, Lsn lsn) const {
  QUIRE_ASSIGN(bool is_forgotten, forget_in_known_range(transaction, lsn));
  if (is_forgotten) return {};
  const FeedKey key = FeedKey::latest(lsn);
  QUIRE_ASSIGN(const std::optional<Bytes> own, transaction.get(table_, key.bytes()));
  const std::optional<FeedRow> own_row = own ? read_feed_row(*own) : std::nullopt;
  if (own_row && own_row->kind == FeedRowKind::item) {
    return transaction.erase_found(table_, key.bytes());
  }
  // The tree tells of most ranges, and nothing that is pending has to be put in order for that.
  if (const auto next = transaction.seek_tree(table_, key.bytes()); next && is_latest_key(*next)) {
    known_ranges_.note(lsn, lsn_of_feed_key(*next));
    QUIRE_ASSIGN(is_forgotten, forget_in_known_range(transaction, lsn));
    if (is_forgotten) return {};
  }
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table_));
  QUIRE_ASSIGN(const bool is_there, cursor.seek(key.bytes()));
  if (!is_there || !is_latest_key(cursor.key())) return {};
  const std::optional<FeedRow> row = read_feed_row(cursor.record());
  if (!row) return std::unexpected(damaged_feed());
  const Lsn last = lsn_of_feed_key(cursor.key());
  if (!row->is_range()) return last == lsn ? transaction.erase(cursor) : Result<void>{};
  if (lsn < row->first) return {};
  if (row->kind == FeedRowKind::ordered_range) known_ranges_.note(lsn, last);
  return forget_in_range(transaction, *row, last);
}

// A look-up, where a walk would first put all that is pending in order.
Result<bool> ChangeFeed::forget_in_known_range(WriteTransaction& transaction, Lsn lsn) const {
  const Lsn last = known_ranges_.end(lsn);
  if (last < lsn) return false;
  QUIRE_ASSIGN(const std::optional<Bytes> record, transaction.get(table_, FeedKey::latest(last).bytes()));
  const std::optional<FeedRow> row = record ? read_feed_row(*record) : std::nullopt;
  if (!row || row->kind != FeedRowKind::ordered_range || lsn < row->first) return false;
  QUIRE_TRY(forget_in_range(transaction, *row, last));
  return true;
}

Result<void> ChangeFeed::forget_in_range(WriteTransaction& transaction, FeedRow row, Lsn last) const {
  const FeedKey key = FeedKey::latest(last);
  if (row.live <= 1) return transaction.erase_found(table_, key.bytes());
  --row.live;
  thread_local std::string bytes;
  write_feed_row(row, bytes);
  return transaction.put(table_, key.bytes(), bytes);
}

Result<void> ChangeFeed::trim(WriteTransaction& transaction, ContainerStatistics& statistics, uint32_t now,
                              uint64_t most) const {
  if (statistics.has_versions == 0) return {};
  const uint32_t from = retained_from(statistics, now);
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, table_));
  QUIRE_ASSIGN(bool is_there, cursor.seek(FeedKey::version({}).bytes()));
  for (uint64_t trimmed = 0; is_there && trimmed < most; ++trimmed) {
    const std::optional<FeedRow> row = read_feed_row(cursor.record());
    if (!row) return std::unexpected(damaged_feed());
    if (row->timestamp >= from) return {};
    statistics.versions_after = lsn_of_feed_key(cursor.key());
    QUIRE_TRY(transaction.erase(cursor));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  if (!is_there && statistics.retention_minutes == 0) statistics.has_versions = 0;
  return {};
}

void ChangeFeed::set_retention(uint32_t minutes, ContainerStatistics& statistics) {
  // What was written while nothing was kept is missing: older versions are of no use any more.
  if (statistics.retention_minutes == 0) statistics.versions_after = statistics.last_lsn;
  statistics.retention_minutes = minutes;
  if (minutes > 0) statistics.has_versions = 1;
}

// ---- Runs

void FeedRun::begin(Lsn lsn, Bytes item_key) {
  first_ = lsn;
  newest_ = 0;
  first_key_.assign(item_key);
}

Result<void> FeedRun::end(WriteTransaction& transaction, Bytes last_key) {
  if (items_ == 0) return {};
  FeedRow row;
  row.kind = items_ == 1 ? FeedRowKind::item : FeedRowKind::ordered_range;
  row.timestamp = newest_;
  row.item_key = last_key;
  row.first = first_;
  row.live = items_;
  row.first_key = first_key_;
  row.last_key = last_key;
  std::string bytes;
  write_feed_row(row, bytes);
  items_ = 0;
  return put_last(transaction, table_, FeedKey::latest(last_).bytes(), bytes);
}

}  // namespace quire::engine
