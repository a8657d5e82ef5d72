#include "engine/query/open_containers.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace quire::engine {
namespace {

Result<void> remove_indexes(ContainerDefinition& definition,
                            const std::function<bool(const NamedIndex&)>& is_unwanted) {
  QUIRE_ASSIGN(std::vector<NamedIndex> indexes, named_indexes_of(definition));
  std::erase_if(indexes, is_unwanted);
  return set_named_indexes(definition, indexes);
}

}  // namespace

Result<OpenContainers::Opened> OpenContainers::find(const Transaction& transaction, std::string_view name) {
  QUIRE_ASSIGN(const std::optional<ContainerNumber> number, catalog_.find_number(transaction, name));
  if (!number) return Opened{};
  if (Opened opened = known(*number); opened.store != nullptr) return opened;
  QUIRE_ASSIGN(const std::optional<CatalogEntry> entry, catalog_.find(transaction, name));
  if (!entry) return Opened{};
  QUIRE_ASSIGN(auto store, ContainerStore::open(environment_, *entry));
  if (!environment_.is_read_only()) QUIRE_TRY(go_on_building(transaction, *store));
  return keep(std::move(store));
}

// A crash may have left indexes unfinished. A snapshot from before the store was opened does not know its
// tables: then it is for the next to see.
Result<void> OpenContainers::go_on_building(const Transaction& transaction, ContainerStore& store) {
  if (transaction.is_write()) return {};
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
  QUIRE_ASSIGN(const bool is_abandoned, has_abandoned_build(snapshot, store));
  if (!is_abandoned) return {};
  for (;;) {
    auto built = build_indexes(environment_, store);
    if (built || built.error().code != ErrorCode::conflict) return built;
    // A unique index that cannot be is dropped by then; the definition must not ask for it any more.
    QUIRE_TRY(forget_missing_indexes(store));
  }
}

Result<void> OpenContainers::forget_missing_indexes(ContainerStore& store) {
  return environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(std::optional<CatalogEntry> entry, catalog_.find(transaction, store.definition().name));
    if (!entry || entry->number != store.number()) return {};
    QUIRE_ASSIGN(const auto set, store.indexes().set(transaction));
    QUIRE_TRY(remove_indexes(entry->definition, [&](const NamedIndex& index) {
      return std::ranges::find(set->indexes, index.name, &Index::name) == set->indexes.end();
    }));
    return catalog_.replace(transaction, *entry);
  });
}

Result<std::shared_ptr<ContainerStore>> OpenContainers::open(std::string_view name) {
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
  QUIRE_ASSIGN(Opened opened, find(snapshot, name));
  if (opened.store == nullptr) return std::unexpected(catalog_.not_found(snapshot, name));
  return std::move(opened.store);
}

Result<std::shared_ptr<ContainerStore>> OpenContainers::create(const ContainerDefinition& definition) {
  std::shared_ptr<ContainerStore> store;
  QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(store, ContainerStore::create(environment_, transaction, definition));
    return {};
  }));
  return keep(std::move(store)).store;
}

Result<void> OpenContainers::alter(std::string_view name,
                                   const std::function<Result<void>(ContainerDefinition&)>& edit,
                                   const WorkOptions& building) {
  Redefinition change;
  std::shared_ptr<ContainerStore> store;
  QUIRE_ASSIGN(const bool must_build, redefine(name, edit, change, store));
  if (!must_build) return {};
  auto built = build_indexes(environment_, *store, building);
  if (built || built.error().code != ErrorCode::conflict) return built;
  // A unique index that the items do not allow: all is as it was. Where another thread has changed the
  // definition since, only the indexes that are not there go out of it.
  const auto restore = [&, ours = change](ContainerDefinition& definition) -> Result<void> {
    if (definition == ours.after) {
      definition = ours.before;
      return {};
    }
    QUIRE_ASSIGN(const std::vector<NamedIndex> kept, named_indexes_of(ours.before));
    QUIRE_ASSIGN(const std::vector<NamedIndex> asked, named_indexes_of(ours.after));
    return remove_indexes(definition, [&](const NamedIndex& index) {
      return std::ranges::find(asked, index.name, &NamedIndex::name) != asked.end() &&
             std::ranges::find(kept, index.name, &NamedIndex::name) == kept.end();
    });
  };
  QUIRE_ASSIGN(const bool must_build_again, redefine(name, restore, change, store));
  // Indexes that the change had dropped.
  if (must_build_again) QUIRE_TRY(build_indexes(environment_, *store, building));
  return built;
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
    change.after = entry->definition;
    QUIRE_TRY(catalog_.replace(transaction, *entry));
    QUIRE_ASSIGN(store, ContainerStore::open(environment_, transaction, *entry));
    QUIRE_ASSIGN(must_build, store->set_indexes(transaction, entry->definition));
    return {};
  }));
  {
    const std::lock_guard lock(mutex_);
    stores_.erase(store->number());
  }
  keep(store);
  return must_build;
}

Result<void> OpenContainers::drop(std::string_view name) {
  std::optional<ContainerNumber> number;
  QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(number, catalog_.find_number(transaction, name));
    return catalog_.drop(transaction, name);
  }));
  const std::lock_guard lock(mutex_);
  if (number) stores_.erase(*number);
  return {};
}

OpenContainers::Opened OpenContainers::known(ContainerNumber number) const {
  const std::lock_guard lock(mutex_);
  const auto found = stores_.find(number);
  return found != stores_.end() ? found->second : Opened{};
}

OpenContainers::Opened OpenContainers::keep(std::shared_ptr<ContainerStore> store) {
  store->use_triggers(triggers_);
  const std::lock_guard lock(mutex_);
  Opened& kept = stores_[store->number()];
  if (kept.store == nullptr) kept = {std::move(store), openings_.fetch_add(1, std::memory_order_acq_rel) + 1};
  return kept;
}

}  // namespace quire::engine
