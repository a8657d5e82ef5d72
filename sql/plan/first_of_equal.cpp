// SELECT DISTINCT over what one index holds: entries with equal values lead to items that give equal rows, so
// one item of each value will do. It is the first, as a scan comes to it: DISTINCT keeps that one, and its
// place among the others.
#include <algorithm>
#include <cmath>
#include <optional>

#include "sql/plan/estimate_rows.h"
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// Of a value, in items of a scan: some entries that repeat it, a hop over the others, a look-up of the item.
constexpr double kCostOfValue = 20;

// Whether items that are equal in what the query reads of them give equal rows.
bool are_rows_repeatable(const PlannedQuery& query) {
  for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (std::ranges::any_of(node->conditions, [](const BoundExpression* e) { return is_volatile(*e); }))
      return false;
  return !is_volatile(*query.bound->value);
}

// How many items a scan reads until it has come to as many values as are wanted, each being as frequent as
// the others.
double items_of_scan(double items, double values, std::optional<double> wanted) {
  if (!wanted || *wanted >= values) return items;
  return std::min(items, values * std::log(values / (values - *wanted)));
}

bool leads_to_all(const IndexDescription& index, double items) {
  return index.condition.empty() && !index.is_multi_valued() &&
         (index.holds == IndexHolds::every_item || static_cast<double>(index.entries) == items);
}

// By hopping from one to the next; nothing if there are many.
std::optional<double> count_values(const IndexDescription& index, Collection& collection) {
  constexpr uint64_t kMostHops = 50;
  const KeyRange all{};
  const IndexProbe probe{index.number, std::span(&all, 1)};
  Access access;
  access.kind = Access::Kind::index;
  access.probes = std::span(&probe, 1);
  const auto cursor = collection.open_index(access);
  if (!cursor || *cursor == nullptr) return std::nullopt;
  for (uint64_t values = 0; values < kMostHops; ++values) {
    const auto counted = (*cursor)->count(1);
    if (!counted || !(*cursor)->skip_equal(index.parts.size())) return std::nullopt;
    if (*counted == 0) return static_cast<double>(values);
  }
  return std::nullopt;
}

// How many different values an index has, as far as that is known, or soon found out.
std::optional<double> values_of(const IndexDescription& index, Collection& collection) {
  const auto statistics = collection.index_statistics(index.number);
  if (!statistics) return std::nullopt;
  if (statistics->distinct.size() < index.parts.size()) return count_values(index, collection);
  return std::max(1.0, statistics->distinct[index.parts.size() - 1]);
}

}  // namespace

void follow_first_of_equal(Plan& plan, PlannedQuery& query, Source& source) {
  const BoundQuery& bound = *query.bound;
  if (!bound.distinct || bound.is_grouped || !bound.order_by.empty() || bound.sources.size() != 1) return;
  PlanNode* scan = query.root.get();
  while (scan->input != nullptr) scan = scan->input.get();
  if (scan->kind != PlanKind::scan || !are_rows_repeatable(query)) return;
  AccessPath& access = scan->access;
  if (access.kind == Access::Kind::any_index && access.probes.size() == 1) {
    const IndexDescription& index = access.probes[0].index;
    access.first_of_equal = !index.is_multi_valued() && is_covered(plan, query, *scan, index);
    return;
  }
  Collection* const collection = source.collection(scan->source->collection_name);
  if (access.kind != Access::Kind::scan || !access.id_bounds.empty() || collection == nullptr) return;
  const auto items = static_cast<double>(collection->item_count());
  const IndexDescription* best = nullptr;
  double best_values = 0;
  for (const IndexDescription& index : collection->indexes()) {
    if (!leads_to_all(index, items) || !is_covered(plan, query, *scan, index)) continue;
    const auto values = values_of(index, *collection);
    if (!values || (best != nullptr && *values >= best_values)) continue;
    if (*values * kCostOfValue >= items_of_scan(items, *values, row_limit(bound))) continue;
    best = &index;
    best_values = *values;
  }
  if (best == nullptr) return;
  access.kind = Access::Kind::any_index;
  access.first_of_equal = true;
  access.estimated_rows = best_values;
  access.probes.push_back({*best, {}});
  plan.index_needs.push_back(
      {scan->source->collection_name, best->number, false, best->holds != IndexHolds::every_item});
}

}  // namespace quire::sql
