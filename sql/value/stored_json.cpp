#include "sql/value/stored_json.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "sql/value/document_layout.h"
#include "sql/value/number_text.h"

namespace quire::sql {
namespace {

using namespace layout;

constexpr size_t kNameStep = KeyDictionary::kJsonNameStep;
// Any scalar but a long string: the longest short one with its quotes, written by whole steps, and a comma.
constexpr size_t kRoomOfValue = 1 + (kMostShortString / kPlainStep + 1) * kPlainStep + 1 + 1;
static_assert(kRoomOfValue > kLongestNumber + 2 && Pen::kEnough >= kNameStep + kRoomOfValue);

// The key of an array's element.
struct NoKey {};
template <typename Key>
constexpr size_t kKeyBytes = sizeof(Key);
template <>
constexpr size_t kKeyBytes<NoKey> = 0;

// By a value's tag, how it is written. Most arrays and objects are of the forms that are told apart here.
enum class Writing : uint8_t {
  decimal,
  narrow_object,
  small_object,
  object,
  narrow_array,
  array,
  short_text,
  text,
  small_integer,
  integer,
  literal,
  scalar
};
constexpr uint8_t kSmallObject = kObject | kShortKeysBit, kNarrowObject = kSmallObject | kNarrowBit;
constexpr uint8_t kNarrowArray = kArray | kNarrowBit;
constexpr auto kWritings = [] {
  std::array<Writing, 256> writings;
  for (size_t i = 0; i < writings.size(); ++i) {
    const auto tag = static_cast<uint8_t>(i);
    const bool is_short_text = static_cast<uint8_t>(tag - kShortString) <= kMostShortString;
    const bool is_literal = tag == kNull || tag == kFalse || tag == kTrue;
    writings[i] = is_decimal_tag(tag)                    ? Writing::decimal
                  : tag == kNarrowObject                 ? Writing::narrow_object
                  : tag == kSmallObject                  ? Writing::small_object
                  : is_object_tag(tag)                   ? Writing::object
                  : tag == kNarrowArray                  ? Writing::narrow_array
                  : is_array_tag(tag)                    ? Writing::array
                  : is_short_text                        ? Writing::short_text
                  : tag == kString1                      ? Writing::text
                  : tag <= kMostTagInteger               ? Writing::small_integer
                  : tag >= kInteger1 && tag <= kInteger4 ? Writing::integer
                  : is_literal                           ? Writing::literal
                                                         : Writing::scalar;
  }
  return writings;
}();

// The digits of those that a tag holds.
constexpr auto kSmallIntegers = [] {
  std::array<std::array<char, 2>, kMostTagInteger + 1> digits;
  for (size_t i = 0; i < digits.size(); ++i) {
    const auto tens = static_cast<char>('0' + i / 10), ones = static_cast<char>('0' + i % 10);
    digits[i] = {i < 10 ? ones : tens, ones};
  }
  return digits;
}();

template <typename Number>
Number load_at(const char* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

}  // namespace

StoredJsonWriter::StoredJsonWriter(Pen& pen, const Value& value, const KeyDictionary& names) noexcept
    : pen_(pen), value_(value), names_(names) {
  const std::span<const std::byte> bytes = value.encoded_bytes();
  const size_t starts = bytes.size() >= kPlainStep ? bytes.size() - kPlainStep + 1 : 0;
  whole_steps_before_ = reinterpret_cast<const char*>(bytes.data() + starts);
}

char* StoredJsonWriter::write(char* at, size_t level) {
  level_ = level;
  const std::span<const std::byte> bytes = value_.encoded_bytes();
  return other_value(pen_.enough(at), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// ---- Arrays and objects: each value is followed by a comma, and the last one becomes the bracket.

// A value lies between two neighbouring offsets.
template <typename Offset, typename Key>
char* StoredJsonWriter::container(char* at, Bytes bytes) {
  constexpr bool is_array = std::is_same_v<Key, NoKey>;
  using Count = std::conditional_t<sizeof(Offset) == sizeof(uint32_t), uint32_t, uint8_t>;
  constexpr size_t kKeys = 1 + sizeof(Count);
  if (level_ == kMostWrittenNesting) [[unlikely]]
    return pen_.put(at, "null");
  ++level_;
  *at++ = is_array ? '[' : '{';
  size_t count = bytes.size < kKeys ? 0 : load_at<Count>(bytes.at + 1);
  const size_t offsets = kKeys + count * kKeyBytes<Key>, values = offsets + (count + 1) * sizeof(Offset);
  if (values > bytes.size) [[unlikely]]
    count = 0;
  const char* key = bytes.at + kKeys;
  const char* offset = bytes.at + offsets;
  size_t end = count == 0 ? 0 : load_at<Offset>(offset);
  // What points before the values is taken for the end, where none begins.
  if (end < values) [[unlikely]]
    end = bytes.size;
  for (; count > 0; --count, key += kKeyBytes<Key>) {
    const size_t begin = end;
    offset += sizeof(Offset);
    end = load_at<Offset>(offset);
    if (end <= begin || end > bytes.size) [[unlikely]] {
      if (end < values) end = bytes.size;
      continue;
    }
    const Bytes found{bytes.at + begin, end - begin};
    at = pen_.enough(at);
    char* to = at;
    if constexpr (!is_array) {
      const std::string_view* const name = names_.json_name(load_at<Key>(key));
      if (name == nullptr) [[unlikely]] {
        if (load_at<Key>(key) == kInlineKey) at = inline_member(at, found);
        continue;
      }
      std::memcpy(to, name->data(), kNameStep);
      to += name->size();
      if (name->size() > kNameStep) [[unlikely]] {
        at = pen_.room(at, name->size() + kNameStep + kRoomOfValue);
        to = put_long_name(at, *name);
      }
    }
    char* const behind = value(to, found);
    if (behind == to) [[unlikely]]
      continue;
    *behind = ',';
    at = behind + 1;
  }
  --level_;
  constexpr char kBracket = is_array ? ']' : '}';
  if (at[-1] != ',') [[unlikely]]
    ++at;
  at[-1] = kBracket;
  return pen_.enough(at);
}

// Of more than one step; there is room for whole ones.
[[gnu::noinline]] char* StoredJsonWriter::put_long_name(char* at, std::string_view name) {
  for (size_t done = 0; done < name.size(); done += kNameStep)
    std::memcpy(at + done, name.data() + done, kNameStep);
  return at + name.size();
}

// The name is a string in front of the value.
[[gnu::noinline]] char* StoredJsonWriter::inline_member(char* at, Bytes bytes) {
  const std::span<const std::byte> slice = bytes.span();
  const size_t extent = string_extent(slice);
  if (extent == 0 || decode_value(slice.subspan(extent), value_.dictionary()).is_undefined()) return at;
  at = pen_.quoted(at, decode_value(slice, 0).as_string(), 1 + kRoomOfValue);
  *at++ = ':';
  at = other_value(at, {bytes.at + extent, bytes.size - extent});
  *at = ',';
  return at + 1;
}

char* StoredJsonWriter::object(char* at, Bytes bytes) {
  switch (bytes.tag() & ~(kObject | kInlineBit)) {
    case kNarrowBit:
      return container<uint8_t, uint16_t>(at, bytes);
    case kLargeBit:
      return container<uint32_t, uint16_t>(at, bytes);
    default:
      return container<uint16_t, uint16_t>(at, bytes);
  }
}

char* StoredJsonWriter::array(char* at, Bytes bytes) {
  if ((bytes.tag() & kLargeBit) != 0) return container<uint32_t, NoKey>(at, bytes);
  return container<uint16_t, NoKey>(at, bytes);
}

// ---- Scalars: the most frequent go from their bytes to their text at once

[[gnu::always_inline]] inline char* StoredJsonWriter::value(char* at, Bytes bytes) {
  const size_t length = static_cast<uint8_t>(bytes.tag() - kShortString);
  const char* const text = bytes.at + 1;
  if (length <= kPlainStep && length < bytes.size && text < whole_steps_before_ &&
      copy_short_plain({text, length}, at + 1)) [[likely]] {
    at[0] = at[1 + length] = '"';
    return at + length + 2;
  }
  return other_value(at, bytes);
}

char* StoredJsonWriter::other_value(char* at, Bytes bytes) {
  const uint8_t tag = bytes.tag();
  switch (kWritings[tag]) {
    case Writing::decimal:
      return decimal(at, bytes);
    case Writing::narrow_object:
      return container<uint8_t, uint8_t>(at, bytes);
    case Writing::small_object:
      return container<uint16_t, uint8_t>(at, bytes);
    case Writing::object:
      return object(at, bytes);
    case Writing::narrow_array:
      return container<uint8_t, NoKey>(at, bytes);
    case Writing::array:
      return array(at, bytes);
    case Writing::short_text:
      return short_text(at, bytes);
    case Writing::text:
      return text(at, bytes);
    case Writing::small_integer:
      return small_integer(at, tag);
    case Writing::integer:
      return integer(at, bytes);
    case Writing::literal:
      return literal(at, tag);
    case Writing::scalar:
      return scalar(at, bytes);
  }
  std::unreachable();  // kWritings has no others
}

// A number of one to four bytes that ends there. Four are read: its tag and the header of what it stands in
// take more than three.
inline int32_t StoredJsonWriter::last_bytes(const char* end, size_t bytes) noexcept {
  return load_at<int32_t>(end - sizeof(int32_t)) >> (8 * (sizeof(int32_t) - bytes));
}

char* StoredJsonWriter::decimal(char* at, Bytes bytes) {
  const size_t size = decimal_bytes(bytes.tag());
  if (size >= bytes.size) [[unlikely]]
    return at;
  return put_decimal(last_bytes(bytes.at + 1 + size, size), decimal_places(bytes.tag()), at);
}

char* StoredJsonWriter::integer(char* at, Bytes bytes) {
  const size_t size = size_t{1} << (bytes.tag() - kInteger1);
  if (size >= bytes.size) [[unlikely]]
    return at;
  return put_integer(last_bytes(bytes.at + 1 + size, size), at);
}

// Both digits at once.
[[gnu::always_inline]] inline char* StoredJsonWriter::small_integer(char* at, uint8_t integer) {
  std::memcpy(at, kSmallIntegers[integer].data(), 2);
  return at + (integer < 10 ? 1 : 2);
}

// Eight bytes at once: there is room for more than the longest.
[[gnu::always_inline]] inline char* StoredJsonWriter::literal(char* at, uint8_t tag) {
  static constexpr char kLiterals[][sizeof(uint64_t)] = {"null", "false", "true"};
  static_assert(kFalse == kNull + 1 && kTrue == kNull + 2);
  std::memcpy(at, kLiterals[tag - kNull], sizeof kLiterals[0]);
  return at + (tag == kFalse ? 5 : 4);
}

// There is room for it as it stands.
char* StoredJsonWriter::short_text(char* at, Bytes bytes) const {
  const size_t length = static_cast<uint8_t>(bytes.tag() - kShortString);
  if (length >= bytes.size) return at;
  if (length < kPlainStep || !copy_long_plain(bytes.at + 1, length, at + 1)) [[unlikely]]
    return pen_.quoted(at, {bytes.at + 1, length}, 1);
  at[0] = at[1 + length] = '"';
  return at + length + 2;
}

char* StoredJsonWriter::text(char* at, Bytes bytes) const {
  constexpr size_t kHeader = 2;
  if (bytes.size < kHeader) return at;
  const size_t length = load_at<uint8_t>(bytes.at + 1);
  return length <= bytes.size - kHeader ? pen_.quoted(at, {bytes.at + kHeader, length}, 1) : at;
}

[[gnu::noinline]] char* StoredJsonWriter::scalar(char* at, Bytes bytes) {
  const Value value = decode_value(bytes.span(), value_.dictionary());
  switch (value.kind()) {
    case Kind::integer:
      return put_integer(value.as_integer(), at);
    case Kind::real:
      return put_json_real(value, at);
    case Kind::string:
      return pen_.quoted(at, value.as_string(), 1);
    default:
      return at;
  }
}

}  // namespace quire::sql
