// What a correlated query reads alike for all rows around it is kept. A container, or a query that reads
// nothing around it, whose rows are wanted by equality with the row around (EXISTS(SELECT 1 FROM orders o
// WHERE o.customer = c.id)), is looked up by that key, and so is what its rows come to (FROM orders o JOIN l
// IN o.lines WHERE l.product = p.id); the right side of a join is not read anew. So a query over n rows whose
// subquery reads m takes n + m steps, rather than n * m. An OR of such equalities is a look-up of each. Where
// an index, or the partition key, leads to the rows of each key, it does so until that has been more work
// than reading all.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "sql/plan/bottom.h"
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

using Conditions = std::vector<const BoundExpression*>;

// Of an equality: what stands around the query, and what the row says.
struct Sides {
  const BoundExpression* outer;
  const BoundExpression* own;
};

// With more of them each row that is found takes longer than to compare it.
constexpr size_t kMostArms = 8;

// Of an OR: an equality of each arm. One of them is true if it is.
struct Arms {
  std::vector<Sides> sides;
  bool decide = true;  // it is true if one of them is
};

class Keeper {
 public:
  Keeper(Plan& plan, const PlannedQuery& query)
      : plan_(plan), query_(query), outer_(plan.slot_count), own_(plan.slot_count) {
    for (const SlotNumber slot : query.bound->outer_slots) outer_.add(slot);
    for (const BoundSource& source : query.bound->sources) own_.add(source.slot);
  }

  // From the outermost join inwards: one that is not kept may ask what is in the right side of another, below
  // it, for other keys in each run. Of a side that is read anew for the row around, rows may be kept by key.
  void keep_right_side(PlanNode& join) {
    SlotSet reads(plan_.slot_count);
    add_slots_read_below(*join.right->root, reads);
    for (const BoundExpression* key : join.right_keys) add_slots_read(*key, reads);
    const uint32_t scan = (*find_bottom(join.right->root).scan)->number;
    const bool is_asked_anew = std::ranges::find(asked_anew_, scan) != asked_anew_.end();
    join.keeps_right = !join.is_lookup && !join.is_by_row && !is_asked_anew && !reads.intersects(outer_);
    if (join.narrowed_scan && !join.keeps_right) asked_anew_.push_back(*join.narrowed_scan);
    if (join.is_lookup || join.is_by_row || is_asked_anew || join.keeps_right) return;
    for (Place* at = &join.right->root; *at != nullptr; at = &(*at)->input)
      if ((*at)->kind == PlanKind::filter) keep_rows(*at);
  }

  // `place`: a filter. Puts rows by key in its place if what is below is the same for all.
  void keep_rows(Place& place) {
    if (!is_the_same(*place->input)) return;
    const Conditions conditions = place->conditions;
    if (!put_rows_by_key(place, conditions)) put_rows_by_any_key(place, conditions);
  }

  // `place`: a scan, or a filter right above it. Puts rows by key there if what leads to the items is the
  // row's around.
  void keep_rows_of_row(Place& place) {
    PlanNode& scan = place->kind == PlanKind::filter ? *place->input : *place;
    if (!is_of_row(scan)) return;
    AccessPath& access = scan.access;
    const auto reads_outer = [this](const BoundExpression* e) { return reads(*e).intersects(outer_); };
    const bool is_partition_of_row = std::ranges::any_of(access.partition_key, reads_outer);
    Conditions conditions = place->kind == PlanKind::filter ? place->conditions : Conditions();
    std::ranges::copy_if(access.decided, std::back_inserter(conditions), reads_outer);
    if (is_partition_of_row) std::ranges::copy(access.routing, std::back_inserter(conditions));
    if (!put_rows_by_key(place, conditions)) return;
    std::erase_if(access.decided, reads_outer);
    access.gives_all = is_partition_of_row ? GivesAll::of_container : GivesAll::of_partition;
  }

 private:
  // Of the conditions of what stands at `place`, the source below included. False: no row around is equal to
  // anything.
  bool put_rows_by_key(Place& place, const Conditions& conditions) {
    Conditions keys, others;
    std::vector<Sides> sides;
    for (const BoundExpression* condition : conditions) {
      const auto found = sides_of(*condition);
      if (found) sides.push_back(*found);
      (found ? keys : others).push_back(condition);
    }
    if (keys.empty()) return false;
    put(place, make_by_key(std::move(keys), sides), others);
    return true;
  }

  // Likewise, of an OR that demands such an equality of each arm.
  void put_rows_by_any_key(Place& place, const Conditions& conditions) {
    for (const BoundExpression* condition : conditions) {
      Arms arms;
      if (reads_own_alone(*condition) || !find_arms(*condition, arms)) continue;
      if (arms.sides.size() > kMostArms) continue;
      Conditions others = conditions;
      if (arms.decide) std::erase(others, condition);
      Place by_key = make_by_key({condition}, arms.sides);
      by_key->is_any_key = true;
      return put(place, std::move(by_key), others);
    }
  }

  Place make_by_key(Conditions conditions, const std::vector<Sides>& sides) {
    Place by_key = make(PlanKind::by_key, std::move(conditions), nullptr);
    for (const auto& [outer, own] : sides) {
      by_key->left_keys.push_back(outer);
      by_key->right_keys.push_back(own);
    }
    return by_key;
  }

  // Puts it above the source, between what other conditions say of rows alone and the rest of them.
  void put(Place& place, Place by_key, const Conditions& others) {
    Conditions below, above;
    for (const BoundExpression* condition : others)
      (reads_own_alone(*condition) ? below : above).push_back(condition);
    Place source = place->kind == PlanKind::filter ? std::move(place->input) : std::move(place);
    if (!below.empty()) source = make(PlanKind::filter, std::move(below), std::move(source));
    by_key->input = std::move(source);
    place = above.empty() ? std::move(by_key) : make(PlanKind::filter, std::move(above), std::move(by_key));
  }

  // Whether it finds items by what the row around is, and might as well give all in the same order.
  bool is_of_row(const PlanNode& scan) const {
    const AccessPath& access = scan.access;
    const bool leads_to_items =
        access.kind == Access::Kind::partition || (access.kind >= Access::Kind::index && !access.is_covering);
    const bool gives_others = access.is_ordered || access.only_ends || access.first_of_equal ||
                              access.takes_join_keys || access.asked_components > 0 ||
                              !access.id_bounds.empty();
    return scan.kind == PlanKind::scan && leads_to_items && !gives_others &&
           reads_below(scan).intersects(outer_);
  }

  // Whether it makes rows of each row below, by nothing but that.
  static bool is_of_each_row(const PlanNode& node) {
    return node.kind == PlanKind::filter || node.kind == PlanKind::elements ||
           node.kind == PlanKind::expression ||
           (node.kind == PlanKind::subquery && node.input->kind != PlanKind::one_row);
  }

  bool is_the_same(const PlanNode& top) const {
    const PlanNode* source = &top;
    while (is_of_each_row(*source)) source = source->input.get();
    const bool is_scan = source->kind == PlanKind::scan && source->access.asked_components == 0 &&
                         !source->access.takes_join_keys;
    const bool is_query =
        source->kind == PlanKind::subquery && !source->keeps_unmatched && !source->source->query->is_volatile;
    return (is_scan || is_query) && !reads_below(top).intersects(outer_);
  }

  SlotSet reads_below(const PlanNode& top) const {
    SlotSet reads(plan_.slot_count);
    add_slots_read_below(top, reads);
    return reads;
  }
  SlotSet reads(const BoundExpression& expression) const {
    SlotSet reads(plan_.slot_count);
    add_slots_read(expression, reads);
    return reads;
  }
  bool reads_own_alone(const BoundExpression& expression) const {
    const SlotSet read = reads(expression);
    return read.intersects(own_) && !read.intersects(outer_) && !is_volatile(expression);
  }
  bool reads_no_own(const BoundExpression& expression) const {
    return !reads(expression).intersects(own_) && !is_volatile(expression);
  }

  // Nothing: it is no equality of such sides.
  std::optional<Sides> sides_of(const BoundExpression& condition) const {
    if (condition.kind != BoundKind::binary || condition.binary_operator != BinaryOperator::equal) return {};
    if (!reads(condition).intersects(outer_)) return {};
    return sides_of(*condition.operands[0], *condition.operands[1]);
  }
  std::optional<Sides> sides_of(const BoundExpression& a, const BoundExpression& b) const {
    if (reads_no_own(a) && reads_own_alone(b)) return Sides{&a, &b};
    if (reads_no_own(b) && reads_own_alone(a)) return Sides{&b, &a};
    return {};
  }

  // An equality of each arm of an OR, and for each value of a list. False: some arm has none.
  bool find_arms(const BoundExpression& condition, Arms& arms) const {
    const auto add = [&](std::optional<Sides> sides) {
      if (sides) arms.sides.push_back(*sides);
      return sides.has_value();
    };
    const auto find = [&](const BoundExpression* operand) { return find_arms(*operand, arms); };
    const auto find_outer = [&](const BoundExpression* operand) {
      const size_t before = arms.sides.size();
      if (reads(*operand).intersects(outer_) && find(operand)) return true;
      arms.sides.resize(before);
      return false;
    };
    const auto& operands = condition.operands;
    switch (condition.kind) {
      case BoundKind::logical_or:
        return std::ranges::all_of(operands, find);
      case BoundKind::logical_and:
        arms.decide = false;
        return std::ranges::any_of(operands, find_outer);
      case BoundKind::in:
        return !condition.negated && std::ranges::all_of(operands.subspan(1), [&](const auto* value) {
          return add(sides_of(*operands[0], *value));
        });
      case BoundKind::binary:
        return condition.binary_operator == BinaryOperator::equal &&
               add(sides_of(*operands[0], *operands[1]));
      default:
        return false;
    }
  }

  Place make(PlanKind kind, Conditions conditions, Place input) {
    auto node = std::make_unique<PlanNode>();
    node->kind = kind;
    node->number = plan_.node_count++;
    node->bound = query_.bound;
    node->conditions = std::move(conditions);
    node->input = std::move(input);
    return node;
  }

  Plan& plan_;
  const PlannedQuery& query_;
  SlotSet outer_;
  SlotSet own_;
  std::vector<uint32_t> asked_anew_;  // numbers of scans
};

}  // namespace

void keep_by_key(Plan& plan, PlannedQuery& query) {
  if (query.bound->outer_slots.empty() || query.bound->is_volatile) return;
  Keeper keeper(plan, query);
  for (Place* at = &query.root; *at != nullptr; at = &(*at)->input) {
    if ((*at)->kind == PlanKind::join) keeper.keep_right_side(**at);
    if ((*at)->kind == PlanKind::filter) keeper.keep_rows(*at);
  }
  Bottom bottom = find_bottom(query.root);
  keeper.keep_rows_of_row(bottom.filter != nullptr ? *bottom.filter : *bottom.scan);
}

}  // namespace quire::sql
