#include "sql/functions/operators.h"

#include <cstdint>
#include <cstring>
#include <limits>

namespace quire::sql {
namespace {

constexpr double kTwoTo32 = 4294967296.0;
constexpr double kTwoTo63 = 9223372036854775808.0;

// Integers keep their exactness. The two numbers that have no negative within int64 cross to double and back,
// so that -9223372036854775808, which reads as minus and a double, is the int64 that was meant.
Value negate(const Value& number) noexcept {
  if (number.kind() == Kind::integer) {
    if (number.as_integer() == std::numeric_limits<int64_t>::min()) return Value::real(kTwoTo63);
    return Value::integer(-number.as_integer());
  }
  if (number.as_real() == kTwoTo63) return Value::integer(std::numeric_limits<int64_t>::min());
  return Value::real(-number.as_real());
}

}  // namespace

int32_t to_int32(const Value& number) noexcept {
  if (number.kind() == Kind::integer) {
    // Past 2^53 JavaScript sees the nearest double.
    const int64_t exact = number.as_integer();
    constexpr int64_t kMostExact = int64_t{1} << 53;
    if (exact >= -kMostExact && exact <= kMostExact)
      return static_cast<int32_t>(static_cast<uint64_t>(exact));
  }
  const double real = number.as_double();
  if (!std::isfinite(real)) return 0;
  double remainder = std::fmod(std::trunc(real), kTwoTo32);
  if (remainder < 0) remainder += kTwoTo32;
  return static_cast<int32_t>(static_cast<uint32_t>(remainder));
}

Value concatenate_strings(const Value& left, const Value& right, Arena& arena) {
  if (!left.is_string() || !right.is_string()) return Value::undefined();
  const std::string_view a = left.as_string();
  const std::string_view b = right.as_string();
  const size_t length = a.size() + b.size();
  if (length > std::numeric_limits<uint32_t>::max()) return Value::undefined();
  char* text = static_cast<char*>(arena.allocate(length, 1));
  if (!a.empty()) std::memcpy(text, a.data(), a.size());
  if (!b.empty()) std::memcpy(text + a.size(), b.data(), b.size());
  return Value::string({text, length});
}

Value apply_unary(UnaryOperator op, const Value& operand) noexcept {
  switch (op) {
    case UnaryOperator::minus:
      return operand.is_number() ? negate(operand) : Value::undefined();
    case UnaryOperator::plus:
      return operand.is_number() ? operand : Value::undefined();
    case UnaryOperator::bit_not:
      return operand.is_number() ? Value::integer(~to_int32(operand)) : Value::undefined();
    case UnaryOperator::logical_not:
      return operand.is_boolean() ? Value::boolean(!operand.as_boolean()) : Value::undefined();
  }
  return Value::undefined();
}

Value apply_binary(BinaryOperator op, const Value& left, const Value& right, Arena& arena) {
  using enum BinaryOperator;
  switch (op) {
    case equal:
      return apply_binary<equal>(left, right, arena);
    case not_equal:
      return apply_binary<not_equal>(left, right, arena);
    case less:
      return apply_binary<less>(left, right, arena);
    case greater:
      return apply_binary<greater>(left, right, arena);
    case less_equal:
      return apply_binary<less_equal>(left, right, arena);
    case greater_equal:
      return apply_binary<greater_equal>(left, right, arena);
    case shift_left:
      return apply_binary<shift_left>(left, right, arena);
    case shift_right:
      return apply_binary<shift_right>(left, right, arena);
    case shift_right_unsigned:
      return apply_binary<shift_right_unsigned>(left, right, arena);
    case bit_or:
      return apply_binary<bit_or>(left, right, arena);
    case bit_xor:
      return apply_binary<bit_xor>(left, right, arena);
    case bit_and:
      return apply_binary<bit_and>(left, right, arena);
    case add:
      return apply_binary<add>(left, right, arena);
    case subtract:
      return apply_binary<subtract>(left, right, arena);
    case concatenate:
      return apply_binary<concatenate>(left, right, arena);
    case multiply:
      return apply_binary<multiply>(left, right, arena);
    case divide:
      return apply_binary<divide>(left, right, arena);
    case modulo:
      return apply_binary<modulo>(left, right, arena);
  }
  return Value::undefined();
}

}  // namespace quire::sql
