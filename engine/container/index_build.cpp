#include "engine/container/index_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "engine/container/build_schedule.h"
#include "engine/container/entry_collector.h"
#include "engine/container/policy_paths.h"
#include "engine/container/side_work.h"
#include "engine/file/file_cursor.h"
#include "engine/file/this_process.h"

namespace quire::engine {

// A friend of ContainerStore: reads its records.
class IndexBuilder {
 public:
  IndexBuilder(Environment& environment, ContainerStore& store, const WorkOptions& options,
               const OnDroppedIndexes& on_dropped, size_t list_bytes)
      : environment_(environment),
        store_(store),
        on_dropped_(on_dropped),
        list_bytes_(list_bytes),
        work_(options, "the building of indexes was interrupted; it goes on later") {}

  Result<void> run() {
    QUIRE_ASSIGN(const bool has_work, begin());
    if (!has_work) return {};
    QUIRE_ASSIGN(const bool is_done, build_from_snapshot());
    if (!is_done) QUIRE_TRY(build_in_steps());
    return {};
  }

 private:
  static constexpr size_t kCommitBytes = size_t{16} << 20;

  // ---- Beginning

  // Gives each path that the policy covers in some item its number, and notes that this process is at it.
  Result<bool> begin() {
    QUIRE_ASSIGN(const std::optional<PolicyPaths> found, find_policy_paths(environment_, store_, work_));
    bool has_work = false;
    QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
      has_work = false;
      QUIRE_TRY(store_.refresh(transaction));
      QUIRE_ASSIGN(const auto set, store_.indexes().set(transaction));
      if (!set->is_building()) return {};
      QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(transaction));
      const bool is_found =
          found && found->index_version == set->version && found->last_lsn == statistics.last_lsn;
      if (is_found)
        QUIRE_TRY(store_.indexes().allot_paths(transaction, found->paths));
      else if (set->is_policy_building)
        QUIRE_TRY(find_paths(transaction));
      items_ = statistics.items;
      lsn_ = statistics.last_lsn;
      has_work = true;
      return save_index_build(transaction, store_.indexes().table(), IndexBuild{this_process(), {}});
    }));
    return has_work;
  }

  Result<void> find_paths(WriteTransaction& transaction) {
    QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, store_.items_table()));
    for (;;) {
      QUIRE_ASSIGN(const bool is_there, cursor.next());
      if (!is_there) return {};
      QUIRE_ASSIGN(const sql::Value root, root_of(cursor));
      QUIRE_TRY(store_.indexes().allot_paths(transaction, root));
      QUIRE_TRY(work_.advance(0));
    }
  }

  Result<sql::Value> root_of(const FileCursor& cursor) const {
    const sql::Value root = store_.root_of(cursor.record());
    if (root.is_undefined()) return std::unexpected(store_.damaged(cursor.key()));
    return root;
  }

  // ---- From a snapshot, index by index

  Result<std::shared_ptr<const IndexSet>> set_of_indexes() const {
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
    QUIRE_TRY(store_.refresh(snapshot));
    return store_.indexes().set(snapshot);
  }

  // Whether the items and the list of indexes are those that the entries were collected from and for.
  Result<bool> is_current(WriteTransaction& transaction) const {
    QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(transaction));
    QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, store_.indexes().table()));
    return statistics.last_lsn == lsn_ && version == version_;
  }

  // False: somebody wrote to the container, or changed its indexes.
  Result<bool> build_from_snapshot() {
    QUIRE_ASSIGN(const std::shared_ptr<const IndexSet> set, set_of_indexes());
    version_ = set->version;
    std::vector<const Index*> waiting;
    for (const Index& index : set->indexes)
      if (index.is_building) waiting.push_back(&index);
    work_.expect(2 * items_ * waiting.size());  // each collected, each inserted
    BuildSchedule schedule(waiting.size());
    auto collecting = std::async(kBesideIfPossible, [this, &waiting, &schedule]() -> Result<bool> {
      const CloseScheduleAtEnd close{schedule};
      return collect_all(waiting, schedule);
    });
    auto inserted = insert_all(waiting, schedule);
    auto collected = collecting.get();
    if (!inserted || !*inserted) return inserted;
    if (!collected || !*collected) return collected;
    return finish();
  }

  // False, as of those below: somebody wrote to the container.
  Result<bool> collect_all(const std::vector<const Index*>& indexes, BuildSchedule& schedule) {
    EntryCollector collector(environment_, store_, items_, lsn_, list_bytes_);
    const EntryCollector::GoOn go_on = [&](uint64_t items) -> Result<bool> {
      collected_.fetch_add(items, std::memory_order_relaxed);
      return !schedule.is_closed();
    };
    while (std::optional<BuildSchedule::Piece> piece = schedule.wait_to_begin()) {
      QUIRE_ASSIGN(const bool is_current, collect(indexes, collector, go_on, std::move(*piece), schedule));
      if (!is_current) return false;
    }
    return true;
  }

  Result<bool> collect(const std::vector<const Index*>& indexes, EntryCollector& collector,
                       const EntryCollector::GoOn& go_on, BuildSchedule::Piece piece,
                       BuildSchedule& schedule) const {
    QUIRE_ASSIGN(const EntryCollector::End end,
                 collector.collect(*indexes[piece.index], go_on, piece.position, piece.collected));
    piece.is_last = end == EntryCollector::End::of_items;
    if (piece.is_last || end == EntryCollector::End::of_memory) schedule.give(std::move(piece));
    return end != EntryCollector::End::not_current;
  }

  // Collects too, and tells the user how far all threads are.
  Result<bool> insert_all(const std::vector<const Index*>& indexes, BuildSchedule& schedule) {
    using namespace std::chrono_literals;
    const CloseScheduleAtEnd close{schedule};
    EntryCollector collector(environment_, store_, items_, lsn_, list_bytes_);
    const auto tell = [&](uint64_t items) {
      return work_.advance(items + collected_.exchange(0, std::memory_order_relaxed));
    };
    const EntryCollector::GoOn go_on = [&](uint64_t items) -> Result<bool> {
      QUIRE_TRY(tell(items));
      return !schedule.is_closed();
    };
    while (!schedule.is_over()) {
      QUIRE_TRY(tell(0));
      if (std::optional<BuildSchedule::Piece> ready = schedule.take()) {
        QUIRE_ASSIGN(const bool is_welcome, insert(*indexes[ready->index], ready->collected));
        if (!is_welcome) return false;
        schedule.give_back(std::move(ready->collected));
      } else if (std::optional<BuildSchedule::Piece> piece = schedule.begin()) {
        QUIRE_ASSIGN(const bool is_current, collect(indexes, collector, go_on, std::move(*piece), schedule));
        if (!is_current) return false;
      } else {
        schedule.wait(50ms);
      }
    }
    return true;
  }

  // False: somebody wrote to the container, or changed its indexes.
  Result<bool> insert(const Index& index, CollectedEntries& collected) {
    const EntryList& list = collected.entries;
    for (size_t from = 0; from < list.size();) {
      size_t to = from;
      for (size_t bytes = 0; to < list.size() && bytes < kCommitBytes; ++to) bytes += list.key(to).size() + 8;
      bool is_welcome = true;
      // The commit that completes the indexes waits for all before it.
      auto written = environment_.write(
          [&](WriteTransaction& transaction) -> Result<void> {
            QUIRE_ASSIGN(is_welcome, is_current(transaction));
            if (!is_welcome) return {};
            return store_.indexes().insert(transaction, list, from, to);
          },
          Sync::later);
      if (!written)
        return std::unexpected(give_up([&](const Index& other) { return other.number == index.number; },
                                       std::move(written.error())));
      if (!is_welcome) return false;
      // Few items may have many entries: these are the effort.
      QUIRE_TRY(work_.advance(collected.items * (to - from) / list.size(), to - from));
      from = to;
    }
    if (collected.statistics) statistics_.emplace_back(index.number, std::move(*collected.statistics));
    return true;
  }

  static bool is_unique_and_building(const Index& index) {
    return index.is_building && index.unique != UniqueScope::none;
  }

  // A unique index that cannot be is dropped; the others stay, to be built.
  Error give_up(const std::function<bool(const Index&)>& is_the_one, Error error) {
    if (error.code != ErrorCode::conflict) return error;
    auto dropped = environment_.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(store_.statistics(transaction));  // the container may have been dropped meanwhile
      QUIRE_ASSIGN(IndexSet* const set, store_.indexes().writable_set(transaction));
      for (const Index& index : set->indexes)
        if (is_the_one(index)) QUIRE_TRY(erase_index(transaction, store_.indexes().table(), index.number));
      std::erase_if(set->indexes, is_the_one);
      QUIRE_TRY(store_.indexes().set_changed(transaction));
      return on_dropped_ ? on_dropped_(transaction, *set) : Result<void>();
    });
    return dropped ? std::move(error) : std::move(dropped.error());
  }

  // ---- In steps, beside other writers

  Result<void> build_in_steps() {
    std::string position;
    for (bool is_done = false; !is_done;) {
      auto stepped = environment_.write([&](WriteTransaction& transaction) -> Result<void> {
        QUIRE_TRY(store_.refresh(transaction));
        QUIRE_ASSIGN(const auto build, read_index_build(transaction, store_.indexes().table()));
        is_done = !build;
        if (is_done) return {};
        position = build->position;
        return step(transaction, position);
      });
      if (!stepped)
        return std::unexpected(give_up([](const Index& index) { return is_unique_and_building(index); },
                                       std::move(stepped.error())));
      QUIRE_TRY(work_.advance(0));
    }
    return {};
  }

  Result<void> step(WriteTransaction& transaction, std::string& position) {
    EntryList entries;
    QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, store_.items_table()));
    QUIRE_ASSIGN(bool is_there, position.empty() ? cursor.first() : cursor.seek(position));
    if (is_there && cursor.key() == position) {
      QUIRE_ASSIGN(is_there, cursor.next());
    }
    for (; is_there && entries.memory() < list_bytes_;) {
      QUIRE_ASSIGN(const sql::Value root, root_of(cursor));
      position = cursor.key();
      QUIRE_TRY(store_.indexes().add_building_entries(transaction, root, position, entries));
      QUIRE_ASSIGN(is_there, cursor.next());
    }
    entries.sort();
    QUIRE_TRY(store_.indexes().insert(transaction, entries, 0, entries.size()));
    if (!is_there) return mark_complete(transaction);
    return save_index_build(transaction, store_.indexes().table(), IndexBuild{this_process(), position});
  }

  // ---- The end

  Result<bool> finish() {
    bool is_welcome = true;
    QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(is_welcome, is_current(transaction));
      return is_welcome ? mark_complete(transaction) : Result<void>();
    }));
    return is_welcome;
  }

  Result<void> mark_complete(WriteTransaction& transaction) {
    QUIRE_ASSIGN(IndexSet* const set, store_.indexes().writable_set(transaction));
    for (Index& index : set->indexes) {
      if (!std::exchange(index.is_building, false)) continue;
      QUIRE_TRY(save_index(transaction, store_.indexes().table(), index));
    }
    for (const auto& [number, statistics] : statistics_)
      if (set->find(number) != nullptr)
        QUIRE_TRY(save_index_statistics(transaction, store_.indexes().table(), number, statistics));
    set->is_policy_building = false;
    if (set->policy && set->policy->has_tuple_of_paths && !set->policy_json.ends_with(kTuplesAreRead)) {
      set->policy_json += kTuplesAreRead;
      QUIRE_TRY(save_index_policy(transaction, store_.indexes().table(), *set));
    }
    QUIRE_TRY(save_index_build(transaction, store_.indexes().table(), std::nullopt));
    return store_.indexes().set_changed(transaction);
  }

  Environment& environment_;
  ContainerStore& store_;
  const OnDroppedIndexes& on_dropped_;
  size_t list_bytes_;
  LongWork work_;
  uint64_t items_ = 0;
  std::vector<std::pair<IndexNumber, sql::IndexStatistics>> statistics_;
  EntryList::SortRoom sort_room_;        // of the thread that collects
  std::atomic<uint64_t> collected_ = 0;  // by the other thread; items that the user has not been told of
  Lsn lsn_{};
  uint64_t version_ = 0;  // of the list of indexes
};

Result<void> build_indexes(Environment& environment, ContainerStore& store, const WorkOptions& options,
                           const OnDroppedIndexes& on_dropped, size_t list_bytes) {
  auto built = IndexBuilder(environment, store, options, on_dropped, list_bytes).run();
  if (built) return built;
  const ErrorCode code = built.error().code;
  if (code == ErrorCode::no_space || code == ErrorCode::io || code == ErrorCode::out_of_memory)
    built.error().message +=
        "; what is being built stays unfinished: the next process that opens the container goes on with it";
  return built;
}

Result<uint64_t> defer_indexes(Environment& environment, ContainerStore& store) {
  uint64_t deferred_version = 0;
  {
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment.begin_read());
    QUIRE_ASSIGN(const uint64_t version, read_index_version(snapshot, store.indexes().table()));
    if (version == 0) return uint64_t{0};
  }
  QUIRE_TRY(environment.write([&](WriteTransaction& transaction) -> Result<void> {
    deferred_version = 0;
    QUIRE_ASSIGN(const ContainerStatistics statistics, store.statistics(transaction));
    if (statistics.items > 0) return {};
    QUIRE_ASSIGN(IndexSet* const set, store.indexes().writable_set(transaction));
    bool is_deferred = false;
    for (Index& index : set->indexes) {
      if (index.unique != UniqueScope::none || index.is_building) continue;
      index.is_building = is_deferred = true;
      QUIRE_TRY(save_index(transaction, store.indexes().table(), index));
    }
    if (set->policy) set->is_policy_building = is_deferred = true;
    if (!is_deferred) return {};
    QUIRE_TRY(save_index_build(transaction, store.indexes().table(), IndexBuild{this_process(), {}}));
    QUIRE_TRY(store.indexes().set_changed(transaction));
    deferred_version = set->version;
    return {};
  }));
  return deferred_version;
}

Result<bool> has_abandoned_build(const Environment& environment, const Transaction& transaction,
                                 ContainerStore& store) {
  QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, store.indexes().table()));
  if (version == 0) return false;
  QUIRE_ASSIGN(const auto set, store.indexes().set(transaction));
  if (!set->is_building()) return false;
  QUIRE_ASSIGN(const auto build, read_index_build(transaction, store.indexes().table()));
  if (!build) return true;
  return !environment.is_open_in(build->process);
}

}  // namespace quire::engine
