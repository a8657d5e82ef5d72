#include "engine/container/entry_collector.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/index/index_statistics.h"

namespace quire::engine {

Result<EntryCollector::End> EntryCollector::collect(const Index& index, const GoOn& go_on,
                                                    std::string& position, CollectedEntries& collected) {
  IndexSet alone;
  Index& one = alone.indexes.emplace_back(index);
  one.is_of_policy = false;  // looked up, not walked to
  EntryExtractor extractor(alone, store_.dictionary().number(), store_.indexes().scope_bytes());
  const bool is_first = position.empty();
  EntryList& entries = collected.entries;
  entries.clear();
  entries.reserve(std::min(list_bytes_, items_ * kUsualEntryBytes));
  collected.items = 0;
  collected.statistics.reset();
  std::optional<End> end;
  while (!end) {
    QUIRE_ASSIGN(const auto snapshot, snapshot_of_items());
    if (!snapshot) return End::not_current;
    QUIRE_ASSIGN(end, collect_from(*snapshot, index, extractor, go_on, position, collected));
  }
  if (*end == End::not_wanted) return *end;
  entries.sort(sort_room_);
  if (is_first && *end == End::of_items) collected.statistics = summary_of(entries, index);
  return *end;
}

// The items as they were when the building began; nothing if somebody wrote to the container. No write may be
// waited for while it is held: the map may have to grow before, and that waits for the snapshots of the
// process.
Result<std::optional<ReadTransaction>> EntryCollector::snapshot_of_items() const {
  QUIRE_ASSIGN(ReadTransaction snapshot, environment_.begin_read());
  QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(snapshot));
  if (statistics.last_lsn != lsn_) return std::nullopt;
  return snapshot;
}

// Nothing: a writer needs the snapshot to end.
Result<std::optional<EntryCollector::End>> EntryCollector::collect_from(
    const ReadTransaction& snapshot, const Index& index, EntryExtractor& extractor, const GoOn& go_on,
    std::string& position, CollectedEntries& collected) const {
  constexpr uint64_t kReadsBetweenLooks = 32;
  EntryList& entries = collected.entries;
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot, store_.items_table()));
  QUIRE_ASSIGN(bool is_there, position.empty() ? cursor.first() : cursor.seek(position));
  if (is_there && cursor.key() == position) {
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  Items items;
  uint64_t passed = 0;
  for (uint64_t reads = 1; is_there; ++reads) {
    QUIRE_ASSIGN(const size_t count, read(cursor, extractor, is_there, items));
    for (const auto& [key, root] : std::span(items).first(count)) {
      if (index.is_of_expiry)
        add_expiry_entry(index.number, header_of(root), key, entries);
      else
        extractor.add_explicit(root, key, IndexSelection::all, entries);
      ++collected.items;
      ++passed;
      position = key;
      if (entries.memory() < list_bytes_) continue;
      QUIRE_TRY(go_on(passed));
      return End::of_memory;
    }
    if (reads % kReadsBetweenLooks != 0) continue;
    QUIRE_ASSIGN(const bool is_wanted, go_on(std::exchange(passed, 0)));
    if (!is_wanted) return End::not_wanted;
    if (environment_.wants_snapshots_to_end()) return std::nullopt;
  }
  QUIRE_TRY(go_on(passed));
  return End::of_items;
}

// The next items, and has the processor fetch what the index is on. Far from each other in memory, each would
// be waited for else.
Result<size_t> EntryCollector::read(FileCursor& cursor, const EntryExtractor& extractor, bool& is_there,
                                    Items& items) const {
  size_t count = 0;
  for (; is_there && count < items.size(); ++count) {
    const sql::Value root = store_.root_of(cursor.record());
    if (root.is_undefined()) return std::unexpected(store_.damaged(cursor.key()));
    extractor.ask_ahead(root);
    items[count] = {cursor.key(), root};
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return count;
}

sql::IndexStatistics EntryCollector::summary_of(const EntryList& list, const Index& index) const {
  const IndexShape shape = shape_of(index, store_.indexes().scope_bytes());
  IndexSummary summary(shape, list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    list.ask_ahead(i);
    summary.add(list.entry(i, shape.scope_bytes));
  }
  return summary.finish();
}

}  // namespace quire::engine
