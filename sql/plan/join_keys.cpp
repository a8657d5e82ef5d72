// Equality between an expression of one side of a join and one of the other becomes a key of the join, which
// then looks its partners up instead of trying each. An inner join finds it among the conditions right above
// it, where ON and WHERE have come to stand; a left join in the rest of its ON.
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

class JoinKeyChooser {
 public:
  JoinKeyChooser(const Plan& plan, PlanNode& join) : join_(join), left_(plan.slot_count), right_(left_) {
    add_all_slots_bound(*join.input, left_);
    add_all_slots_bound(*join.right->root, right_);
  }

  // Takes the conditions that are keys.
  void take_from(std::vector<const BoundExpression*>& conditions) {
    std::erase_if(conditions, [this](const BoundExpression* condition) {
      if (condition->kind != BoundKind::binary || condition->binary_operator != BinaryOperator::equal)
        return false;
      const BoundExpression& a = *condition->operands[0];
      const BoundExpression& b = *condition->operands[1];
      return take(a, b) || take(b, a);
    });
  }

 private:
  bool take(const BoundExpression& left, const BoundExpression& right) {
    SlotSet left_reads(left_.capacity()), right_reads(left_.capacity());
    add_slots_read(left, left_reads);
    add_slots_read(right, right_reads);
    const bool is_key = !left_reads.intersects(right_) && left_reads.intersects(left_) &&
                        right_reads.intersects(right_) && !right_reads.intersects(left_) &&
                        !is_volatile(left) && !is_volatile(right);
    if (!is_key) return false;
    join_.left_keys.push_back(&left);
    join_.right_keys.push_back(&right);
    return true;
  }

  PlanNode& join_;
  SlotSet left_;
  SlotSet right_;
};

}  // namespace

void choose_join_keys(const Plan& plan, PlannedQuery& query) {
  std::unique_ptr<PlanNode>* above = nullptr;
  for (std::unique_ptr<PlanNode>* at = &query.root; *at != nullptr; above = at, at = &(*at)->input) {
    if ((*at)->kind != PlanKind::join) continue;
    PlanNode& join = **at;
    JoinKeyChooser chooser(plan, join);
    if (join.keeps_unmatched) {
      chooser.take_from(join.conditions);
    } else if (above != nullptr && (*above)->kind == PlanKind::filter) {
      chooser.take_from((*above)->conditions);
      if (!(*above)->conditions.empty()) continue;
      std::unique_ptr<PlanNode> below = std::move(*at);
      *above = std::move(below);
      at = above;
    }
  }
}

}  // namespace quire::sql
