#include <fmt/format.h>

#include "engine/container/feed_cursor.h"

namespace quire::engine {
namespace {

std::unexpected<Error> changes_lost(const ContainerStore& store, uint32_t minutes) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("changes after this point of the feed have gone: container '{}' keeps versions for "
                          "{} minutes; read its items anew, and follow the feed from now on",
                          store.definition().name, minutes));
}

}  // namespace

Result<VersionCursor> VersionCursor::open(ContainerStore& store, const Transaction& snapshot,
                                          const FeedScope& scope, Lsn after, bool must_have_all) {
  QUIRE_TRY(store.refresh(snapshot));
  QUIRE_ASSIGN(const ContainerStatistics statistics, store.statistics(snapshot));
  if (statistics.retention_minutes == 0)
    return fail(ErrorCode::invalid_argument,
                fmt::format("container '{0}' keeps no versions: ALTER CONTAINER {0} WITH {{changeFeedPolicy: "
                            "{{retentionDuration: 60}}}} has it keep them for an hour",
                            store.definition().name));
  if (after < statistics.versions_after) {
    if (must_have_all) return changes_lost(store, statistics.retention_minutes);
    after = statistics.versions_after;
  }
  QUIRE_ASSIGN(FileCursor rows, FileCursor::open(snapshot, store.feed_.table()));
  VersionCursor cursor(store, snapshot, scope, std::move(rows));
  QUIRE_ASSIGN(cursor.is_there_,
               cursor.rows_.seek(FeedKey::version(Lsn{static_cast<uint64_t>(after) + 1}).bytes()));
  // Past their time, and only not removed yet.
  const uint32_t from = retained_from(statistics, snapshot.now());
  while (cursor.is_there_) {
    const std::optional<FeedRow> row = read_feed_row(cursor.rows_.record());
    if (!row) return std::unexpected(store.damaged_feed());
    if (row->timestamp >= from) break;
    if (must_have_all) return changes_lost(store, statistics.retention_minutes);
    QUIRE_ASSIGN(cursor.is_there_, cursor.rows_.next());
  }
  return cursor;
}

Result<bool> VersionCursor::next(FeedEntry& entry) {
  while (is_there_) {
    const std::optional<FeedRow> row = read_feed_row(rows_.record());
    if (!row || row->is_range() || row->kind == FeedRowKind::item)
      return std::unexpected(store_->damaged_feed());
    const Lsn lsn = lsn_of_feed_key(rows_.key());
    QUIRE_ASSIGN(is_there_, rows_.next());
    QUIRE_ASSIGN(const bool is_wanted, offer(*row, lsn, entry));
    if (is_wanted) return true;
  }
  return false;
}

Result<bool> VersionCursor::offer(const FeedRow& row, Lsn lsn, FeedEntry& entry) {
  if (row.timestamp < scope_->from_timestamp || !scope_->covers(row.item_key)) return false;
  const sql::Value root = store_->root_of(row.record);
  if (root.is_undefined()) [[unlikely]]
    return std::unexpected(store_->damaged_feed());
  if (!scope_->partition_key.empty() && !store_->is_in_partition(root, scope_->partition_key)) return false;
  const bool is_gone = row.kind == FeedRowKind::deleted || row.kind == FeedRowKind::expired;
  entry = {.kind = row.kind,
           .lsn = lsn,
           .transaction = transaction_lsn(lsn, row.place),
           .timestamp = row.timestamp,
           .current = is_gone ? sql::Value() : root,
           .previous = is_gone ? root : sql::Value(),
           .previous_transaction = transaction_lsn(row.previous, row.previous_place)};
  if (row.kind == FeedRowKind::replaced) {
    QUIRE_ASSIGN(entry.previous, version_at(row.previous));
  }
  return true;
}

Result<sql::Value> VersionCursor::version_at(Lsn lsn) const {
  QUIRE_ASSIGN(const std::optional<Bytes> bytes,
               snapshot_->get(store_->feed_.table(), FeedKey::version(lsn).bytes()));
  if (!bytes) return sql::Value();
  const std::optional<FeedRow> row = read_feed_row(*bytes);
  if (!row) return std::unexpected(store_->damaged_feed());
  return store_->root_of(row->record);
}

}  // namespace quire::engine
