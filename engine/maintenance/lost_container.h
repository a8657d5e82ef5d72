// A container of a damaged file, as far as its definition, names and counters can be found.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/catalog/script_catalog.h"
#include "engine/container/fixed_keys.h"
#include "engine/container/item_key.h"
#include "engine/container/record.h"
#include "engine/container/statistics.h"
#include "engine/file/page_salvage.h"
#include "sql/error.h"
#include "sql/value/key_dictionary.h"

namespace quire::engine {

// An item whose bytes are proven. Good as long as the record is.
struct SalvagedItem {
  sql::Value root;
  RecordHeader header;
  ItemKey key;  // as its id and partition key ask for
};

class LostContainer {
 public:
  // limit_exceeded; io.
  static Result<std::unique_ptr<LostContainer>> read(PageSalvage& salvage, CatalogEntry entry);

  const ContainerDefinition& definition() const noexcept { return entry_.definition; }
  ContainerNumber number() const noexcept { return entry_.number; }
  std::string table(std::string_view name) const { return table_name(entry_.number, name); }
  const std::optional<ContainerStatistics>& counters() const noexcept { return counters_; }
  uint64_t lost_names() const noexcept { return lost_names_; }

  // Nothing if the record is not whole, or not of this container. Where the key is missing the record may
  // have bytes behind its end.
  std::optional<SalvagedItem> item_of(const PageSalvage::Entry& entry) const;

 private:
  explicit LostContainer(CatalogEntry entry) : entry_(std::move(entry)) {}
  Result<void> read_names(PageSalvage& salvage);
  Result<void> read_counters(PageSalvage& salvage);

  CatalogEntry entry_;
  std::unique_ptr<sql::KeyDictionary> names_;
  std::unique_ptr<FixedKeys> keys_;
  std::optional<ContainerStatistics> counters_;
  uint64_t lost_names_ = 0;
};

// The rows of the catalog that can be found, of containers that the file has tables of.
struct LostCatalog {
  std::vector<CatalogEntry> containers;
  std::vector<ScriptCatalog::Row> scripts;
  bool is_whole = true;  // no row and no page is lost
  // Containers whose row is lost, by the names of their tables.
  std::vector<ContainerNumber> nameless;
};
Result<LostCatalog> read_lost_catalog(PageSalvage& salvage);

}  // namespace quire::engine
