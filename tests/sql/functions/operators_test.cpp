#include "sql/functions/operators.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/sql/functions/call.h"

namespace quire::sql {
namespace {

std::string binary(std::string_view left, BinaryOperator op, std::string_view right) {
  Arena arena;
  return text_of(apply_binary(op, value_of(left, arena), value_of(right, arena), arena));
}

std::string unary(UnaryOperator op, std::string_view operand) {
  Arena arena;
  return text_of(apply_unary(op, value_of(operand, arena)));
}

TEST(Operators, ARemainderIsThatOfFmodToTheBit) {
  const double whole = 9007199254740992.0, infinite = std::numeric_limits<double>::infinity();
  const std::array numbers = {0.0,       -0.0,  1.0,    -1.0,     2.0,       7.0,
                              -7.0,      0.5,   -7.5,   whole,    -whole,    whole - 1,
                              2 * whole, 1e300, 5e-324, infinite, -infinite, std::nan("")};
  for (const double a : numbers)
    for (const double b : numbers) {
      const double ours = operators::remainder_of(a, b), theirs = std::fmod(a, b);
      EXPECT_TRUE(std::isnan(theirs) ? std::isnan(ours)
                                     : std::bit_cast<uint64_t>(ours) == std::bit_cast<uint64_t>(theirs))
          << a << " % " << b;
    }
}

TEST(Operators, ArithmeticIsTheDoublesAndWholeResultsAreIntegers) {
  using enum BinaryOperator;
  EXPECT_EQ(binary("1", add, "1"), "2");
  EXPECT_EQ(binary("1.5", add, "1.5"), "3");
  EXPECT_EQ(binary("0.1", add, "0.2"), "0.30000000000000004");
  EXPECT_EQ(binary("7", divide, "2"), "3.5");
  EXPECT_EQ(binary("-7", modulo, "3"), "-1");
  EXPECT_EQ(binary("1", divide, "0"), "Infinity");
  EXPECT_EQ(binary("-1", divide, "0"), "-Infinity");
  EXPECT_EQ(binary("0", divide, "0"), "NaN");
  EXPECT_EQ(binary("1", modulo, "0"), "NaN");
  EXPECT_EQ(binary("9007199254740993", add, "0"), "9007199254740992");
  Arena arena;
  EXPECT_EQ(apply_binary(multiply, Value::real(1.5), Value::integer(2), arena).kind(), Kind::integer);
}

TEST(Operators, OperandsOfOtherTypesGiveUndefined) {
  using enum BinaryOperator;
  EXPECT_EQ(binary("1", add, R"("1")"), "undefined");
  EXPECT_EQ(binary("null", multiply, "1"), "undefined");
  EXPECT_EQ(binary("1", subtract, "undefined"), "undefined");
  EXPECT_EQ(binary("true", bit_and, "1"), "undefined");
  EXPECT_EQ(binary(R"("foo")", concatenate, "0"), "undefined");
  EXPECT_EQ(unary(UnaryOperator::minus, R"("1")"), "undefined");
  EXPECT_EQ(unary(UnaryOperator::plus, "null"), "undefined");
  EXPECT_EQ(unary(UnaryOperator::bit_not, "[]"), "undefined");
  EXPECT_EQ(unary(UnaryOperator::logical_not, "0"), "undefined");
}

TEST(Operators, MinusKeepsIntegersExact) {
  EXPECT_EQ(unary(UnaryOperator::minus, "9223372036854775807"), "-9223372036854775807");
  Arena arena;
  const Value least = apply_unary(UnaryOperator::minus, Value::real(9223372036854775808.0));
  EXPECT_EQ(least.kind(), Kind::integer);
  EXPECT_EQ(least.as_integer(), INT64_MIN);
  EXPECT_EQ(apply_unary(UnaryOperator::minus, least).as_double(), 9223372036854775808.0);
  EXPECT_EQ(unary(UnaryOperator::minus, "1.5"), "-1.5");
}

TEST(Operators, BitwiseOperatorsAreThoseOfJavaScript) {
  using enum BinaryOperator;
  EXPECT_EQ(unary(UnaryOperator::bit_not, "130679749712577953"), "-1022657953");
  EXPECT_EQ(binary("100", shift_right, "2"), "25");
  EXPECT_EQ(binary("1", shift_left, "31"), "-2147483648");
  EXPECT_EQ(binary("1", shift_left, "32"), "1");
  EXPECT_EQ(binary("-1", shift_right_unsigned, "0"), "4294967295");
  EXPECT_EQ(binary("-8", shift_right, "1"), "-4");
  EXPECT_EQ(binary("4294967297", bit_or, "0"), "1");
  EXPECT_EQ(binary("-2.9", bit_or, "0"), "-2");
  EXPECT_EQ(binary("NaN", bit_or, "5"), "5");
  EXPECT_EQ(binary("1e300", bit_xor, "3"), "3");
  EXPECT_EQ(binary("100", bit_and, "1000"), "96");
}

TEST(Operators, EqualityIsFalseAcrossTypesAndUndefinedOfUndefined) {
  using enum BinaryOperator;
  EXPECT_EQ(binary("1", equal, "1.0"), "true");
  EXPECT_EQ(binary("1", equal, R"("1")"), "false");
  EXPECT_EQ(binary("1", not_equal, R"("1")"), "true");
  EXPECT_EQ(binary("null", equal, "null"), "true");
  EXPECT_EQ(binary("null", equal, "undefined"), "undefined");
  EXPECT_EQ(binary("undefined", not_equal, "undefined"), "undefined");
  EXPECT_EQ(binary("NaN", equal, "NaN"), "false");
  EXPECT_EQ(binary("NaN", not_equal, "NaN"), "true");
  EXPECT_EQ(binary(R"({"a":1,"b":[2]})", equal, R"({"b":[2],"a":1})"), "true");
  EXPECT_EQ(binary("[1,2]", equal, "[2,1]"), "false");
  EXPECT_EQ(binary("[]", equal, "{}"), "false");
  EXPECT_EQ(binary("9007199254740993", equal, "9007199254740992.0"), "false");
}

TEST(Operators, OrderIsWithinOneTypeOfPrimitives) {
  using enum BinaryOperator;
  EXPECT_EQ(binary("1", less, "1.5"), "true");
  EXPECT_EQ(binary("false", less, "true"), "true");
  EXPECT_EQ(binary(R"("B")", less, R"("a")"), "true");
  EXPECT_EQ(binary("null", less_equal, "null"), "true");
  EXPECT_EQ(binary("1", less, R"("2")"), "undefined");
  EXPECT_EQ(binary("[1]", less, "[2]"), "undefined");
  EXPECT_EQ(binary("{}", greater_equal, "{}"), "undefined");
  EXPECT_EQ(binary("1", greater, "undefined"), "undefined");
  EXPECT_EQ(binary("NaN", less, "1"), "false");
  EXPECT_EQ(binary("NaN", greater_equal, "NaN"), "false");
}

TEST(Operators, LogicHasThreeValues) {
  const Value yes = Value::boolean(true);
  const Value no = Value::boolean(false);
  const Value other = Value::integer(0);
  EXPECT_EQ(text_of(logical_and(yes, yes)), "true");
  EXPECT_EQ(text_of(logical_and(other, no)), "false");
  EXPECT_EQ(text_of(logical_and(yes, other)), "undefined");
  EXPECT_EQ(text_of(logical_or(other, yes)), "true");
  EXPECT_EQ(text_of(logical_or(no, other)), "undefined");
  EXPECT_EQ(text_of(logical_or(no, no)), "false");
}

TEST(Operators, ConcatenationJoinsTwoStrings) {
  EXPECT_EQ(binary(R"("foo")", BinaryOperator::concatenate, R"("bar")"), R"("foobar")");
  EXPECT_EQ(binary(R"("")", BinaryOperator::concatenate, R"("")"), R"("")");
}

}  // namespace
}  // namespace quire::sql
