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
  char bytes[sizeof value];
  for (size_t i = 0; i < sizeof value; ++i) bytes[i] = static_cast<char>(value >> 8 * (sizeof value - 1 - i));
  out.append(bytes, sizeof bytes);
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

// Reads an encoding as encode_key() wrote it, whichever way it lies.
class EncodedBytes {
 public:
  EncodedBytes(std::string_view bytes, bool is_descending) : bytes_(bytes), mask_(is_descending ? 0xFF : 0) {}

  size_t size() const noexcept { return bytes_.size(); }
  uint8_t operator[](size_t at) const noexcept { return static_cast<uint8_t>(bytes_[at]) ^ mask_; }

  uint64_t big_endian(size_t at, size_t count) const noexcept {
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i) value = value << 8 | (*this)[at + i];
    return value;
  }

 private:
  std::string_view bytes_;
  uint8_t mask_;
};

double floor_of(uint64_t sortable) noexcept {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return std::bit_cast<double>((sortable & kSign) != 0 ? sortable & ~kSign : ~sortable);
}

bool has_excess(double floor) noexcept {
  return std::fabs(floor) >= kExactBound && std::fabs(floor) <= kInt64Bound;
}

constexpr size_t kNumberBytes = 9;
constexpr size_t kHashBytes = 8;

// The end of a string whose text begins at `at`; 0 if it has none.
size_t end_of_string(const EncodedBytes& bytes, size_t at) noexcept {
  for (; at + 1 < bytes.size(); ++at) {
    if (bytes[at] != 0) continue;
    if (bytes[at + 1] == 0) return at + 2;
    ++at;
  }
  return 0;
}

// The end of the scalar that begins at `at`; 0 if there is none.
size_t end_of_scalar(const EncodedBytes& bytes, size_t at) noexcept {
  switch (bytes[at]) {
    case kUndefined:
    case kNull:
    case kFalse:
    case kTrue:
      return at + 1;
    case kNumber: {
      if (bytes.size() - at < kNumberBytes) return 0;
      const size_t end = at + kNumberBytes + (has_excess(floor_of(bytes.big_endian(at + 1, 8))) ? 2 : 0);
      return end <= bytes.size() ? end : 0;
    }
    case kString:
      return end_of_string(bytes, at + 1);
    default:
      return 0;
  }
}

}  // namespace

size_t encoded_key_size(std::string_view text, bool is_descending) noexcept {
  const EncodedBytes bytes(text, is_descending);
  size_t depth = 0;
  for (size_t at = 0; at < bytes.size();) {
    const uint8_t tag = bytes[at];
    if (tag == kArray || tag == kObject) {
      at += depth == 0 ? 1 + kHashBytes : 1;
      ++depth;
    } else if (tag == kEnd) {
      if (depth == 0) return 0;
      ++at;
      --depth;
    } else {
      at = end_of_scalar(bytes, at);
      if (at == 0) return 0;
    }
    if (depth == 0) return at <= bytes.size() ? at : 0;
  }
  return 0;
}

std::optional<Value> decode_key(std::string_view text, bool is_descending, Arena& arena) {
  const EncodedBytes bytes(text, is_descending);
  if (bytes.size() == 0) return std::nullopt;
  switch (bytes[0]) {
    case kUndefined:
      return Value();
    case kNull:
      return Value::null();
    case kFalse:
    case kTrue:
      return Value::boolean(bytes[0] == kTrue);
    case kNumber: {
      if (bytes.size() < kNumberBytes) return std::nullopt;
      const double number = floor_of(bytes.big_endian(1, 8));
      if (has_excess(number)) return std::nullopt;
      return Value::number(number);
    }
    case kString:
      break;
    default:
      return std::nullopt;
  }
  if (bytes.size() < 3) return std::nullopt;
  const std::string_view inside = text.substr(1, text.size() - 3);
  if (!is_descending && inside.find('\0') == std::string_view::npos) return Value::string(inside);
  std::string plain;
  for (size_t at = 1; at + 2 < bytes.size(); ++at) {
    plain.push_back(static_cast<char>(bytes[at]));
    if (bytes[at] == 0) ++at;
  }
  return Value::string(arena.copy_string(plain));
}

void encode_key(const Value& value, std::string& out) {
  put_value(value, 0, out);
}

void encode_key_descending(const Value& value, std::string& out) {
  const size_t begin = out.size();
  encode_key(value, out);
  for (size_t i = begin; i < out.size(); ++i) out[i] = static_cast<char>(~out[i]);
}

std::string key_behind(std::string prefix) {
  while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xFF) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
  return prefix;
}

}  // namespace quire::sql
