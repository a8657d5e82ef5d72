// Calls: built-in functions, aggregates, user-defined functions. Constant expressions are folded here.
#include <algorithm>

#include "sql/bind/binder.h"
#include "sql/bind/foreign_functions.h"
#include "sql/functions/full_text.h"
#include "sql/functions/operators.h"

namespace quire::sql {
namespace {

bool is_equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; };
    return upper(x) == upper(y);
  });
}

std::string arity_text(const Arity& arity, bool is_least_or_most) {
  if (is_least_or_most)
    return std::to_string(arity.least) + " or " + std::to_string(arity.most) + " argument(s)";
  if (arity.least == arity.most) return std::to_string(arity.least) + " argument(s)";
  if (arity.most == UINT32_MAX) return "at least " + std::to_string(arity.least) + " argument(s)";
  return std::to_string(arity.least) + " to " + std::to_string(arity.most) + " argument(s)";
}

constexpr size_t kMostFoldedBytes = size_t{16} << 20;

bool are_constant(std::span<BoundExpression* const> operands) {
  return std::all_of(operands.begin(), operands.end(),
                     [](const BoundExpression* operand) { return operand->kind == BoundKind::constant; });
}

void note_volatile_call(Scope& innermost) {
  for (Scope* scope = &innermost; scope != nullptr; scope = scope->outer()) scope->query().is_volatile = true;
}

}  // namespace

Result<BoundExpression*> Binder::bind_call(const Expression& expression, Scope& scope) {
  if (expression.is_udf) {
    note_volatile_call(scope);
    QUIRE_ASSIGN(BoundExpression * bound, bind_operands(BoundKind::user_function, expression, scope));
    bound->message = expression.text;
    return bound;
  }
  if (const AggregateRow* row = find_aggregate(expression.text))
    return bind_aggregate(expression, *row, scope);
  if (is_equal_ignoring_case(expression.text, "DOCUMENTID")) return bind_document_id(expression, scope);
  const Function* function = find_function(expression.text);
  if (function == nullptr) {
    if (!is_internal_to_service(expression.text)) return std::unexpected(unknown_function(expression));
    QUIRE_ASSIGN(BoundExpression * bound, bind_operands(BoundKind::unsupported, expression, scope));
    bound->message = keep("the function " + shortened(expression.text) +
                          " is internal to the service; Quire does not execute it");
    return bound;
  }
  QUIRE_TRY(check_arity(*function, expression));
  if (is_full_text_score(*function) || is_rank_fusion(*function))
    return refuse(ErrorCode::semantic, expression.span,
                  std::string(function->name) + " may stand only in ORDER BY RANK");
  QUIRE_ASSIGN(BoundExpression * bound, bind_operands(BoundKind::call, expression, scope));
  bound->function = function;
  if (function->volatility == Volatility::per_row) note_volatile_call(scope);
  QUIRE_TRY(apply_policy(*bound, scope));
  return fold(bound);
}

Result<void> Binder::check_arity(const Function& function, const Expression& call) const {
  const Arity arity = arity_of(function);
  const size_t count = call.operands.size();
  const bool is_between = count > arity.least && count < arity.most;
  if (count >= arity.least && count <= arity.most && !(is_between && function.optional_together)) return {};
  return refuse(ErrorCode::wrong_arity, call.span,
                "the function " + std::string(function.name) + " requires " +
                    arity_text(arity, function.optional_together) + ", not " + std::to_string(count) +
                    " (SC2050): " + std::string(function.signature));
}

Error Binder::unknown_function(const Expression& expression) const {
  const std::string_view instead = instead_of_foreign_function(expression.text);
  NearestName nearest(expression.text);
  for (const auto family : all_functions())
    for (const Function& function : family) nearest.offer(function.name);
  for (const AggregateRow& row : all_aggregates()) nearest.offer(row.name);
  return {ErrorCode::unknown_function,
          "'" + shortened(expression.text) + "' is not a built-in function (SC2005)" +
              (instead.empty() ? nearest.hint() : "; write " + std::string(instead)),
          at(expression.span)};
}

Result<BoundExpression*> Binder::bind_aggregate(const Expression& expression, const AggregateRow& row,
                                                Scope& scope) {
  const std::string name(row.name);
  if (!expression.is_star && expression.operands.size() != 1)
    return refuse(
        ErrorCode::wrong_arity, expression.span,
        "the aggregate " + name + " requires 1 argument(s), not " +
            std::to_string(expression.operands.size()) + " (SC2050)" +
            (expression.operands.empty() && row.aggregate == Aggregate::count ? ": COUNT(1) counts rows"
                                                                              : ""));
  if (expression.is_star && row.aggregate != Aggregate::count)
    return refuse(ErrorCode::semantic, expression.span, name + "(*) has no meaning; only COUNT(*) has");
  if (scope.in_aggregate)
    return refuse(ErrorCode::semantic, expression.span,
                  "cannot perform an aggregate function on an expression containing an aggregate or a "
                  "subquery (SC2101)");
  if (!scope.aggregates_allowed)
    return refuse(ErrorCode::semantic, expression.span,
                  "the aggregate " + name +
                      " may not stand here: WHERE, ON and GROUP BY see single rows; use it in SELECT, "
                      "HAVING or ORDER BY, or in a subquery");
  BoundAggregate aggregate{row.aggregate, nullptr, expression.is_distinct};
  if (!expression.is_star) {
    scope.in_aggregate = true;
    auto argument = bind(*expression.operands[0], scope);
    scope.in_aggregate = false;
    if (!argument) return std::unexpected(std::move(argument.error()));
    aggregate.argument = *argument;
  }
  BoundExpression* bound = make(BoundKind::aggregate, expression.span);
  bound->aggregate = static_cast<uint32_t>(scope.query().aggregates.size());
  scope.query().aggregates.push_back(aggregate);
  return bound;
}

Result<BoundExpression*> Binder::bind_document_id(const Expression& expression, Scope& scope) {
  if (expression.operands.size() != 1)
    return refuse(ErrorCode::wrong_arity, expression.span,
                  "the function DOCUMENTID requires 1 argument(s) (SC2050)");
  const Expression& argument = *expression.operands[0];
  if (argument.kind == ExpressionKind::identifier) {
    QUIRE_ASSIGN(const ScopeEntry* entry, resolve(argument, scope));
    if (entry->is_item) {
      BoundExpression* bound = make(BoundKind::document_id, expression.span);
      bound->slot = entry->slot;
      return bound;
    }
  }
  return refuse(ErrorCode::semantic, argument.span, "DOCUMENTID takes the alias of a container");
}

// Folding never fails: what cannot be folded stays, and so does the rest once there is much: what runs, runs
// within the statement's memory limit.
BoundExpression* Binder::fold(BoundExpression* expression) {
  Arena& arena = *statement_.arena;
  if (!are_constant(expression->operands) || arena.bytes_reserved() > kMostFoldedBytes) return expression;
  const auto constant = [&](const Value& value) { return make_constant(value, expression->span); };
  switch (expression->kind) {
    case BoundKind::unary:
      return constant(apply_unary(expression->unary_operator, expression->operands[0]->constant));
    case BoundKind::binary:
      return constant(apply_binary(expression->binary_operator, expression->operands[0]->constant,
                                   expression->operands[1]->constant, arena));
    case BoundKind::array: {
      const std::span<Value> elements = arena.make_array<Value>(expression->operands.size());
      size_t count = 0;
      for (const BoundExpression* operand : expression->operands)
        if (operand->constant.is_defined()) elements[count++] = operand->constant;
      return constant(Value::array(elements.first(count)));
    }
    case BoundKind::object:
      return fold_object(expression);
    case BoundKind::call:
      return fold_call(expression);
    default:
      return expression;
  }
}

// As a document, it has no members that are undefined.
BoundExpression* Binder::fold_object(BoundExpression* object) {
  const auto is_constant = [](const BoundEntry& entry) { return entry.value->kind == BoundKind::constant; };
  if (!std::ranges::all_of(object->entries, is_constant)) return object;
  const std::span<Member> members = statement_.arena->make_array<Member>(object->entries.size());
  size_t count = 0;
  for (const BoundEntry& entry : object->entries)
    if (entry.value->constant.is_defined()) members[count++] = {entry.key, entry.value->constant};
  return make_constant(Value::object(members.first(count)), object->span);
}

// A short call may give a long value, REPLICATE('x', 10000). So that a text does not take memory out of
// proportion, calls past a bound are left to be made when the statement runs.
BoundExpression* Binder::fold_call(BoundExpression* call) {
  const Function* function = call->function;
  if (function == nullptr || function->volatility != Volatility::pure || function->prepare != nullptr)
    return call;
  if (!folds_calls_) return call;
  constexpr size_t kLeastFolded = size_t{1} << 20;
  constexpr size_t kFoldedPerByte = 16;
  if (statement_.folded == nullptr)
    statement_.folded =
        std::make_unique<FoldedValues>(kLeastFolded + kFoldedPerByte * statement_.parsed->text.size());
  const std::span<Value> arguments = statement_.arena->make_array<Value>(call->operands.size());
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i] = call->operands[i]->constant;
  CallContext context{statement_.folded->arena, nullptr, nullptr};
  try {
    return make_constant(call_function(*function, context, arguments), call->span);
  } catch (const MemoryLimitExceeded&) {
    folds_calls_ = false;
    return call;
  }
}

}  // namespace quire::sql
