// What strict mode refuses in queries that parse: Azure answers them with an error, though Quire could run
// them.
#include <algorithm>

#include "sql/bind/binder.h"
#include "sql/bind/container_policy.h"

namespace quire::sql {
namespace {

bool is_document_path(const Expression& expression) {
  const Expression* at = &expression;
  while (at->kind == ExpressionKind::member || at->kind == ExpressionKind::index) at = at->operands[0];
  return at->kind == ExpressionKind::identifier;
}

bool is_vector_order(const Expression& expression) {
  if (expression.kind != ExpressionKind::call || expression.is_udf) return false;
  const Function* function = find_function(expression.text);
  return function != nullptr && function->name == "VECTORDISTANCE";
}

bool is_aggregate(const Expression& expression) {
  return expression.kind == ExpressionKind::call && !expression.is_udf &&
         find_aggregate(expression.text) != nullptr;
}

// The service takes SELECT VALUE {n: COUNT(1)}, and no other expression around an aggregate.
const Expression* composed_aggregate(const Expression& expression, bool is_value) {
  if (!contains_aggregate(expression) || is_aggregate(expression)) return nullptr;
  if (!is_value || expression.kind != ExpressionKind::object) return &expression;
  for (const ObjectEntry& entry : expression.entries)
    if (const Expression* found = composed_aggregate(*entry.value, false)) return found;
  return nullptr;
}

bool names_something(const Expression& expression) {
  if (expression.kind == ExpressionKind::identifier || expression.query != nullptr) return true;
  for (const Expression* operand : expression.operands)
    if (names_something(*operand)) return true;
  return std::ranges::any_of(expression.entries,
                             [](const ObjectEntry& entry) { return names_something(*entry.value); });
}

}  // namespace

// The planner of queries over several partitions computes aggregates and nothing around them; a subquery
// stays within an item.
Result<void> Binder::refuse_composed_aggregates(const Query& query) const {
  for (const SelectItem& item : query.items)
    if (const Expression* found = composed_aggregate(*item.expression, query.select == SelectKind::value))
      return refuse(
          ErrorCode::not_in_strict_mode, found->span,
          "Azure Cosmos DB takes an aggregate only by itself, not within another expression; select "
          "the aggregates and compute with them afterwards");
  return {};
}

Result<void> Binder::check_strict_subquery(const Query& query) const {
  if (query.top != nullptr)
    return refuse(
        ErrorCode::not_in_strict_mode, query.top->span,
        "TOP may stand only in the outermost query (SC2203); ARRAY_SLICE(ARRAY(SELECT ...), 0, n) takes "
        "the first elements");
  if (!query.order_by.empty())
    return refuse(ErrorCode::not_in_strict_mode, query.order_by.front().expression->span,
                  "ORDER BY may stand only in the outermost query (SC2202)");
  if (query.offset != nullptr)
    return refuse(
        ErrorCode::not_in_strict_mode, query.offset->span,
        "OFFSET LIMIT may stand only in the outermost query (SC2204); ARRAY_SLICE(ARRAY(SELECT ...), n, m) "
        "takes some elements");
  return {};
}

Result<void> Binder::check_strict_index(const Expression& index) const {
  if (!names_something(index)) return {};
  return refuse(
      ErrorCode::not_in_strict_mode, index.span,
      "Azure Cosmos DB takes constants and parameters in brackets, nothing that depends on the item");
}

Result<void> Binder::check_strict_order(const Query& query, const BoundQuery& bound, Scope& scope) {
  for (const OrderItem& item : query.order_by)
    if (!is_document_path(*item.expression) && !is_vector_order(*item.expression))
      return refuse(
          ErrorCode::not_in_strict_mode, item.expression->span,
          "the ORDER BY item could not be mapped to a document path; strict mode sorts by properties only");
  if (bound.is_grouped) return {};
  const auto is_joined = [&](const BoundOrderItem& item) {
    const BoundExpression& key = *item.expression;
    return (key.kind == BoundKind::path || key.kind == BoundKind::slot) &&
           std::ranges::any_of(bound.sources, [&](const BoundSource& source) {
             return source.join != JoinKind::first && source.slot == key.slot;
           });
  };
  if (const auto joined = std::ranges::find_if(bound.order_by, is_joined); joined != bound.order_by.end())
    return refuse(
        ErrorCode::not_in_strict_mode, joined->expression->span,
        "Azure Cosmos DB sorts by properties of the item alone: ORDER BY over correlated collections, what "
        "JOIN adds, is not supported there");
  if (query.order_by.size() < 2 || has_index_for(bound, scope)) return {};
  return refuse(
      ErrorCode::not_in_strict_mode, query.order_by.front().expression->span,
      "an ORDER BY of several properties needs a composite index in Azure Cosmos DB: the container's "
      "indexing policy has none with these paths in this order");
}

bool Binder::has_index_for(const BoundQuery& bound, Scope& scope) {
  std::vector<OrderedPath> paths;
  std::vector<BoundStep> system_steps;
  system_steps.reserve(bound.order_by.size());
  const Collection* collection = nullptr;
  for (const BoundOrderItem& item : bound.order_by) {
    const BoundExpression& key = *item.expression;
    std::span<const BoundStep> steps = key.steps;
    if (key.kind == BoundKind::system_property) {
      system_steps.push_back({kSystemPropertyNames[static_cast<size_t>(key.property)], -1});
      steps = std::span(system_steps).last(1);
    } else if (key.kind != BoundKind::path) {
      return false;
    }
    collection = collection_at(key.slot, scope);
    if (collection == nullptr) return false;
    paths.push_back({steps, item.descending});
  }
  return collection != nullptr && has_composite_index(*collection, paths);
}

}  // namespace quire::sql
