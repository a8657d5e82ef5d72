// Joins by an index. A join whose left side is small, and whose key is a path that the right side has an
// index over, does not read the right side whole: it looks the partners of each batch of left rows up. Where
// the right side is small it is the other way round: the right side is read first, as always, and a container
// of the left side then reads only the items that have one of its keys. So the sources meet in the order that
// costs little, and the rows come in the order in which they are written.
#include <algorithm>
#include <vector>

#include "sql/plan/estimate_rows.h"
#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

// What a looked-up item costs, in items of a scan.
constexpr double kLookupCost = 6;
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

bool is_plain_scan(const PlanNode& node) {
  return node.kind == PlanKind::scan && node.access.kind == Access::Kind::scan;
}

// Whether `rows` of the other side find their partners in a scan by an index with less work than it takes to
// read all items. Then the scan does so.
bool find_by_keys(PlanNode& scan, const BoundExpression& key, double rows, Source& source) {
  Collection* const collection = source.collection(scan.source->collection_name);
  const auto path = indexable_path(key, scan.source->slot);
  if (collection == nullptr || !path) return false;
  const auto items = static_cast<double>(collection->item_count());
  if (rows * kLookupCost >= items) return false;
  for (const IndexDescription& index : collection->indexes()) {
    if (index.parts[0].path != *path || !index.condition.empty() || index.is_multi_valued()) continue;
    const double found = rows * partners(index, *collection);
    if (found * kLookupCost >= items) continue;
    const IndexBound bound{BoundCheck::looked_up, *path, {}, {}, 0, 0, nullptr, true};
    scan.access.kind = Access::Kind::any_index;
    scan.access.probes.push_back({index, {{bound}}});
    scan.access.estimated_rows = found;
    return true;
  }
  return false;
}

bool look_up(PlanNode& join, Source& source) {
  PlanNode& scan = *bottom_of(*join.right->root);
  if (join.is_lookup || join.narrowed_scan || !is_plain_scan(scan)) return false;
  const double left_rows = estimated_rows(*join.input, source);
  for (size_t key = 0; key < join.right_keys.size() && !join.is_lookup; ++key) {
    join.is_lookup = find_by_keys(scan, *join.right_keys[key], left_rows, source);
    join.lookup_key = key;
  }
  return join.is_lookup;
}

// The scans of the left side whose rows the join drops if they have no partner.
std::vector<PlanNode*> scans_of_left_side(PlanNode& join) {
  std::vector<PlanNode*> scans;
  for (PlanNode* node = join.input.get(); node != nullptr; node = node->input.get()) {
    if (is_plain_scan(*node)) scans.push_back(node);
    if (node->kind != PlanKind::join || node->keeps_unmatched) continue;
    if (PlanNode* const scan = bottom_of(*node->right->root); is_plain_scan(*scan)) scans.push_back(scan);
  }
  return scans;
}

bool narrow(PlanNode& join, Source& source) {
  if (join.keeps_unmatched || join.is_lookup || join.narrowed_scan) return false;
  const double right_rows = estimated_rows(*join.right->root, source);
  for (PlanNode* scan : scans_of_left_side(join)) {
    for (size_t key = 0; key < join.left_keys.size(); ++key) {
      if (!find_by_keys(*scan, *join.left_keys[key], right_rows, source)) continue;
      scan->access.takes_join_keys = true;
      join.narrowed_scan = scan->number;
      join.narrowing_key = key;
      return true;
    }
  }
  return false;
}

}  // namespace

// Each join found so makes the rows of another fewer, so all are looked at again.
void join_by_index(PlannedQuery& query, Source& source) {
  for (bool has_found = true; has_found;) {
    has_found = false;
    for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
      if (node->kind == PlanKind::join) has_found |= look_up(*node, source) || narrow(*node, source);
  }
}

}  // namespace quire::sql
