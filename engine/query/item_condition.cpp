#include "engine/query/item_condition.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "engine/query/item_list.h"
#include "engine/query/snapshot_source.h"
#include "sql/parse/keywords.h"

namespace quire::engine {
namespace {

constexpr std::string_view kSelect = "SELECT VALUE 1 ";
constexpr std::string_view kFrom = "FROM";

// Where an error lies in the condition, which stands behind kSelect.
Error in_condition(Error error) {
  if (error.position.offset >= kSelect.size()) error.position.offset -= kSelect.size();
  if (error.position.line == 1 && error.position.column > kSelect.size())
    error.position.column -= static_cast<uint32_t>(kSelect.size());
  error.message.insert(0, "the condition of the patch: ");
  return error;
}

}  // namespace

Result<bool> holds_for(OpenContainers& containers, const std::shared_ptr<ContainerStore>& store,
                       const Transaction& transaction, std::string_view condition, const sql::Value& item,
                       const sql::ExecutionOptions& options) {
  const size_t begin = std::min(condition.find_first_not_of(" \t\r\n"), condition.size());
  if (!sql::equals_ignoring_case(condition.substr(begin, kFrom.size()), kFrom))
    return fail(ErrorCode::syntax, "the condition of a patch begins with FROM: FROM c WHERE c.stock > 0");
  SnapshotSource base(containers, store, containers.openings(), transaction);
  const std::string_view name = store->definition().name;
  if (base.collection(name) == nullptr)
    return std::unexpected(base.error() ? *base.error()
                                        : Error{ErrorCode::container_not_found, "it was dropped"});
  ItemListSource source(base, name, {&item, 1});
  auto query =
      sql::prepare_query(std::string(kSelect) += condition, source, {.strict = false, .scope = name});
  if (!query) return std::unexpected(in_condition(std::move(query.error())));
  auto execution = sql::Execution::start(**query, source, options);
  if (!execution) return std::unexpected(in_condition(std::move(execution.error())));
  auto row = (*execution)->next();
  if (!row) return std::unexpected(in_condition(std::move(row.error())));
  return row->has_value();
}

}  // namespace quire::engine
