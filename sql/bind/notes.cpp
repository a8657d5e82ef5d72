// Notes on what a query takes to mean something else than its writer may have meant. Such a query is valid,
// so it runs; EXPLAIN shows the notes.
#include <algorithm>

#include <fmt/format.h>

#include "sql/bind/binder.h"

namespace quire::sql {
namespace {

bool is_bare_not(const Expression& expression) {
  return expression.kind == ExpressionKind::unary &&
         expression.unary_operator == UnaryOperator::logical_not && !expression.is_parenthesised;
}

bool is_predicate(const Expression& expression) {
  switch (expression.kind) {
    case ExpressionKind::binary:
      return expression.binary_operator <= BinaryOperator::greater_equal;
    case ExpressionKind::in:
    case ExpressionKind::like:
    case ExpressionKind::between:
      return true;
    default:
      return false;
  }
}

bool compares_with_undefined(const Expression& expression) {
  if (expression.kind != ExpressionKind::binary || !is_predicate(expression)) return false;
  for (const Expression* operand : expression.operands)
    if (operand->kind == ExpressionKind::literal && operand->literal.is_undefined()) return true;
  return false;
}

// A literal operand of the operator that is, or is not, a string.
const Expression* literal_operand(const Expression& expression, BinaryOperator op, bool is_string) {
  if (expression.kind != ExpressionKind::binary || expression.binary_operator != op) return nullptr;
  for (const Expression* operand : expression.operands)
    if (operand->kind == ExpressionKind::literal && operand->literal.is_string() == is_string) return operand;
  return nullptr;
}

}  // namespace

void Binder::note(Span span, std::string_view message) {
  const Position place = at(span);
  std::string text = fmt::format("note: line {}, column {}: {}", place.line, place.column, message);
  // An alias in ORDER BY binds its expression once more.
  if (std::ranges::find(statement_.notes, text) == statement_.notes.end())
    statement_.notes.push_back(std::move(text));
}

void Binder::note_slips(const Expression& expression) {
  const std::string_view text = statement_.parsed->text;
  if (is_predicate(expression) && is_bare_not(*expression.operands[0])) {
    const Span negated = expression.operands[0]->operands[0]->span;
    const size_t end = expression.span.offset + expression.span.length;
    note(expression.span, fmt::format("NOT takes '{}' alone; to negate the whole, write NOT ({})",
                                      text.substr(negated.offset, negated.length),
                                      text.substr(negated.offset, end - negated.offset)));
  }
  if (compares_with_undefined(expression))
    note(expression.span,
         "a comparison with undefined is undefined; write IS_DEFINED(x) or NOT IS_DEFINED(x)");
  if (const Expression* operand = literal_operand(expression, BinaryOperator::concatenate, false))
    note(operand->span, fmt::format("|| joins strings alone; write TOSTRING({})",
                                    text.substr(operand->span.offset, operand->span.length)));
  if (const Expression* operand = literal_operand(expression, BinaryOperator::add, true))
    note(operand->span, "+ adds numbers alone; || joins strings");
}

void Binder::note_item_for_container(const FromSource& source) {
  const bool is_whole = source.steps.empty() && !source.iterates;
  if (!is_whole || !options_.scope.empty() || source_.collection(std::string(source.root)) == nullptr) return;
  note(source.root_span, fmt::format("{0} is the item of the query around it, one row; to read the whole "
                                     "container here, give the item another "
                                     "name there, as in {0} i",
                                     source.root));
}

}  // namespace quire::sql
