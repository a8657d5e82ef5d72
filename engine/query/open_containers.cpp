#include "engine/query/open_containers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/query/query_cache.h"
#include "sql/bind/computed_property.h"
#include "sql/bind/search_policy.h"

namespace quire::engine {
namespace {

// The members of a definition that Azure's containers have, and Quire's own. Others are kept, too; but one
// that is nearly the name of one of these is a slip, and what it asks for would not happen.
Result<void> check_property_name(std::string_view name) {
  constexpr std::string_view kKnown[] = {"analyticalStorageTtl",
                                         "changeFeedPolicy",
                                         "clientEncryptionPolicy",
                                         "computedProperties",
                                         "conflictResolutionPolicy",
                                         "dataMaskingPolicy",
                                         "defaultTtl",
                                         "fullTextPolicy",
                                         "geospatialConfig",
                                         "indexes",
                                         "indexingPolicy",
                                         "itemLimit",
                                         "materializedViewDefinition",
                                         "partitionKey",
                                         "throughput",
                                         "uniqueKeyPolicy",
                                         "vectorEmbeddingPolicy"};
  if (std::ranges::find(kKnown, name) != std::end(kKnown)) return {};
  NearestName nearest(name);
  for (const std::string_view known : kKnown) nearest.offer(known);
  if (nearest.best().empty()) return {};
  return fail(ErrorCode::invalid_definition,
              fmt::format("a container's definition has no member \"{}\"{}", name, nearest.hint()));
}

// What the layers below do not know how to check. `before`: what the container has now, which stays as it is
// even where an earlier version has taken what this one does not.
Result<void> check_other_properties(const ContainerDefinition& definition,
                                    const ContainerDefinition& before = {}) {
  for (const auto& property : definition.other_properties) {
    if (std::ranges::find(before.other_properties, property) != before.other_properties.end()) continue;
    const auto& [name, json] = property;
    if (json != "null") QUIRE_TRY(check_property_name(name));  // null takes back what a file has
    if (name == "indexingPolicy") QUIRE_TRY(check_new_policy(json));
    if (name == "computedProperties") QUIRE_TRY(sql::check_computed_properties(json));
    if (name == "vectorEmbeddingPolicy") QUIRE_TRY(sql::check_vector_policy(json));
    if (name == "fullTextPolicy") QUIRE_TRY(sql::check_full_text_policy(json));
    if (name == "geospatialConfig") QUIRE_TRY(sql::check_geospatial_config(json));
  }
  return {};
}

Result<void> remove_indexes(ContainerDefinition& definition,
                            const std::function<bool(const NamedIndex&)>& is_unwanted) {
  QUIRE_ASSIGN(std::vector<NamedIndex> indexes, named_indexes_of(definition));
  std::erase_if(indexes, is_unwanted);
  return set_named_indexes(definition, indexes);
}

Result<std::vector<std::string>> new_unique_indexes(const ContainerDefinition& before,
                                                    const ContainerDefinition& after) {
  QUIRE_ASSIGN(const std::vector<NamedIndex> had, named_indexes_of(before));
  QUIRE_ASSIGN(const std::vector<NamedIndex> has, named_indexes_of(after));
  std::vector<std::string> names;
  for (const NamedIndex& index : has)
    if (index.is_unique && std::ranges::find(had, index.name, &NamedIndex::name) == had.end())
      names.push_back(index.name);
  return names;
}

}  // namespace

OpenContainers::OpenContainers(Environment& environment, const ContainerOptions& options)
    : environment_(environment),
      options_(options),
      catalog_(environment),
      queries_(std::make_unique<QueryCache>()) {}

OpenContainers::~OpenContainers() = default;

Result<OpenContainers::Opened> OpenContainers::find(const Transaction& transaction, std::string_view name) {
  QUIRE_ASSIGN(const std::optional<CatalogReference> reference, catalog_.find_reference(transaction, name));
  if (!reference) return Opened{};
  Opened opened = known(reference->number);
  // Another process may have changed the definition since; an older snapshot does well with the new one.
  if (opened.store != nullptr && opened.store->revision() >= reference->revision) return opened;
  if (opened.store == nullptr && environment_.is_making_tables_here())
    return Opened{.store = nullptr, .opening = kAfterTheGroup};
  if (opened.store == nullptr) QUIRE_TRY(forget_dropped());
  QUIRE_ASSIGN(const std::optional<CatalogEntry> entry, catalog_.find(transaction, name));
  if (!entry) return Opened{};
  QUIRE_ASSIGN(auto store, ContainerStore::open(environment_, *entry, options_));
  QUIRE_TRY(set_throughput(*store));
  if (!environment_.is_read_only()) {
    const std::lock_guard lock(mutex_);
    just_opened_.push_back(store);
    has_just_opened_.store(true, std::memory_order_release);
  }
  return keep(std::move(store));
}

// Its partitions are counted when it is opened or changed. All stores of the container have this throughput:
// it is that of the newest definition, also where an older snapshot has opened this one.
Result<void> OpenContainers::set_throughput(ContainerStore& store) {
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
  QUIRE_ASSIGN(const auto newest, catalog_.find(snapshot, store.definition().name));
  if (!newest || newest->number != store.number()) return {};
  QUIRE_ASSIGN(const uint32_t units, throughput_of(newest->definition));
  if (units == 0 && !store.throughput().is_limited()) return {};
  QUIRE_ASSIGN(const ContainerStatistics statistics, store.statistics(snapshot));
  store.throughput().set(units, statistics.document_bytes);
  return {};
}

void OpenContainers::go_on_building() {
  if (!has_just_opened_.load(std::memory_order_acquire) || environment_.is_writing_here()) return;
  std::vector<std::shared_ptr<ContainerStore>> opened;
  {
    const std::lock_guard lock(mutex_);
    opened.swap(just_opened_);
    has_just_opened_.store(false, std::memory_order_relaxed);
  }
  for (const auto& store : opened) {
    const auto is_abandoned = [&]() -> Result<bool> {
      QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
      return has_abandoned_build(environment_, snapshot, *store);
    }();
    if (!is_abandoned || !*is_abandoned) continue;
    const WorkOptions options = building_options_ ? building_options_() : WorkOptions{};
    for (;;) {
      const auto built = build(*store, options, nullptr);
      if (built || built.error().code != ErrorCode::conflict) break;
    }
  }
}

// A unique index that the items do not allow goes out of the definition as it is dropped: nobody finds the
// one without the other.
Result<void> OpenContainers::build(ContainerStore& store, const WorkOptions& options,
                                   ContainerDefinition* asked) {
  const std::optional<ContainerDefinition> given = asked == nullptr ? std::nullopt : std::optional(*asked);
  const auto forget = [&](WriteTransaction& transaction, const IndexSet& left) -> Result<void> {
    QUIRE_ASSIGN(std::optional<CatalogEntry> entry, catalog_.find(transaction, store.definition().name));
    if (!entry || entry->number != store.number()) return {};
    const bool is_as_given = entry->definition == given;
    QUIRE_TRY(remove_indexes(entry->definition, [&](const NamedIndex& index) {
      return std::ranges::find(left.indexes, index.name, &Index::name) == left.indexes.end();
    }));
    if (asked != nullptr) *asked = is_as_given ? entry->definition : *given;
    return catalog_.replace(transaction, *entry);
  };
  return build_indexes(environment_, store, options, forget);
}

Result<std::shared_ptr<ContainerStore>> OpenContainers::open(std::string_view name) {
  std::shared_ptr<ContainerStore> store;
  {
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
    QUIRE_ASSIGN(Opened opened, find(snapshot, name));
    if (opened.store == nullptr) return std::unexpected(catalog_.not_found(snapshot, name));
    store = std::move(opened.store);
  }
  go_on_building();
  return store;
}

Result<std::shared_ptr<ContainerStore>> OpenContainers::create(const ContainerDefinition& definition) {
  QUIRE_TRY(check_other_properties(definition));
  QUIRE_TRY(forget_dropped());
  std::shared_ptr<ContainerStore> store;
  QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(store, ContainerStore::create(environment_, transaction, definition, options_));
    return {};
  }));
  QUIRE_TRY(set_throughput(*store));
  return keep(std::move(store)).store;
}

Result<void> OpenContainers::alter(std::string_view name,
                                   const std::function<Result<void>(ContainerDefinition&)>& edit,
                                   const WorkOptions& building, Unfinished unfinished) {
  // What has expired before a change stays so: most of it goes now, in short transactions.
  {
    QUIRE_ASSIGN(const auto altered, open(name));
    QUIRE_TRY(erase_expired(*altered, UINT64_MAX));
  }
  for (;;) {
    Redefinition change;
    std::shared_ptr<ContainerStore> store;
    QUIRE_ASSIGN(const bool must_build, redefine(name, edit, change, store));
    if (!must_build) return {};
    QUIRE_ASSIGN(const std::vector<std::string> asked, new_unique_indexes(change.before, change.after));
    Result<void> built;
    bool is_refused = false;
    // Threads that change indexes at once build each other's: what cannot be may be another's, and is gone.
    do {
      built = build(*store, building, &change.after);
      if (!built && built.error().code != ErrorCode::conflict) {
        if (unfinished == Unfinished::stays) return built;
        // The first error is the one to tell; indexes that come back may be built later.
        (void)undo(name, change, building);
        if (built.error().code == ErrorCode::interrupted)
          built.error().message = fmt::format("interrupted; container '{}' is as it was", name);
        return built;
      }
      QUIRE_ASSIGN(is_refused, lacks_one(change, asked, store->number()));
    } while (!built && !is_refused);
    if (!is_refused) return {};
    QUIRE_TRY(undo(name, change, building));
    if (!built) return built;
    // Another thread has found that this one's cannot be, or dropped it: this one has to see which.
  }
}

Result<bool> OpenContainers::lacks_one(Redefinition& change, const std::vector<std::string>& asked,
                                       ContainerNumber number) {
  if (asked.empty()) return false;
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
  QUIRE_ASSIGN(const auto entry, catalog_.find(snapshot, change.after.name));
  if (!entry || entry->number != number) return false;
  QUIRE_ASSIGN(const std::vector<NamedIndex> present, named_indexes_of(entry->definition));
  const auto is_missing = [&](const std::string& index) {
    return std::ranges::find(present, index, &NamedIndex::name) == present.end();
  };
  if (std::ranges::none_of(asked, is_missing)) return false;
  ContainerDefinition without = change.after;
  QUIRE_TRY(remove_indexes(without, [&](const NamedIndex& index) {
    return std::ranges::find(asked, index.name) != asked.end() && is_missing(index.name);
  }));
  if (without == entry->definition) change.after = std::move(without);
  return true;
}

// All is as it was. Where another thread has changed the definition since, only the indexes that were not
// there go out of it.
Result<void> OpenContainers::undo(std::string_view name, const Redefinition& change,
                                  const WorkOptions& building) {
  const auto restore = [&](ContainerDefinition& definition) -> Result<void> {
    if (definition == change.after) {
      definition = change.before;
      return {};
    }
    QUIRE_ASSIGN(const std::vector<NamedIndex> kept, named_indexes_of(change.before));
    QUIRE_ASSIGN(const std::vector<NamedIndex> asked, named_indexes_of(change.after));
    return remove_indexes(definition, [&](const NamedIndex& index) {
      return std::ranges::find(asked, index.name, &NamedIndex::name) != asked.end() &&
             std::ranges::find(kept, index.name, &NamedIndex::name) == kept.end();
    });
  };
  Redefinition undoing;
  std::shared_ptr<ContainerStore> store;
  QUIRE_ASSIGN(const bool must_build, redefine(name, restore, undoing, store));
  // Indexes that the change had dropped, and those of other threads: these see to what cannot be themselves.
  while (must_build) {
    auto built = build(*store, building, nullptr);
    if (built || built.error().code != ErrorCode::conflict) return built;
  }
  return {};
}

Result<bool> OpenContainers::redefine(std::string_view name,
                                      const std::function<Result<void>(ContainerDefinition&)>& edit,
                                      Redefinition& change, std::shared_ptr<ContainerStore>& store) {
  bool must_build = false;
  QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(std::optional<CatalogEntry> entry, catalog_.find(transaction, name));
    if (!entry) return std::unexpected(catalog_.not_found(transaction, name));
    change.before = entry->definition;
    QUIRE_TRY(edit(entry->definition));
    QUIRE_TRY(check_other_properties(entry->definition, change.before));
    change.after = entry->definition;
    QUIRE_TRY(catalog_.replace(transaction, *entry));
    QUIRE_ASSIGN(store, ContainerStore::open(environment_, transaction, *entry, options_));
    QUIRE_TRY(store->set_retention(transaction, entry->definition));
    QUIRE_ASSIGN(must_build, store->set_indexes(transaction, entry->definition));
    return {};
  }));
  QUIRE_TRY(set_throughput(*store));
  keep(store);
  return must_build;
}

Result<void> OpenContainers::drop(std::string_view name) {
  std::optional<ContainerNumber> number;
  QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const auto found, catalog_.find_reference(transaction, name));
    if (found) number = found->number;
    return catalog_.drop(transaction, name);
  }));
  const std::lock_guard lock(mutex_);
  if (number) stores_.erase(*number);
  return {};
}

Result<uint64_t> OpenContainers::erase_expired(ContainerStore& store, uint64_t most) {
  constexpr uint64_t kAtATime = 256;
  uint64_t erased = 0;
  for (uint64_t step = kAtATime; step == kAtATime && erased < most; erased += step) {
    {
      QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
      QUIRE_TRY(store.refresh(snapshot));
      QUIRE_ASSIGN(const Lifetime lifetime, store.lifetime_in_scan(snapshot));
      if (!lifetime.is_on()) return erased;
    }
    QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(store.refresh(transaction));
      QUIRE_ASSIGN(step, store.erase_expired(transaction, std::min(kAtATime, most - erased)));
      return {};
    }));
  }
  return erased;
}

Result<uint64_t> OpenContainers::erase_expired(uint64_t most) {
  std::vector<std::string> names;
  {
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
    QUIRE_ASSIGN(names, catalog_.names(snapshot));
  }
  uint64_t erased = 0;
  for (const std::string& name : names) {
    const auto store = open(name);
    const auto of_this = store ? erase_expired(**store, most - erased) : std::unexpected(store.error());
    // Dropped meanwhile: then nothing of it is left.
    if (!of_this && of_this.error().code == ErrorCode::container_not_found) continue;
    if (!of_this) return std::unexpected(of_this.error());
    erased += *of_this;
  }
  return erased;
}

OpenContainers::Opened OpenContainers::known(ContainerNumber number) const {
  const std::lock_guard lock(mutex_);
  const auto found = stores_.find(number);
  return found != stores_.end() ? found->second : Opened{};
}

Result<void> OpenContainers::forget_dropped() {
  std::vector<std::shared_ptr<ContainerStore>> open;
  {
    const std::lock_guard lock(mutex_);
    if (stores_.size() < most_open_) return {};
    for (const auto& [number, opened] : stores_) open.push_back(opened.store);
  }
  // Begun after the last of them was opened: one that it does not have was dropped.
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
  std::vector<ContainerNumber> dropped;
  std::vector<std::string> tables;
  for (const auto& store : open) {
    QUIRE_ASSIGN(const auto found, catalog_.find_reference(snapshot, store->definition().name));
    if (found && found->number == store->number()) continue;
    dropped.push_back(store->number());
    for (const std::string_view table : kContainerTables)
      tables.push_back(table_name(store->number(), table));
  }
  if (!tables.empty()) environment_.close_gone_tables(std::move(tables));
  const std::lock_guard lock(mutex_);
  for (const ContainerNumber number : dropped) stores_.erase(number);
  most_open_ = stores_.size() + kFewOpen;
  return {};
}

OpenContainers::Opened OpenContainers::keep(std::shared_ptr<ContainerStore> store) {
  store->use_triggers(triggers_);
  const std::lock_guard lock(mutex_);
  Opened& kept = stores_[store->number()];
  if (kept.store == nullptr)
    kept = {std::move(store), openings_.fetch_add(1, std::memory_order_acq_rel) + 1};
  else if (kept.store->revision() < store->revision())
    kept.store = std::move(store);  // whose tables have been open since the first
  return kept;
}

}  // namespace quire::engine
