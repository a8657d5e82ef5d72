// A scan by an index whose entries hold all that the query asks of the items need not read them. Asked for
// are paths that are parts of the index, or nothing but how many there are. The paths then stand in slots
// that the scan fills from the entries; or from the items, where it turns out to have to read all of them.
#include <algorithm>
#include <optional>

#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

class Coverage {
 public:
  Coverage(Plan& plan, PlanNode& scan, const IndexDescription& index)
      : plan_(plan), scan_(scan), index_(index), used_(index_.parts.size(), false) {}

  // Whether an expression asks of the item only what the index has.
  bool covers(const BoundExpression& expression) {
    if (const auto path = indexable_path(expression, scan_.source->slot)) {
      const auto part = std::ranges::find(index_.parts, *path, &IndexPart::path);
      if (part == index_.parts.end()) return false;
      const auto number = static_cast<size_t>(part - index_.parts.begin());
      used_[number] = true;
      paths_.emplace_back(&expression, number);
      return true;
    }
    SlotSet reads(plan_.statement->slot_count);
    const bool has_parts = !expression.operands.empty() || !expression.entries.empty();
    if (expression.query != nullptr || !has_parts) add_slots_read(expression, reads);
    if (reads.contains(scan_.source->slot)) return false;
    const bool reads_slot = expression.kind == BoundKind::path || expression.kind == BoundKind::slot ||
                            expression.kind == BoundKind::system_property ||
                            expression.kind == BoundKind::document_id;
    if (reads_slot && expression.slot == scan_.source->slot) return false;
    return std::ranges::all_of(expression.operands, [&](const BoundExpression* e) { return covers(*e); }) &&
           std::ranges::all_of(expression.entries, [&](const BoundEntry& e) { return covers(*e.value); });
  }

  // How many leading parts all that is asked for lies in; 0: nothing is asked for.
  size_t parts_used() const {
    size_t count = used_.size();
    while (count > 0 && !used_[count - 1]) --count;
    return count;
  }

  void apply() {
    AccessPath& access = scan_.access;
    access.is_covering = true;
    access.reads_parts = !paths_.empty();
    for (size_t part = 0; part < used_.size(); ++part) {
      access.part_slots.push_back(plan_.slot_count++);
      plan_.item_slots.emplace_back();
    }
    for (const auto& [expression, part] : paths_) plan_.covered.emplace(expression, access.part_slots[part]);
  }

 private:
  Plan& plan_;
  PlanNode& scan_;
  const IndexDescription& index_;
  std::vector<bool> used_;
  std::vector<std::pair<const BoundExpression*, size_t>> paths_;
};

// Everything that a query evaluates over its rows.
template <typename Visit>
bool all_expressions(const PlannedQuery& query, const Visit& visit) {
  const BoundQuery& bound = *query.bound;
  for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    for (const BoundExpression* condition : node->conditions)
      if (!visit(*condition)) return false;
  for (const BoundExpression* key : bound.group_by)
    if (!visit(*key)) return false;
  for (const BoundAggregate& aggregate : bound.aggregates)
    if (aggregate.argument != nullptr && !visit(*aggregate.argument)) return false;
  for (const BoundOrderItem& item : bound.order_by)
    if (!visit(*item.expression)) return false;
  return visit(*bound.value);
}

}  // namespace

bool ignores_order(const BoundQuery& query) {
  return query.is_grouped && query.group_by.empty() &&
         std::ranges::all_of(query.aggregates, [](const BoundAggregate& aggregate) {
           return aggregate.aggregate == Aggregate::count || aggregate.aggregate == Aggregate::count_if ||
                  aggregate.aggregate == Aggregate::min || aggregate.aggregate == Aggregate::max;
         });
}

bool ignores_repeats(const BoundQuery& query) {
  if (!query.is_grouped) return query.distinct;
  return query.group_by.empty() && std::ranges::all_of(query.aggregates, [](const BoundAggregate& aggregate) {
           return aggregate.aggregate == Aggregate::min || aggregate.aggregate == Aggregate::max ||
                  (aggregate.aggregate == Aggregate::count && aggregate.distinct);
         });
}

bool is_covered(Plan& plan, const PlannedQuery& query, PlanNode& scan, const IndexDescription& index,
                std::span<const BoundExpression* const> decided) {
  if (query.bound->sources.size() != 1 || plan.statement->change) return false;
  Coverage coverage(plan, scan, index);
  return all_expressions(query, [&](const BoundExpression& expression) {
    return std::ranges::find(decided, &expression) != decided.end() || coverage.covers(expression);
  });
}

void cover_by_index(Plan& plan, PlannedQuery& query) {
  if (query.bound->sources.size() != 1 || plan.statement->change) return;
  PlanNode* scan = query.root.get();
  while (scan->input != nullptr) scan = scan->input.get();
  if (scan->kind != PlanKind::scan || scan->access.probes.size() != 1) return;
  AccessPath& access = scan->access;
  const bool is_one_each =
      access.kind == Access::Kind::any_index && !access.probes[0].index.is_multi_valued();
  if (access.kind != Access::Kind::index && !is_one_each) return;
  Coverage coverage(plan, *scan, access.probes[0].index);
  if (all_expressions(query,
                      [&](const BoundExpression& expression) { return coverage.covers(expression); })) {
    coverage.apply();
    if (ignores_order(*query.bound)) access.kind = Access::Kind::index;
    const bool are_repeats_equal =
        all_expressions(query, [](const BoundExpression& expression) { return !is_volatile(expression); });
    if (access.kind == Access::Kind::index && are_repeats_equal && ignores_repeats(*query.bound))
      access.skipped_parts = coverage.parts_used();
  }
}

}  // namespace quire::sql
