// Arithmetic on doubles. Where a result is certain to be whole, an int64 goes through unharmed.
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "sql/functions/families.h"
#include "sql/functions/operators.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

// The row's body for a function of one double.
template <double (*compute)(double)>
Value on_double(CallContext&, Arguments arguments) {
  return Value::number(compute(arguments[0].as_double()));
}

// The same for one that leaves whole numbers as they are.
template <double (*compute)(double)>
Value to_whole(CallContext&, Arguments arguments) {
  if (arguments[0].kind() == Kind::integer) return arguments[0];
  return Value::number(compute(arguments[0].as_real()));
}

double acos(double x) {
  return std::acos(x);
}
double asin(double x) {
  return std::asin(x);
}
double atan(double x) {
  return std::atan(x);
}
double ceiling(double x) {
  return std::ceil(x);
}
double cos(double x) {
  return std::cos(x);
}
double cot(double x) {
  return 1.0 / std::tan(x);
}
double degrees(double x) {
  return x * (180.0 / std::numbers::pi);
}
double exp(double x) {
  return std::exp(x);
}
double floor(double x) {
  return std::floor(x);
}
double log10(double x) {
  return std::log10(x);
}
double radians(double x) {
  return x * (std::numbers::pi / 180.0);
}
double round_half_away(double x) {
  return std::round(x);
}
double sin(double x) {
  return std::sin(x);
}
double sqrt(double x) {
  return std::sqrt(x);
}
double square(double x) {
  return x * x;
}
double tan(double x) {
  return std::tan(x);
}
double truncate(double x) {
  return std::trunc(x);
}

Value absolute(CallContext&, Arguments arguments) {
  const Value& number = arguments[0];
  if (number.kind() == Kind::integer)
    return number.as_integer() < 0 ? apply_unary(UnaryOperator::minus, number) : number;
  return Value::number(std::fabs(number.as_real()));
}

Value sign(CallContext&, Arguments arguments) {
  const double x = arguments[0].as_double();
  if (std::isnan(x)) return arguments[0];
  return Value::integer((x > 0) - (x < 0));
}

Value arc_tangent_2(CallContext&, Arguments arguments) {
  return Value::number(std::atan2(arguments[0].as_double(), arguments[1].as_double()));
}

Value logarithm(CallContext&, Arguments arguments) {
  const double x = arguments[0].as_double();
  if (arguments.size() == 1) return Value::number(std::log(x));
  const double base = arguments[1].as_double();
  // The quotient of two logarithms is a digit off where the answer is whole: LOG(1000, 10), LOG(8, 2).
  if (base == 10) return Value::number(std::log10(x));
  if (base == 2) return Value::number(std::log2(x));
  return Value::number(std::log(x) / std::log(base));
}

Value power(CallContext&, Arguments arguments) {
  return Value::number(std::pow(arguments[0].as_double(), arguments[1].as_double()));
}

Value number_bin(CallContext&, Arguments arguments) {
  const double width = arguments.size() > 1 ? arguments[1].as_double() : 1.0;
  if (width == 0) return Value::undefined();
  return Value::number(std::floor(arguments[0].as_double() / width) * width);
}

Value pi(CallContext&, Arguments) {
  return Value::real(std::numbers::pi);
}

Value random_number(CallContext&, Arguments) {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  constexpr int digits = std::numeric_limits<double>::digits;
  // The upper 53 bits as a fraction: every result is below 1, which std::generate_canonical does not keep.
  return Value::number(std::ldexp(static_cast<double>(generator() >> (64 - digits)), -digits));
}

constexpr Function kMathRows[] = {
    {"ABS", "n", absolute, "ABS(number)", "The number without its sign"},
    {"ACOS", "n", on_double<acos>, "ACOS(number)", "The angle, in radians, whose cosine this is"},
    {"ASIN", "n", on_double<asin>, "ASIN(number)", "The angle, in radians, whose sine this is"},
    {"ATAN", "n", on_double<atan>, "ATAN(number)", "The angle, in radians, whose tangent this is"},
    {"ATN2", "nn", arc_tangent_2, "ATN2(y, x)", "The angle, in radians, of the point (x, y) from the x axis"},
    {"CEILING", "n", to_whole<ceiling>, "CEILING(number)", "The least integer that is not less"},
    {"COS", "n", on_double<cos>, "COS(radians)", "The cosine of an angle"},
    {"COT", "n", on_double<cot>, "COT(radians)", "The cotangent of an angle"},
    {"DEGREES", "n", on_double<degrees>, "DEGREES(radians)", "An angle in degrees"},
    {"EXP", "n", on_double<exp>, "EXP(number)", "e to this power"},
    {"FLOOR", "n", to_whole<floor>, "FLOOR(number)", "The greatest integer that is not greater"},
    {"LOG", "n?n", logarithm, "LOG(number [, base])", "The logarithm; natural without a base"},
    {"LOG10", "n", on_double<log10>, "LOG10(number)", "The logarithm to base 10"},
    {"NUMBERBIN", "n?n", number_bin, "NUMBERBIN(number [, width])",
     "The number rounded down to a multiple of the width, which is 1 if not given"},
    {"PI", "", pi, "PI()", "The ratio of a circle's circumference to its diameter"},
    {"POWER", "nn", power, "POWER(base, exponent)", "The base raised to the exponent"},
    {"RADIANS", "n", on_double<radians>, "RADIANS(degrees)", "An angle in radians"},
    {"RAND", "", random_number, "RAND()", "A random number from 0 up to, but not including, 1",
     Volatility::per_row},
    {"ROUND", "n", to_whole<round_half_away>, "ROUND(number)",
     "The nearest integer; halves go away from zero"},
    {"SIGN", "n", sign, "SIGN(number)", "-1, 0 or 1 as the number is negative, zero or positive"},
    {"SIN", "n", on_double<sin>, "SIN(radians)", "The sine of an angle"},
    {"SQRT", "n", on_double<sqrt>, "SQRT(number)", "The square root"},
    {"SQUARE", "n", on_double<square>, "SQUARE(number)", "The number times itself"},
    {"TAN", "n", on_double<tan>, "TAN(radians)", "The tangent of an angle"},
    {"TRUNC", "n", to_whole<truncate>, "TRUNC(number)", "The number without its fraction"},
};

}  // namespace

std::span<const Function> math_functions() noexcept {
  return kMathRows;
}

}  // namespace quire::sql
