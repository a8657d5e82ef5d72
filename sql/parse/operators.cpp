#include "sql/parse/operators.h"

#include <algorithm>
#include <iterator>

namespace quire::sql {
namespace {

using enum OperatorLevel;

constexpr BinaryOperatorRow kBinaryOperators[] = {
    {BinaryOperator::equal, "=", comparison},
    {BinaryOperator::not_equal, "!=", comparison},
    {BinaryOperator::less, "<", comparison},
    {BinaryOperator::greater, ">", comparison},
    {BinaryOperator::less_equal, "<=", comparison},
    {BinaryOperator::greater_equal, ">=", comparison},
    {BinaryOperator::shift_left, "<<", comparison},
    {BinaryOperator::shift_right, ">>", comparison},
    {BinaryOperator::shift_right_unsigned, ">>>", comparison},
    {BinaryOperator::bit_or, "|", sum},
    {BinaryOperator::bit_xor, "^", sum},
    {BinaryOperator::bit_and, "&", sum},
    {BinaryOperator::add, "+", sum},
    {BinaryOperator::subtract, "-", sum},
    {BinaryOperator::concatenate, "||", sum},
    {BinaryOperator::multiply, "*", product},
    {BinaryOperator::divide, "/", product},
    {BinaryOperator::modulo, "%", product},
};

constexpr UnaryOperatorRow kUnaryOperators[] = {
    {UnaryOperator::minus, "-"},
    {UnaryOperator::plus, "+"},
    {UnaryOperator::bit_not, "~"},
    {UnaryOperator::logical_not, "NOT"},
};

// A row is found by its operator's number.
template <typename Rows>
consteval bool rows_are_in_order(const Rows& rows) {
  for (size_t i = 0; i < std::size(rows); ++i)
    if (static_cast<size_t>(rows[i].op) != i) return false;
  return true;
}
static_assert(rows_are_in_order(kBinaryOperators));
static_assert(rows_are_in_order(kUnaryOperators));

}  // namespace

const BinaryOperatorRow& operator_row(BinaryOperator op) noexcept {
  return kBinaryOperators[static_cast<size_t>(op)];
}

const UnaryOperatorRow& operator_row(UnaryOperator op) noexcept {
  return kUnaryOperators[static_cast<size_t>(op)];
}

OperatorLevel level_of(const Expression& expression) noexcept {
  switch (expression.kind) {
    case ExpressionKind::conditional:
      return conditional;
    case ExpressionKind::coalesce:
      return coalesce;
    case ExpressionKind::logical_or:
      return logical_or;
    case ExpressionKind::logical_and:
      return logical_and;
    case ExpressionKind::between:
    case ExpressionKind::in:
    case ExpressionKind::like:
    case ExpressionKind::is_null:
    case ExpressionKind::let:
      return predicate;
    case ExpressionKind::binary:
      return operator_row(expression.binary_operator).level;
    case ExpressionKind::unary:
      return prefixed;
    case ExpressionKind::literal:
    case ExpressionKind::parameter:
    case ExpressionKind::identifier:
    case ExpressionKind::member:
    case ExpressionKind::index:
    case ExpressionKind::case_when:
    case ExpressionKind::array:
    case ExpressionKind::object:
    case ExpressionKind::call:
    case ExpressionKind::exists:
    case ExpressionKind::array_query:
    case ExpressionKind::all_query:
    case ExpressionKind::first_query:
    case ExpressionKind::last_query:
    case ExpressionKind::scalar_query:
      return primary;
  }
  return primary;
}

}  // namespace quire::sql
