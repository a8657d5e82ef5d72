#include "sql/value/number_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace quire::sql {
namespace {

constexpr double kInt64Bound = 9223372036854775808.0;  // 2^63
// JavaScript writes an exponent from the one power of ten on, and below the other.
constexpr int kLeastLargeExponent = 21;
constexpr int kLeastPlainExponent = -6;

char* put_text(std::string_view text, char* out) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* put_zeros(int count, char* out) noexcept {
  if (count <= 0) return out;
  std::memset(out, '0', static_cast<size_t>(count));
  return out + count;
}

// A decimal of few digits, such as 21.57: 2157000 / 10^5. If dividing gives the number back, these are its
// digits, since no two decimals of up to 15 digits share a double. nullptr if the number is not so simple.
// `magnitude` is no integer.
char* put_short_decimal(double magnitude, char* out) noexcept {
  constexpr uint64_t kPower = 100'000;
  constexpr int kPlaces = 5;
  if (magnitude < 1e-3 || magnitude >= 1e9) return nullptr;
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): a wrong one fails the test below; lround is a call
  const auto digits = static_cast<uint64_t>(magnitude * kPower + 0.5);
  if (static_cast<double>(digits) / kPower != magnitude) return nullptr;
  out = std::to_chars(out, out + kLongestNumber, digits / kPower).ptr;
  *out = '.';
  uint64_t fraction = digits % kPower;
  for (int i = kPlaces; i > 0; --i, fraction /= 10) out[i] = static_cast<char>('0' + fraction % 10);
  int places = kPlaces;
  while (out[places] == '0') --places;
  return out + 1 + places;
}

// `digits` d1 d2 ... dn stand for d1.d2...dn times ten to the `exponent`.
char* put_decimal(std::string_view digits, int exponent, char* out) noexcept {
  const int count = static_cast<int>(digits.size());
  if (exponent >= kLeastLargeExponent || exponent < kLeastPlainExponent) {
    *out++ = digits[0];
    if (count > 1) {
      *out++ = '.';
      out = put_text(digits.substr(1), out);
    }
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    return std::to_chars(out, out + 4, std::abs(exponent)).ptr;
  }
  if (exponent < 0) {
    out = put_zeros(-exponent - 1, put_text("0.", out));
    return put_text(digits, out);
  }
  if (count <= exponent + 1) return put_zeros(exponent + 1 - count, put_text(digits, out));
  out = put_text(digits.substr(0, static_cast<size_t>(exponent) + 1), out);
  *out++ = '.';
  return put_text(digits.substr(static_cast<size_t>(exponent) + 1), out);
}

char* put_real(double number, char* out) noexcept {
  if (std::isnan(number)) return put_text("NaN", out);
  if (number >= -kInt64Bound && number < kInt64Bound && number == std::trunc(number))
    return std::to_chars(out, out + kLongestNumber, static_cast<int64_t>(number)).ptr;
  if (number < 0) *out++ = '-';
  const double magnitude = std::fabs(number);
  if (std::isinf(magnitude)) return put_text("Infinity", out);
  if (char* end = put_short_decimal(magnitude, out)) return end;

  char scientific[kLongestNumber];  // d.ddde+xx
  const char* end =
      std::to_chars(scientific, scientific + kLongestNumber, magnitude, std::chars_format::scientific).ptr;
  char digits[kLongestNumber];
  size_t count = 0;
  const char* at = scientific;
  for (; *at != 'e'; ++at)
    if (*at != '.') digits[count++] = *at;
  const bool is_negative = at[1] == '-';
  int exponent = 0;
  std::from_chars(at + 2, end, exponent);
  return put_decimal({digits, count}, is_negative ? -exponent : exponent, out);
}

}  // namespace

char* put_number(const Value& number, char* out) noexcept {
  if (number.kind() == Kind::integer)
    return std::to_chars(out, out + kLongestNumber, number.as_integer()).ptr;
  return put_real(number.as_real(), out);
}

}  // namespace quire::sql
