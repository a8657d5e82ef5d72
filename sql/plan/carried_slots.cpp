// Which slots a row must carry through an operator that makes rows anew (elements, subqueries, joins, rows by
// key, sorts): those that something above it reads. What nobody reads is not copied. Nor is an item looked at
// that nobody reads anything of.
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
    case PlanKind::by_key:
      for (const BoundExpression* condition : node.conditions) add(condition);
      break;
    case PlanKind::join:
      for (const BoundExpression* condition : node.conditions) add(condition);
      for (const BoundExpression* key : node.left_keys) add(key);
      if (node.is_by_row) add_slots_read_below(*node.right->root, reads);
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

void append_slots_bound(const PlanNode& node, std::vector<SlotNumber>& slots) {
  if (node.access.is_covering) {
    // Where nothing but the number of the entries is asked for, the scan puts nothing into them.
    if (node.access.reads_parts)
      slots.insert(slots.end(), node.access.part_slots.begin(), node.access.part_slots.end());
  } else if (node.kind != PlanKind::join && node.source != nullptr) {
    slots.push_back(node.source->slot);
  }
  if (node.right == nullptr) return;
  for (const PlanNode* at = node.right->root.get(); at != nullptr; at = at->input.get())
    append_slots_bound(*at, slots);
}

// The slots bound at or below a node, group keys and aggregates included, in order.
std::vector<SlotNumber> bound_slots(const PlannedQuery& query, const PlanNode* node) {
  std::vector<SlotNumber> slots;
  for (; node != nullptr; node = node->input.get()) {
    append_slots_bound(*node, slots);
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

class CarriedSlotFinder {
 public:
  explicit CarriedSlotFinder(const PlannedQuery& query) : query_(query) {}

  void find(PlanNode* node, SlotSet read_above, bool is_grouped_below) {
    for (; node != nullptr; node = node->input.get()) {
      switch (node->kind) {
        case PlanKind::join:
          find_in_join(*node, read_above);
          break;
        case PlanKind::elements:
        case PlanKind::subquery:
        case PlanKind::by_key:
        case PlanKind::sort:
          node->carried = carried(node->input.get(), read_above, is_grouped_below);
          break;
        case PlanKind::scan:
          node->only_counts = !read_above.contains(node->source->slot);
          break;
        default:
          break;
      }
      if (node->kind == PlanKind::group) is_grouped_below = false;
      add_node_reads(*node, read_above);
    }
  }

 private:
  void find_in_join(PlanNode& join, const SlotSet& read_above) {
    SlotSet read = read_above;
    for (const BoundExpression* condition : join.conditions) add_slots_read(*condition, read);
    join.carried = carried(join.input.get(), read, false);
    join.right_carried = carried(join.right->root.get(), read, false);
    for (const BoundExpression* key : join.right_keys) add_slots_read(*key, read);
    if (join.is_by_row) {
      SlotSet read_of_row(read.capacity());
      add_slots_read_below(*join.right->root, read_of_row);
      join.row_slots = carried(join.input.get(), read_of_row, false);
    }
    find(join.right->root.get(), std::move(read), false);
  }

  std::vector<SlotNumber> carried(const PlanNode* below, const SlotSet& read_above, bool is_grouped_below) {
    std::vector<SlotNumber> slots;
    for (const SlotNumber slot : bound_slots(query_, below)) {
      // Above a group, keys and aggregates are read by number, not by slot: a sort carries all of them.
      const bool of_group = is_grouped_below && slot >= query_.first_group_key_slot;
      if (of_group || read_above.contains(slot)) slots.push_back(slot);
    }
    return slots;
  }

  const PlannedQuery& query_;
};

}  // namespace

void find_carried_slots(PlannedQuery& query, SlotNumber slot_count) {
  SlotSet read(slot_count);
  // Expressions tell the slot of the item that they are about: what stands for them is read.
  for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    for (const SlotNumber slot : node->access.part_slots) read.add(slot);
  CarriedSlotFinder(query).find(query.root.get(), std::move(read), query.bound->is_grouped);
}

}  // namespace quire::sql
