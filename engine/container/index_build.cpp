#include "engine/container/index_build.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/container/handover.h"
#include "engine/container/policy_paths.h"
#include "engine/file/file_cursor.h"
#include "engine/index/index_statistics.h"

namespace quire::engine {

// A friend of ContainerStore: reads its records.
class IndexBuilder {
 public:
  IndexBuilder(Environment& environment, ContainerStore& store, const WorkOptions& options, size_t list_bytes)
      : environment_(environment),
        store_(store),
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
  static constexpr size_t kUsualEntryBytes = 80;  // of EntryList::memory()

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
      return save_index_build(transaction, store_.indexes().table(),
                              IndexBuild{static_cast<uint32_t>(getpid()), {}});
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

  // Entries of an index, sorted: all, or those of as many items as there is memory for.
  struct Collected {
    const Index* index = nullptr;
    EntryList entries;
    uint64_t items = 0;                              // that they are of
    std::optional<sql::IndexStatistics> statistics;  // what queries are planned by, where these are all

    // Anew, in the memory of another one.
    void begin(const Index& of) {
      index = &of;
      entries.clear();
      items = 0;
      statistics.reset();
    }
  };
  using Lists = Handover<Collected>;

  // The items as they were when the building began; nothing if somebody wrote to the container. No write may
  // be waited for while it is held: the map may have to grow before, and that waits for the snapshots of the
  // process.
  Result<std::optional<ReadTransaction>> snapshot_of_items() const {
    QUIRE_ASSIGN(ReadTransaction snapshot, environment_.begin_read());
    QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(snapshot));
    if (statistics.last_lsn != lsn_) return std::nullopt;
    return snapshot;
  }

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
    Lists lists;
    auto collecting = std::async(std::launch::async, [this, &waiting, &lists] {
      const CloseAtEnd close{lists};
      return collect_all(waiting, lists);
    });
    auto inserted = insert_all(lists);
    auto collected = collecting.get();
    if (!inserted || !*inserted) return inserted;
    if (!collected || !*collected) return collected;
    return finish();
  }

  // False: somebody wrote to the container.
  Result<bool> collect_all(const std::vector<const Index*>& indexes, Lists& lists) {
    for (const Index* const index : indexes) {
      QUIRE_ASSIGN(const bool is_current, collect(*index, lists));
      if (!is_current) return false;
    }
    return true;
  }

  Result<bool> collect(const Index& index, Lists& lists) {
    IndexSet alone;
    Index& one = alone.indexes.emplace_back(index);
    one.is_of_policy = false;  // looked up, not walked to
    EntryExtractor extractor(alone, store_.dictionary().number(), store_.indexes().scope_bytes());
    std::string position;
    bool has_more = true;
    for (bool is_first = true; has_more; is_first = false) {
      Collected collected = lists.spare();
      collected.begin(index);
      collected.entries.reserve(std::min(list_bytes_, items_ * kUsualEntryBytes));
      while (has_more && collected.entries.memory() < list_bytes_) {
        if (lists.is_closed()) return true;
        QUIRE_ASSIGN(const auto snapshot, snapshot_of_items());
        if (!snapshot) return false;
        QUIRE_ASSIGN(has_more, collect_while_welcome(*snapshot, extractor, collected, lists, position));
      }
      collected.entries.sort(sort_room_);
      if (is_first && !has_more) collected.statistics = summary_of(collected.entries, index);
      if (!lists.put(std::move(collected))) return true;
    }
    return true;
  }

  // From behind `position` on; false at the last item, true if the list is full, nobody wants it any more, or
  // a writer needs the snapshot to end.
  Result<bool> collect_while_welcome(const ReadTransaction& snapshot, EntryExtractor& extractor,
                                     Collected& collected, const Lists& lists, std::string& position) {
    constexpr uint64_t kItemsTogether = 32, kBatchesBetweenLooks = 32;
    struct Item {
      Bytes key;
      sql::Value root;
    };
    const Index& index = *collected.index;
    EntryList& entries = collected.entries;
    QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot, store_.items_table()));
    QUIRE_ASSIGN(bool is_there, position.empty() ? cursor.first() : cursor.seek(position));
    if (is_there && cursor.key() == position) {
      QUIRE_ASSIGN(is_there, cursor.next());
    }
    std::array<Item, kItemsTogether> room;
    for (uint64_t batch = 1; is_there; ++batch) {
      size_t count = 0;
      for (; is_there && count < room.size(); ++count) {
        QUIRE_ASSIGN(const sql::Value root, root_of(cursor));
        extractor.ask_ahead(root);
        room[count] = {cursor.key(), root};
        QUIRE_ASSIGN(is_there, cursor.next());
      }
      for (const auto& [key, root] : std::span(room).first(count)) {
        if (index.is_of_expiry)
          add_expiry_entry(index.number, header_of(root), key, entries);
        else
          extractor.add_explicit(root, key, IndexSelection::all, entries);
        ++collected.items;
        position = key;
        if (entries.memory() >= list_bytes_) return true;
      }
      collected_.fetch_add(count, std::memory_order_relaxed);
      const bool is_unwelcome =
          batch % kBatchesBetweenLooks == 0 && (lists.is_closed() || environment_.wants_snapshots_to_end());
      if (is_unwelcome) return true;
    }
    return false;
  }

  sql::IndexStatistics summary_of(const EntryList& list, const Index& index) const {
    const IndexShape shape = shape_of(index, store_.indexes().scope_bytes());
    IndexSummary summary(shape, list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      list.ask_ahead(i);
      summary.add(list.entry(i, shape.scope_bytes));
    }
    return summary.finish();
  }

  // Tells the user how far both threads are. False: as above.
  Result<bool> insert_all(Lists& lists) {
    using namespace std::chrono_literals;
    const CloseAtEnd close{lists};
    while (!lists.is_over()) {
      std::optional<Collected> next = lists.take(50ms);
      QUIRE_TRY(work_.advance(collected_.exchange(0, std::memory_order_relaxed)));
      if (!next) continue;
      QUIRE_ASSIGN(const bool is_welcome, insert(*next));
      if (!is_welcome) return false;
      if (next->statistics) statistics_.emplace_back(next->index->number, std::move(*next->statistics));
      lists.give_back(std::move(*next));
    }
    return true;
  }

  Result<bool> insert(const Collected& collected) {
    const EntryList& list = collected.entries;
    const Index& index = *collected.index;
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
      QUIRE_TRY(work_.advance(collected.items * (to - from) / list.size()));
      from = to;
    }
    return true;
  }

  static bool is_unique_and_building(const Index& index) {
    return index.is_building && index.unique != UniqueScope::none;
  }

  // A unique index that cannot be is dropped; the others stay, to be built.
  Error give_up(const std::function<bool(const Index&)>& is_the_one, Error error) {
    if (error.code != ErrorCode::conflict) return error;
    auto dropped = environment_.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(IndexSet* const set, store_.indexes().writable_set(transaction));
      for (const Index& index : set->indexes)
        if (is_the_one(index)) QUIRE_TRY(erase_index(transaction, store_.indexes().table(), index.number));
      std::erase_if(set->indexes, is_the_one);
      return store_.indexes().set_changed(transaction);
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
    return save_index_build(transaction, store_.indexes().table(),
                            IndexBuild{static_cast<uint32_t>(getpid()), position});
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
    QUIRE_TRY(save_index_build(transaction, store_.indexes().table(), std::nullopt));
    return store_.indexes().set_changed(transaction);
  }

  Environment& environment_;
  ContainerStore& store_;
  size_t list_bytes_;
  LongWork work_;
  uint64_t items_ = 0;
  std::vector<std::pair<IndexNumber, sql::IndexStatistics>> statistics_;
  EntryList::SortRoom sort_room_;        // of the thread that collects
  std::atomic<uint64_t> collected_ = 0;  // items whose entries the user has not been told of
  Lsn lsn_{};
  uint64_t version_ = 0;  // of the list of indexes
};

Result<void> build_indexes(Environment& environment, ContainerStore& store, const WorkOptions& options,
                           size_t list_bytes) {
  auto built = IndexBuilder(environment, store, options, list_bytes).run();
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
    QUIRE_TRY(save_index_build(transaction, store.indexes().table(),
                               IndexBuild{static_cast<uint32_t>(getpid()), {}}));
    QUIRE_TRY(store.indexes().set_changed(transaction));
    deferred_version = set->version;
    return {};
  }));
  return deferred_version;
}

Result<bool> has_abandoned_build(const Transaction& transaction, ContainerStore& store) {
  QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, store.indexes().table()));
  if (version == 0) return false;
  QUIRE_ASSIGN(const auto set, store.indexes().set(transaction));
  if (!set->is_building()) return false;
  QUIRE_ASSIGN(const auto build, read_index_build(transaction, store.indexes().table()));
  if (!build) return true;
  return kill(static_cast<pid_t>(build->process), 0) != 0 && errno == ESRCH;
}

}  // namespace quire::engine
