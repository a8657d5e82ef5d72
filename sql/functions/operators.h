// The operators of the language on single values (DIALECT.md 3 and 4). Used by constant folding and by
// sql/run, whose loops name the operator at compile time: apply_binary<BinaryOperator::add>(a, b, arena).
//
// Operands of types that an operator does not take give undefined. Arithmetic is the double's, as in
// JavaScript; a result that is integral and small enough to be exact comes back as an integer.
#pragma once

#include <cmath>
#include <cstdint>

#include "sql/error.h"
#include "sql/parse/ast.h"
#include "sql/value/arena.h"
#include "sql/value/comparison.h"
#include "sql/value/value.h"

namespace quire::sql {

Value apply_unary(UnaryOperator op, const Value& operand) noexcept;
// Concatenation allocates in `arena`.
Value apply_binary(BinaryOperator op, const Value& left, const Value& right, Arena& arena);

// Three-valued logic: anything but a boolean counts as undefined.
inline Value logical_and(const Value& left, const Value& right) noexcept {
  if (left.is_false() || right.is_false()) return Value::boolean(false);
  return left.is_true() && right.is_true() ? Value::boolean(true) : Value::undefined();
}

inline Value logical_or(const Value& left, const Value& right) noexcept {
  if (left.is_true() || right.is_true()) return Value::boolean(true);
  return left.is_false() && right.is_false() ? Value::boolean(false) : Value::undefined();
}

// The operator =: undefined if either side is, false across types. NaN equals nothing.
inline Value equal_values(const Value& left, const Value& right) noexcept {
  if (left.is_undefined() || right.is_undefined()) return Value::undefined();
  if (left.is_string() && right.is_string()) return Value::boolean(left.as_string() == right.as_string());
  if (left.kind() == Kind::integer && right.kind() == Kind::integer)
    return Value::boolean(left.as_integer() == right.as_integer());
  if (left.is_number() && right.is_number())
    return Value::boolean(compare_numbers(left, right) == std::partial_ordering::equivalent);
  return Value::boolean(left.kind() == right.kind() && deep_equal(left, right));
}

// A number as the int32 of JavaScript's bitwise operators: truncated, then modulo 2^32; NaN and infinities
// are 0.
int32_t to_int32(const Value& number) noexcept;

// left || right for two strings; undefined if the result would pass the longest string.
Value concatenate_strings(const Value& left, const Value& right, Arena& arena);

namespace operators {

constexpr bool is_ordering(BinaryOperator op) {
  return op == BinaryOperator::less || op == BinaryOperator::greater || op == BinaryOperator::less_equal ||
         op == BinaryOperator::greater_equal;
}

constexpr bool is_arithmetic(BinaryOperator op) {
  return op == BinaryOperator::add || op == BinaryOperator::subtract || op == BinaryOperator::multiply ||
         op == BinaryOperator::divide || op == BinaryOperator::modulo;
}

template <BinaryOperator op>
Value order(const Value& left, const Value& right) noexcept {
  const std::optional<std::partial_ordering> order = compare_values(left, right);
  if (!order) return Value::undefined();
  if constexpr (op == BinaryOperator::less) return Value::boolean(*order < 0);
  if constexpr (op == BinaryOperator::greater) return Value::boolean(*order > 0);
  if constexpr (op == BinaryOperator::less_equal) return Value::boolean(*order <= 0);
  if constexpr (op == BinaryOperator::greater_equal) return Value::boolean(*order >= 0);
}

// std::fmod(), which takes the processor twenty times as long as the remainder of whole numbers: most are.
inline double remainder_of(double a, double b) noexcept {
  constexpr double kMostExact = 1ull << 53;
  if (std::fabs(a) <= kMostExact && std::fabs(b) <= kMostExact) {
    const auto whole_a = static_cast<int64_t>(a), whole_b = static_cast<int64_t>(b);
    if (static_cast<double>(whole_a) == a && static_cast<double>(whole_b) == b && whole_b != 0)
      return std::copysign(static_cast<double>(whole_a % whole_b), a);
  }
  return std::fmod(a, b);
}

template <BinaryOperator op>
Value calculate(const Value& left, const Value& right) noexcept {
  if (!left.is_number() || !right.is_number()) return Value::undefined();
  const double a = left.as_double();
  const double b = right.as_double();
  if constexpr (op == BinaryOperator::add) return Value::number(a + b);
  if constexpr (op == BinaryOperator::subtract) return Value::number(a - b);
  if constexpr (op == BinaryOperator::multiply) return Value::number(a * b);
  // Division by zero is defined by IEEE 754: an infinity or NaN, which a predicate may ask for.
  if constexpr (op == BinaryOperator::divide) return Value::number(a / b);
  if constexpr (op == BinaryOperator::modulo) return Value::number(remainder_of(a, b));
}

template <BinaryOperator op>
Value combine_bits(const Value& left, const Value& right) noexcept {
  if (!left.is_number() || !right.is_number()) return Value::undefined();
  const int32_t a = to_int32(left);
  const int32_t b = to_int32(right);
  const auto unsigned_a = static_cast<uint32_t>(a);
  const uint32_t shift = static_cast<uint32_t>(b) & 31;
  if constexpr (op == BinaryOperator::bit_or) return Value::integer(a | b);
  if constexpr (op == BinaryOperator::bit_xor) return Value::integer(a ^ b);
  if constexpr (op == BinaryOperator::bit_and) return Value::integer(a & b);
  if constexpr (op == BinaryOperator::shift_left)
    return Value::integer(static_cast<int32_t>(unsigned_a << shift));
  if constexpr (op == BinaryOperator::shift_right) return Value::integer(a >> shift);
  if constexpr (op == BinaryOperator::shift_right_unsigned) return Value::integer(unsigned_a >> shift);
}

}  // namespace operators

template <BinaryOperator op>
Value apply_binary(const Value& left, const Value& right, [[maybe_unused]] Arena& arena) {
  if constexpr (op == BinaryOperator::equal) {
    return equal_values(left, right);
  } else if constexpr (op == BinaryOperator::not_equal) {
    const Value equal = equal_values(left, right);
    return equal.is_undefined() ? equal : Value::boolean(equal.is_false());
  } else if constexpr (operators::is_ordering(op)) {
    return operators::order<op>(left, right);
  } else if constexpr (operators::is_arithmetic(op)) {
    return operators::calculate<op>(left, right);
  } else if constexpr (op == BinaryOperator::concatenate) {
    return concatenate_strings(left, right, arena);
  } else {
    return operators::combine_bits<op>(left, right);
  }
}

}  // namespace quire::sql
