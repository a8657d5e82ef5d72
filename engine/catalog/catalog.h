// The catalog: which containers there are. Table "catalog" maps a kind byte and a name to
//
//   byte 0      version of this record: 1
//        1..3   revision: how often the definition was changed, little-endian
//        4..7   container number, little-endian: names the container's tables ("c7/items"); never given
//        twice, so
//               a container made anew under an old name is another container
//        8..15  random bits of the container's _etags
//        16..   the definition as Cosmos JSON
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/container_definition.h"
#include "engine/file/environment.h"
#include "engine/file/table_registry.h"
#include "sql/error.h"

namespace quire::engine {

enum class ContainerNumber : uint32_t {};

struct CatalogEntry {
  ContainerNumber number{};
  uint64_t etag_salt = 0;
  uint32_t revision = 0;
  ContainerDefinition definition;
};

// What a name stands for, without the definition.
struct CatalogReference {
  ContainerNumber number{};
  uint32_t revision = 0;
};

// Names of a container's tables.
std::string table_name(ContainerNumber number, std::string_view table);
inline constexpr std::string_view kItemsTable = "items";
inline constexpr std::string_view kKeysTable = "keys";
inline constexpr std::string_view kStatisticsTable = "stats";
inline constexpr std::string_view kIndexTable = "index";
inline constexpr std::string_view kFeedTable = "feed";
inline constexpr std::string_view kContainerTables[] = {kItemsTable, kKeysTable, kStatisticsTable,
                                                        kIndexTable, kFeedTable};

// Of a file: as many as a process can have open (kMostTables), or it could not be listed, checked or dumped
// by any.
inline constexpr uint32_t kMostContainers = 1000;
static_assert(kMostContainers * std::size(kContainerTables) <= kMostTables);

// Stateless: all of it is in the file.
class Catalog {
 public:
  explicit Catalog(const Environment& environment)
      : meta_(environment.meta()), table_(environment.catalog()) {}

  // Enters a container and makes its tables, empty; ContainerStore::create (engine/container) is the whole of
  // it. container_exists, limit_exceeded (too many containers).
  Result<CatalogEntry> create(WriteTransaction& transaction, const ContainerDefinition& definition) const;
  // Puts a changed definition in the place of the one under its name; the entry's revision is then the next.
  Result<void> replace(WriteTransaction& transaction, CatalogEntry& entry) const;
  // Removes it with all it holds; container_not_found, with the nearest name.
  Result<void> drop(WriteTransaction& transaction, std::string_view name) const;

  Result<std::optional<CatalogEntry>> find(const Transaction& transaction, std::string_view name) const;
  // No JSON is parsed. To see cheaply whether a name still stands for the same container, as it was.
  Result<std::optional<CatalogReference>> find_reference(const Transaction& transaction,
                                                         std::string_view name) const;
  // Of a row of the table, wherever it was found; nothing if it is no container's. corrupt.
  static Result<std::optional<CatalogEntry>> read_row(Bytes key, Bytes record);
  // By name.
  Result<std::vector<CatalogEntry>> list(const Transaction& transaction) const;
  Result<std::vector<std::string>> names(const Transaction& transaction) const;
  // The error container_not_found for `name`, naming the nearest name there is.
  Error not_found(const Transaction& transaction, std::string_view name) const;

 private:
  Result<void> check_room(const Transaction& transaction) const;

  Table meta_;
  Table table_;
};

}  // namespace quire::engine
