#include "engine/maintenance/analyze.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "engine/container/container.h"
#include "engine/file/file_cursor.h"
#include "engine/index/index_set.h"
#include "engine/index/index_statistics.h"
#include "engine/maintenance/opened_containers.h"

namespace quire::engine {
namespace {

struct Found {
  IndexNumber number;
  sql::IndexStatistics statistics;
};

Result<sql::IndexStatistics> look_at(const Transaction& snapshot, ContainerStore& store, const Index& index,
                                     LongWork& work) {
  const Table table = store.indexes().table();
  IndexCounterBlocks blocks;
  QUIRE_ASSIGN(const IndexCounters counters, blocks.read(snapshot, table, index.number));
  const IndexShape shape = shape_of(index, store.indexes().scope_bytes());
  IndexSummary summary(shape, counters.entries);
  std::string prefix;
  append_index_number(index.number, prefix);
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot, table));
  QUIRE_ASSIGN(bool is_there, cursor.seek(prefix));
  while (is_there && cursor.key().starts_with(prefix)) {
    const auto entry = parse_index_entry(cursor.key(), cursor.record(), shape);
    if (!entry)
      return fail(ErrorCode::corrupt, fmt::format("index '{}' of container '{}' is damaged", index.name,
                                                  store.definition().name));
    summary.add(*entry);
    QUIRE_TRY(work.advance(1));
    QUIRE_ASSIGN(is_there, cursor.next());
  }
  return summary.finish();
}

// A new version of the set has statements planned anew. Nothing is left to save it in where the container was
// dropped meanwhile: LMDB must not be asked to write to a table that another process has removed.
Result<void> save(Environment& environment, ContainerStore& store, const std::vector<Found>& found) {
  return environment.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, store.indexes().table()));
    if (version == 0) return {};
    QUIRE_ASSIGN(IndexSet* const set, store.indexes().writable_set(transaction));
    for (const Found& of_index : found)
      if (set->find(of_index.number) != nullptr)
        QUIRE_TRY(save_index_statistics(transaction, store.indexes().table(), of_index.number,
                                        of_index.statistics));
    return store.indexes().set_changed(transaction);
  });
}

}  // namespace

Result<uint64_t> analyze_database(Environment& environment, std::string_view container,
                                  const WorkOptions& options) {
  LongWork work(options, "ANALYZE was interrupted");
  QUIRE_ASSIGN(const OpenedContainers opened, open_containers(environment, container, nullptr));
  for (const auto& store : opened.stores) {
    QUIRE_ASSIGN(const uint64_t entries, opened.snapshot.count(store->indexes().table()));
    work.expect(entries);
  }
  uint64_t entries = 0;
  for (const auto& store : opened.stores) {
    QUIRE_ASSIGN(const IndexSet set, load_index_set(opened.snapshot, store->indexes().table()));
    std::vector<Found> found;
    for (const Index& index : set.indexes) {
      if (index.is_building) continue;
      QUIRE_ASSIGN(sql::IndexStatistics statistics, look_at(opened.snapshot, *store, index, work));
      entries += statistics.entries;
      found.push_back({index.number, std::move(statistics)});
    }
    if (!found.empty()) QUIRE_TRY(save(environment, *store, found));
  }
  return entries;
}

}  // namespace quire::engine
