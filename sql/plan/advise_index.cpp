// The index that would help a query most, of a scan that reads all items: over the paths that are equal to
// something, then those of ORDER BY under a limit, or one that is within a range; over the path of MIN and
// MAX.
#include <fmt/format.h>

#include <algorithm>

#include "sql/parse/literals.h"
#include "sql/plan/id_range.h"
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// Below this no index is worth its upkeep.
constexpr double kFewItems = 100;
// An entry's key holds the values, the hash of the partition key and the id; pages are not full.
constexpr double kEntryBytes = 80;

std::string path_text(const std::vector<IndexStep>& path) {
  std::string text;
  for (const IndexStep& step : path) {
    const bool is_plain = !step.name.empty() && std::ranges::all_of(step.name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (step.is_element)
      text += "[]";
    else if (is_plain)
      text += (text.empty() ? "" : ".") + step.name;
    else
      text += "[\"" + step.name + "\"]";
  }
  return text;
}

bool is_multi_valued(const std::vector<IndexStep>& path) {
  return std::ranges::any_of(path, &IndexStep::is_element);
}

using Paths = std::vector<std::string>;

// What an index would be over, the most selective first; `last`: what would come behind equal paths.
Paths wanted_paths(const std::vector<IndexBound>& bounds, const Paths& last, double& weight) {
  Paths equal, range, elements;
  for (const IndexBound& bound : bounds) {
    auto& list = is_multi_valued(bound.path) ? elements : bound.names_values() ? equal : range;
    if (bound.check == BoundCheck::of_types) continue;
    if (std::string text = path_text(bound.path); std::ranges::find(list, text) == list.end())
      list.push_back(std::move(text));
  }
  weight = equal.empty() ? elements.empty() ? 1 : 2 : 3;
  if (equal.empty() && range.empty() && !elements.empty()) return {elements.front()};
  if (range.empty())
    equal.insert(equal.end(), last.begin(), last.end());
  else
    equal.push_back(range.front());
  return equal;
}

// Those of a sort that a limit would end early, were there an index in its order.
Paths paths_of_order(const BoundQuery& query, SlotNumber slot) {
  if (query.sources.size() != 1 || query.is_grouped || query.fusion || query.order_by.empty() ||
      (query.top == nullptr && query.limit == nullptr))
    return {};
  Paths paths;
  const bool is_reverse = query.order_by[0].descending;  // an index is read either way
  for (const BoundOrderItem& item : query.order_by) {
    const auto path = indexable_path(*item.expression, slot);
    if (!path || item.is_score) return {};
    paths.push_back(path_text(*path) + (item.descending != is_reverse ? " DESC" : ""));
  }
  return paths;
}

Paths paths_behind_equal(const BoundQuery& query, SlotNumber slot) {
  if (const auto path = path_of_extremes(query, slot)) return {path_text(*path)};
  return paths_of_order(query, slot);
}

std::string list_of(const Paths& paths) {
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : ", ") + path;
  return text;
}

bool is_there(const Collection& collection, const Paths& paths) {
  return std::ranges::any_of(collection.indexes(), [&](const IndexDescription& index) {
    return std::ranges::equal(index.parts, paths, [](const IndexPart& part, const std::string& path) {
      return path == path_text(part.path) + (part.is_descending ? " DESC" : "");
    });
  });
}

}  // namespace

namespace {

// Notes what would help the scan at the lower end of a tree.
void advise_scan(Plan& plan, const PlannedQuery& query, const PlanNode* scan, Source& source) {
  if (scan == nullptr) return;
  std::vector<const PlanNode*> filters;
  for (; scan->input != nullptr; scan = scan->input.get())
    if (scan->kind == PlanKind::filter) filters.push_back(scan);
  if (scan->kind != PlanKind::scan || scan->access.kind != Access::Kind::scan) return;
  Collection* const collection = source.collection(scan->source->collection_name);
  if (collection == nullptr) return;
  const auto items = static_cast<double>(collection->item_count());
  if (items < kFewItems) return;
  SlotSet own(plan.slot_count);
  for (const BoundSource& from : query.bound->sources) own.add(from.slot);
  const PlacedSlot item{scan->source->slot, {}};
  std::vector<IndexBound> bounds;
  for (const PlanNode* filter : filters)
    for (const BoundExpression* condition : filter->conditions) {
      auto bound = find_index_bound(*condition, std::span(&item, 1), own);
      // An index that was passed over would be so again.
      const bool has_index = bound && std::ranges::any_of(collection->indexes(), [&](const auto& index) {
                               return index.parts[0].path == bound->path;
                             });
      const bool is_used = bound && bounds_id(*bound) && !scan->access.id_bounds.empty();
      if (bound && !has_index && !is_used) bounds.push_back(std::move(*bound));
    }
  double weight = 0;
  const Paths paths = wanted_paths(bounds, paths_behind_equal(*query.bound, scan->source->slot), weight);
  if (paths.empty() || is_there(*collection, paths) || weight * items <= plan.advice_weight) return;
  plan.advice_weight = weight * items;
  plan.advice = "CREATE INDEX ON ";
  append_name(plan.advice, collection->name());
  plan.advice += fmt::format(" ({}), about {:.1f} MB", list_of(paths), items * kEntryBytes / 1e6);
}

}  // namespace

void advise_index(Plan& plan, PlannedQuery& query, Source& source) {
  advise_scan(plan, query, query.root.get(), source);
  for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->right != nullptr) advise_scan(plan, query, node->right->root.get(), source);
}

}  // namespace quire::sql
