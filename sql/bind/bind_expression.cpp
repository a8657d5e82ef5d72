// Expressions: each kind of the syntax tree to its bound form.
#include "sql/bind/binder.h"
#include "sql/functions/like.h"

namespace quire::sql {

BoundExpression* Binder::make(BoundKind kind, Span span) {
  BoundExpression* bound = statement_.arena->make<BoundExpression>();
  bound->kind = kind;
  bound->span = computed_span_.value_or(span);
  if (kind != BoundKind::constant && kind != BoundKind::parameter) ++statement_.computed_count;
  return bound;
}

BoundExpression* Binder::make_constant(const Value& value, Span span) {
  BoundExpression* bound = make(BoundKind::constant, span);
  bound->constant = value;
  return bound;
}

BoundExpression* Binder::make_unsupported(Span span, std::string_view what) {
  BoundExpression* bound = make(BoundKind::unsupported, span);
  bound->message = keep(std::string(what) + " parses, but this version does not execute it yet");
  return bound;
}

Result<BoundExpression*> Binder::bind(const Expression& expression, Scope& scope) {
  if (BoundExpression* key = find_group_key(expression, scope); key != nullptr) return key;
  if (!computed_span_) note_slips(expression);
  switch (expression.kind) {
    case ExpressionKind::literal:
      return make_constant(expression.literal, expression.span);
    case ExpressionKind::parameter:
      return bind_parameter(expression);
    case ExpressionKind::identifier:
      return bind_identifier(expression, scope);
    case ExpressionKind::member:
    case ExpressionKind::index:
      return bind_path(expression, scope);
    case ExpressionKind::unary:
      return bind_operands(BoundKind::unary, expression, scope);
    case ExpressionKind::binary:
      return bind_operands(BoundKind::binary, expression, scope);
    case ExpressionKind::logical_and:
      return bind_operands(BoundKind::logical_and, expression, scope);
    case ExpressionKind::logical_or:
      return bind_operands(BoundKind::logical_or, expression, scope);
    case ExpressionKind::conditional:
      return bind_operands(BoundKind::conditional, expression, scope);
    case ExpressionKind::coalesce:
      return bind_operands(BoundKind::coalesce, expression, scope);
    case ExpressionKind::in:
      return bind_in(expression, scope);
    case ExpressionKind::is_null:
      return bind_operands(BoundKind::is_null, expression, scope);
    case ExpressionKind::array:
      return bind_operands(BoundKind::array, expression, scope);
    case ExpressionKind::between:
      return bind_between(expression, scope);
    case ExpressionKind::like:
      return bind_like(expression, scope);
    case ExpressionKind::case_when:
      return bind_case(expression, scope);
    case ExpressionKind::let:
      return bind_let(expression, scope);
    case ExpressionKind::object:
      return bind_object(expression, scope);
    case ExpressionKind::call:
      return bind_call(expression, scope);
    case ExpressionKind::exists:
      return bind_subquery(BoundKind::exists, expression, scope);
    case ExpressionKind::array_query:
      return bind_subquery(BoundKind::array_query, expression, scope);
    case ExpressionKind::all_query:
      return bind_subquery(BoundKind::all_query, expression, scope);
    case ExpressionKind::first_query:
      return bind_subquery(BoundKind::first_query, expression, scope);
    case ExpressionKind::last_query:
      return bind_subquery(BoundKind::last_query, expression, scope);
    case ExpressionKind::scalar_query:
      return bind_subquery(BoundKind::scalar_query, expression, scope);
  }
  return make_unsupported(expression.span, "this expression");
}

Result<BoundExpression*> Binder::bind_operands(BoundKind kind, const Expression& expression, Scope& scope) {
  BoundExpression* bound = make(kind, expression.span);
  bound->unary_operator = expression.unary_operator;
  bound->binary_operator = expression.binary_operator;
  bound->negated = expression.negated;
  bound->operands = statement_.arena->make_array<BoundExpression*>(expression.operands.size());
  for (size_t i = 0; i < expression.operands.size(); ++i) {
    QUIRE_ASSIGN(bound->operands[i], bind(*expression.operands[i], scope));
  }
  return fold(bound);
}

Result<BoundExpression*> Binder::bind_parameter(const Expression& expression) {
  BoundExpression* bound = make(BoundKind::parameter, expression.span);
  bound->parameter = number_of_parameter(expression.text, expression.span.offset);
  return bound;
}

uint32_t Binder::number_of_parameter(std::string_view name, uint64_t offset) {
  auto& names = statement_.parameters;
  auto& offsets = statement_.parameter_offsets;
  const auto [found, is_new] = parameter_numbers_.try_emplace(name, static_cast<uint32_t>(names.size()));
  const uint32_t number = found->second;
  if (is_new) {
    names.emplace_back(name);
    offsets.push_back(offset);
  } else if (offsets[number] == kNotUsed) {
    offsets[number] = offset;
  }
  return number;
}

Binder::Shared Binder::share(BoundExpression* value) {
  switch (value->kind) {
    case BoundKind::constant:
    case BoundKind::parameter:
    case BoundKind::path:
    case BoundKind::system_property:
    case BoundKind::document_id:
    case BoundKind::aggregate:
    case BoundKind::group_key:
      return {value, value};
    default:
      break;
  }
  BoundExpression* use = make(BoundKind::slot, value->span);
  use->slot = statement_.slot_count++;
  return {value, use};
}

BoundExpression* Binder::scoped(const Shared& shared, BoundExpression* body) {
  if (shared.use == shared.value) return body;
  BoundExpression* let = make(BoundKind::let, body->span);
  let->slot = shared.use->slot;
  let->operands = list_of({shared.value, body});
  return let;
}

BoundExpression* Binder::negate(BoundExpression* operand, Span span) {
  BoundExpression* bound = make(BoundKind::unary, span);
  bound->unary_operator = UnaryOperator::logical_not;
  bound->operands = list_of({operand});
  return bound;
}

BoundExpression* Binder::conjunction(BoundExpression* a, BoundExpression* b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  BoundExpression* bound = make(BoundKind::logical_and, {});
  bound->operands = list_of({a, b});
  return bound;
}

Result<BoundExpression*> Binder::bind_let(const Expression& expression, Scope& scope) {
  BoundExpression* bound = make(BoundKind::let, expression.span);
  bound->operands = list_of({nullptr, nullptr});
  QUIRE_ASSIGN(bound->operands[0], bind(*expression.operands[0], scope));
  bound->slot = statement_.slot_count++;
  scope.add({expression.text, bound->slot, false, true, scope.in_aggregate});
  auto body = bind(*expression.operands[1], scope);
  scope.remove_last();
  QUIRE_ASSIGN(bound->operands[1], std::move(body));
  return bound;
}

// x BETWEEN low AND high is x >= low AND x <= high.
Result<BoundExpression*> Binder::bind_between(const Expression& expression, Scope& scope) {
  QUIRE_ASSIGN(BoundExpression * operand, bind(*expression.operands[0], scope));
  const Shared value = share(operand);
  QUIRE_ASSIGN(BoundExpression * low, bind(*expression.operands[1], scope));
  QUIRE_ASSIGN(BoundExpression * high, bind(*expression.operands[2], scope));
  BoundExpression* at_least = make(BoundKind::binary, expression.span);
  at_least->binary_operator = BinaryOperator::greater_equal;
  at_least->operands = list_of({value.use, low});
  BoundExpression* at_most = make(BoundKind::binary, expression.span);
  at_most->binary_operator = BinaryOperator::less_equal;
  at_most->operands = list_of({value.use, high});
  BoundExpression* both = make(BoundKind::logical_and, expression.span);
  both->operands = list_of({at_least, at_most});
  return scoped(value, expression.negated ? negate(both, expression.span) : both);
}

Result<BoundExpression*> Binder::bind_in(const Expression& expression, Scope& scope) {
  if (expression.query == nullptr) return bind_operands(BoundKind::in, expression, scope);
  BoundExpression* bound = make(BoundKind::in_query, expression.span);
  bound->negated = expression.negated;
  bound->operands = list_of({nullptr});
  QUIRE_ASSIGN(bound->operands[0], bind(*expression.operands[0], scope));
  QUIRE_ASSIGN(bound->query, bind_inner_query(*expression.query, scope));
  if (!bound->query->outer_slots.empty()) return bound;
  BoundExpression* rows = make(BoundKind::array_query, expression.span);
  rows->query = bound->query;
  bound->operands = list_of({bound->operands[0], rows});
  return bound;
}

Result<BoundExpression*> Binder::bind_like(const Expression& expression, Scope& scope) {
  QUIRE_ASSIGN(BoundExpression * bound, bind_operands(BoundKind::like, expression, scope));
  if (bound->kind != BoundKind::like) return bound;
  if (expression.has_escape) bound->escape = expression.text;
  const BoundExpression& pattern = *bound->operands[1];
  if (pattern.kind != BoundKind::constant || !pattern.constant.is_string()) return bound;
  auto compiled = LikePattern::compile(pattern.constant.as_string(), bound->escape);
  if (!compiled) return refuse(compiled.error().code, pattern.span, compiled.error().message);
  bound->like_pattern = compiled->get();
  statement_.patterns.push_back(std::move(*compiled));
  return bound;
}

// CASE [subject] WHEN w THEN t ... ELSE e END is a chain of w ? t : ..., with subject = w for w.
Result<BoundExpression*> Binder::bind_case(const Expression& expression, Scope& scope) {
  std::optional<Shared> subject;
  const bool has_subject = expression.operands.size() > (expression.has_else ? 1u : 0u);
  if (has_subject) {
    QUIRE_ASSIGN(BoundExpression * operand, bind(*expression.operands.front(), scope));
    subject = share(operand);
  }
  BoundExpression* result = make_constant(Value::undefined(), expression.span);
  if (expression.has_else) {
    QUIRE_ASSIGN(result, bind(*expression.operands.back(), scope));
  }
  for (size_t i = expression.arms.size(); i-- > 0;) {
    QUIRE_ASSIGN(BoundExpression * when, bind(*expression.arms[i].when, scope));
    QUIRE_ASSIGN(BoundExpression * then, bind(*expression.arms[i].then, scope));
    if (subject) {
      BoundExpression* equal = make(BoundKind::binary, expression.arms[i].when->span);
      equal->binary_operator = BinaryOperator::equal;
      equal->operands = list_of({subject->use, when});
      when = equal;
    }
    BoundExpression* choice = make(BoundKind::conditional, expression.span);
    choice->operands = list_of({when, then, result});
    result = choice;
  }
  return subject ? scoped(*subject, result) : result;
}

Result<BoundExpression*> Binder::bind_object(const Expression& expression, Scope& scope) {
  BoundExpression* bound = make(BoundKind::object, expression.span);
  bound->entries = statement_.arena->make_array<BoundEntry>(expression.entries.size());
  // Of several entries of one name the last counts, as in a document.
  std::unordered_map<std::string_view, size_t> places;
  for (const ObjectEntry& entry : expression.entries) {
    const auto [place, is_new] = places.try_emplace(entry.key, places.size());
    bound->entries[place->second].key = entry.key;
    QUIRE_ASSIGN(bound->entries[place->second].value, bind(*entry.value, scope));
  }
  bound->entries = bound->entries.first(places.size());
  return fold(bound);
}

Result<BoundQuery*> Binder::bind_inner_query(const Query& query, Scope& scope) {
  if (options_.strict) QUIRE_TRY(check_strict_subquery(query));
  if (statement_.subqueries.size() == kMostSubqueries)
    return refuse(ErrorCode::limit_exceeded, query.span,
                  "the statement has more than " + std::to_string(kMostSubqueries) + " subqueries");
  statement_.subqueries.push_back(std::make_unique<BoundQuery>());
  BoundQuery& bound = *statement_.subqueries.back();
  QUIRE_TRY(bind_query(query, bound, &scope));
  return &bound;
}

Result<BoundExpression*> Binder::bind_subquery(BoundKind kind, const Expression& expression, Scope& scope) {
  if (options_.strict && scope.in_aggregate && scope.outer() == nullptr)
    return refuse(ErrorCode::semantic, expression.span,
                  "cannot perform an aggregate function on an expression containing an aggregate or a "
                  "subquery (SC2101)");
  BoundExpression* bound = make(kind, expression.span);
  QUIRE_ASSIGN(bound->query, bind_inner_query(*expression.query, scope));
  if (kind == BoundKind::scalar_query && bound->query->may_give_many_rows)
    return refuse(
        ErrorCode::semantic, expression.span,
        "the cardinality of a scalar subquery result set cannot be greater than one; use ARRAY(...), "
        "EXISTS(...)" +
            std::string(options_.strict ? " or an aggregate" : ", an aggregate or TOP 1"));
  return bound;
}

BoundExpression* Binder::find_group_key(const Expression& expression, const Scope& scope) {
  if (!scope.is_after_grouping || scope.in_aggregate) return nullptr;
  for (size_t i = 0; i < scope.group_keys.size(); ++i) {
    if (!is_same_expression(expression, *scope.group_keys[i])) continue;
    BoundExpression* key = make(BoundKind::group_key, expression.span);
    key->group_key = static_cast<uint32_t>(i);
    return key;
  }
  return nullptr;
}

}  // namespace quire::sql
