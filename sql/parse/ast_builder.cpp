#include "sql/parse/ast_builder.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sql/parse/grammar.h"
#include "sql/parse/keywords.h"
#include "sql/parse/literals.h"

namespace quire::sql {
namespace {

// What the service allows in a query if nobody asks it for more.
constexpr uint32_t kMostStrictJoins = 10;
constexpr uint32_t kMostStrictUdfCalls = 10;

uint32_t depth_of(const Expression* expression) noexcept {
  return expression ? expression->depth : 0;
}

}  // namespace

AstBuilder::AstBuilder(ParsedStatement& parsed, bool strict) : parsed_(parsed), strict_(strict) {}

void AstBuilder::fail_at(ErrorCode code, uint32_t offset, std::string message) {
  if (!error_) error_ = Error{code, std::move(message), position_of(parsed_.text, offset)};
}

void AstBuilder::unexpected(const Token& token) {
  if (error_) return;
  fail_at(ErrorCode::syntax, token.offset, "syntax error");
  unexpected_ = token;
}

void AstBuilder::nested_too_deeply() {
  fail_at(ErrorCode::limit_exceeded, previous_end_, "the statement is nested too deeply");
}

void AstBuilder::extension(const Token& token, std::string_view what) {
  if (strict_)
    fail_at(ErrorCode::not_in_strict_mode, token.offset,
            fmt::format("{} is not part of Azure Cosmos DB's SQL, and strict mode takes nothing else", what));
}

// ---- Nodes
// -------------------------------------------------------------------------------------------------

void AstBuilder::deepen(Expression* node, uint32_t below) {
  node->depth = std::max(node->depth, below + 1);
  if (node->depth > kMostExpressionDepth)
    fail_at(ErrorCode::limit_exceeded, node->span.offset,
            fmt::format("the expression is nested more than {} levels deep", kMostExpressionDepth));
}

void AstBuilder::deepen(Query* query, uint32_t below) {
  query->depth = std::max(query->depth, below + 1);
  if (query->depth > kMostExpressionDepth)
    fail_at(ErrorCode::limit_exceeded, query->span.offset,
            fmt::format("the query is nested more than {} levels deep", kMostExpressionDepth));
}

Expression* AstBuilder::make(ExpressionKind kind, uint32_t start) {
  auto* node = parsed_.arena.make<Expression>();
  node->kind = kind;
  node->span = span_from(start);
  return node;
}

Expression* AstBuilder::make(ExpressionKind kind, uint32_t start, List<Expression*> operands) {
  Expression* node = make(kind, start);
  node->operands = operands.span();
  uint32_t below = 0;
  for (const Expression* operand : node->operands) below = std::max(below, operand->depth);
  deepen(node, below);
  return node;
}

Expression* AstBuilder::make(ExpressionKind kind, uint32_t start,
                             std::initializer_list<Expression*> operands) {
  const auto copies =
      parsed_.arena.copy_array(std::span<Expression* const>(operands.begin(), operands.size()));
  return make(
      kind, start,
      List<Expression*>{const_cast<Expression**>(copies.data()), static_cast<uint32_t>(copies.size())});
}

std::string_view AstBuilder::string_of(const Token& token) {
  auto text = unquote(text_of(token), strict_, parsed_.arena);
  if (text) return *text;
  fail_at(text.error().code, token.offset + static_cast<uint32_t>(text.error().position.offset),
          std::move(text.error().message));
  return {};
}

std::string_view AstBuilder::name_of(const Token& token) {
  return token.kind == TOKEN_STRING ? string_of(token) : text_of(token);
}

// ---- Expressions
// -------------------------------------------------------------------------------------------

Expression* AstBuilder::literal(const Token& token) {
  Expression* node = make(ExpressionKind::literal, token.offset);
  switch (token.kind) {
    case TOKEN_TRUE:
    case TOKEN_FALSE:
      node->literal = Value::boolean(token.kind == TOKEN_TRUE);
      break;
    case TOKEN_NULL:
      node->literal = Value::null();
      break;
    case TOKEN_UNDEFINED:
      break;
    case TOKEN_STRING:
      node->literal = Value::string(string_of(token));
      break;
    case TOKEN_SPECIAL_NUMBER:
      node->literal = Value::real(text_of(token) == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                                                          : std::numeric_limits<double>::infinity());
      break;
    default:
      if (const auto number = number_of(text_of(token)))
        node->literal = *number;
      else
        fail_at(ErrorCode::syntax, token.offset,
                fmt::format("the number {} is out of a double's range", shortened(text_of(token))));
  }
  return node;
}

Expression* AstBuilder::parameter(const Token& token) {
  Expression* node = make(ExpressionKind::parameter, token.offset);
  node->text = text_of(token).substr(1);
  return node;
}

Expression* AstBuilder::identifier(const Token& token) {
  Expression* node = make(ExpressionKind::identifier, token.offset);
  node->text = text_of(token);
  return node;
}

Expression* AstBuilder::member(Expression* base, const Token& name) {
  Expression* node = make(ExpressionKind::member, base->span.offset, {base});
  node->text = text_of(name);
  return node;
}

Expression* AstBuilder::index(Expression* base, Expression* index) {
  const bool is_name =
      index->kind == ExpressionKind::literal && index->literal.is_string() && !index->is_parenthesised;
  if (!is_name) return make(ExpressionKind::index, base->span.offset, {base, index});
  Expression* node = make(ExpressionKind::member, base->span.offset, {base});
  node->text = index->literal.as_string();
  node->is_bracketed = true;
  return node;
}

Expression* AstBuilder::unary(const Token& start, UnaryOperator op, Expression* operand) {
  Expression* node = make(ExpressionKind::unary, start.offset, {operand});
  node->unary_operator = op;
  return node;
}

Expression* AstBuilder::binary(Expression* left, BinaryOperator op, Expression* right) {
  Expression* node = make(ExpressionKind::binary, left->span.offset, {left, right});
  node->binary_operator = op;
  return node;
}

void AstBuilder::check_logical_operand(const Expression* operand) {
  if (strict_ && operand->kind == ExpressionKind::between && !operand->is_parenthesised)
    fail_at(ErrorCode::not_in_strict_mode, operand->span.offset,
            "BETWEEN beside AND or OR needs parentheses in Azure Cosmos DB's SQL: (x BETWEEN low AND high)");
}

// A chain becomes one node of many operands: the left operand is that node, also in parentheses, of which
// programs that put conditions together write some for each.
Expression* AstBuilder::logical(ExpressionKind kind, Expression* left, Expression* right) {
  check_logical_operand(left);
  check_logical_operand(right);
  if (left->kind != kind) {
    const List<Expression*> operands = append(list_of(left), right);
    return make(kind, left->span.offset, operands);
  }
  const List<Expression*> operands{left->operands.data(), static_cast<uint32_t>(left->operands.size())};
  left->operands = append(operands, right).span();
  left->is_parenthesised = false;
  left->span = span_from(left->span.offset);
  deepen(left, right->depth);
  return left;
}

Expression* AstBuilder::conditional(Expression* condition, Expression* then, Expression* otherwise) {
  return make(ExpressionKind::conditional, condition->span.offset, {condition, then, otherwise});
}

Expression* AstBuilder::coalesce(Expression* left, Expression* right) {
  return make(ExpressionKind::coalesce, left->span.offset, {left, right});
}

Expression* AstBuilder::between(Expression* needle, bool negated, Expression* low, Expression* high) {
  Expression* node = make(ExpressionKind::between, needle->span.offset, {needle, low, high});
  node->negated = negated;
  return node;
}

Expression* AstBuilder::in(Expression* needle, bool negated, List<Expression*> list) {
  const std::span<Expression*> operands = parsed_.arena.make_array<Expression*>(size_t{list.size} + 1);
  operands[0] = needle;
  std::ranges::copy(list.span(), operands.begin() + 1);
  Expression* node =
      make(ExpressionKind::in, needle->span.offset, List<Expression*>{operands.data(), list.size + 1});
  node->negated = negated;
  return node;
}

Expression* AstBuilder::in_query(Expression* needle, bool negated, const Token& keyword, Query* query) {
  extension(keyword, "IN over a query (write ARRAY_CONTAINS(ARRAY(SELECT ...), x))");
  Expression* node = make(ExpressionKind::in, needle->span.offset, {needle});
  node->negated = negated;
  node->query = query;
  deepen(node, query->depth);
  return node;
}

Expression* AstBuilder::like(Expression* text, bool negated, Expression* pattern, const Token& escape) {
  Expression* node = make(ExpressionKind::like, text->span.offset, {text, pattern});
  node->negated = negated;
  node->has_escape = escape.kind != 0;
  if (node->has_escape) node->text = string_of(escape);
  return node;
}

Expression* AstBuilder::is_null(Expression* operand, const Token& is, bool negated) {
  extension(is, "IS NULL (write IS_NULL(x))");
  Expression* node = make(ExpressionKind::is_null, operand->span.offset, {operand});
  node->negated = negated;
  return node;
}

Expression* AstBuilder::case_when(const Token& start, Expression* subject, List<CaseArm> arms,
                                  Expression* otherwise) {
  extension(start, "CASE (write c ? a : b, or IIF)");
  case_arms_ += arms.size;
  if (case_arms_ > kMostCaseArms)
    fail_at(ErrorCode::limit_exceeded, start.offset,
            fmt::format("the statement has more than {} WHENs", kMostCaseArms));
  List<Expression*> operands{nullptr, 0};
  if (subject) operands = append(operands, subject);
  if (otherwise) operands = append(operands, otherwise);
  Expression* node = make(ExpressionKind::case_when, start.offset, operands);
  node->arms = arms.span();
  node->has_else = otherwise != nullptr;
  for (const CaseArm& arm : node->arms) deepen(node, std::max(arm.when->depth, arm.then->depth));
  return node;
}

Expression* AstBuilder::let(const Token& start, const Token& name, Expression* value, Expression* body) {
  Expression* node = make(ExpressionKind::let, start.offset, {value, body});
  node->text = text_of(name);
  return node;
}

Expression* AstBuilder::array(const Token& start, List<Expression*> elements) {
  return make(ExpressionKind::array, start.offset, elements);
}

Expression* AstBuilder::object(const Token& start, List<ObjectEntry> entries) {
  Expression* node = make(ExpressionKind::object, start.offset);
  node->entries = entries.span();
  for (const ObjectEntry& entry : node->entries) deepen(node, entry.value->depth);
  return node;
}

ObjectEntry AstBuilder::entry(const Token& key, Expression* value) {
  return {name_of(key), value, {key.offset, key.length}};
}

Expression* AstBuilder::call(const Token& name, List<Expression*> arguments) {
  Expression* node = make(ExpressionKind::call, name.offset, arguments);
  node->text = text_of(name);
  return node;
}

Expression* AstBuilder::call_udf(const Token& udf, const Token& name, List<Expression*> arguments) {
  if (++udf_calls_ > kMostStrictUdfCalls && strict_)
    fail_at(ErrorCode::limit_exceeded, udf.offset,
            fmt::format("Azure Cosmos DB takes at most {} calls of user-defined functions in a query",
                        kMostStrictUdfCalls));
  Expression* node = make(ExpressionKind::call, udf.offset, arguments);
  node->text = text_of(name);
  node->is_udf = true;
  return node;
}

Expression* AstBuilder::call_distinct(const Token& name, const Token& distinct, List<Expression*> arguments) {
  extension(distinct, fmt::format("{}(DISTINCT ...)", text_of(name)));
  Expression* node = call(name, arguments);
  node->is_distinct = true;
  return node;
}

Expression* AstBuilder::call_star(const Token& name, const Token& star) {
  if (!equals_ignoring_case(text_of(name), "COUNT"))
    fail_at(ErrorCode::syntax, star.offset,
            fmt::format("'*' can be the argument of COUNT only, not of {}", text_of(name)));
  extension(star, "COUNT(*) (write COUNT(1))");
  Expression* node = call(name, {nullptr, 0});
  node->is_star = true;
  return node;
}

Expression* AstBuilder::subquery(ExpressionKind kind, const Token& start, Query* query) {
  Expression* node = make(kind, start.offset);
  node->query = query;
  deepen(node, query->depth);
  return node;
}

Expression* AstBuilder::parenthesised(const Token& start, Expression* inside) {
  inside->is_parenthesised = true;
  inside->span = span_from(start.offset);
  return inside;
}

// ---- Queries
// -----------------------------------------------------------------------------------------------

SelectItem AstBuilder::item(Expression* expression, const Token& alias) {
  SelectItem item{expression, std::nullopt, span_from(expression->span.offset)};
  if (alias.kind != 0) item.alias = name_of(alias);
  return item;
}

Expression* AstBuilder::count(const Token& token) {
  if (token.kind == TOKEN_PARAMETER) return parameter(token);
  return literal(token);
}

FromSource* AstBuilder::path_source(const Token& root, List<PathStep> steps) {
  auto* source = parsed_.arena.make<FromSource>();
  source->root = name_of(root);
  source->root_span = {root.offset, root.length};
  source->steps = steps.span();
  source->span = span_from(root.offset);
  return source;
}

FromSource* AstBuilder::query_source(const Token& start, Query* query) {
  auto* source = parsed_.arena.make<FromSource>();
  source->collection = CollectionKind::query;
  source->query = query;
  source->span = span_from(start.offset);
  return source;
}

// Microsoft's page on OBJECTTOARRAY has it, the service's grammar does not.
FromSource* AstBuilder::call_source(const Token& in, Expression* call) {
  extension(in, "IN over a function (write IN (SELECT VALUE f(c.x)))");
  auto* query = parsed_.arena.make<Query>();
  query->select = SelectKind::value;
  query->items = list_of(item(call, kNoToken)).span();
  query->span = call->span;
  deepen_by_clauses(query);
  return query_source(in, query);
}

FromSource* AstBuilder::named(FromSource* source, const Token& alias) {
  source->alias = text_of(alias);
  source->span = span_from(source->span.offset);
  return source;
}

FromSource* AstBuilder::iterated(const Token& alias, FromSource* source) {
  source->iterates = true;
  source->alias = text_of(alias);
  source->span = span_from(alias.offset);
  return source;
}

List<FromSource> AstBuilder::join(List<FromSource> sources, JoinKind kind, const Token& keyword,
                                  FromSource* source, Expression* on) {
  if (kind != JoinKind::lateral) extension(keyword, "JOIN ... ON");
  if (strict_ && sources.size > kMostStrictJoins)
    fail_at(ErrorCode::limit_exceeded, keyword.offset,
            fmt::format("Azure Cosmos DB takes at most {} JOINs in a query", kMostStrictJoins));
  if (++joins_ > kMostJoins)
    fail_at(ErrorCode::limit_exceeded, keyword.offset,
            fmt::format("the statement has more than {} JOINs", kMostJoins));
  source->join = kind;
  source->on = on;
  return append(sources, *source);
}

PathStep AstBuilder::name_step(const Token& name) {
  return {.name = text_of(name)};
}

PathStep AstBuilder::string_step(const Token& name) {
  return {.name = string_of(name), .is_bracketed = true};
}

PathStep AstBuilder::index_step(const Token& index) {
  const auto number = number_of(text_of(index));
  if (number && number->kind() == Kind::integer)
    return {.name = {}, .index = number->as_integer(), .is_index = true};
  fail_at(ErrorCode::limit_exceeded, index.offset, "an array index must fit 64 bits");
  return {.name = {}, .index = 0, .is_index = true};
}

OrderItem AstBuilder::order(Expression* expression, const Token& direction) {
  return {expression, direction.kind == TOKEN_DESC, direction.kind != 0};
}

Query* AstBuilder::query(const Clauses& clauses) {
  auto* query = parsed_.arena.make<Query>();
  query->span = span_from(clauses.select.offset);
  query->distinct = clauses.distinct;
  query->top = clauses.top;
  query->select = clauses.selection.kind;
  query->items = clauses.selection.items.span();
  query->has_from = clauses.from.size != 0;
  query->from = clauses.from.span();
  query->where = clauses.where;
  query->group_by = clauses.group_by.span();
  query->having = clauses.having;
  deepen_by_clauses(query);
  return query;
}

void AstBuilder::deepen_by_clauses(Query* query) {
  uint32_t below = std::max(depth_of(query->where), depth_of(query->having));
  for (const SelectItem& item : query->items) below = std::max(below, item.expression->depth);
  for (const FromSource& source : query->from)
    below = std::max({below, source.query ? source.query->depth : 0, depth_of(source.on)});
  for (const Expression* key : query->group_by) below = std::max(below, key->depth);
  deepen(query, below);
}

Query* AstBuilder::finish(Query* query, const Ordering& ordering, const Page& page) {
  query->order_by = ordering.items.span();
  query->order_by_rank = ordering.by_rank;
  query->offset = page.offset;
  query->limit = page.limit;
  query->span = span_from(query->span.offset);
  for (const OrderItem& item : query->order_by) deepen(query, item.expression->depth);
  return query;
}

Query* AstBuilder::unite(Query* first, const Token& keyword, SetOperation operation, Query* rest) {
  extension(keyword, "UNION");
  first->set_operation = operation;
  first->next = rest;
  first->span = span_from(first->span.offset);
  deepen(first, rest->depth);
  return first;
}

void AstBuilder::statement(Query* query) {
  parsed_.statement.query = query;
}

void AstBuilder::explain(const Token& start, bool analyze, ExplainStage stage, Query* query) {
  extension(start, "EXPLAIN");
  parsed_.statement.kind = StatementKind::explain;
  parsed_.statement.explain_stage = stage;
  parsed_.statement.analyze = analyze;
  parsed_.statement.query = query;
}

void AstBuilder::explain_change(const Token& start, bool analyze, ExplainStage stage) {
  if (analyze)
    fail_at(ErrorCode::semantic, start.offset,
            "EXPLAIN ANALYZE runs the query that it explains; a change is not run: leave ANALYZE out");
  explain(start, analyze, stage, nullptr);
}

}  // namespace quire::sql
