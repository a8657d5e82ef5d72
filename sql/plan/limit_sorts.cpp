// Under TOP or LIMIT a sort needs to keep only as many rows as can be returned. DISTINCT between them may
// drop any of those, and a row whose value is undefined is dropped as well, so the sort must then keep all.
#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

bool may_be_undefined(const BoundExpression& value) {
  return value.kind != BoundKind::object && value.kind != BoundKind::array &&
         !(value.kind == BoundKind::constant && value.constant.is_defined()) && value.kind != BoundKind::slot;
}

}  // namespace

void limit_sorts(PlannedQuery& query) {
  const BoundQuery& bound = *query.bound;
  if (bound.top == nullptr && bound.limit == nullptr) return;
  // What ranks add up to is known when all rows are.
  if (bound.fusion || bound.distinct || may_be_undefined(*bound.value)) return;
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->kind == PlanKind::sort && node->bound == query.bound) node->top_k = true;
}

}  // namespace quire::sql
