// Types, mathematics and integers.
#include "tests/sql/functions/call.h"

namespace quire::sql {
namespace {

TEST(TypeFunctions, AskForOneType) {
  expect_all({
      {"IS_ARRAY", {"[]"}, "true"},
      {"IS_ARRAY", {"{}"}, "false"},
      {"IS_BOOL", {"false"}, "true"},
      {"IS_BOOL", {"0"}, "false"},
      {"IS_NULL", {"null"}, "true"},
      {"IS_NULL", {"undefined"}, "false"},
      {"IS_NUMBER", {"1.5"}, "true"},
      {"IS_NUMBER", {"NaN"}, "true"},
      {"IS_OBJECT", {"{}"}, "true"},
      {"IS_STRING", {R"("")"}, "true"},
      {"IS_PRIMITIVE", {"null"}, "true"},
      {"IS_PRIMITIVE", {"[]"}, "false"},
      {"IS_DEFINED", {"null"}, "true"},
  });
}

TEST(TypeFunctions, AreFalseOfUndefined) {
  for (const std::string_view name :
       {"IS_ARRAY", "IS_BOOL", "IS_NULL", "IS_NUMBER", "IS_OBJECT", "IS_STRING", "IS_PRIMITIVE", "IS_DEFINED",
        "IS_FINITE_NUMBER", "IS_INTEGER", "IS_DATETIME"})
    EXPECT_EQ(call(name, {"undefined"}), "false") << name;
}

TEST(TypeFunctions, IntegersAreWholeAndOfSixtyFourBits) {
  expect_all({
      {"IS_INTEGER", {"9223372036854775807"}, "true"},
      {"IS_INTEGER", {"18446744073709551615"}, "false"},
      {"IS_INTEGER", {"-9223372036854775808"}, "true"},
      {"IS_INTEGER", {"3.0"}, "true"},
      {"IS_INTEGER", {"3.5"}, "false"},
      {"IS_INTEGER", {"NaN"}, "false"},
      {"IS_INTEGER", {"Infinity"}, "false"},
      {"IS_FINITE_NUMBER", {"1e300"}, "true"},
      {"IS_FINITE_NUMBER", {"Infinity"}, "false"},
      {"IS_FINITE_NUMBER", {"NaN"}, "false"},
      {"IS_FINITE_NUMBER", {R"("1")"}, "false"},
  });
}

TEST(MathFunctions, Round) {
  expect_all({
      {"ROUND", {"-0.5"}, "-1"},
      {"ROUND", {"0.5"}, "1"},
      {"ROUND", {"2.4"}, "2"},
      {"ROUND", {"4840904997601420"}, "4840904997601420"},
      {"FLOOR", {"-145.12"}, "-146"},
      {"CEILING", {"-45.72"}, "-45"},
      {"TRUNC", {"-2.78"}, "-2"},
      {"TRUNC", {"0.0000714"}, "0"},
      {"FLOOR", {"9223372036854775807"}, "9223372036854775807"},
      {"NUMBERBIN", {"7", "3"}, "6"},
      {"NUMBERBIN", {"-7", "3"}, "-9"},
      {"NUMBERBIN", {"7", "-3"}, "9"},
      {"NUMBERBIN", {"7.9"}, "7"},
      {"NUMBERBIN", {"7", "0"}, "undefined"},
  });
}

TEST(MathFunctions, Compute) {
  expect_all({
      {"ABS", {"-1"}, "1"},
      {"ABS", {"-1.5"}, "1.5"},
      {"ABS", {"-9223372036854775808"}, "9223372036854776000"},
      {"SIGN", {"-2.5"}, "-1"},
      {"SIGN", {"0"}, "0"},
      {"SIGN", {"NaN"}, "NaN"},
      {"SQUARE", {"3"}, "9"},
      {"SQRT", {"-1"}, "NaN"},
      {"SQRT", {"16"}, "4"},
      {"POWER", {"2", "10"}, "1024"},
      {"POWER", {"2", "null"}, "undefined"},
      {"EXP", {"0"}, "1"},
      {"LOG", {"1"}, "0"},
      {"LOG", {"0"}, "-Infinity"},
      {"LOG", {"1000", "10"}, "3"},
      {"LOG", {"8", "2"}, "3"},
      {"LOG", {"9", "3"}, "2"},
      {"LOG10", {"100"}, "2"},
      {"ATN2", {"35.175643", "129.44"}, "0.265344532064832"},
      {"ACOS", {"-1"}, "3.141592653589793"},
      {"ASIN", {"2"}, "NaN"},
      {"DEGREES", {"3.141592653589793"}, "180"},
      {"RADIANS", {"180"}, "3.141592653589793"},
      {"PI", {}, "3.141592653589793"},
      {"SIN", {"0"}, "0"},
      {"COS", {"0"}, "1"},
      {"TAN", {"0"}, "0"},
      {"ATAN", {"0"}, "0"},
      {"COT", {"0"}, "Infinity"},
  });
}

TEST(MathFunctions, RandomNumbersDifferAndStayBelowOne) {
  Arena arena;
  CallContext context{arena};
  const Function& random = *find_function("RAND");
  EXPECT_EQ(random.volatility, Volatility::per_row);
  const double first = call_function(random, context, {}).as_double();
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const double next = call_function(random, context, {}).as_double();
    EXPECT_TRUE(next >= 0 && next < 1);
    differs = differs || next != first;
  }
  EXPECT_TRUE(differs);
}

TEST(IntegerFunctions, AreExactAndWrap) {
  expect_all({
      {"INTADD", {"9007199254740993", "1"}, "9007199254740994"},
      {"INTADD", {"9223372036854775807", "1"}, "-9223372036854775808"},
      {"INTSUB", {"-9223372036854775808", "1"}, "9223372036854775807"},
      {"INTMUL", {"3037000500", "3037000500"}, "-9223372036709301616"},
      {"INTDIV", {"-7", "2"}, "-3"},
      {"INTDIV", {"10", "0"}, "undefined"},
      {"INTDIV", {"-9223372036854775808", "-1"}, "-9223372036854775808"},
      {"INTMOD", {"12", "-5"}, "2"},
      {"INTMOD", {"-12", "-5"}, "-2"},
      {"INTMOD", {"12", "0"}, "undefined"},
      {"INTMOD", {"-9223372036854775808", "-1"}, "0"},
      {"INTBITAND", {"12", "10"}, "8"},
      {"INTBITOR", {"12", "10"}, "14"},
      {"INTBITXOR", {"12", "10"}, "6"},
      {"INTBITNOT", {"0"}, "-1"},
      {"INTBITLEFTSHIFT", {"1", "63"}, "-9223372036854775808"},
      {"INTBITLEFTSHIFT", {"1", "64"}, "1"},
      {"INTBITLEFTSHIFT", {"1", "-1"}, "-9223372036854775808"},
      {"INTBITRIGHTSHIFT", {"-16", "2"}, "-4"},
  });
}

}  // namespace
}  // namespace quire::sql
