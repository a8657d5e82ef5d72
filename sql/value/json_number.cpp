#include "sql/value/json_number.h"

#include <charconv>
#include <system_error>

namespace quire::sql {
namespace {

constexpr int64_t kMostExactPower = 22;
constexpr uint64_t kMostExactMantissa = uint64_t{1} << 53;
// A uint64 holds any decimal of 19 digits.
constexpr ptrdiff_t kMostDigits = 19;
// Exponents are added up to here and no further: far outside a double's range, far inside an int64's.
constexpr int64_t kHugeExponent = 1'000'000'000'000;

bool is_digit(const char* at, const char* end) noexcept {
  return at != end && *at >= '0' && *at <= '9';
}

// Takes the digits at `at` into `mantissa`, which wraps around past kMostDigits of them.
const char* take_digits(const char* at, const char* end, uint64_t& mantissa) noexcept {
  while (end - at >= 8) {
    const EightDigits digits(eight_bytes(at));
    if (digits.count() == 0) return at;
    mantissa = digits.added_to(mantissa);
    at += digits.count();
    if (digits.count() != 8) return at;
  }
  for (; is_digit(at, end); ++at) mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
  return at;
}

ParsedNumber integer_of(uint64_t magnitude, bool is_negative, const char* end) noexcept {
  const uint64_t bits = is_negative ? -magnitude : magnitude;
  return {Value::integer(static_cast<int64_t>(bits)), end};
}

// `exponent`: of ten, for the mantissa's last digit; `first_digit`: the power of ten of its first digit.
ParsedNumber slow_real(const char* begin, const char* end, int64_t first_digit) noexcept {
  double value = 0;
  const auto [at, error] = std::from_chars(begin, end, value);
  if (error == std::errc()) return {Value::real(value), end};
  // Out of range: either far too large, or too small to differ from zero.
  if (first_digit > 0) return {Value(), end, true};
  return {Value::real(0), end};
}

// The power of ten of the first digit that is not zero in `digits`, whose point stands after `whole` of them.
int64_t power_of_first_digit(const char* digits, const char* end, ptrdiff_t whole) noexcept {
  int64_t power = whole - 1;
  for (; digits != end; ++digits) {
    if (*digits == '.') continue;
    if (*digits != '0') return power;
    --power;
  }
  return -kHugeExponent;
}

struct Exponent {
  int64_t value = 0;
  const char* end;
  bool is_valid = true;
};

Exponent take_exponent(const char* at, const char* end) noexcept {
  const bool is_negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  if (!is_digit(at, end)) return {0, at, false};
  int64_t value = 0;
  for (; is_digit(at, end); ++at)
    if (value < kHugeExponent) value = value * 10 + (*at - '0');
  return {is_negative ? -value : value, at};
}

}  // namespace

ParsedNumber parse_json_number(const char* begin, const char* end) noexcept {
  const bool is_negative = begin != end && *begin == '-';
  const char* digits = begin + (is_negative ? 1 : 0);
  if (!is_digit(digits, end)) return {Value(), digits};
  uint64_t mantissa = 0;
  const char* at = take_digits(digits, end, mantissa);
  const ptrdiff_t whole = at - digits;
  if (*digits == '0' && whole > 1) return {Value(), digits + 1};

  const bool is_integer = at == end || (*at != '.' && *at != 'e' && *at != 'E');
  if (is_integer && whole <= kMostDigits) {
    const uint64_t most = static_cast<uint64_t>(INT64_MAX) + (is_negative ? 1 : 0);
    if (mantissa <= most) return integer_of(mantissa, is_negative, at);
  }

  ptrdiff_t fraction = 0;
  if (at != end && *at == '.') {
    const char* first = ++at;
    at = take_digits(at, end, mantissa);
    fraction = at - first;
    if (fraction == 0) return {Value(), at};
  }
  const char* digits_end = at;
  int64_t exponent = 0;
  if (at != end && (*at == 'e' || *at == 'E')) {
    const Exponent taken = take_exponent(at + 1, end);
    if (!taken.is_valid) return {Value(), taken.end};
    exponent = taken.value;
    at = taken.end;
  }

  const int64_t power = exponent - fraction;
  if (whole + fraction <= kMostDigits && mantissa <= kMostExactMantissa && power >= -kMostExactPower &&
      power <= kMostExactPower) {
    const auto exact = static_cast<double>(mantissa);
    const double magnitude = power < 0 ? exact / kExactPowers[-power] : exact * kExactPowers[power];
    return {.value = Value::real(is_negative ? -magnitude : magnitude),
            .end = at,
            .digits = mantissa,
            .places = exponent == 0 ? static_cast<uint32_t>(fraction) : 0};
  }
  return slow_real(begin, at, exponent + power_of_first_digit(digits, digits_end, whole));
}

}  // namespace quire::sql
