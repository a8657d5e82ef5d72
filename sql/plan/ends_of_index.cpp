// SELECT MIN(c.x), MAX(c.x): what an index over c.x begins and ends with is all that they depend on. The
// least and the greatest defined value are there, and so is an array or object, behind all scalars, if there
// is any, which makes both undefined.
#include <optional>
#include <vector>

#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

// Arrays and objects among them. Of several parts one may be missing, and with it the entry.
bool holds_all_defined(const IndexDescription& index) {
  return index.holds == IndexHolds::every_item ||
         (index.holds == IndexHolds::defined && index.parts.size() == 1);
}

IndexBound defined(const std::vector<IndexStep>& path) {
  constexpr uint8_t kNull = 0x10, kEnd = 0xFF;
  return {BoundCheck::of_types, path, {}, {}, kNull, kEnd, nullptr, true};
}

}  // namespace

std::optional<std::vector<IndexStep>> path_of_extremes(const BoundQuery& query, SlotNumber slot) {
  if (!query.is_grouped || !query.group_by.empty() || query.sources.size() != 1) return std::nullopt;
  std::optional<std::vector<IndexStep>> path;
  for (const BoundAggregate& aggregate : query.aggregates) {
    const bool is_extreme = aggregate.aggregate == Aggregate::min || aggregate.aggregate == Aggregate::max;
    if (!is_extreme || aggregate.argument == nullptr) return std::nullopt;
    auto of_this = indexable_path(*aggregate.argument, slot);
    if (!of_this || (path && *path != *of_this)) return std::nullopt;
    path = std::move(of_this);
  }
  return path;
}

void read_ends_of_index(Plan& plan, PlannedQuery& query, Source& source) {
  const BoundQuery& bound = *query.bound;
  if (plan.statement->change) return;
  PlanNode* scan = query.root.get();
  PlanNode* above = nullptr;
  for (; scan->input != nullptr; scan = scan->input.get()) above = scan;
  if (scan->kind != PlanKind::scan || scan->access.kind != Access::Kind::scan || above == nullptr ||
      above->kind != PlanKind::group)
    return;
  const auto path = path_of_extremes(bound, scan->source->slot);
  Collection* const collection = path ? source.collection(scan->source->collection_name) : nullptr;
  if (collection == nullptr) return;
  for (const IndexDescription& index : collection->indexes()) {
    const bool needs_every_item = !holds_all_defined(index);
    if (index.parts[0].path != *path || index.parts[0].is_descending || index.cut_entries > 0 ||
        (needs_every_item && index.entries != collection->item_count()) || !index.condition.empty() ||
        index.is_multi_valued())
      continue;
    AccessPath& access = scan->access;
    access.kind = Access::Kind::index;
    access.only_ends = true;
    access.estimated_rows = 2;
    access.probes.push_back({index, {{defined(*path)}}});
    plan.index_needs.push_back({scan->source->collection_name, index.number, true, needs_every_item});
    return;
  }
}

}  // namespace quire::sql
