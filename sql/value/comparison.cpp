#include "sql/value/comparison.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "sql/value/key_encoding.h"
#include "sql/value/member_reader.h"

namespace quire::sql {
namespace {

constexpr double kInt64Bound = 9223372036854775808.0;  // 2^63
// Values nest less deep than this; a value made wrongly stops being looked into here.
constexpr size_t kMostComparedNesting = 1024;
// Up to here finding each member by its name is quicker than sorting.
constexpr uint32_t kFewToLookUp = 32;

// An int64 against a double that is no NaN, without rounding either.
std::strong_ordering compare_exactly(int64_t integer, double real) noexcept {
  if (real >= kInt64Bound) return std::strong_ordering::less;
  if (real < -kInt64Bound) return std::strong_ordering::greater;
  const auto whole = static_cast<int64_t>(real);  // towards zero
  if (integer != whole) return integer <=> whole;
  const double fraction = real - static_cast<double>(whole);
  return fraction > 0   ? std::strong_ordering::less
         : fraction < 0 ? std::strong_ordering::greater
                        : std::strong_ordering::equal;
}

std::strong_ordering reversed(std::strong_ordering order) noexcept {
  return 0 <=> order;
}

bool is_nan(const Value& number) noexcept {
  return number.kind() == Kind::real && std::isnan(number.as_real());
}

// NaN before all others and equal to itself.
std::strong_ordering order_numbers(const Value& a, const Value& b) noexcept {
  if (is_nan(a) || is_nan(b)) return is_nan(b) <=> is_nan(a);
  if (a.kind() == Kind::integer)
    return b.kind() == Kind::integer ? a.as_integer() <=> b.as_integer()
                                     : compare_exactly(a.as_integer(), b.as_real());
  if (b.kind() == Kind::integer) return reversed(compare_exactly(b.as_integer(), a.as_real()));
  return a.as_real() < b.as_real()   ? std::strong_ordering::less
         : a.as_real() > b.as_real() ? std::strong_ordering::greater
                                     : std::strong_ordering::equal;
}

std::strong_ordering order_strings(std::string_view a, std::string_view b) noexcept {
  return a.compare(b) <=> 0;  // char_traits<char> compares bytes as unsigned
}

bool equal(const Value& a, const Value& b, size_t level) noexcept;

// Members in order of name, undefined ones left out: they count as absent.
std::vector<Member> sorted_members(const Value& object) {
  std::vector<Member> members;
  members.reserve(object.size());
  const MemberReader all(object);
  for (uint32_t i = 0; i < all.size(); ++i)
    if (const Member member = all[i]; member.value.is_defined()) members.push_back(member);
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  return members;
}

uint32_t count_defined(const Value& object) noexcept {
  uint32_t count = 0;
  const MemberReader members(object);
  for (uint32_t i = 0; i < members.size(); ++i) count += members[i].value.is_defined();
  return count;
}

bool equal_by_look_up(const Value& a, const Value& b, size_t level) noexcept {
  if (count_defined(a) != count_defined(b)) return false;
  const MemberReader members(a);
  for (uint32_t i = 0; i < members.size(); ++i) {
    const Member member = members[i];
    if (member.value.is_undefined()) continue;
    const Value other = b.member(member.name);
    if (other.is_undefined() || !equal(member.value, other, level)) return false;
  }
  return true;
}

bool equal_objects(const Value& a, const Value& b, size_t level) noexcept {
  // Mostly both list their members alike; then no name is looked up.
  const MemberReader left_members(a);
  const MemberReader right_members(b);
  const uint32_t count = left_members.size();
  uint32_t alike = 0;
  if (count == right_members.size()) {
    for (; alike < count; ++alike) {
      const Member left = left_members[alike];
      const Member right = right_members[alike];
      if (left.name != right.name) break;
      if (!equal(left.value, right.value, level)) return false;
    }
    if (alike == count) return true;
  }
  if (count <= kFewToLookUp && right_members.size() <= kFewToLookUp) return equal_by_look_up(a, b, level);
  try {
    const std::vector<Member> left = sorted_members(a);
    const std::vector<Member> right = sorted_members(b);
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [level](const Member& x, const Member& y) {
                        return x.name == y.name && equal(x.value, y.value, level);
                      });
  } catch (const std::bad_alloc&) {
    return equal_by_look_up(a, b, level);
  }
}

bool equal(const Value& a, const Value& b, size_t level) noexcept {
  if (a.is_number() && b.is_number()) return order_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::undefined:
    case Kind::null:
      return true;
    case Kind::boolean:
      return a.as_boolean() == b.as_boolean();
    case Kind::integer:
    case Kind::real:
      return order_numbers(a, b) == 0;
    case Kind::string:
      return a.as_string() == b.as_string();
    case Kind::array: {
      const uint32_t count = a.size();
      if (count != b.size() || level == kMostComparedNesting) return false;
      for (uint32_t i = 0; i < count; ++i)
        if (!equal(a.element(i), b.element(i), level + 1)) return false;
      return true;
    }
    case Kind::object:
      return level != kMostComparedNesting && equal_objects(a, b, level + 1);
  }
  return false;
}

// Spreads the bits of a 64-bit number, so that sums of hashes are worth something.
uint64_t mix(uint64_t bits) noexcept {
  bits ^= bits >> 32;
  bits *= 0xE9846AF9B1A615DULL;
  bits ^= bits >> 32;
  bits *= 0xE9846AF9B1A615DULL;
  bits ^= bits >> 28;
  return bits;
}

uint64_t seeded(Kind kind, uint64_t bits) noexcept {
  return mix(bits + (static_cast<uint64_t>(kind) + 1) * 0x9E3779B97F4A7C15ULL);
}

uint64_t hash_number(const Value& number) noexcept {
  if (number.kind() == Kind::integer)
    return seeded(Kind::integer, static_cast<uint64_t>(number.as_integer()));
  const double real = number.as_real();
  if (real >= -kInt64Bound && real < kInt64Bound) {
    const auto integer = static_cast<int64_t>(real);
    if (static_cast<double>(integer) == real) return seeded(Kind::integer, static_cast<uint64_t>(integer));
  }
  return seeded(Kind::real, std::isnan(real) ? 0 : std::bit_cast<uint64_t>(real));
}

uint64_t hash_string(std::string_view text) noexcept {
  return XXH3_64bits(text.data(), text.size());
}

uint64_t hash(const Value& value, size_t level) noexcept {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::null:
      return seeded(value.kind(), 0);
    case Kind::boolean:
      return seeded(Kind::boolean, value.as_boolean() ? 1 : 0);
    case Kind::integer:
    case Kind::real:
      return hash_number(value);
    case Kind::string:
      return hash_string(value.as_string());
    case Kind::array:
    case Kind::object:
      break;
  }
  uint64_t sum = seeded(value.kind(), 0);
  if (level == kMostComparedNesting) return sum;
  if (value.is_array()) {
    const uint32_t count = value.size();
    for (uint32_t i = 0; i < count; ++i) sum = mix(sum * 31 + hash(value.element(i), level + 1));
  } else {
    const MemberReader members(value);
    for (uint32_t i = 0; i < members.size(); ++i) {
      const Member member = members[i];
      // A sum, since the order of members does not count.
      if (member.value.is_defined())
        sum += mix(hash_string(member.name) * 31 + hash(member.value, level + 1));
    }
  }
  return mix(sum);
}

// The types in the order of ORDER BY.
int rank(Kind kind) noexcept {
  switch (kind) {
    case Kind::undefined:
      return 0;
    case Kind::null:
      return 1;
    case Kind::boolean:
      return 2;
    case Kind::integer:
    case Kind::real:
      return 3;
    case Kind::string:
      return 4;
    case Kind::array:
      return 5;
    case Kind::object:
      return 6;
  }
  return 7;
}

// The hash decides; a clash of hashes is settled by the bytes of the keys, as in an index.
std::strong_ordering order_containers(const Value& a, const Value& b) noexcept {
  const uint64_t left = deep_hash(a);
  const uint64_t right = deep_hash(b);
  if (left != right) return left <=> right;
  if (equal(a, b, 0)) return std::strong_ordering::equal;
  std::string left_key;
  std::string right_key;
  encode_key(a, left_key);
  encode_key(b, right_key);
  return order_strings(left_key, right_key);
}

}  // namespace

bool deep_equal(const Value& a, const Value& b) noexcept {
  return equal(a, b, 0);
}

uint64_t deep_hash(const Value& value) noexcept {
  return hash(value, 0);
}

std::strong_ordering total_order(const Value& a, const Value& b) noexcept {
  const int left = rank(a.kind());
  const int right = rank(b.kind());
  if (left != right) return left <=> right;
  switch (a.kind()) {
    case Kind::undefined:
    case Kind::null:
      return std::strong_ordering::equal;
    case Kind::boolean:
      return a.as_boolean() <=> b.as_boolean();
    case Kind::integer:
    case Kind::real:
      return order_numbers(a, b);
    case Kind::string:
      return order_strings(a.as_string(), b.as_string());
    case Kind::array:
    case Kind::object:
      return order_containers(a, b);
  }
  return std::strong_ordering::equal;
}

std::partial_ordering compare_numbers(const Value& a, const Value& b) noexcept {
  if (is_nan(a) || is_nan(b)) return std::partial_ordering::unordered;
  return order_numbers(a, b);
}

std::optional<std::partial_ordering> compare_values(const Value& a, const Value& b) noexcept {
  if (a.is_number() && b.is_number()) return compare_numbers(a, b);
  if (a.kind() != b.kind()) return std::nullopt;
  if (a.is_string()) return order_strings(a.as_string(), b.as_string());
  if (a.is_boolean()) return a.as_boolean() <=> b.as_boolean();
  if (a.is_null()) return std::partial_ordering::equivalent;
  return std::nullopt;
}

}  // namespace quire::sql
