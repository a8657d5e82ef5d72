// The condition of a patch, "FROM c WHERE c.stock > 0": a query over one item.
#pragma once

#include <string_view>

#include "engine/file/transaction.h"
#include "engine/query/open_containers.h"
#include "sql/error.h"
#include "sql/run/execution.h"
#include "sql/value/value.h"

namespace quire::engine {

// Whether the condition holds for an item of `store` as `transaction` sees it, within the limits of the
// options. The errors of a query, with positions in `condition`.
Result<bool> holds_for(OpenContainers& containers, const std::shared_ptr<ContainerStore>& store,
                       const Transaction& transaction, std::string_view condition, const sql::Value& item,
                       const sql::ExecutionOptions& options);

}  // namespace quire::engine
