// Cursors over what entries of indexes lead to, for queries: their items, and the values that they hold.
#pragma once

#include <memory>

#include "engine/container/container.h"
#include "engine/query/key_list.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

// The cursor of an access by indexes. `rooms`: for lists of keys; must outlive the cursor.
Result<std::unique_ptr<sql::Cursor>> open_index_access(const Transaction& transaction, ContainerStore& store,
                                                       KeyRooms& rooms, const sql::Access& access);
// As sql::Collection::open_beside(): `other` is one of these.
Result<std::unique_ptr<sql::Cursor>> open_index_access_beside(const sql::Cursor& other,
                                                              const Transaction& transaction,
                                                              ContainerStore& store, KeyRooms& rooms,
                                                              const sql::Access& access);
// As sql::Collection::open_index().
Result<std::unique_ptr<sql::IndexCursor>> open_index_cursor(const Transaction& transaction,
                                                            ContainerStore& store, KeyRooms& rooms,
                                                            const sql::Access& access);

}  // namespace quire::engine
