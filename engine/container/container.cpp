// Making and opening a container, and its key dictionary. What is done to items is in item_operations.cpp.
#include "engine/container/container.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/container/new_names.h"
#include "engine/file/file_cursor.h"
#include "engine/file/this_process.h"
#include "sql/plan/index_condition.h"

namespace quire::engine {
namespace {

// A name's row in <c>/keys: its number, big-endian, so that rows stand in the order of numbers.
struct NameRow {
  explicit NameRow(size_t number) : bytes{static_cast<char>(number >> 8), static_cast<char>(number)} {}
  Bytes key() const { return {bytes.data(), bytes.size()}; }
  std::array<char, 2> bytes;
};

}  // namespace

ContainerStore::ContainerStore(Opened opened)
    : entry_(std::move(opened.entry)),
      tables_(opened.tables),
      options_(opened.options),
      names_{opened.database_number, entry_.number, entry_.etag_salt},
      system_texts_(names_),
      shared_names_(std::move(opened.names)),
      dictionary_(shared_names_->dictionary.get()),
      keys_(shared_names_->keys),
      feed_(tables_.feed),
      indexes_(tables_.index, dictionary_->number(), components() * kEpkBytes,
               [this](const Transaction& transaction, Bytes key) { return has_expired(transaction, key); }),
      throughput_(std::move(opened.throughput)),
      encoder_(entry_.definition, keys_, options_.hash, *dictionary_) {}

Result<std::shared_ptr<ContainerStore>> ContainerStore::make(const Environment& environment,
                                                             const CatalogEntry& entry, Tables tables,
                                                             const ContainerOptions& options) {
  QUIRE_ASSIGN(std::shared_ptr<SharedNames> names,
               SharedNames::of(environment, tables.keys, entry.definition));
  auto throughput =
      environment.share<Throughput>(tables.statistics, [] { return std::make_shared<Throughput>(); });
  return std::make_shared<ContainerStore>(
      Opened{entry, tables, options, environment.database_number(), std::move(names), std::move(throughput)});
}

Result<std::shared_ptr<ContainerStore>> ContainerStore::create(Environment& environment,
                                                               WriteTransaction& transaction,
                                                               const ContainerDefinition& definition,
                                                               const ContainerOptions& options) {
  QUIRE_ASSIGN(const CatalogEntry entry, Catalog(environment).create(transaction, definition));
  QUIRE_ASSIGN(std::shared_ptr<ContainerStore> store, open(environment, transaction, entry, options));
  QUIRE_TRY(write_statistics(transaction, store->tables_.statistics, {}));
  QUIRE_TRY(store->set_retention(transaction, definition));
  QUIRE_TRY(store->save_names(transaction, 0));
  QUIRE_TRY(store->set_indexes(transaction, definition));
  return store;
}

Result<std::shared_ptr<ContainerStore>> ContainerStore::open(Environment& environment,
                                                             const CatalogEntry& entry,
                                                             const ContainerOptions& options) {
  Tables tables;
  for (const auto& [name, table] :
       {std::pair{kItemsTable, &tables.items}, std::pair{kKeysTable, &tables.keys},
        std::pair{kStatisticsTable, &tables.statistics}, std::pair{kIndexTable, &tables.index},
        std::pair{kFeedTable, &tables.feed}}) {
    QUIRE_ASSIGN(const std::optional<Table> found, environment.open_table(table_name(entry.number, name)));
    if (!found)
      return fail(ErrorCode::container_not_found,
                  fmt::format("container '{}' was dropped", entry.definition.name));
    *table = *found;
  }
  return make(environment, entry, tables, options);
}

Result<std::shared_ptr<ContainerStore>> ContainerStore::open(Environment& environment,
                                                             WriteTransaction& transaction,
                                                             const CatalogEntry& entry,
                                                             const ContainerOptions& options) {
  Tables tables;
  for (const auto& [name, table] :
       {std::pair{kItemsTable, &tables.items}, std::pair{kKeysTable, &tables.keys},
        std::pair{kStatisticsTable, &tables.statistics}, std::pair{kIndexTable, &tables.index},
        std::pair{kFeedTable, &tables.feed}}) {
    QUIRE_ASSIGN(const std::optional<Table> found, transaction.open_table(table_name(entry.number, name)));
    if (!found)
      return fail(ErrorCode::container_not_found,
                  fmt::format("container '{}' was dropped", entry.definition.name));
    *table = *found;
  }
  return make(environment, entry, tables, options);
}

// ---- The key dictionary
//
// Only the holder of the write lock adds new names, and only after this function has brought in those of
// every earlier commit. So a reader that finds fewer names in memory than its snapshot has can load them
// without a writer of this process being in the midst of adding: such a writer has loaded them before.

Result<void> ContainerStore::refresh(const Transaction& transaction) {
  // A write transaction sees its own names, which are in memory anyway, and the commit before it.
  const uint64_t commit = transaction.number() - (transaction.is_write() ? 1 : 0);
  if (commit <= refreshed_.load(std::memory_order_acquire)) [[likely]]
    return {};
  return refresh_names(transaction, commit);
}

Result<void> ContainerStore::refresh_names(const Transaction& transaction, uint64_t commit) {
  const std::lock_guard lock(shared_names_->loading);
  if (commit <= refreshed_.load(std::memory_order_relaxed)) return {};
  QUIRE_TRY(load_names(transaction, *dictionary_));
  QUIRE_TRY(refresh_lifetime(transaction, commit));
  refreshed_.store(commit, std::memory_order_release);
  return {};
}

Result<void> ContainerStore::load_names(const Transaction& transaction,
                                        sql::KeyDictionary& dictionary) const {
  QUIRE_ASSIGN(const uint64_t count, transaction.count(tables_.keys));
  // The fixed keys are always there, until the container is dropped.
  if (count == 0)
    return fail(ErrorCode::container_not_found,
                fmt::format("container '{}' was dropped", entry_.definition.name));
  for (size_t number = dictionary.size(); number < count; ++number) {
    QUIRE_ASSIGN(const std::optional<Bytes> name, transaction.get(tables_.keys, NameRow(number).key()));
    if (!name || !simdjson::validate_utf8(name->data(), name->size()) || dictionary.add(*name) != number)
      return fail(ErrorCode::corrupt,
                  fmt::format("the property names of container '{}' are damaged", entry_.definition.name));
  }
  return {};
}

Result<void> ContainerStore::save_names(WriteTransaction& transaction, size_t from) {
  const size_t size = dictionary_->size();
  if (size == from) return {};
  transaction.on_rollback([store = shared_from_this(), from] { store->dictionary_->truncate(from); });
  for (size_t number = from; number < size; ++number)
    QUIRE_TRY(transaction.put(tables_.keys, NameRow(number).key(),
                              dictionary_->name(static_cast<sql::KeyNumber>(number))));
  return {};
}

Result<void> ContainerStore::reserve_names(Environment& environment,
                                           std::span<const std::string_view> names) {
  const auto is_missing = [&](std::string_view name) {
    return name.size() <= sql::KeyDictionary::kLongestName && !dictionary_->find(name);
  };
  {
    // Names in memory may be those of a transaction that is not committed, and may yet be taken back: look at
    // what a snapshot has.
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment.begin_read());
    QUIRE_TRY(refresh(snapshot));
    QUIRE_ASSIGN(const uint64_t durable, snapshot.count(tables_.keys));
    const auto is_durable = [&](std::string_view name) {
      const auto number = dictionary_->find(name);
      return name.size() > sql::KeyDictionary::kLongestName || (number && *number < durable);
    };
    if (durable >= sql::KeyDictionary::kMostNames || std::ranges::all_of(names, is_durable)) return {};
  }
  return environment.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(refresh(transaction));
    NewNames added(*dictionary_);
    for (const std::string_view name : names)
      if (is_missing(name)) dictionary_->add(name);
    QUIRE_TRY(save_names(transaction, added.before()));
    added.keep();
    return {};
  });
}

// ---- What the definition asks for

Result<void> ContainerStore::set_retention(WriteTransaction& transaction,
                                           const ContainerDefinition& definition) {
  QUIRE_ASSIGN(const uint32_t minutes, retention_minutes_of(definition));
  QUIRE_ASSIGN(ContainerStatistics statistics, read_statistics(transaction, tables_.statistics));
  if (statistics.retention_minutes == minutes) return {};
  ChangeFeed::set_retention(minutes, statistics);
  return write_statistics(transaction, tables_.statistics, statistics);
}

Result<bool> ContainerStore::set_indexes(WriteTransaction& transaction,
                                         const ContainerDefinition& definition) {
  QUIRE_TRY(set_lifetime(transaction, definition));
  QUIRE_ASSIGN(std::vector<Index> wanted, indexes_of(definition));
  QUIRE_ASSIGN(auto policy, policy_of(definition));
  QUIRE_ASSIGN(const uint64_t version, read_index_version(transaction, tables_.index));
  if (version == 0 && wanted.empty() && !policy) return false;
  QUIRE_TRY(refresh(transaction));
  QUIRE_ASSIGN(const ContainerStatistics statistics, read_statistics(transaction, tables_.statistics));
  const bool has_items = statistics.items > 0;
  QUIRE_ASSIGN(IndexSet* const set, indexes_.writable_set(transaction));

  std::vector<Index> kept;
  for (Index& index : set->indexes) {
    const bool is_wanted = index.is_of_policy
                               ? policy && policy->first.covers(index.parts[0].path)
                               : std::erase_if(wanted, [&](const Index& w) { return w.is_same(index); }) > 0;
    if (is_wanted)
      kept.push_back(std::move(index));
    else
      QUIRE_TRY(erase_index(transaction, tables_.index, index.number));
  }
  set->indexes = std::move(kept);
  NewNames names(*dictionary_);
  for (Index& index : wanted) {
    if (set->next_number == UINT16_MAX)
      return fail(ErrorCode::limit_exceeded, "the container has had 65,534 indexes: no number is left");
    index.number = IndexNumber{set->next_number++};
    index.is_building = has_items;
    // Known from here on, so that a look-up prepared for an index stays right.
    if (!index.is_of_expiry)
      for (const sql::IndexPart& part : index.parts)
        for (const sql::IndexStep& step : part.path)
          if (!step.is_element) dictionary_->add(step.name);
    if (!index.condition.empty()) {
      QUIRE_ASSIGN(const auto condition, sql::IndexCondition::parse(index.condition));
      for (const std::string& name : condition->names()) dictionary_->add(name);
    }
    QUIRE_TRY(save_index(transaction, tables_.index, index));
    set->indexes.push_back(std::move(index));
  }
  const bool is_policy_new = policy && policy->second != set->policy_json;
  set->policy_json = policy ? policy->second : std::string();
  set->policy = policy ? std::optional(std::move(policy->first)) : std::nullopt;
  if (is_policy_new && has_items) set->is_policy_building = true;
  if (!set->policy) set->is_policy_building = false;
  QUIRE_TRY(save_index_policy(transaction, tables_.index, *set));
  // Who is building already has not looked at the items for the new ones: it begins anew.
  if (set->is_building())
    QUIRE_TRY(save_index_build(transaction, tables_.index, IndexBuild{this_process(), {}}));
  QUIRE_TRY(indexes_.set_changed(transaction));
  QUIRE_TRY(save_names(transaction, names.before()));
  names.keep();
  return set->is_building();
}

}  // namespace quire::engine
