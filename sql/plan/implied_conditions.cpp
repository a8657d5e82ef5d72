// What an OR demands, whichever of its arms is true: `(a.x = b.x AND a.y = 1) OR (a.x = b.x AND b.z = 2)`
// asks for `a.x = b.x`, which may be a key of a join, lead to a partition, or bound an index. And what all
// arms say of one source, `(a.y = 1 AND b.z = 2) OR (a.y = 3 AND b.z = 4)` of a that it is `a.y = 1 OR a.y =
// 3`, drops items before they meet others. The OR itself stays as it is: it decides.
#include <algorithm>
#include <map>
#include <optional>

#include "sql/plan/alike.h"
#include "sql/plan/conjuncts.h"
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

using Conjuncts = std::vector<BoundExpression*>;

// Of the first arm; each is looked for in all others.
constexpr size_t kMostCompared = 16;

bool is_equality(const BoundExpression& condition) {
  return condition.kind == BoundKind::binary && condition.binary_operator == BinaryOperator::equal;
}

// Equality may be written in either order.
bool says_the_same(const BoundExpression& a, const BoundExpression& b) {
  const SameSlot is_same = [](SlotNumber x, SlotNumber y) { return x == y; };
  if (is_alike(a, b, is_same)) return true;
  return is_equality(a) && is_equality(b) && is_alike(*a.operands[0], *b.operands[1], is_same) &&
         is_alike(*a.operands[1], *b.operands[0], is_same);
}

class ImpliedByOr {
 public:
  ImpliedByOr(const BoundExpression& either, const SlotSet& own, const SlotSet& sides, Arena& arena)
      : either_(either), own_(own), sides_(sides), arena_(arena) {
    for (BoundExpression* operand : either.operands) add_conjuncts(*operand, arms_.emplace_back());
  }

  void add_to(std::vector<const BoundExpression*>& out) {
    take_common(out);
    if (!reads_one_source()) add_of_sides(out);
  }

 private:
  // What stands in each arm; it is left out of them.
  void take_common(std::vector<const BoundExpression*>& out) {
    Conjuncts candidates = arms_.front();
    if (candidates.size() > kMostCompared) candidates.resize(kMostCompared);
    for (const BoundExpression* candidate : candidates) {
      const auto is_candidate = [&](const BoundExpression* other) {
        return other == candidate || says_the_same(*candidate, *other);
      };
      const bool is_common =
          may_be_asked_twice(*candidate) && std::ranges::all_of(arms_, [&](const Conjuncts& arm) {
            return std::ranges::any_of(arm, is_candidate);
          });
      if (!is_common) continue;
      out.push_back(candidate);
      for (Conjuncts& arm : arms_) std::erase_if(arm, is_candidate);
    }
  }

  // By source: what each arm says of it alone.
  void add_of_sides(std::vector<const BoundExpression*>& out) const {
    std::map<SlotNumber, std::vector<Conjuncts>> by_side;
    for (const Conjuncts& arm : arms_) {
      for (BoundExpression* condition : arm) {
        const auto side = only_side(*condition);
        if (!side) continue;
        std::vector<Conjuncts>& of_arms = by_side[*side];
        of_arms.resize(arms_.size());
        of_arms[static_cast<size_t>(&arm - arms_.data())].push_back(condition);
      }
    }
    for (const auto& [side, of_arms] : by_side)
      if (std::ranges::none_of(of_arms, &Conjuncts::empty)) out.push_back(make_either(of_arms));
  }

  // The sources of this FROM that it reads.
  SlotSet sources_read(const BoundExpression& condition) const {
    SlotSet reads(own_.capacity());
    add_slots_read(condition, reads);
    reads.keep(own_);
    return reads;
  }

  // Then it stands above that source by itself.
  bool reads_one_source() const { return sources_read(either_).count() <= 1; }

  // The only source that the condition reads, if one that may be asked alone.
  std::optional<SlotNumber> only_side(const BoundExpression& condition) const {
    const SlotSet reads = sources_read(condition);
    const auto side = reads.first();
    const bool is_one = side && reads.count() == 1 && sides_.contains(*side);
    return is_one && may_be_asked_twice(condition) ? side : std::nullopt;
  }

  BoundExpression* make_either(const std::vector<Conjuncts>& arms) const {
    Conjuncts made;
    for (const Conjuncts& arm : arms) made.push_back(join_all(BoundKind::logical_and, arm, arena_));
    return join_all(BoundKind::logical_or, made, arena_);
  }

  const BoundExpression& either_;
  const SlotSet& own_;
  const SlotSet& sides_;
  Arena& arena_;
  std::vector<Conjuncts> arms_;
};

}  // namespace

void add_implied_conditions(const BoundQuery& query, const BoundSource* joined, SlotNumber slot_count,
                            Arena& arena, std::vector<const BoundExpression*>& conditions) {
  const auto is_or = [](const auto* condition) { return condition->kind == BoundKind::logical_or; };
  if (std::ranges::none_of(conditions, is_or)) return;
  SlotSet own(slot_count), sides(slot_count);
  for (const BoundSource& source : query.sources) {
    own.add(source.slot);
    const bool may_be_asked = joined != nullptr ? joined == &source : source.join != JoinKind::left_on;
    if (may_be_asked && query.sources.size() > 1) sides.add(source.slot);
  }
  const std::vector<const BoundExpression*> written = conditions;
  for (const BoundExpression* condition : written)
    if (is_or(condition)) ImpliedByOr(*condition, own, sides, arena).add_to(conditions);
}

}  // namespace quire::sql
