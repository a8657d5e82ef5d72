#include "sql/plan/index_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sql/plan/alike.h"
#include "sql/plan/conjuncts.h"
#include "sql/plan/index_bounds.h"
#include "sql/plan/key_ranges.h"
#include "sql/plan/slot_use.h"
#include "sql/value/comparison.h"
#include "sql/value/json.h"

namespace quire::sql {
namespace {

constexpr std::string_view kItem = "c";

// A container that is never read: what the condition is bound over.
class NoItems final : public Collection {
 public:
  std::string_view name() const override { return kItem; }
  const std::vector<std::vector<std::string>>& partition_key_paths() const override { return paths_; }
  std::string_view definition_property(std::string_view) const override { return {}; }
  DictionaryNumber dictionary() const override { return {}; }
  Result<std::unique_ptr<Cursor>> open(const Access&) override {
    return fail(ErrorCode::internal, "there are no items here");
  }
  uint64_t item_count() const override { return 0; }
  Value system_property(const Value&, SystemProperty, Arena&) const override { return {}; }
  int64_t document_id(const Value&) const override { return 0; }

 private:
  std::vector<std::vector<std::string>> paths_;
};

class OneCollection final : public Source {
 public:
  Collection* collection(std::string_view name) override { return name == kItem ? &items_ : nullptr; }
  std::vector<std::string> collection_names() const override { return {std::string(kItem)}; }

 private:
  NoItems items_;
};

std::unexpected<Error> refused(std::string_view what) {
  return fail(ErrorCode::invalid_definition,
              fmt::format("the condition of an index is made of paths of the item, constants, operators and "
                          "functions that always give the same; it may not have {}",
                          what));
}

}  // namespace

Result<std::unique_ptr<IndexCondition>> IndexCondition::parse(std::string_view text) {
  OneCollection source;
  const std::string query = fmt::format("SELECT VALUE true FROM c WHERE {}", text);
  QUIRE_ASSIGN(auto parsed, sql::parse(query, false));
  const Query* const select = parsed->statement.query;
  const bool is_condition = select != nullptr && parsed->statement.kind == StatementKind::query &&
                            select->next == nullptr && select->group_by.empty() && select->order_by.empty() &&
                            select->having == nullptr && select->limit == nullptr;
  if (!is_condition) return refused("clauses of a query");
  QUIRE_ASSIGN(auto bound, bind(std::move(parsed), source, {.strict = false, .scope = {}}));
  std::unique_ptr<IndexCondition> condition(new IndexCondition);
  QUIRE_ASSIGN(condition->plan_, build_plan(std::move(bound)));
  PlannedQuery& planned = condition->plan_->query;
  find_carried_slots(planned, condition->plan_->slot_count);
  if (!condition->plan_->statement->parameters.empty()) return refused("parameters");
  QUIRE_TRY(condition->check(*planned.bound->where));
  add_conjuncts(*planned.bound->where, condition->conjuncts_);
  return condition;
}

Result<void> IndexCondition::check(const BoundExpression& expression) {
  switch (expression.kind) {
    case BoundKind::constant:
    case BoundKind::unary:
    case BoundKind::binary:
    case BoundKind::logical_and:
    case BoundKind::logical_or:
    case BoundKind::conditional:
    case BoundKind::coalesce:
    case BoundKind::in:
    case BoundKind::like:
    case BoundKind::is_null:
    case BoundKind::array:
    case BoundKind::object:
    case BoundKind::path:
    case BoundKind::member:
    case BoundKind::index:
    case BoundKind::call:
      break;
    case BoundKind::slot:
      return refused("the item as a whole");
    case BoundKind::system_property:
    case BoundKind::document_id:
      return refused("properties that the database sets");
    case BoundKind::user_function:
      return refused("user-defined functions");
    case BoundKind::parameter:
    case BoundKind::let:
    case BoundKind::in_query:
    case BoundKind::full_text_score:
    case BoundKind::aggregate:
    case BoundKind::group_key:
    case BoundKind::exists:
    case BoundKind::array_query:
    case BoundKind::scalar_query:
    case BoundKind::all_query:
    case BoundKind::first_query:
    case BoundKind::last_query:
    case BoundKind::changed:
    case BoundKind::unsupported:
      return refused("parameters, subqueries and aggregates");
  }
  if (expression.kind == BoundKind::call && expression.function->volatility != Volatility::pure)
    return refused(fmt::format("{}, which gives something else each time", expression.function->name));
  for (const BoundStep& step : expression.steps)
    if (!step.is_index()) names_.emplace_back(step.name);
  if (expression.kind == BoundKind::index && expression.operands[1]->kind == BoundKind::constant &&
      expression.operands[1]->constant.is_string())
    names_.emplace_back(expression.operands[1]->constant.as_string());
  for (const BoundExpression* operand : expression.operands) QUIRE_TRY(check(*operand));
  for (const BoundEntry& entry : expression.entries) QUIRE_TRY(check(*entry.value));
  return {};
}

// ---- Text

namespace {

// The identifier that a path begins with becomes c, or a property of it. False if there is none.
bool name_item(Expression& expression, std::string_view container, Arena& arena) {
  if (expression.kind == ExpressionKind::identifier) {
    if (expression.text == kItem || expression.text == container) {
      expression.text = kItem;
      return true;
    }
    auto* item = arena.make<Expression>();
    item->kind = ExpressionKind::identifier;
    item->text = kItem;
    auto* operands = arena.make<Expression*>();
    *operands = item;
    expression.kind = ExpressionKind::member;
    expression.operands = {operands, 1};
    return true;
  }
  bool is_there = false;
  for (Expression* operand : expression.operands) is_there |= name_item(*operand, container, arena);
  for (ObjectEntry& entry : expression.entries) is_there |= name_item(*entry.value, container, arena);
  for (CaseArm& arm : expression.arms) {
    is_there |= name_item(*arm.when, container, arena);
    is_there |= name_item(*arm.then, container, arena);
  }
  return is_there;
}

}  // namespace

Result<std::string> index_condition_text(const Expression& condition, std::string_view container) {
  // A copy by way of its text, so that the statement's own tree stays as it was written.
  QUIRE_ASSIGN(const auto parsed, parse("SELECT VALUE " + print(condition), false));
  Expression& copy = *parsed->statement.query->items[0].expression;
  if (!name_item(copy, container, parsed->arena))
    return fail(
        ErrorCode::invalid_definition,
        "the condition of an index names no property of the items; one whose name is no word is written "
        "c[\"a name\"]");
  return print(copy);
}

// ---- What follows from what

namespace {

bool has_constants_alone(const IndexBound& bound) {
  return std::ranges::all_of(
      bound.operands, [](const BoundExpression* operand) { return operand->kind == BoundKind::constant; });
}

// What a bound leaves of a path's values.
std::optional<KeyRanges> ranges_of(const IndexBound& bound) {
  if (!has_constants_alone(bound)) return std::nullopt;
  PlannedProbe probe;
  probe.index.parts.push_back({bound.path, false});
  probe.parts.push_back({bound});
  return make_key_ranges(probe, [](const BoundExpression& operand) { return operand.constant; });
}

bool lies_within(const KeyRanges& inner, const KeyRanges& outer) {
  return std::ranges::all_of(inner.ranges, [&](const auto& range) {
    return std::ranges::any_of(outer.ranges, [&](const auto& around) {
      return range.first >= around.first &&
             (around.second.empty() || (!range.second.empty() && range.second <= around.second));
    });
  });
}

std::optional<IndexBound> bound_of(const BoundExpression& condition, SlotNumber slot, SlotNumber slot_count) {
  SlotSet own(slot_count);
  own.add(slot);
  const PlacedSlot item{slot, {}};
  return find_index_bound(condition, std::span(&item, 1), own);
}

}  // namespace

bool implies(std::span<const BoundExpression* const> conditions, SlotNumber slot, SlotNumber slot_count,
             const IndexCondition& condition, std::vector<const BoundExpression*>& same) {
  const SameSlot is_item = [&](SlotNumber given, SlotNumber wanted) {
    return given == slot && wanted == condition.slot();
  };
  return std::ranges::all_of(condition.conjuncts(), [&](const BoundExpression* wanted) {
    for (const BoundExpression* given : conditions) {
      if (!is_alike(*given, *wanted, is_item)) continue;
      same.push_back(given);
      return true;
    }
    const auto outer = bound_of(*wanted, condition.slot(), condition.plan().slot_count);
    if (!outer || !outer->is_exact) return false;
    const auto outer_ranges = ranges_of(*outer);
    return outer_ranges && std::ranges::any_of(conditions, [&](const BoundExpression* given) {
             const auto inner = bound_of(*given, slot, slot_count);
             if (!inner || inner->path != outer->path) return false;
             const auto inner_ranges = ranges_of(*inner);
             return inner_ranges && lies_within(*inner_ranges, *outer_ranges);
           });
  });
}

}  // namespace quire::sql
