// SELECT MIN(c.x), MAX(c.x): what an index over c.x begins and ends with is all that they depend on. The
// least and the greatest defined value are there, and so is an array or object, behind all scalars, if there
// is any, which makes both undefined. Where conditions leave one range of an index, in which the values of
// c.x lie in order, it is what that range begins and ends with: MAX(c.x) WHERE c.key = 'k' AND c.x < 5.
#include <algorithm>
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
  return {BoundCheck::of_types, path, {}, kNull, kEnd, nullptr, true};
}

bool is_one_range(const std::vector<IndexBound>& bounds) {
  return std::ranges::all_of(bounds, [](const IndexBound& bound) {
    return bound.is_exact && bound.check >= BoundCheck::less && bound.check <= BoundCheck::prefix;
  });
}

bool is_one_value(const std::vector<IndexBound>& bounds) {
  return bounds.size() == 1 && bounds[0].is_exact && bounds[0].check == BoundCheck::equal;
}

// What the conditions leave of an index, where nothing but they stands above.
void read_ends_of_range(Plan& plan, PlanNode& scan, const std::vector<IndexStep>& path) {
  AccessPath& access = scan.access;
  PlannedProbe& probe = access.probes[0];
  const IndexDescription& index = probe.index;
  if (index.is_multi_valued() || index.cut_entries > 0 || probe.parts.empty()) return;
  size_t values = 0;
  while (values < probe.parts.size() && is_one_value(probe.parts[values])) ++values;
  if (values >= index.parts.size() || index.parts[values].path != path) return;
  if (values < probe.parts.size()) {
    if (values + 1 < probe.parts.size() || !is_one_range(probe.parts[values])) return;
  } else {
    // An array or object has an entry, too, as far as the parts behind it do not matter.
    const bool is_last = values + 1 == index.parts.size();
    if (index.holds != IndexHolds::every_item && (index.holds != IndexHolds::defined || !is_last)) return;
    probe.parts.push_back({defined(path)});
  }
  access.kind = Access::Kind::index;  // the rows may come in the order of the entries
  access.only_ends = true;
  access.estimated_rows = std::min(access.estimated_rows, 2.0);
  plan.index_needs.push_back({scan.source->collection_name, index.number, true, false});
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
  if (scan->kind != PlanKind::scan || above == nullptr || above->kind != PlanKind::group) return;
  const auto path = path_of_extremes(bound, scan->source->slot);
  if (path && scan->access.probes.size() == 1) read_ends_of_range(plan, *scan, *path);
  if (scan->access.kind != Access::Kind::scan) return;
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
