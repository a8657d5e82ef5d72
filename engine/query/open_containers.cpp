#include "engine/query/open_containers.h"

#include <optional>
#include <utility>

namespace quire::engine {

Result<OpenContainers::Opened> OpenContainers::find(const Transaction& transaction, std::string_view name) {
  QUIRE_ASSIGN(const std::optional<ContainerNumber> number, catalog_.find_number(transaction, name));
  if (!number) return Opened{};
  if (Opened opened = known(*number); opened.store != nullptr) return opened;
  QUIRE_ASSIGN(const std::optional<CatalogEntry> entry, catalog_.find(transaction, name));
  if (!entry) return Opened{};
  QUIRE_ASSIGN(auto store, ContainerStore::open(environment_, *entry));
  return keep(std::move(store));
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
                                   const std::function<Result<void>(ContainerDefinition&)>& edit) {
  ContainerNumber number{};
  QUIRE_TRY(environment_.write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(std::optional<CatalogEntry> entry, catalog_.find(transaction, name));
    if (!entry) return std::unexpected(catalog_.not_found(transaction, name));
    number = entry->number;
    QUIRE_TRY(edit(entry->definition));
    return catalog_.replace(transaction, *entry);
  }));
  const std::lock_guard lock(mutex_);
  stores_.erase(number);
  return {};
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
  const std::lock_guard lock(mutex_);
  Opened& kept = stores_[store->number()];
  if (kept.store == nullptr) kept = {std::move(store), openings_.fetch_add(1, std::memory_order_acq_rel) + 1};
  return kept;
}

}  // namespace quire::engine
