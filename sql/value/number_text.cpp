#include "sql/value/number_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "sql/value/document_layout.h"

namespace quire::sql {
namespace {

constexpr double kInt64Bound = 9223372036854775808.0;  // 2^63
// JavaScript writes an exponent from the one power of ten on, and below the other.
constexpr int kLeastLargeExponent = 21;
constexpr int kLeastPlainExponent = -6;

constexpr uint32_t kPowersOfTen[] = {1,       10,        100,        1'000,       10'000,
                                     100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
constexpr uint64_t kZeros = 0x3030303030303030;

// The digits of a number below 10^8, the first one in the lowest byte. It is taken apart in halves, quarters
// and digits, each time all parts at once; the multipliers divide by 100 and by 10, rounded up.
constexpr uint64_t eight_digits(uint32_t number) noexcept {
  const uint64_t halves = number / 10'000 | uint64_t{number % 10'000} << 32;
  const uint64_t hundreds = halves * 5243 >> 19 & 0x0000007F'0000007F;
  const uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
  const uint64_t tens = quarters * 103 >> 10 & 0x000F'000F'000F'000F;
  return tens | (quarters - tens * 10) << 8;
}
static_assert(eight_digits(12'345'678) == 0x08'07'06'05'04'03'02'01);
static_assert(eight_digits(99'999'999) == 0x09'09'09'09'09'09'09'09 && eight_digits(10'000) == 0x01'00'00'00);

size_t count_digits(uint32_t number) noexcept {
  // 1233 / 4096 is a little more than the logarithm of 2.
  const auto guess = static_cast<size_t>(std::bit_width(number | 1)) * 1233 >> 12;
  return guess + (number >= kPowersOfTen[guess] ? 1 : 0);
}

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
char* put_digits(std::string_view digits, int exponent, char* out) noexcept {
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
  return put_digits({digits, count}, is_negative ? -exponent : exponent, out);
}

}  // namespace

char* put_integer(int64_t integer, char* out) noexcept {
  constexpr auto kBound = int64_t{kPowersOfTen[sizeof(uint64_t)]};
  if (integer <= -kBound || integer >= kBound) [[unlikely]]
    return std::to_chars(out, out + kLongestNumber, integer).ptr;
  *out = '-';
  out += integer < 0 ? 1 : 0;
  const auto magnitude = static_cast<uint32_t>(std::abs(integer));
  const size_t digits = std::max(count_digits(magnitude), size_t{1});
  const uint64_t text = (kZeros | eight_digits(magnitude)) >> (8 * (sizeof text - digits));
  std::memcpy(out, &text, sizeof text);
  return out + digits;
}

// How long the text is follows from the number's magnitude alone, not from its digits, so that what is
// written behind it need not wait for them.
char* put_decimal(int32_t integer, int places, char* out) noexcept {
  constexpr size_t kWord = sizeof(uint64_t);
  const auto bits = static_cast<uint32_t>(integer);
  const uint32_t magnitude = integer < 0 ? 0 - bits : bits;
  const bool takes_exponent =
      places > -kLeastPlainExponent && magnitude < kPowersOfTen[places + kLeastPlainExponent];
  const auto fraction = static_cast<size_t>(places);
  const size_t digits = std::max(count_digits(magnitude), fraction + 1), whole = digits - fraction;
  if (magnitude % 10 == 0 || takes_exponent || whole > kWord) [[unlikely]]
    return put_real(integer / layout::kPowersOfTen[places], out);

  // Eight digits, with zeros in front. From the first one of the whole part on, and from the first behind the
  // point on.
  const size_t behind = 8 * (kWord - fraction);
  uint64_t first, last;
  if (digits <= kWord) [[likely]] {
    const uint64_t all = kZeros | eight_digits(magnitude);
    first = all >> (8 * (kWord - digits));
    last = all >> behind;
  } else {
    const uint64_t high = kZeros | eight_digits(magnitude / kPowersOfTen[kWord]);
    const uint64_t low = kZeros | eight_digits(magnitude % kPowersOfTen[kWord]);
    const size_t before = 8 * (2 * kWord - digits);
    first = before == 0 ? high : high >> before | low << (64 - before);
    last = low >> behind;
  }
  *out = '-';
  out += integer < 0 ? 1 : 0;
  std::memcpy(out, &first, sizeof first);
  out[whole] = '.';
  std::memcpy(out + whole + 1, &last, sizeof last);
  return out + whole + 1 + fraction;
}

char* put_number(const Value& number, char* out) noexcept {
  if (number.kind() == Kind::integer) return put_integer(number.as_integer(), out);
  return put_real(number.as_real(), out);
}

char* put_json_real(const Value& real, char* out) noexcept {
  if (std::isfinite(real.as_real())) [[likely]]
    return put_real(real.as_real(), out);
  *out = '"';
  out = put_real(real.as_real(), out + 1);
  *out = '"';
  return out + 1;
}

}  // namespace quire::sql
