// The number at the front of a text, by the grammar of JSON.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sql/value/value.h"

namespace quire::sql {

struct ParsedNumber {
  Value value;  // integer if the text is one and fits int64, else real; undefined if the text is no number
  const char* end;            // just past the number; where it went wrong, if it did
  bool is_too_large = false;  // a number, but past the range of a double
  // Of a real that stands there as up to 19 digits with a point: the digits, and how many of them follow it.
  uint64_t digits = 0;
  uint32_t places = 0;  // else 0
};

ParsedNumber parse_json_number(const char* begin, const char* end) noexcept;

// Powers of ten that a double holds exactly. A decimal of at most 2^53 times or by one of them rounds once,
// so one multiplication or division gives the nearest double.
inline constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Digits over ten to the power of `places`, at most 22 of them; the nearest double where the digits are at
// most 2^53.
inline double decimal_value(bool is_negative, uint64_t digits, uint32_t places) noexcept {
  const double magnitude = static_cast<double>(digits) / kExactPowers[places];
  return is_negative ? -magnitude : magnitude;
}

// The decimal digits at the front of eight bytes: how many a number has is no guess for a branch.
class EightDigits {
 public:
  explicit EightDigits(uint64_t bytes) noexcept : digits_(bytes ^ kEach * '0') {
    static_assert(std::endian::native == std::endian::little);
    // The first byte past 9 has its highest bit set; a carry only reaches those behind it.
    const uint64_t others = ((digits_ + kEach * (0x80 - 10)) | digits_) & kEach * 0x80;
    count_ = static_cast<uint32_t>(std::countr_zero(others)) / 8;
  }
  uint32_t count() const noexcept { return count_; }
  // What they say, behind those that `before` says. There is at least one.
  uint64_t added_to(uint64_t before) const noexcept {
    uint64_t digits = digits_ << 8 * (8 - count_);  // zeros before them
    digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FF;
    digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFF;
    digits = (digits * 10'000 + (digits >> 32)) & 0xFFFFFFFF;
    return before * kPowers[count_] + digits;
  }

 private:
  static constexpr uint64_t kEach = 0x0101010101010101;
  static constexpr uint64_t kPowers[] = {1,       10,        100,        1'000,      10'000,
                                         100'000, 1'000'000, 10'000'000, 100'000'000};
  uint64_t digits_;
  uint32_t count_;
};

// Without a branch: a column's signs are often no guess.
template <typename Integer>
constexpr Integer with_sign(Integer magnitude, bool is_negative) noexcept {
  const auto sign = static_cast<Integer>(-static_cast<Integer>(is_negative));
  return static_cast<Integer>((magnitude ^ sign) - sign);
}

inline uint64_t eight_bytes(const char* at) noexcept {
  uint64_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// What a number may be read from: where so much is readable that no look asks for the end, and where there
// are eight bytes or more, of which the number may be the last. What is behind the end reads as zero then.
struct LongText {
  static constexpr size_t kReadable = 17;
  static char byte(const char* at) noexcept { return *at; }
  static uint64_t eight(const char* at) noexcept { return eight_bytes(at); }
};
struct TextNearEnd {
  static constexpr size_t kBytes = 8;
  char byte(const char* at) const noexcept { return at != end ? *at : '\0'; }
  uint64_t eight(const char* at) const noexcept {
    const auto left = static_cast<size_t>(end - at);
    if (left >= kBytes) return eight_bytes(at);
    return left == 0 ? 0 : eight_bytes(end - kBytes) >> 8 * (kBytes - left);
  }
  const char* end;
};

// A number of up to seven digits, and as many behind a point: what most are, read without a loop.
struct ShortNumber {
  // At `begin`, a byte of the text. False where there is none, or where there may be more of it.
  template <typename Text>
  bool take(const char* begin, const Text& text) noexcept {
    is_negative = *begin == '-';
    const char* const first = begin + (is_negative ? 1 : 0);
    const EightDigits whole(text.eight(first));
    if (whole.count() == 0 || whole.count() == 8 || (*first == '0' && whole.count() > 1)) return false;
    digits = whole.added_to(0);
    const char* at = first + whole.count();
    places = 0;
    if (text.byte(at) == '.') {
      const EightDigits fraction(text.eight(++at));
      places = fraction.count();
      if (places == 0 || places == 8) return false;
      digits = fraction.added_to(digits);
      at += places;
    }
    length = static_cast<size_t>(at - begin);
    return true;
  }
  int64_t integer() const noexcept { return with_sign(static_cast<int64_t>(digits), is_negative); }

  uint64_t digits;
  uint32_t places;
  size_t length;  // whatever stands behind it
  bool is_negative;
};

}  // namespace quire::sql
