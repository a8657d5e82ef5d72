// Joins that read their right side for each row of the left one. Where no equality is a key, but conditions
// compare the row with a path that the right side has an index over (`JOIN p ON p.at >= s.start AND p.at <
// s.end`), the entries that each row leads to are less work than all pairs. So are those that the arms of an
// OR lead to (`JOIN b ON b.x = a.p OR b.id = a.q`), and the items whose keys it, or a list, names.
#include <algorithm>
#include <utility>
#include <vector>

#include "sql/plan/bottom.h"
#include "sql/plan/estimate_rows.h"
#include "sql/plan/index_bounds.h"
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

using Conditions = std::vector<const BoundExpression*>;

// In pairs of rows that are compared: to open an index anew.
constexpr double kOpenCost = 200;

class RowJoiner {
 public:
  RowJoiner(Plan& plan, const PlannedQuery& query, PlanNode& join, Source& source)
      : plan_(plan),
        query_(query),
        join_(join),
        source_(source),
        right_(join.right->root),
        right_slots_(plan.slot_count) {
    add_all_slots_bound(*right_, right_slots_);
  }

  // `conditions`: what is demanded of the pairs. Those that bound the index go to the right side.
  void join_by(Conditions& conditions) {
    const Bottom bottom = find_bottom(right_);
    PlanNode& scan = **bottom.scan;
    if (scan.kind != PlanKind::scan || is_asked(scan.access)) return;
    const Conditions bounds = bounds_of(scan, conditions);
    if (bounds.empty()) return;
    const Conditions before = bottom.filter != nullptr ? (*bottom.filter)->conditions : Conditions();
    const double left_rows = estimated_rows(*join_.input, source_);
    const double pairs = left_rows * estimated_rows(*right_, source_);
    const AccessPath as_it_was = std::exchange(scan.access, {});
    Conditions all = before;
    for (const Conditions* more : {&as_it_was.routing, &as_it_was.decided, &bounds})
      all.insert(all.end(), more->begin(), more->end());
    filter_scan(std::move(all));
    choose_access_path_in(query_, right_slots_, right_, source_);
    choose_index_in(plan_, query_, right_slots_, right_, source_);
    // What the row says nothing of is no less than before.
    join_.is_by_row = left_rows * (kOpenCost + estimated_rows(scan, source_) * kLookupCost) < pairs;
    if (join_.is_by_row) {
      std::erase_if(conditions, [&](const BoundExpression* condition) {
        return std::ranges::find(bounds, condition) != bounds.end();
      });
    } else {
      scan.access = as_it_was;
      filter_scan(before);
    }
  }

 private:
  // For what another join has, or for an order.
  static bool is_asked(const AccessPath& access) {
    return access.takes_join_keys || access.asked_components > 0 || access.is_ordered;
  }

  // Those that say something of a path of the right side's items, by what the left row is.
  Conditions bounds_of(const PlanNode& scan, const Conditions& conditions) const {
    const PlacedSlot item{scan.source->slot, {}};
    Conditions bounds;
    for (const BoundExpression* condition : conditions)
      if (!is_volatile(*condition) && leads_to_items(*condition, item)) bounds.push_back(condition);
    return bounds;
  }

  // An OR does so by each of its arms.
  bool leads_to_items(const BoundExpression& condition, const PlacedSlot& item) const {
    const auto does = [&](const BoundExpression* operand) { return leads_to_items(*operand, item); };
    if (condition.kind == BoundKind::logical_or) return std::ranges::all_of(condition.operands, does);
    if (condition.kind == BoundKind::logical_and) return std::ranges::any_of(condition.operands, does);
    return find_index_bound(condition, std::span(&item, 1), right_slots_).has_value();
  }

  // Gives the right side's scan these conditions, in place of what it has.
  void filter_scan(Conditions conditions) {
    const Bottom bottom = find_bottom(right_);
    if (bottom.filter != nullptr) take_out(*bottom.filter);
    if (conditions.empty()) return;
    Place& scan = *find_bottom(right_).scan;
    auto filter = std::make_unique<PlanNode>();
    filter->kind = PlanKind::filter;
    filter->number = plan_.node_count++;
    filter->bound = query_.bound;
    filter->conditions = std::move(conditions);
    filter->input = std::move(scan);
    scan = std::move(filter);
  }

  Plan& plan_;
  const PlannedQuery& query_;
  PlanNode& join_;
  Source& source_;
  Place& right_;
  SlotSet right_slots_;
};

}  // namespace

void join_by_row(Plan& plan, PlannedQuery& query, Source& source) {
  Place* above = nullptr;
  for (Place* at = &query.root; *at != nullptr; above = at, at = &(*at)->input) {
    PlanNode& join = **at;
    if (join.kind != PlanKind::join || !join.right_keys.empty()) continue;
    RowJoiner joiner(plan, query, join, source);
    if (join.keeps_unmatched) {
      joiner.join_by(join.conditions);
    } else if (above != nullptr && (*above)->kind == PlanKind::filter) {
      joiner.join_by((*above)->conditions);
      if (!(*above)->conditions.empty()) continue;
      take_out(*above);
      at = above;
    }
  }
}

}  // namespace quire::sql
