// What some of an index's entries tell of all of them, where nobody has looked at them: for estimates.
#pragma once

#include "engine/file/transaction.h"
#include "engine/index/index_entry.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

// Looks at some 64 places of the index, at two entries each: as often as these differ in their first parts, entries do.
// `entries`: that the index has, `all` that all indexes of the table have. Nothing known where the transaction is one that writes.
Result<sql::IndexStatistics> sample_index(const Transaction& transaction, Table table, IndexNumber number, const IndexShape& shape, uint64_t entries, uint64_t all);

}  // namespace quire::engine
