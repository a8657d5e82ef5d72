// Conditions of WHERE move down to just above the source that binds the last slot they read, so that rows are
// dropped before they are multiplied by later sources.
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

bool is_source(PlanKind kind) {
  return kind == PlanKind::scan || kind == PlanKind::expression || kind == PlanKind::elements ||
         kind == PlanKind::subquery;
}

// The WHERE filter: the one right above the sources.
std::unique_ptr<PlanNode>* find_where(PlannedQuery& query) {
  std::unique_ptr<PlanNode>* at = &query.root;
  while (*at != nullptr) {
    if ((*at)->kind == PlanKind::filter && is_source((*at)->input->kind)) return at;
    at = &(*at)->input;
  }
  return nullptr;
}

// Where a condition belongs: above the highest source that binds a slot it reads.
std::unique_ptr<PlanNode>* lowest_place(std::unique_ptr<PlanNode>* top, const SlotSet& reads) {
  std::unique_ptr<PlanNode>* at = top;
  while (is_source((*at)->kind) || (*at)->kind == PlanKind::filter) {
    if (is_source((*at)->kind) && reads.contains((*at)->source->slot)) return at;
    if ((*at)->input == nullptr) return at;
    at = &(*at)->input;
  }
  return at;
}

void place(Plan& plan, std::unique_ptr<PlanNode>& at, const BoundExpression* condition,
           const BoundQuery* bound) {
  if (at->kind != PlanKind::filter) {
    auto filter = std::make_unique<PlanNode>();
    filter->kind = PlanKind::filter;
    filter->number = plan.node_count++;
    filter->bound = bound;
    filter->input = std::move(at);
    at = std::move(filter);
  }
  at->conditions.push_back(condition);
}

}  // namespace

void push_down_conditions(Plan& plan, PlannedQuery& query) {
  std::unique_ptr<PlanNode>* where = find_where(query);
  if (where == nullptr || (*where)->input->input == nullptr) return;
  const std::vector<const BoundExpression*> conditions = std::move((*where)->conditions);
  (*where)->conditions.clear();
  for (const BoundExpression* condition : conditions) {
    SlotSet reads(plan.slot_count);
    add_slots_read(*condition, reads);
    std::unique_ptr<PlanNode>* at = lowest_place(&(*where)->input, reads);
    if (is_volatile(*condition) || at == &(*where)->input) {
      (*where)->conditions.push_back(condition);
      continue;
    }
    // A filter that an earlier condition put above the same source takes this one as well.
    std::unique_ptr<PlanNode>* above = &(*where)->input;
    while (above != at && &(*above)->input != at) above = &(*above)->input;
    if (above != at && (*above)->kind == PlanKind::filter) at = above;
    place(plan, *at, condition, query.bound);
  }
  if ((*where)->conditions.empty()) {
    std::unique_ptr<PlanNode> below = std::move((*where)->input);
    *where = std::move(below);
  }
}

}  // namespace quire::sql
