// Names and paths: c, c.a.b, c["x"][0], (computed).a, c[@p].
#include <algorithm>
#include <optional>

#include "sql/bind/binder.h"

namespace quire::sql {
namespace {

// The step that a member or index expression takes if it is known now.
std::optional<BoundStep> constant_step(const Expression& expression) {
  if (expression.kind == ExpressionKind::member) return BoundStep{expression.text, -1};
  if (expression.kind != ExpressionKind::index || expression.operands[1]->kind != ExpressionKind::literal)
    return std::nullopt;
  const Value& index = expression.operands[1]->literal;
  if (index.is_string()) return BoundStep{index.as_string(), -1};
  if (index.kind() == Kind::integer && index.as_integer() >= 0) return BoundStep{{}, index.as_integer()};
  return std::nullopt;
}

std::optional<SystemProperty> system_property_of(const BoundStep& step) {
  const auto* found = std::find(std::begin(kSystemPropertyNames), std::end(kSystemPropertyNames), step.name);
  if (step.is_index() || found == std::end(kSystemPropertyNames)) return std::nullopt;
  return static_cast<SystemProperty>(found - std::begin(kSystemPropertyNames));
}

}  // namespace

Result<const ScopeEntry*> Binder::resolve(const Expression& identifier, Scope& scope) {
  const Scope::Found found = scope.find(identifier.text);
  if (found.entry == nullptr) {
    NearestName nearest(identifier.text);
    scope.offer_names(nearest);
    return refuse(ErrorCode::unresolved_name, identifier.span,
                  "the identifier '" + std::string(identifier.text) + "' could not be resolved (SC2001)" +
                      nearest.hint());
  }
  if (found.entry->is_let) {
    if (found.entry->in_aggregate == found.scope->in_aggregate) return found.entry;
    return refuse(ErrorCode::semantic, identifier.span,
                  "the argument of an aggregate cannot use '" + std::string(identifier.text) +
                      "', which LET names outside of it");
  }
  if (found.scope->is_after_grouping && !found.scope->in_aggregate)
    return refuse(
        ErrorCode::semantic, identifier.span,
        "the property reference is invalid here because it is contained in neither an aggregate function "
        "nor the GROUP BY clause (SC2102)");
  return found.entry;
}

Result<BoundExpression*> Binder::bind_identifier(const Expression& expression, Scope& scope) {
  QUIRE_ASSIGN(const ScopeEntry* entry, resolve(expression, scope));
  BoundExpression* bound = make(BoundKind::slot, expression.span);
  bound->slot = entry->slot;
  return bound;
}

// Member and index expressions, chained: the constant steps at the end make one path.
Result<BoundExpression*> Binder::bind_path(const Expression& expression, Scope& scope) {
  std::vector<BoundStep> steps;
  const Expression* base = &expression;
  for (auto step = constant_step(*base); step; step = constant_step(*base)) {
    steps.push_back(*step);
    base = base->operands[0];
  }
  if (steps.empty()) return bind_index(expression, scope);
  std::reverse(steps.begin(), steps.end());

  BoundExpression* input = nullptr;
  if (base->kind == ExpressionKind::identifier) {
    QUIRE_ASSIGN(const ScopeEntry* entry, resolve(*base, scope));
    const auto property = entry->is_item ? system_property_of(steps.front()) : std::nullopt;
    BoundExpression* bound = make(property ? BoundKind::system_property : BoundKind::path, expression.span);
    bound->slot = entry->slot;
    if (!property) {
      bound->steps = statement_.arena->copy_array(std::span<const BoundStep>(steps));
      return bound;
    }
    bound->property = *property;
    if (steps.size() == 1) return bound;
    steps.erase(steps.begin());
    input = bound;
  } else {
    QUIRE_ASSIGN(input, bind(*base, scope));
  }
  BoundExpression* bound = make(BoundKind::member, expression.span);
  bound->operands = list_of({input});
  bound->steps = statement_.arena->copy_array(std::span<const BoundStep>(steps));
  return fold(bound);
}

Result<BoundExpression*> Binder::bind_index(const Expression& expression, Scope& scope) {
  return bind_operands(BoundKind::index, expression, scope);
}

}  // namespace quire::sql
