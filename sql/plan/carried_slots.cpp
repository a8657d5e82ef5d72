// Which slots a row must carry through an operator that makes rows anew (elements, subqueries, sorts): those
// that something above it reads. What nobody reads is not copied.
#include <algorithm>

#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// The slots that a node itself reads of the rows below it.
void add_node_reads(const PlanNode& node, SlotSet& reads) {
  const auto add = [&](const BoundExpression* expression) {
    if (expression != nullptr) add_slots_read(*expression, reads);
  };
  switch (node.kind) {
    case PlanKind::expression:
    case PlanKind::elements:
      add(node.source->expression);
      break;
    case PlanKind::subquery:
      for (SlotNumber slot : node.source->query->outer_slots) reads.add(slot);
      break;
    case PlanKind::filter:
      for (const BoundExpression* condition : node.conditions) add(condition);
      break;
    case PlanKind::group:
      for (const BoundExpression* key : node.bound->group_by) add(key);
      for (const BoundAggregate& aggregate : node.bound->aggregates) add(aggregate.argument);
      break;
    case PlanKind::sort:
      for (const BoundOrderItem& item : node.bound->order_by) add(item.expression);
      break;
    case PlanKind::project:
      add(node.bound->value);
      break;
    case PlanKind::one_row:
    case PlanKind::scan:
    case PlanKind::distinct:
    case PlanKind::limit:
    case PlanKind::append:
      break;
  }
}

// The slots bound at or below a node, group keys and aggregates included, in order.
std::vector<SlotNumber> bound_slots(const PlannedQuery& query, const PlanNode* node) {
  std::vector<SlotNumber> slots;
  for (; node != nullptr; node = node->input.get()) {
    if (node->source != nullptr) slots.push_back(node->source->slot);
    if (node->kind != PlanKind::group) continue;
    for (size_t i = 0; i < query.bound->group_by.size(); ++i)
      slots.push_back(query.first_group_key_slot + static_cast<SlotNumber>(i));
    for (size_t i = 0; i < query.bound->aggregates.size(); ++i)
      slots.push_back(query.first_aggregate_slot + static_cast<SlotNumber>(i));
    break;  // what the group read is gone above it
  }
  std::ranges::sort(slots);
  return slots;
}

}  // namespace

void find_carried_slots(PlannedQuery& query, SlotNumber slot_count) {
  SlotSet read_above(slot_count);
  bool is_grouped_below = query.bound->is_grouped;
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
    const bool makes_rows =
        node->kind == PlanKind::elements || node->kind == PlanKind::subquery || node->kind == PlanKind::sort;
    if (makes_rows) {
      for (const SlotNumber slot : bound_slots(query, node->input.get())) {
        // Above a group, keys and aggregates are read by number, not by slot: a sort carries all of them.
        const bool of_group = is_grouped_below && slot >= query.first_group_key_slot;
        if (of_group || read_above.contains(slot)) node->carried.push_back(slot);
      }
    }
    if (node->kind == PlanKind::group) is_grouped_below = false;
    add_node_reads(*node, read_above);
  }
}

}  // namespace quire::sql
