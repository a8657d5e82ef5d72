// What files of older formats lack. Internal to engine/file.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <string_view>

namespace quire::engine {

inline constexpr std::string_view kMetaTable = "meta";
inline constexpr std::string_view kCatalogTable = "catalog";
inline constexpr std::string_view kDatabaseRow = "database";

// Runs the steps from version `from` to the newest in the caller's transaction; an LMDB code.
int upgrade_format(MDB_txn* transaction, MDB_dbi meta, uint32_t from);

}  // namespace quire::engine
