// Which index, if any, leads to the items of a scan. Each condition that says something about one path bounds
// the entries of indexes over it; the index with the fewest entries to visit is taken where that is less work
// than reading all items: fetching an item by an entry costs as much as a few of a scan. An index whose order
// is that of ORDER BY takes the place of the sort where a limit lets it stop early.
//
// The choice rests on estimates and may cost time; the conditions stay with the filter, or with the access
// path where the entries decide them exactly.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sql/plan/bottom.h"
#include "sql/plan/estimate_rows.h"
#include "sql/plan/id_range.h"
#include "sql/plan/index_candidate.h"
#include "sql/plan/index_condition.h"
#include "sql/plan/index_estimate.h"
#include "sql/plan/index_order.h"
#include "sql/plan/partition_share.h"
#include "sql/plan/plan.h"
#include "sql/plan/plan_choice.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// A row that is sorted.
constexpr double kSortCost = 0.5;
// The share of the rows that a condition lets through, where nothing tells.
constexpr double kConditionShare = 0.25;
// Entries that are so few are read of all partitions.
constexpr double kFewEntries = 100;

class IndexChooser {
 public:
  IndexChooser(Plan& plan, const PlannedQuery& query, const SlotSet& own_slots, PlanNode& scan,
               PlanNode* filter, Collection& collection)
      : plan_(plan),
        query_(query),
        scan_(scan),
        filter_(filter),
        collection_(collection),
        own_slots_(own_slots) {
    slots_.push_back({scan.source->slot, {}});
    add_bounds_of(scan.access.routing);
    if (filter_ != nullptr) add_bounds_of(filter_->conditions);
  }

  // What the nodes above say of elements of the item's arrays (JOIN t IN c.tags WHERE t = 'x') leaves only
  // items with such an element.
  void look_above(std::span<const PlanNode* const> above) {
    for (const PlanNode* node : above) {
      if (node->kind == PlanKind::filter) {
        add_bounds_of(node->conditions);
        continue;
      }
      if (node->kind != PlanKind::elements || node->keeps_unmatched ||
          node->source->join == JoinKind::left_on)
        return;
      for (const PlacedSlot& placed : slots_) {
        auto path = indexable_path(*node->source->expression, placed.slot);
        if (!path) continue;
        path->insert(path->begin(), placed.path.begin(), placed.path.end());
        path->push_back({{}, true});
        slots_.push_back({node->source->slot, std::move(*path)});
        break;
      }
    }
  }

  // `sort`: what ORDER BY wants of this scan, or null; `conditions` stand between. `limit`: how many rows are
  // wanted at most. By how many keys of ORDER BY, from the first on, the rows then come: by all, and the sort
  // may go.
  size_t choose(const BoundQuery* sort, size_t conditions, std::optional<double> limit) {
    share_above_ = std::pow(kConditionShare, static_cast<double>(conditions));
    items_ = static_cast<double>(collection_.item_count());
    if (is_routed()) items_here_ = items_of_partitions(scan_.access, collection_);
    shown_share_ = collection_.shown_share();
    if (scan_.access.kind != Access::Kind::partitions)
      return choose_way(sort, limit, is_routed() ? items_here_ : items_ * shown_share_ * share_by_id());
    // Of several partitions each is read whole, or else which they are is a condition like others.
    AccessPath routed = scan_.access;
    leave_routing();
    scan_.access.kind = Access::Kind::scan;
    const size_t keys = choose_way(sort, limit, items_here_);
    if (scan_.access.kind != Access::Kind::scan) return keys;
    std::erase_if(filter_->conditions, [&](const BoundExpression* condition) {
      return std::ranges::find(routed.routing, condition) != routed.routing.end();
    });
    scan_.access = std::move(routed);
    return 0;
  }

 private:
  // `best_cost`: of reading all that is left.
  size_t choose_way(const BoundQuery* sort, std::optional<double> limit, double best_cost) {
    std::vector<IndexCandidate> found = find_candidates(sort, limit);
    const std::optional<uint32_t> chosen = expect_values(found, best_cost, sort, limit);
    const size_t keys = choose_among(found, sort, limit, best_cost);
    const auto is_chosen = [&](const PlannedProbe& probe) { return probe.index.number == *chosen; };
    if (chosen)
      plan_.choice->expects_few =
          plan_.expects_few.value_or(std::ranges::any_of(scan_.access.probes, is_chosen));
    return keys;
  }

  size_t choose_among(std::vector<IndexCandidate>& found, const BoundQuery* sort, std::optional<double> limit,
                      double best_cost) {
    std::optional<IndexCandidate> best, ordered;
    double best_rows = best_cost;
    for (IndexCandidate& candidate : found) {
      if (candidate.order && (!ordered || is_better_in_order(candidate, *ordered))) ordered = candidate;
      if (!is_narrower(candidate)) continue;
      const double cost = candidate.rows * cost_of_entry(candidate.probe) + 1;
      if (cost >= best_cost) continue;
      best_cost = cost;
      best_rows = candidate.rows;
      best = std::move(candidate);
    }
    const std::optional<CandidatePair> both =
        is_routed() ? std::nullopt : find_pair(candidates_, items_, best_cost, best_rows);
    std::optional<std::vector<IndexCandidate>> any;
    if (!is_routed()) any = union_of_arms(best_cost, best_rows);
    const double sort_cost = sort != nullptr ? best_rows * kSortCost : 0;
    const double cost_by_id = cost_in_id_order(sort, limit);
    if (cost_by_id <= best_cost + sort_cost && (!ordered || cost_by_id <= ordered->cost_in_order)) return 0;
    if (ordered && ordered->cost_in_order < best_cost + sort_cost) {
      const IndexOrder order = *ordered->order;
      take(std::move(*ordered), true);
      scan_.access.is_reverse = order.is_reverse;
      return order.keys;
    }
    if (any)
      take_union(std::move(*any));
    else if (both)
      take_intersection(*both);
    else if (best)
      take(std::move(*best), false);
    return 0;
  }

  std::vector<IndexCandidate> find_candidates(const BoundQuery* sort, std::optional<double> limit) {
    std::vector<IndexCandidate> found;
    for (const IndexDescription& index : collection_.indexes()) {
      if (!index.condition.empty() && !has_all_wanted(index)) continue;
      IndexCandidate candidate = make_candidate(index, bounds_, collection_, items_);
      if (is_routed() && !stays_in_partition(candidate)) continue;
      if (is_routed() && names_partition_alone(candidate.probe, collection_)) candidate.rows = items_here_;
      // Entries of one value are sought within the partition that is shown, others are passed over.
      if (names_all_values(candidate.probe)) candidate.rows *= shown_share_;
      if (sort != nullptr) candidate.order = order_of(candidate.probe, *sort, limit.has_value());
      if (is_narrower(candidate)) candidates_.push_back(candidate);
      found.push_back(std::move(candidate));
    }
    weigh_orders(found, sort, limit);
    return found;
  }

  void weigh_orders(std::vector<IndexCandidate>& found, const BoundQuery* sort, std::optional<double> limit) {
    for (IndexCandidate& candidate : found)
      if (candidate.order) candidate.cost_in_order = cost_in_order(candidate, *sort, limit);
  }

  // Whether it depends on parameters that one of them leads to few items: notes it for the statement, once,
  // and takes it for what this plan expects. Its number.
  std::optional<uint32_t> expect_values(std::vector<IndexCandidate>& found, double cost_of_all,
                                        const BoundQuery* sort, std::optional<double> limit) {
    if (&query_ != &plan_.query || plan_.choice) return std::nullopt;
    IndexCandidate* least = nullptr;
    double cost_of_others = cost_of_all;
    for (IndexCandidate& candidate : found) {
      if (candidate.probe.parts.empty()) continue;
      IndexCandidate* other = &candidate;
      if (least == nullptr || candidate.rows < least->rows) std::swap(least, other);
      if (other != nullptr)
        cost_of_others = std::min(cost_of_others, other->rows * cost_of_entry(other->probe));
    }
    if (least == nullptr || (is_routed() && !names_partition(least->probe, collection_))) return std::nullopt;
    const double cost_of_one = cost_of_entry(least->probe);
    // The order of another index is followed until enough rows are found: the fewer there are the longer, and
    // as long as it takes to read them where there are so many.
    for (const IndexCandidate& candidate : found) {
      if (!candidate.order) continue;
      const bool depends = limit && &candidate != least;
      const double cost = candidate.cost_in_order;
      cost_of_others = std::min(cost_of_others, depends ? std::sqrt(cost * least->rows * cost_of_one) : cost);
    }
    double most = cost_of_others / cost_of_one;
    // Who wants some rows in any order may soon have them, and has the first of one value's at once.
    if (sort == nullptr && limit && names_one_value(least->probe)) return std::nullopt;
    if (sort == nullptr && limit) most = std::min(most, kFewEntries * *limit);
    if (most < kFewEntries || !may_lead_to_more(least->probe, collection_, most)) return std::nullopt;
    plan_.choice = {scan_.source->collection_name, least->probe, most, false};
    if (!plan_.expects_few) return least->probe.index.number;
    least->rows = *plan_.expects_few ? std::min(least->rows, kFewEntries) : std::max(least->rows, items_);
    for (IndexCandidate& candidate : candidates_)
      if (candidate.probe.index.number == least->probe.index.number) candidate.rows = least->rows;
    weigh_orders(found, sort, limit);
    return least->probe.index.number;
  }

  void add_bounds_of(std::span<const BoundExpression* const> conditions) {
    for (const BoundExpression* condition : conditions)
      std::ranges::move(find_index_bounds(*condition, slots_, own_slots_), std::back_inserter(bounds_));
  }

  // ---- Partitions

  // Whether only the items of one partition, or of several, are wanted, and these are read.
  bool is_routed() const { return scan_.access.kind != Access::Kind::scan; }

  // Whether an index is of use for the items of a partition: its entries of theirs lie together, since the
  // index has the partition key, or since entries of one value are in the order of their items; or there are
  // few. Else those of other partitions would be passed over, of which there may be any number.
  bool stays_in_partition(IndexCandidate& candidate) {
    const PlannedProbe& probe = candidate.probe;
    if (names_partition(probe, collection_)) return true;
    if (!names_all_values(probe)) return !probe.parts.empty() && candidate.rows <= kFewEntries;
    candidate.rows *= items_here_ / std::max(items_, 1.0);
    return true;
  }
  // The conditions on the partition key are the filter's again, or the probe's.
  void leave_routing() {
    filter_->conditions.insert(filter_->conditions.end(), scan_.access.routing.begin(),
                               scan_.access.routing.end());
    scan_.access.routing.clear();
    scan_.access.partition_key.clear();
    scan_.access.choices.clear();
    scan_.access.arm_keys.clear();
    scan_.access.arm_key_size = 0;
  }

  // Whether reading the entries may be less work than reading all items: there are fewer, or the values that
  // are asked for can be hopped over.
  bool is_narrower(const IndexCandidate& candidate) {
    const IndexDescription& index = candidate.probe.index;
    if (!candidate.probe.parts.empty()) return true;
    // An item without elements has no entry in an index over elements.
    if (index.holds != IndexHolds::every_item || index.is_multi_valued()) return false;
    if (!index.condition.empty()) return true;
    const bool counts_values = std::ranges::any_of(query_.bound->aggregates, &BoundAggregate::distinct);
    return counts_values && ignores_repeats(*query_.bound) && ignores_order(*query_.bound) &&
           is_covered_by(candidate.probe);
  }

  double cost_of_entry(const PlannedProbe& probe) {
    // Within a partition each entry's item is asked whether it is one of it.
    const bool asks_items = is_routed() && !names_partition(probe, collection_);
    if (asks_items || !is_covered_by(probe)) return kEntryCost + kFetchCost;
    return ignores_order(*query_.bound) ? kEntryCost : kEntryCost + kKeyCost + kValuesCost;
  }

  // Of one value, an index over elements has one entry of an item.
  bool is_covered_by(const PlannedProbe& probe) {
    if (probe.index.is_multi_valued() && !names_one_value(probe)) return false;
    return is_covered(plan_, query_, scan_, probe.index, decided_by(probe));
  }

  static bool names_one_value(const PlannedProbe& probe) {
    return probe.parts.size() == probe.index.parts.size() &&
           std::ranges::all_of(probe.parts,
                               [](const auto& bounds) { return bounds[0].check == BoundCheck::equal; });
  }

  static bool is_better_in_order(const IndexCandidate& a, const IndexCandidate& b) {
    return std::pair(a.cost_in_order, a.rows) < std::pair(b.cost_in_order, b.rows);
  }

  // Entries are read until enough items have passed the filter.
  double cost_in_order(const IndexCandidate& ordered, const BoundQuery& sort, std::optional<double> limit) {
    double rows = ordered.rows;
    if (limit) rows = std::min(rows, *limit / share_let_through(ordered));
    if (ordered.order->keys < sort.order_by.size())
      return entries_to_sort(ordered.probe, *ordered.order, rows, collection_).value_or(ordered.rows) *
                 (kEntryCost + kFetchCost + kSortCost) +
             1;
    const double skipped = decides_rows(ordered.probe) ? std::min(rows, row_offset(*query_.bound)) : 0;
    const bool is_enough = is_covered_by(ordered.probe);
    return (rows - skipped) * (is_enough ? kEntryCost : kEntryCost + kFetchCost) + skipped * kSkipCost + 1;
  }
  // Whether there is a row for each entry, so that OFFSET goes past entries.
  bool decides_rows(const PlannedProbe& probe) const {
    if (query_.bound->distinct || query_.bound->sources.size() != 1) return false;
    if (!is_always_defined(*query_.bound->value, *query_.bound)) return false;
    const auto decided = decided_by(probe);
    return filter_ == nullptr ||
           std::ranges::all_of(filter_->conditions, [&](const BoundExpression* condition) {
             return std::ranges::find(decided, condition) != decided.end();
           });
  }

  // choose_id_range() comes after this: what its way costs.
  bool is_in_id_order() const {
    return collection_.has_id_order() && collection_.partition_key_paths().empty();
  }
  double share_by_id() const {
    if (!is_in_id_order()) return 1;
    return std::pow(kIdBoundShare, static_cast<double>(std::ranges::count_if(bounds_, bounds_id)));
  }
  double cost_in_id_order(const BoundQuery* sort, std::optional<double> limit) const {
    if (sort == nullptr || !is_in_id_order() || !is_ordered_by_id(*sort, scan_.source->slot))
      return std::numeric_limits<double>::infinity();
    IndexCandidate by_id;
    by_id.probe.parts.resize(1);
    std::ranges::copy_if(bounds_, std::back_inserter(by_id.probe.parts[0]), bounds_id);
    const double rows = items_ * share_by_id();
    return limit ? std::min(rows, *limit / share_let_through(by_id)) : rows;
  }

  double share_let_through(const IndexCandidate& ordered) const {
    if (filter_ == nullptr) return share_above_ * shown_share_;
    const auto is_decided = [&](const BoundExpression* condition) {
      return std::ranges::any_of(ordered.probe.parts, [&](const std::vector<IndexBound>& bounds) {
        return std::ranges::find(bounds, condition, &IndexBound::condition) != bounds.end();
      });
    };
    double share = share_above_;
    for (const BoundExpression* condition : filter_->conditions)
      if (!is_decided(condition)) share *= kConditionShare;
    if (share == 1) return shown_share_;
    for (const IndexCandidate& other : candidates_)
      if (other.probe.index.number != ordered.probe.index.number)
        share = std::min(share, other.rows / items_);
    return std::max(share * shown_share_, 1 / std::max(items_, 1.0));
  }

  // Whether a partial index has an entry for each item that the filter lets through. Notes the conditions
  // that its own says already.
  bool has_all_wanted(const IndexDescription& index) {
    if (filter_ == nullptr) return false;
    if (const auto known = said_by_index_.find(index.number); known != said_by_index_.end())
      return known->second.has_value();
    std::vector<const BoundExpression*> same;
    const auto condition = IndexCondition::parse(index.condition);
    const bool is_implied =
        condition && implies(filter_->conditions, scan_.source->slot, plan_.slot_count, **condition, same);
    said_by_index_.emplace(index.number, is_implied ? std::optional(std::move(same)) : std::nullopt);
    return is_implied;
  }

  // ---- Order

  // How its entries come in the order of ORDER BY, or of its first keys where a limited sort then stops
  // early.
  std::optional<IndexOrder> order_of(const PlannedProbe& probe, const BoundQuery& sort, bool is_limited) {
    const IndexDescription& index = probe.index;
    if (index.cut_entries > 0 || index.is_multi_valued() || !has_all_rows(probe)) return std::nullopt;
    const auto order = find_index_order(probe, sort, scan_.source->slot);
    if (!order || (!order->keeps_ties && !drops_ties(probe, *order))) return std::nullopt;
    const bool is_whole = order->keys == sort.order_by.size();
    return is_whole || (is_limited && may_keep_first(sort)) ? order : std::nullopt;
  }

  // Whether rows that are equal to ORDER BY are equal, and DISTINCT leaves one of them.
  bool drops_ties(const PlannedProbe& probe, const IndexOrder& order) {
    if (!query_.bound->distinct) return false;
    IndexDescription ordered = probe.index;
    ordered.parts.resize(order.parts);
    return is_covered(plan_, query_, scan_, ordered, decided_by(probe));
  }

  // An index that has no entry for an item would lose its row, unless a condition wants the value anyway.
  bool has_all_rows(const PlannedProbe& probe) const {
    return probe.index.holds == IndexHolds::every_item ||
           static_cast<double>(probe.index.entries) == items_ || !probe.parts.empty();
  }

  // ---- AND

  void take_intersection(const CandidatePair& pair) {
    AccessPath& access = scan_.access;
    access.kind = Access::Kind::all_index;
    access.estimated_rows = pair.rows;
    for (const IndexCandidate* candidate : {pair.first, pair.second}) {
      access.probes.push_back(candidate->probe);
      drop_decided(candidate->probe);
    }
  }

  // ---- OR

  // A candidate for each arm of a condition that is an OR, if that costs less.
  std::optional<std::vector<IndexCandidate>> union_of_arms(double& best_cost, double& best_rows) {
    if (filter_ == nullptr) return std::nullopt;
    std::optional<std::vector<IndexCandidate>> best;
    for (const BoundExpression* condition : filter_->conditions) {
      if (condition->kind != BoundKind::logical_or) continue;
      std::vector<IndexCandidate> arms;
      double cost = 1, rows = 0;
      for (const BoundExpression* operand : condition->operands) {
        std::optional<IndexCandidate> arm = candidate_of_arm(*operand);
        if (!arm) break;
        cost += arm->rows * (kEntryCost + kFetchCost);
        rows += arm->rows;
        arms.push_back(std::move(*arm));
      }
      if (arms.size() != condition->operands.size() || cost >= best_cost) continue;
      best_cost = cost;
      best_rows = rows;
      best = std::move(arms);
    }
    return best;
  }

  std::optional<IndexCandidate> candidate_of_arm(const BoundExpression& arm) {
    std::vector<IndexBound> outside = std::exchange(bounds_, {});
    add_bounds(arm);
    std::optional<IndexCandidate> best = make_candidate_by_id(bounds_, collection_);
    for (const IndexDescription& index : collection_.indexes()) {
      if (!index.condition.empty() && !has_all_wanted(index)) continue;
      IndexCandidate candidate = make_candidate(index, bounds_, collection_, items_);
      if (!candidate.probe.parts.empty() && (!best || candidate.rows < best->rows))
        best = std::move(candidate);
    }
    bounds_ = std::move(outside);
    return best;
  }

  void add_bounds(const BoundExpression& condition) {
    if (condition.kind == BoundKind::logical_and) {
      for (const BoundExpression* operand : condition.operands) add_bounds(*operand);
      return;
    }
    std::ranges::move(find_index_bounds(condition, slots_, own_slots_), std::back_inserter(bounds_));
  }

  // ---- Taking

  void take(IndexCandidate candidate, bool is_ordered) {
    AccessPath& access = scan_.access;
    if (is_routed() && names_partition(candidate.probe, collection_)) leave_routing();
    // Entries of equal values come in the order of their items, as a scan gives them, unless something was
    // cut. Others are put into that order, so that no row's place depends on which indexes there are; it also
    // reads the items from front to back.
    const bool has_one_value = names_one_value(candidate.probe) && candidate.probe.index.cut_entries == 0;
    access.kind = is_ordered || has_one_value ? Access::Kind::index : Access::Kind::any_index;
    access.is_ordered = is_ordered;
    access.estimated_rows = candidate.rows;
    access.probes.push_back(std::move(candidate.probe));
    drop_decided(access.probes[0]);
  }

  // Conditions of the filter, or of a node above it, that a probe decides alone.
  std::vector<const BoundExpression*> decided_by(const PlannedProbe& probe) const {
    std::vector<const BoundExpression*> decided;
    for (const std::vector<IndexBound>& part : probe.parts)
      for (const IndexBound& bound : part)
        if (bound.is_exact) decided.push_back(bound.condition);
    const auto said = said_by_index_.find(probe.index.number);
    if (said != said_by_index_.end() && said->second)
      decided.insert(decided.end(), said->second->begin(), said->second->end());
    return decided;
  }

  // Takes them out of the filter; what a node above decides stays with it.
  void drop_decided(const PlannedProbe& probe) {
    if (filter_ == nullptr) return;
    for (const BoundExpression* condition : decided_by(probe))
      if (std::erase(filter_->conditions, condition) > 0) scan_.access.decided.push_back(condition);
  }

  void take_union(std::vector<IndexCandidate> arms) {
    AccessPath& access = scan_.access;
    access.kind = Access::Kind::any_index;
    access.estimated_rows = 0;
    for (IndexCandidate& arm : arms) {
      access.estimated_rows += arm.rows;
      access.probes.push_back(std::move(arm.probe));
    }
  }

  Plan& plan_;
  const PlannedQuery& query_;
  PlanNode& scan_;
  PlanNode* filter_;
  Collection& collection_;
  const SlotSet& own_slots_;
  double items_ = 0;
  double items_here_ = 0;   // of the partitions that are wanted, if not all are
  double shown_share_ = 1;  // of the items, what the collection shows
  double share_above_ = 1;  // of the rows, what comes to the sort
  std::vector<PlacedSlot> slots_;
  std::vector<IndexBound> bounds_;
  std::vector<IndexCandidate> candidates_;
  // By number of a partial index: the conditions of the filter that are parts of its own; nothing if the
  // index lacks items that the filter lets through.
  std::unordered_map<uint32_t, std::optional<std::vector<const BoundExpression*>>> said_by_index_;
};

}  // namespace

void choose_index_in(Plan& plan, const PlannedQuery& query, const SlotSet& own_slots, Place& root,
                     Source& source) {
  Bottom bottom = find_bottom(root);
  PlanNode& scan = **bottom.scan;
  const bool is_routed =
      (scan.access.kind == Access::Kind::partition || scan.access.kind == Access::Kind::partitions) &&
      scan.access.asked_components == 0;
  if (scan.kind != PlanKind::scan || (scan.access.kind != Access::Kind::scan && !is_routed)) return;
  Collection* const collection = source.collection(scan.source->collection_name);
  if (collection == nullptr || collection->indexes().empty()) return;
  // To take back what the access path decides.
  if (is_routed) add_filter(plan, bottom);
  const BoundQuery& bound = *query.bound;
  const bool is_sortable = bottom.sort != nullptr && !bound.fusion && !bound.is_grouped;
  PlanNode* const filter = bottom.filter != nullptr ? bottom.filter->get() : nullptr;
  IndexChooser chooser(plan, query, own_slots, scan, filter, *collection);
  chooser.look_above(bottom.above);
  const size_t keys =
      chooser.choose(is_sortable ? &bound : nullptr, conditions_below_sort(bottom), row_limit(bound));
  const bool is_sorted = keys > 0 && keys == bound.order_by.size();
  if (keys > 0) {
    (*bottom.sort)->ordered_keys = keys;
    const PlannedProbe& probe = scan.access.probes[0];
    plan.index_needs.push_back({scan.source->collection_name, probe.index.number, true,
                                probe.index.holds != IndexHolds::every_item && probe.parts.empty()});
  } else if (scan.access.kind == Access::Kind::index) {
    plan.index_needs.push_back(
        {scan.source->collection_name, scan.access.probes[0].index.number, true, false});
  }
  // From below, since a place lies in the node above it.
  const bool is_filter_empty = filter != nullptr && filter->conditions.empty();
  if (is_filter_empty) take_out(*bottom.filter);
  if (is_sorted) take_out(*bottom.sort);
}

void choose_index(Plan& plan, PlannedQuery& query, Source& source) {
  SlotSet own_slots(plan.slot_count);
  for (const BoundSource& from : query.bound->sources) own_slots.add(from.slot);
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->right != nullptr) choose_index_in(plan, query, own_slots, node->right->root, source);
  choose_index_in(plan, query, own_slots, query.root, source);
}

}  // namespace quire::sql
