// The items of a partition lie in the order of their ids, and so do all items of a container without
// partition key. Where no index leads to them, what a condition says of the id bounds what is read, and ORDER
// BY the id needs no sort: a page that begins behind the last id of the one before costs no more than its own
// items.
#include "sql/plan/bottom.h"
#include "sql/plan/id_range.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

bool is_id(const std::vector<IndexStep>& path) {
  return path.size() == 1 && !path[0].is_element && path[0].name == "id";
}

void find_bounds(const Plan& plan, const PlannedQuery& query, const PlanNode& filter, PlanNode& scan) {
  SlotSet own(plan.slot_count);
  for (const BoundSource& from : query.bound->sources) own.add(from.slot);
  const PlacedSlot item{scan.source->slot, {}};
  for (const BoundExpression* condition : filter.conditions) {
    auto bound = find_index_bound(*condition, std::span(&item, 1), own);
    if (bound && bounds_id(*bound)) scan.access.id_bounds.push_back(std::move(*bound));
  }
}

void choose_in(const Plan& plan, const PlannedQuery& query, Place& root, Source& source) {
  const Bottom bottom = find_bottom(root);
  PlanNode& scan = **bottom.scan;
  if (scan.kind != PlanKind::scan) return;
  const Collection* const collection = source.collection(scan.source->collection_name);
  if (collection == nullptr || !collection->has_id_order()) return;
  const size_t components = collection->partition_key_paths().size();
  const bool is_one_partition = scan.access.kind == Access::Kind::partition && components > 0 &&
                                scan.access.partition_key.size() == components;
  if (!is_one_partition && (scan.access.kind != Access::Kind::scan || components > 0)) return;
  if (bottom.filter != nullptr) find_bounds(plan, query, **bottom.filter, scan);
  if (bottom.sort == nullptr || !is_ordered_by_id(*query.bound, scan.source->slot)) return;
  scan.access.is_ordered = true;
  scan.access.is_reverse = query.bound->order_by[0].descending;
  take_out(*bottom.sort);
}

}  // namespace

bool bounds_id(const IndexBound& bound) {
  switch (bound.check) {
    case BoundCheck::less:
    case BoundCheck::less_equal:
    case BoundCheck::greater:
    case BoundCheck::greater_equal:
    case BoundCheck::prefix:
    case BoundCheck::like:
      return is_id(bound.path);
    default:
      return false;
  }
}

bool is_ordered_by_id(const BoundQuery& query, SlotNumber slot) {
  if (query.fusion || query.is_grouped || query.order_by.size() != 1 || query.order_by[0].is_score)
    return false;
  const auto path = indexable_path(*query.order_by[0].expression, slot);
  return path && is_id(*path);
}

void choose_id_range(const Plan& plan, PlannedQuery& query, Source& source) {
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->right != nullptr) choose_in(plan, query, node->right->root, source);
  choose_in(plan, query, query.root, source);
}

}  // namespace quire::sql
