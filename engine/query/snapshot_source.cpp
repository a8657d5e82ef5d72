#include "engine/query/snapshot_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/index/index_sample.h"
#include "engine/query/index_scan.h"

namespace quire::engine {
namespace {

class ScanCursor final : public sql::Cursor {
 public:
  explicit ScanCursor(ItemCursor cursor) : cursor_(std::move(cursor)) {}
  Result<size_t> next(std::span<sql::Value> items) override { return cursor_.next(items); }

 private:
  ItemCursor cursor_;
};

// At most one item.
class PointCursor final : public sql::Cursor {
 public:
  explicit PointCursor(const std::optional<Item>& item) {
    if (item) root_ = item->root;
  }
  Result<size_t> next(std::span<sql::Value> items) override {
    if (!root_ || items.empty()) return size_t{0};
    items.front() = *std::exchange(root_, std::nullopt);
    return size_t{1};
  }

 private:
  std::optional<sql::Value> root_;
};

}  // namespace

namespace {

// The indexes that queries may use. For estimates and choices alone: where the file cannot be read there are
// none, and the next access tells the error.
std::vector<sql::IndexDescription> describe_indexes(const Transaction& snapshot, ContainerStore& store) {
  std::vector<sql::IndexDescription> descriptions;
  const auto set = store.indexes().set(snapshot);
  if (!set) return descriptions;
  IndexCounterBlocks blocks;
  for (const Index& index : (*set)->indexes) {
    if (index.is_building || index.is_of_expiry || index.unique == UniqueScope::partition) continue;
    const auto counters = blocks.read(snapshot, store.indexes().table(), index.number);
    if (!counters) continue;
    sql::IndexDescription& made = descriptions.emplace_back();
    made.number = static_cast<uint32_t>(index.number);
    made.name = index.name;
    made.parts = index.parts;
    made.holds = index.holds;
    made.is_unique = index.unique == UniqueScope::container;
    made.condition = index.condition;
    made.entries = counters->entries;
    made.cut_entries = counters->cut_entries;
  }
  return descriptions;
}

}  // namespace

namespace {

// Partitions one behind the other.
class PartitionsCursor final : public sql::Cursor {
 public:
  explicit PartitionsCursor(std::vector<ItemCursor> cursors) : cursors_(std::move(cursors)) {}
  Result<size_t> next(std::span<sql::Value> items) override {
    for (; next_ < cursors_.size(); ++next_) {
      QUIRE_ASSIGN(const size_t count, cursors_[next_].next(items));
      if (count > 0) return count;
    }
    return size_t{0};
  }

 private:
  std::vector<ItemCursor> cursors_;
  size_t next_ = 0;
};

class PointsCursor final : public sql::Cursor {
 public:
  explicit PointsCursor(std::vector<sql::Value> roots) : roots_(std::move(roots)) {}
  Result<size_t> next(std::span<sql::Value> items) override {
    const size_t count = std::min(items.size(), roots_.size() - next_);
    std::copy_n(roots_.begin() + static_cast<ptrdiff_t>(next_), count, items.begin());
    next_ += count;
    return count;
  }

 private:
  std::vector<sql::Value> roots_;
  size_t next_ = 0;
};

// In the order of the items' keys, each once. What no item can have is left out.
std::vector<std::pair<ItemKey, const sql::AccessKey*>> in_key_order(ContainerStore& store,
                                                                    const sql::Access& access) {
  std::vector<std::pair<ItemKey, const sql::AccessKey*>> keys;
  keys.reserve(access.keys.size());
  const bool are_points = access.kind == sql::Access::Kind::points;
  for (const sql::AccessKey& key : access.keys) {
    if (!check_partition_key(key.partition_key, store.definition().partition_key_paths)) continue;
    if (are_points && (key.id.empty() || key.id.size() > kLongestItemId)) continue;
    keys.emplace_back(ItemKey(key.partition_key, key.id, store.hash()), &key);
  }
  const auto bytes = [](const auto& key) { return key.first.bytes(); };
  std::ranges::stable_sort(keys, std::ranges::less{}, bytes);
  // Two ids, or partition keys, may share a hash: only the same ones are the same.
  const auto are_same = [](const auto& a, const auto& b) {
    return a.first.bytes() == b.first.bytes() && a.second->id == b.second->id &&
           std::ranges::equal(a.second->partition_key, b.second->partition_key, same_partition_key_value);
  };
  const auto rest = std::ranges::unique(keys, are_same);
  keys.erase(rest.begin(), rest.end());
  return keys;
}

}  // namespace

class SnapshotCollection : public sql::Collection {
 public:
  SnapshotCollection(const Transaction& snapshot, OpenContainers::Opened opened, KeyRooms& rooms)
      : snapshot_(snapshot), store_(std::move(opened.store)), opening_(opened.opening), rooms_(rooms) {}
  std::unique_ptr<sql::Collection> fork() override;

  SnapshotSource::Lookup lookup() const {
    return {store_->number(), opening_, store_->revision(), index_version()};
  }
  const std::shared_ptr<ContainerStore>& store() const noexcept { return store_; }
  std::string_view name() const override { return store_->definition().name; }
  const std::vector<std::vector<std::string>>& partition_key_paths() const override {
    return store_->definition().partition_key_paths;
  }
  std::string_view definition_property(std::string_view name) const override {
    for (const auto& [property, json] : store_->definition().other_properties)
      if (property == name) return json;
    return {};
  }
  sql::DictionaryNumber dictionary() const override { return store_->dictionary().number(); }
  // For estimates: a failure, which the next access will tell, counts as none.
  uint64_t item_count() const override {
    const auto statistics = store_->statistics(snapshot_);
    return statistics ? statistics->items : 0;
  }
  std::optional<double> partition_share(std::span<const sql::Value> partition_key) override {
    return store_->partition_share(snapshot_, partition_key);
  }
  std::vector<std::string_view> divide(size_t parts) override { return store_->divide(snapshot_, parts); }
  Result<std::optional<uint64_t>> count_items() override {
    QUIRE_ASSIGN(const Lifetime lifetime, store_->lifetime_in_scan(snapshot_));
    if (lifetime.is_on()) return std::nullopt;
    QUIRE_ASSIGN(const ContainerStatistics statistics, store_->statistics(snapshot_));
    return statistics.items;
  }

  Result<std::unique_ptr<sql::Cursor>> open(const sql::Access& access) override {
    if (access.kind == sql::Access::Kind::scan && !(access.place_from.empty() && access.place_to.empty()))
      return scan(store_->scan_between(snapshot_, access.place_from, access.place_to));
    const IdRange ids{access.id_from, access.id_to, access.is_in_id_order, access.is_reverse};
    if (access.kind == sql::Access::Kind::scan)
      return scan(access.has_id_range() ? store_->scan_ids(snapshot_, {}, ids) : store_->scan(snapshot_));
    // No item has a partition key or an id past their bounds: who asks for one finds nothing.
    if (!check_partition_key(access.partition_key, partition_key_paths())) return nothing();
    if (access.kind == sql::Access::Kind::partitions) return open_partitions(access);
    if (access.kind == sql::Access::Kind::points) return open_points(access);
    if (access.kind >= sql::Access::Kind::index) return open_index_access(snapshot_, *store_, rooms_, access);
    if (access.kind == sql::Access::Kind::partition)
      return scan(access.has_id_range() ? store_->scan_ids(snapshot_, access.partition_key, ids)
                                        : store_->scan_partition(snapshot_, access.partition_key));
    if (access.id.empty() || access.id.size() > kLongestItemId) return nothing();
    QUIRE_ASSIGN(const std::optional<Item> item, store_->read(snapshot_, access.partition_key, access.id));
    return std::make_unique<PointCursor>(item);
  }

  bool has_id_order() const override { return true; }
  std::span<const sql::IndexDescription> indexes() const override {
    if (!indexes_) indexes_ = describe_indexes(snapshot_, *store_);
    return *indexes_;
  }
  // Entries are counted as they change. Values are not: those of an index whose values are nearly all
  // different are taken to grow with the entries. What was never looked at, or has grown tenfold since, is by
  // some of the entries.
  Result<sql::IndexStatistics> index_statistics(uint32_t number) override {
    QUIRE_ASSIGN(const auto set, store_->indexes().set(snapshot_));
    const Index* const index = set->find(static_cast<IndexNumber>(number));
    if (index == nullptr) return sql::IndexStatistics{};
    IndexCounterBlocks blocks;
    QUIRE_ASSIGN(const IndexCounters counters,
                 blocks.read(snapshot_, store_->indexes().table(), index->number));
    constexpr uint64_t kOutgrown = 10;
    if (index->statistics == nullptr || counters.entries / kOutgrown > index->statistics->entries)
      return sampled(*index, set->version, counters.entries);
    sql::IndexStatistics statistics = *index->statistics;
    const auto then = static_cast<double>(std::max<uint64_t>(statistics.entries, 1));
    const auto now = static_cast<double>(counters.entries);
    for (double& distinct : statistics.distinct)
      if (distinct > then / 2) distinct *= now / then;
    statistics.entries = counters.entries;
    return statistics;
  }
  Result<std::unique_ptr<sql::IndexCursor>> open_index(const sql::Access& access) override {
    return open_index_cursor(snapshot_, *store_, rooms_, access);
  }
  Result<std::unique_ptr<sql::Cursor>> open_beside(const sql::Cursor& other,
                                                   const sql::Access& access) override {
    return open_index_access_beside(other, snapshot_, *store_, rooms_, access);
  }
  uint64_t index_version() const {
    const auto version = read_index_version(snapshot_, store_->indexes().table());
    return version ? *version : 0;
  }

  sql::Value system_property(const sql::Value& item, sql::SystemProperty property,
                             sql::Arena& arena) const override {
    return store_->system_property(item, property, arena);
  }
  void system_properties(const sql::Value& item, std::span<sql::Value, sql::kSystemPropertyCount> values,
                         sql::Arena& arena) const override {
    store_->system_properties(item, values, arena);
  }
  void write_item(const sql::Value& item, std::string& out) const override {
    store_->write_item_json(item, out);
  }
  int64_t document_id(const sql::Value& item) const override {
    return static_cast<int64_t>(header_of(item).rid);
  }

 private:
  Result<sql::IndexStatistics> sampled(const Index& index, uint64_t version, uint64_t entries) {
    ContainerIndexes& container = store_->indexes();
    if (auto known = container.samples().find(version, index.number, entries)) return *std::move(known);
    uint64_t all = 0;
    for (const sql::IndexDescription& other : indexes()) all += other.entries;
    QUIRE_ASSIGN(sql::IndexStatistics found,
                 sample_index(snapshot_, container.table(), index.number,
                              shape_of(index, container.scope_bytes()), entries, all));
    if (!found.distinct.empty()) container.samples().keep(version, index.number, found);
    return found;
  }
  static Result<std::unique_ptr<sql::Cursor>> scan(Result<ItemCursor> cursor) {
    if (!cursor) return std::unexpected(std::move(cursor.error()));
    return std::make_unique<ScanCursor>(std::move(*cursor));
  }
  Result<std::unique_ptr<sql::Cursor>> open_partitions(const sql::Access& access) {
    std::vector<ItemCursor> cursors;
    for (const auto& [key, asked] : in_key_order(*store_, access)) {
      QUIRE_ASSIGN(ItemCursor cursor, store_->scan_partition(snapshot_, asked->partition_key));
      cursors.push_back(std::move(cursor));
    }
    return std::make_unique<PartitionsCursor>(std::move(cursors));
  }
  Result<std::unique_ptr<sql::Cursor>> open_points(const sql::Access& access) {
    const auto keys = in_key_order(*store_, access);
    BatchGet batch_get = store_->batch_get(snapshot_);
    std::array<Bytes, BatchGet::kMost> wanted, records;
    std::vector<sql::Value> roots;
    roots.reserve(keys.size());
    for (size_t at = 0; at < keys.size(); ++at) {
      const size_t number = at % BatchGet::kMost;
      if (number == 0) {
        const auto batch = std::span(keys).subspan(at).first(std::min(keys.size() - at, BatchGet::kMost));
        std::ranges::transform(batch, wanted.begin(), [](const auto& key) { return key.first.bytes(); });
        batch_get.find(std::span(wanted).first(batch.size()), records);
      }
      const sql::AccessKey& asked = *keys[at].second;
      QUIRE_ASSIGN(const std::optional<Item> item,
                   store_->read(snapshot_, asked.partition_key, asked.id, records[number]));
      if (item) roots.push_back(item->root);
    }
    return std::make_unique<PointsCursor>(std::move(roots));
  }
  static std::unique_ptr<sql::Cursor> nothing() { return std::make_unique<PointCursor>(std::nullopt); }

  const Transaction& snapshot_;
  std::shared_ptr<ContainerStore> store_;
  uint64_t opening_;
  KeyRooms& rooms_;
  mutable std::optional<std::vector<sql::IndexDescription>> indexes_;
};

namespace {

struct OwnSnapshot {
  ReadTransaction transaction;
};

class ForkedCollection final : OwnSnapshot, public SnapshotCollection {
 public:
  ForkedCollection(ReadTransaction snapshot, OpenContainers::Opened opened, KeyRooms& rooms)
      : OwnSnapshot{std::move(snapshot)}, SnapshotCollection(transaction, std::move(opened), rooms) {}
};

}  // namespace

std::unique_ptr<sql::Collection> SnapshotCollection::fork() {
  auto snapshot = ReadTransaction::beside(snapshot_);
  if (!snapshot) return nullptr;
  return std::make_unique<ForkedCollection>(std::move(*snapshot), OpenContainers::Opened{store_, opening_},
                                            rooms_);
}

SnapshotSource::SnapshotSource(OpenContainers& containers, std::shared_ptr<ContainerStore> scope,
                               uint64_t openings, ReadTransaction snapshot)
    : containers_(containers),
      scope_(std::move(scope)),
      openings_(openings),
      snapshot_(std::move(snapshot)),
      transaction_(*snapshot_) {}
SnapshotSource::SnapshotSource(OpenContainers& containers, std::shared_ptr<ContainerStore> scope,
                               uint64_t openings, const Transaction& transaction)
    : containers_(containers), scope_(std::move(scope)), openings_(openings), transaction_(transaction) {}
SnapshotSource::~SnapshotSource() = default;

Result<std::unique_ptr<SnapshotSource>> SnapshotSource::begin(OpenContainers& containers,
                                                              std::shared_ptr<ContainerStore> scope) {
  containers.go_on_building();
  const uint64_t openings = containers.openings();
  QUIRE_ASSIGN(ReadTransaction snapshot, containers.environment().begin_read());
  return std::unique_ptr<SnapshotSource>(
      new SnapshotSource(containers, std::move(scope), openings, std::move(snapshot)));
}

void SnapshotSource::rest() noexcept {
  if (!snapshot_) return;
  commit_ = snapshot_->number();
  snapshot_.reset();
}

// The collections refer to the place of the snapshot, which is the same again.
Result<bool> SnapshotSource::resume() {
  QUIRE_ASSIGN(ReadTransaction snapshot, containers_.environment().begin_read());
  if (snapshot.number() != commit_) return false;
  snapshot_.emplace(std::move(snapshot));
  return true;
}

sql::Collection* SnapshotSource::collection(std::string_view name) {
  if (const auto found = collections_.find(name); found != collections_.end()) return found->second.get();
  auto opened = find(name);
  if (!opened) {
    if (!error_) error_ = std::move(opened.error());
    return nullptr;
  }
  std::unique_ptr<SnapshotCollection> made;
  if (opened->store != nullptr)
    made = std::make_unique<SnapshotCollection>(transaction_, std::move(*opened), containers_.key_rooms());
  return collections_.emplace(name, std::move(made)).first->second.get();
}

const std::shared_ptr<ContainerStore>& SnapshotSource::store(std::string_view collection) {
  return collections_.find(collection)->second->store();
}

// A null store if there is none.
Result<OpenContainers::Opened> SnapshotSource::find(std::string_view name) {
  QUIRE_ASSIGN(OpenContainers::Opened opened, containers_.find(transaction_, name));
  // As it is defined now, unless it was dropped, or its name is another's.
  const bool is_scope = scope_ != nullptr && scope_->definition().name == name;
  if (is_scope && (opened.store == nullptr || opened.store->number() != scope_->number()))
    opened = {.store = scope_, .opening = 0};
  is_outdated_ |= opened.opening > openings_;
  if (opened.store == nullptr) return opened;
  // Names of properties are resolved next: the dictionary has to know what this snapshot's documents hold.
  if (!is_outdated_) QUIRE_TRY(opened.store->refresh(transaction_));
  return opened;
}

// For suggestions alone: a failure to list gives none.
std::vector<std::string> SnapshotSource::collection_names() const {
  auto names = containers_.catalog().names(transaction_);
  return names ? std::move(*names) : std::vector<std::string>();
}

Result<std::unique_ptr<sql::UserFunction>> SnapshotSource::user_function(std::string_view name) {
  // Without FROM it names none; who prepared it on a container has that one's functions.
  if (scope_ != nullptr && collections_.empty()) collection(scope_->definition().name);
  std::unique_ptr<sql::UserFunction> found;
  std::string_view owner;
  for (const auto& [container, collection] : collections_) {
    if (collection == nullptr || functions_.scripts == nullptr) continue;
    QUIRE_ASSIGN(auto function, functions_.scripts->function(transaction_, *collection->store(), name,
                                                             functions_.limits, functions_.interrupts));
    if (function == nullptr) continue;
    if (found != nullptr)
      return fail(ErrorCode::semantic,
                  fmt::format("udf.{} is a function of both container '{}' and '{}'; drop one "
                              "of them, or give one another name",
                              name, owner, container));
    found = std::move(function);
    owner = container;
  }
  return found;
}

SnapshotSource::Lookups SnapshotSource::lookups() const {
  Lookups lookups;
  for (const auto& [name, collection] : collections_)
    lookups.emplace(name, collection != nullptr ? std::optional(collection->lookup()) : std::nullopt);
  return lookups;
}

bool SnapshotSource::agrees_with(const Lookups& lookups) {
  for (const auto& [name, number] : lookups) collection(name);
  return this->lookups() == lookups;
}

}  // namespace quire::engine
