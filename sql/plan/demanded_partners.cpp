// A LEFT JOIN whose rows without a partner are dropped further on is an inner join: WHERE, ON of an inner
// join behind it, an array that is joined, or the query's value asks for what such a row lacks. Then its
// sides may meet in any order, conditions move into the right one, and an index of either leads to the other.
//
// What a partner would give is undefined where there is none. Most operators and functions hand that on, and
// a condition that is undefined keeps no row.
#include <algorithm>
#include <ranges>
#include <span>
#include <vector>

#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

// What an expression may be; each takes in those before it.
enum class Outcome : uint8_t { undefined, not_true, anything };

constexpr Outcome undefined_if(bool is_undefined) {
  return is_undefined ? Outcome::undefined : Outcome::anything;
}

// Expressions in a row that has no partner. Each part is looked at once, whatever stands within what.
class WithoutPartner {
 public:
  explicit WithoutPartner(SlotNumber partner) : undefined_slots_{partner} {}

  bool is_undefined(const BoundExpression& expression) { return outcome(expression) == Outcome::undefined; }
  bool may_be_true(const BoundExpression& expression) { return outcome(expression) == Outcome::anything; }

 private:
  using Operands = std::span<BoundExpression* const>;

  Outcome outcome(const BoundExpression& expression) {
    const Operands operands = expression.operands;
    switch (expression.kind) {
      case BoundKind::slot:
      case BoundKind::path:
      case BoundKind::system_property:
      case BoundKind::document_id:
        return undefined_if(std::ranges::find(undefined_slots_, expression.slot) != undefined_slots_.end());
      case BoundKind::member:
      case BoundKind::index:
      case BoundKind::unary:
      case BoundKind::binary:
      case BoundKind::like:
        return undefined_if(std::ranges::any_of(operands, [this](auto* e) { return is_undefined(*e); }));
      case BoundKind::in:
      case BoundKind::in_query:
        return undefined_if(is_undefined(*operands[0]));
      case BoundKind::is_null:
        return is_undefined(*operands[0]) && !expression.negated ? Outcome::not_true : Outcome::anything;
      case BoundKind::logical_and:
        return of_and(operands);
      case BoundKind::logical_or:
      case BoundKind::coalesce:
        return widest(operands);
      case BoundKind::conditional:
        return widest(operands.subspan(may_be_true(*operands[0]) ? 1 : 2));
      case BoundKind::let:
        if (is_undefined(*operands[0])) undefined_slots_.push_back(expression.slot);
        return outcome(*operands[1]);
      case BoundKind::call:
        return of_call(*expression.function, operands);
      default:
        return Outcome::anything;
    }
  }

  Outcome widest(Operands operands) {
    Outcome widest = Outcome::undefined;
    for (const BoundExpression* operand : operands) widest = std::max(widest, outcome(*operand));
    return widest;
  }

  // One that is false decides, though the others are undefined.
  Outcome of_and(Operands operands) {
    bool are_undefined = true, may_be_true = true;
    for (const BoundExpression* operand : operands) {
      const Outcome each = outcome(*operand);
      are_undefined &= each == Outcome::undefined;
      may_be_true &= each == Outcome::anything;
    }
    if (are_undefined) return Outcome::undefined;
    return may_be_true ? Outcome::anything : Outcome::not_true;
  }

  Outcome of_call(const Function& function, Operands operands) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!is_undefined(*operands[i])) continue;
      if (!takes_undefined(function, i)) return Outcome::undefined;
      if (function.name.starts_with("IS_")) return Outcome::not_true;  // undefined is of no type
    }
    return Outcome::anything;
  }

  std::vector<SlotNumber> undefined_slots_;
};

// What a row has to have so that the query gives it.
class Demands {
 public:
  explicit Demands(const BoundQuery& query) {
    if (query.where != nullptr) true_.push_back(query.where);
    if (!query.is_grouped) defined_.push_back(query.value);
  }

  void add(const BoundSource& inner) {
    if (inner.on != nullptr) true_.push_back(inner.on);
    if (inner.expression != nullptr) defined_.push_back(inner.expression);
  }

  bool ask_for(SlotNumber partner) const {
    WithoutPartner row(partner);
    return std::ranges::any_of(true_, [&](const auto* condition) { return !row.may_be_true(*condition); }) ||
           std::ranges::any_of(defined_, [&](const auto* value) { return row.is_undefined(*value); });
  }

 private:
  std::vector<const BoundExpression*> true_;
  std::vector<const BoundExpression*> defined_;
};

// From the last source, whose ON may ask for partners before it once it is an inner join.
void find_in(BoundQuery& query) {
  Demands demands(query);
  for (BoundSource& source : query.sources | std::views::reverse) {
    if (source.join == JoinKind::left_on) {
      if (!demands.ask_for(source.slot)) continue;
      source.join = source.on != nullptr ? JoinKind::inner_on : JoinKind::lateral;
    }
    demands.add(source);
  }
}

}  // namespace

void find_demanded_partners(BoundStatement& statement) {
  const auto find_in_all = [](BoundQuery& first) {
    for (BoundQuery* query = &first; query != nullptr; query = query->next.get()) find_in(*query);
  };
  find_in_all(statement.query);
  for (const auto& subquery : statement.subqueries) find_in_all(*subquery);
}

}  // namespace quire::sql
