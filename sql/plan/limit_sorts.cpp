// Under TOP or LIMIT a sort needs to keep only as many rows as can be returned. DISTINCT between them may
// drop any of those, so the sort must then keep all. A row whose value is undefined is dropped as well: where
// that is quickly seen, the sort does not count it among those that it keeps.
#include <algorithm>

#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

// Reading it for every row costs little beside keeping every row.
bool is_read_in_place(const BoundExpression& value) {
  return value.kind == BoundKind::path || value.kind == BoundKind::slot ||
         value.kind == BoundKind::system_property || value.kind == BoundKind::aggregate ||
         value.kind == BoundKind::group_key;
}

}  // namespace

bool is_always_defined(const BoundExpression& value, const BoundQuery& query) {
  if (value.kind == BoundKind::slot) {
    const auto source = std::ranges::find(query.sources, value.slot, &BoundSource::slot);
    return source != query.sources.end() && source->join != JoinKind::left_on;
  }
  return value.kind == BoundKind::object || value.kind == BoundKind::array ||
         (value.kind == BoundKind::constant && value.constant.is_defined());
}

bool may_keep_first(const BoundQuery& query) {
  if (query.top == nullptr && query.limit == nullptr) return false;
  // What ranks add up to is known when all rows are.
  if (query.fusion || query.distinct) return false;
  return is_always_defined(*query.value, query) || is_read_in_place(*query.value);
}

void limit_sorts(PlannedQuery& query) {
  const BoundQuery& bound = *query.bound;
  if (!may_keep_first(bound)) return;
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
    if (node->kind != PlanKind::sort || node->bound != query.bound) continue;
    node->top_k = true;
    if (!is_always_defined(*bound.value, bound)) node->defined = bound.value;
  }
}

}  // namespace quire::sql
