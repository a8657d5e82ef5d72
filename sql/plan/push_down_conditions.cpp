// Conditions move down to just above the source that binds the last slot they read, so that rows are dropped
// before they are multiplied by later sources; into the right side of a join if they read nothing else.
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

using Place = std::unique_ptr<PlanNode>;

bool is_source(PlanKind kind) {
  return kind == PlanKind::scan || kind == PlanKind::expression || kind == PlanKind::elements ||
         kind == PlanKind::subquery || kind == PlanKind::join;
}

// The WHERE filter: the one right above the sources.
Place* find_where(PlannedQuery& query) {
  Place* at = &query.root;
  while (*at != nullptr) {
    if ((*at)->kind == PlanKind::filter && is_source((*at)->input->kind)) return at;
    at = &(*at)->input;
  }
  return nullptr;
}

// Whether a source, or the right side of a join, fills a slot of the set.
bool fills_any(const PlanNode& node, const SlotSet& slots) {
  if (node.kind != PlanKind::join) return node.source != nullptr && slots.contains(node.source->slot);
  for (const PlanNode* at = node.right->root.get(); at != nullptr; at = at->input.get())
    if (fills_any(*at, slots)) return true;
  return false;
}

class ConditionPusher {
 public:
  ConditionPusher(Plan& plan, const BoundQuery& bound) : plan_(plan), bound_(bound) {}

  // Whether the condition found a place below `top`, which is a source.
  bool push(Place& top, const BoundExpression* condition) {
    if (is_volatile(*condition)) return false;
    SlotSet reads(plan_.slot_count);
    add_slots_read(*condition, reads);
    Place* at = lowest_place(&top, reads);
    PlanNode& source = **at;
    if (source.kind == PlanKind::join && !source.keeps_unmatched && push_right(source, condition, reads))
      return true;
    if (at == &top) return false;
    place(*filter_place(&top, at), condition);
    return true;
  }

  // Into the right side of a join, if the condition reads no slot of the left one.
  bool push_right(PlanNode& join, const BoundExpression* condition, const SlotSet& reads) {
    SlotSet left(plan_.slot_count);
    add_all_slots_bound(*join.input, left);
    if (is_volatile(*condition) || reads.intersects(left)) return false;
    Place* const top = &join.right->root;
    place(*filter_place(top, lowest_place(top, reads)), condition);
    return true;
  }

 private:
  // Where a condition belongs: above the highest source that binds a slot it reads.
  Place* lowest_place(Place* top, const SlotSet& reads) {
    Place* at = top;
    while (is_source((*at)->kind) || (*at)->kind == PlanKind::filter) {
      if (fills_any(**at, reads) || (*at)->input == nullptr) return at;
      at = &(*at)->input;
    }
    return at;
  }

  // A filter that an earlier condition put above the same source takes this one as well.
  static Place* filter_place(Place* top, Place* at) {
    Place* above = top;
    while (above != at && &(*above)->input != at) above = &(*above)->input;
    return above != at && (*above)->kind == PlanKind::filter ? above : at;
  }

  void place(Place& at, const BoundExpression* condition) {
    if (at->kind != PlanKind::filter) {
      auto filter = std::make_unique<PlanNode>();
      filter->kind = PlanKind::filter;
      filter->number = plan_.node_count++;
      filter->bound = &bound_;
      filter->input = std::move(at);
      at = std::move(filter);
    }
    at->conditions.push_back(condition);
  }

  Plan& plan_;
  const BoundQuery& bound_;
};

}  // namespace

void push_down_conditions(Plan& plan, PlannedQuery& query) {
  ConditionPusher pusher(plan, *query.bound);
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
    if (node->kind != PlanKind::join) continue;
    std::erase_if(node->conditions, [&](const BoundExpression* condition) {
      SlotSet reads(plan.slot_count);
      add_slots_read(*condition, reads);
      return pusher.push_right(*node, condition, reads);
    });
  }
  Place* where = find_where(query);
  if (where == nullptr || (*where)->input->input == nullptr) return;
  std::erase_if((*where)->conditions,
                [&](const BoundExpression* condition) { return pusher.push((*where)->input, condition); });
  if ((*where)->conditions.empty()) {
    Place below = std::move((*where)->input);
    *where = std::move(below);
  }
}

}  // namespace quire::sql
