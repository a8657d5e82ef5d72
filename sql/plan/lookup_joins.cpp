// A join whose left side is small, and whose key is a path that the right side has an index over, does not
// read the right side whole: it looks the partners of each batch of left rows up.
#include <algorithm>

#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

// What a looked-up item costs, in items of a scan.
constexpr double kLookupCost = 6;
// The share of the rows that a filter leaves, as far as nobody knows.
constexpr double kFilteredShare = 0.25;
constexpr double kPartitionShare = 0.01;

// Rows that come out of the lower end of a tree.
double estimated_rows(const PlanNode& top, Source& source) {
  double share = 1;
  const PlanNode* node = &top;
  for (; node->input != nullptr; node = node->input.get())
    if (node->kind == PlanKind::filter) share *= kFilteredShare;
  if (node->kind != PlanKind::scan) return share;
  switch (node->access.kind) {
    case Access::Kind::point:
    case Access::Kind::points:
      return 1;
    case Access::Kind::scan:
    case Access::Kind::partition:
    case Access::Kind::partitions:
      break;
    default:
      return node->access.estimated_rows * share;
  }
  Collection* const collection = source.collection(node->source->collection_name);
  if (node->access.kind != Access::Kind::scan) share *= kPartitionShare;
  return collection != nullptr ? static_cast<double>(collection->item_count()) * share : 0;
}

// How many items one key leads to, as far as that is known.
double partners(const IndexDescription& index, Collection& collection) {
  const auto statistics = collection.index_statistics(index.number);
  if (!statistics || statistics->distinct.empty()) return 1;
  return static_cast<double>(index.entries) / std::max(1.0, statistics->distinct[0]);
}

PlanNode* bottom_of(PlanNode& root) {
  PlanNode* node = &root;
  while (node->input != nullptr) node = node->input.get();
  return node;
}

void look_up(PlanNode& join, Source& source) {
  PlanNode& scan = *bottom_of(*join.right->root);
  if (scan.kind != PlanKind::scan || scan.access.kind != Access::Kind::scan) return;
  Collection* const collection = source.collection(scan.source->collection_name);
  if (collection == nullptr) return;
  const double left_rows = estimated_rows(*join.input, source);
  const auto items = static_cast<double>(collection->item_count());
  if (left_rows * kLookupCost >= items) return;
  for (size_t key = 0; key < join.right_keys.size(); ++key) {
    const auto path = indexable_path(*join.right_keys[key], scan.source->slot);
    if (!path) continue;
    for (const IndexDescription& index : collection->indexes()) {
      if (index.parts[0].path != *path || !index.condition.empty() || index.is_multi_valued()) continue;
      if (left_rows * kLookupCost * partners(index, *collection) >= items) continue;
      const IndexBound bound{BoundCheck::looked_up, *path, {}, {}, 0, 0, nullptr, true};
      scan.access.kind = Access::Kind::any_index;
      scan.access.probes.push_back({index, {{bound}}});
      join.is_lookup = true;
      join.lookup_key = key;
      return;
    }
  }
}

}  // namespace

void look_up_partners(PlannedQuery& query, Source& source) {
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->kind == PlanKind::join) look_up(*node, source);
}

}  // namespace quire::sql
