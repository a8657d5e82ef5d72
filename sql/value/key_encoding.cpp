#include "sql/value/key_encoding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "sql/value/comparison.h"
#include "sql/value/member_reader.h"

namespace quire::sql {
namespace {

constexpr uint8_t kUndefined = 0x05;
constexpr uint8_t kNull = 0x10;
constexpr uint8_t kFalse = 0x20;
constexpr uint8_t kTrue = 0x21;
constexpr uint8_t kNumber = 0x30;
constexpr uint8_t kString = 0x40;
constexpr uint8_t kArray = 0x50;
constexpr uint8_t kObject = 0x60;
constexpr uint8_t kEnd = 0x00;
constexpr char kEscapedZero[] = {0x00, static_cast<char>(0xFF)};
constexpr char kEndOfString[] = {0x00, 0x00};

constexpr double kExactBound = 9007199254740992.0;     // 2^53
constexpr double kInt64Bound = 9223372036854775808.0;  // 2^63
// As in comparison.cpp: a value made wrongly is not looked into past this depth.
constexpr size_t kMostNesting = 1024;

void put_byte(uint8_t byte, std::string& out) {
  out.push_back(static_cast<char>(byte));
}

template <typename T>
void put_big_endian(T value, std::string& out) {
  for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8)
    put_byte(static_cast<uint8_t>(value >> shift), out);
}

void put_number(double floor, uint16_t excess, std::string& out) {
  put_byte(kNumber, out);
  if (std::isnan(floor)) return put_big_endian(uint64_t{0}, out);
  if (floor == 0) floor = 0;  // -0 becomes 0
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(floor);
  put_big_endian((bits & kSign) != 0 ? ~bits : bits | kSign, out);
  const double magnitude = std::fabs(floor);
  if (magnitude >= kExactBound && magnitude <= kInt64Bound) put_big_endian(excess, out);
}

void put_integer(int64_t integer, std::string& out) {
  // Converting rounds to nearest; one step down if that went up. INT64_MAX rounds to 2^63, which is past
  // int64.
  auto floor = static_cast<double>(integer);
  if (floor >= kInt64Bound || static_cast<int64_t>(floor) > integer)
    floor = std::nextafter(floor, -kInt64Bound);
  put_number(floor, static_cast<uint16_t>(integer - static_cast<int64_t>(floor)), out);
}

void put_string(std::string_view text, std::string& out) {
  put_byte(kString, out);
  for (size_t at = 0;;) {
    const size_t zero = text.find('\0', at);
    out.append(text.substr(at, zero - at));
    if (zero == std::string_view::npos) break;
    out.append(kEscapedZero, sizeof kEscapedZero);
    at = zero + 1;
  }
  out.append(kEndOfString, sizeof kEndOfString);
}

void put_value(const Value& value, size_t level, std::string& out);

void put_array(const Value& array, size_t level, std::string& out) {
  for (uint32_t i = 0; i < array.size(); ++i) put_value(array.element(i), level, out);
}

void put_object(const Value& object, size_t level, std::string& out) {
  std::vector<Member> members;
  members.reserve(object.size());
  const MemberReader all(object);
  for (uint32_t i = 0; i < all.size(); ++i)
    if (const Member member = all[i]; member.value.is_defined()) members.push_back(member);
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  for (const Member& member : members) {
    put_string(member.name, out);
    put_value(member.value, level, out);
  }
}

void put_value(const Value& value, size_t level, std::string& out) {
  switch (value.kind()) {
    case Kind::undefined:
      return put_byte(kUndefined, out);
    case Kind::null:
      return put_byte(kNull, out);
    case Kind::boolean:
      return put_byte(value.as_boolean() ? kTrue : kFalse, out);
    case Kind::integer:
      return put_integer(value.as_integer(), out);
    case Kind::real:
      return put_number(value.as_real(), 0, out);
    case Kind::string:
      return put_string(value.as_string(), out);
    case Kind::array:
    case Kind::object:
      break;
  }
  put_byte(value.is_array() ? kArray : kObject, out);
  // Inner containers are told apart by content alone: hashing each again at every level would be quadratic.
  if (level == 0) put_big_endian(deep_hash(value), out);
  if (level < kMostNesting)
    value.is_array() ? put_array(value, level + 1, out) : put_object(value, level + 1, out);
  put_byte(kEnd, out);
}

}  // namespace

void encode_key(const Value& value, std::string& out) {
  put_value(value, 0, out);
}

void encode_key_descending(const Value& value, std::string& out) {
  const size_t begin = out.size();
  encode_key(value, out);
  for (size_t i = begin; i < out.size(); ++i) out[i] = static_cast<char>(~out[i]);
}

}  // namespace quire::sql
