#include "sql/plan/bottom.h"

#include <utility>

namespace quire::sql {

namespace {

// Whether what comes of a row stands where the row stood.
bool keeps_order(PlanKind kind) {
  return kind == PlanKind::filter || kind == PlanKind::expression || kind == PlanKind::elements ||
         kind == PlanKind::subquery || kind == PlanKind::join;
}

}  // namespace

Bottom find_bottom(Place& root) {
  std::vector<Place*> places;
  for (Place* at = &root;; at = &(*at)->input) {
    places.push_back(at);
    if ((*at)->input == nullptr) break;
  }
  Bottom bottom;
  bottom.scan = places.back();
  size_t next = places.size() - 1;
  if (next > 0 && (*places[next - 1])->kind == PlanKind::filter) bottom.filter = places[--next];
  size_t above = next;
  while (above > 0 && keeps_order((*places[above - 1])->kind)) --above;
  if (above > 0 && (*places[above - 1])->kind == PlanKind::sort) bottom.sort = places[above - 1];
  while (next > 0) bottom.above.push_back(places[--next]->get());
  return bottom;
}

size_t conditions_below_sort(const Bottom& bottom) {
  size_t conditions = 0;
  for (const PlanNode* node : bottom.above) {
    if (node->kind == PlanKind::sort) break;
    conditions += node->kind == PlanKind::filter ? node->conditions.size() : 0;
    if (node->right == nullptr || node->keeps_unmatched) continue;
    for (const PlanNode* at = node->right->root.get(); at != nullptr; at = at->input.get())
      conditions += at->conditions.size();
  }
  return conditions;
}

void add_filter(Plan& plan, Bottom& bottom) {
  if (bottom.filter != nullptr) return;
  auto filter = std::make_unique<PlanNode>();
  filter->kind = PlanKind::filter;
  filter->number = plan.node_count++;
  filter->input = std::move(*bottom.scan);
  *bottom.scan = std::move(filter);
  bottom.filter = bottom.scan;
  bottom.scan = &(*bottom.filter)->input;
}

void take_out(Place& node) {
  Place below = std::move(node->input);
  node = std::move(below);
}

}  // namespace quire::sql
