// INSERT, UPSERT, REPLACE, UPDATE and DELETE: a query whose rows are read to the end before the first write,
// then the writes, then the query of RETURNING, all in one write transaction. An error undoes all of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/file/transaction.h"
#include "engine/query/snapshot_source.h"
#include "sql/error.h"
#include "sql/run/execution.h"

namespace quire::engine {

struct ChangeOutcome {
  sql::ExecutionStats stats;
  std::vector<std::string> rows;  // of RETURNING, as JSON
  sql::MemoryShare rows_memory;
};

// `source` is over `transaction`. `log` gets what triggers wrote, also where this fails.
Result<ChangeOutcome> change_items(const sql::PreparedQuery& query, WriteTransaction& transaction,
                                   SnapshotSource& source, const sql::ExecutionOptions& options,
                                   ScriptLog& log);

}  // namespace quire::engine
