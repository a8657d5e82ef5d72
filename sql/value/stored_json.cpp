#include "sql/value/stored_json.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "sql/value/document_layout.h"
#include "sql/value/number_text.h"

namespace quire::sql {
namespace {

using namespace layout;

// Any scalar but a long string: the longest short one with its quotes, written by whole steps, and a comma.
constexpr size_t kRoomOfValue = 1 + (kMostShortString / kPlainStep + 1) * kPlainStep + 1 + 1;
static_assert(kRoomOfValue > kLongestNumber + 2);

// The key of an array's element.
struct NoKey {};
template <typename Key>
constexpr size_t kKeyBytes = sizeof(Key);
template <>
constexpr size_t kKeyBytes<NoKey> = 0;

// By a value's tag, how it is written.
enum class Writing : uint8_t { decimal, object, array, text, small_integer, literal, scalar };
constexpr auto kWritings = [] {
  std::array<Writing, 256> writings;
  for (size_t i = 0; i < writings.size(); ++i) {
    const auto tag = static_cast<uint8_t>(i);
    const bool is_text = tag == kString1 || static_cast<uint8_t>(tag - kShortString) <= kMostShortString;
    const bool is_literal = tag == kNull || tag == kFalse || tag == kTrue;
    writings[i] = is_decimal_tag(tag)      ? Writing::decimal
                  : is_object_tag(tag)     ? Writing::object
                  : is_array_tag(tag)      ? Writing::array
                  : is_text                ? Writing::text
                  : tag <= kMostTagInteger ? Writing::small_integer
                  : is_literal             ? Writing::literal
                                           : Writing::scalar;
  }
  return writings;
}();

template <typename Number>
Number load_at(const char* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

}  // namespace

StoredJsonWriter::StoredJsonWriter(Pen& pen, const Value& value) noexcept
    : pen_(pen),
      value_(value),
      end_(reinterpret_cast<const char*>(value.encoded_bytes().data() + value.encoded_bytes().size())),
      names_(KeyDictionary::of(value.dictionary())) {}

char* StoredJsonWriter::write(char* at, size_t level) {
  level_ = level;
  const std::span<const std::byte> bytes = value_.encoded_bytes();
  const Bytes all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  at = pen_.room(at, kRoomOfValue);
  return value_.is_array() ? array(at, all) : object(at, all);
}

// ---- Arrays and objects: each value is followed by a comma, and the last one becomes the bracket.

// A value lies between two neighbouring offsets, which are counted here from where the values begin, so that
// what points before that is too large.
template <typename Offset, typename Key>
char* StoredJsonWriter::container(char* at, Bytes bytes) {
  constexpr bool is_array = std::is_same_v<Key, NoKey>;
  using Count = std::conditional_t<sizeof(Offset) == sizeof(uint32_t), uint32_t, uint8_t>;
  constexpr size_t kKeys = 1 + sizeof(Count);
  *at++ = is_array ? '[' : '{';
  size_t count = bytes.size < kKeys ? 0 : load_at<Count>(bytes.at + 1);
  const size_t offsets = kKeys + count * kKeyBytes<Key>, values = offsets + (count + 1) * sizeof(Offset);
  if (values > bytes.size) [[unlikely]]
    count = 0;
  const char* key = bytes.at + kKeys;
  const char* offset = bytes.at + offsets;
  const Bytes all{bytes.at + values, bytes.size - values};
  size_t end = count == 0 ? 0 : load_at<Offset>(offset) - values;
  for (; count > 0; --count, key += kKeyBytes<Key>) {
    const size_t begin = end;
    offset += sizeof(Offset);
    end = load_at<Offset>(offset) - values;
    if (end <= begin || end > all.size) [[unlikely]]
      continue;
    const Bytes found{all.at + begin, end - begin};
    if constexpr (is_array)
      at = element(at, found);
    else
      at = member(at, found, load_at<Key>(key));
  }
  constexpr char kBracket = is_array ? ']' : '}';
  if (at[-1] != ',') [[unlikely]]
    ++at;
  at[-1] = kBracket;
  return pen_.room(at, 1);
}

[[gnu::always_inline]] inline char* StoredJsonWriter::element(char* at, Bytes bytes) {
  char* const begin = pen_.room(at, kRoomOfValue);
  char* const end = value(begin, bytes);
  if (end == begin) [[unlikely]]
    return begin;
  *end = ',';
  return end + 1;
}

template <typename Key>
[[gnu::always_inline]] inline char* StoredJsonWriter::member(char* at, Bytes bytes, Key key) {
  constexpr size_t kStep = KeyDictionary::kJsonNameStep;
  const std::string_view* const name = names_ != nullptr ? names_->json_name(key) : nullptr;
  if (name == nullptr) [[unlikely]]
    return key == kInlineKey ? inline_member(at, bytes) : at;
  at = pen_.room(at, name->size() + kStep + kRoomOfValue);
  size_t done = 0;
  do {
    std::memcpy(at + done, name->data() + done, kStep);
    done += kStep;
  } while (done < name->size());
  char* const begin = at + name->size();
  char* const end = value(begin, bytes);
  if (end == begin) [[unlikely]]
    return at;
  *end = ',';
  return end + 1;
}

// The name is a string in front of the value.
char* StoredJsonWriter::inline_member(char* at, Bytes bytes) {
  const std::span<const std::byte> slice = bytes.span();
  const size_t extent = string_extent(slice);
  if (extent == 0 || decode_value(slice.subspan(extent), value_.dictionary()).is_undefined()) return at;
  at = pen_.quoted(at, decode_value(slice, 0).as_string(), 1 + kRoomOfValue);
  *at++ = ':';
  at = value(at, {bytes.at + extent, bytes.size - extent});
  *at = ',';
  return at + 1;
}

char* StoredJsonWriter::object(char* at, Bytes bytes) {
  if (level_ == kMostWrittenNesting) return pen_.put(at, "null");
  ++level_;
  switch (bytes.tag() & ~(kObject | kInlineBit)) {
    case kShortKeysBit | kNarrowBit:
      at = container<uint8_t, uint8_t>(at, bytes);
      break;
    case kShortKeysBit:
      at = container<uint16_t, uint8_t>(at, bytes);
      break;
    case kNarrowBit:
      at = container<uint8_t, uint16_t>(at, bytes);
      break;
    case kLargeBit:
      at = container<uint32_t, uint16_t>(at, bytes);
      break;
    default:
      at = container<uint16_t, uint16_t>(at, bytes);
  }
  --level_;
  return at;
}

char* StoredJsonWriter::array(char* at, Bytes bytes) {
  if (level_ == kMostWrittenNesting) return pen_.put(at, "null");
  ++level_;
  switch (bytes.tag() & ~kArray) {
    case kNarrowBit:
      at = container<uint8_t, NoKey>(at, bytes);
      break;
    case kLargeBit:
      at = container<uint32_t, NoKey>(at, bytes);
      break;
    default:
      at = container<uint16_t, NoKey>(at, bytes);
  }
  --level_;
  return at;
}

// ---- Scalars: the most frequent go from their bytes to their text at once

[[gnu::always_inline]] inline char* StoredJsonWriter::value(char* at, Bytes bytes) {
  const size_t length = static_cast<uint8_t>(bytes.tag() - kShortString);
  const char* const text = bytes.at + 1;
  if (length <= kPlainStep && length < bytes.size && end_ - text >= ptrdiff_t{kPlainStep} &&
      copy_short_plain({text, length}, at + 1)) [[likely]] {
    at[0] = at[1 + length] = '"';
    return at + length + 2;
  }
  return other_value(at, bytes);
}

// Calls that end it keep its frame empty.
char* StoredJsonWriter::other_value(char* at, Bytes bytes) {
  const uint8_t tag = bytes.tag();
  switch (kWritings[tag]) {
    case Writing::decimal:
      if (decimal_bytes(tag) >= bytes.size) return at;
      return put_decimal(load_decimal_integer(bytes.span().data()), decimal_places(tag), at);
    case Writing::object:
      return object(at, bytes);
    case Writing::array:
      return array(at, bytes);
    case Writing::text:
      return text(at, bytes);
    case Writing::small_integer:
      return put_integer(tag, at);
    case Writing::literal:
      return literal(at, tag);
    default:
      return scalar(at, bytes);
  }
}

// Eight bytes at once: there is room for more than the longest.
[[gnu::always_inline]] inline char* StoredJsonWriter::literal(char* at, uint8_t tag) {
  static constexpr char kLiterals[][sizeof(uint64_t)] = {"null", "false", "true"};
  static_assert(kFalse == kNull + 1 && kTrue == kNull + 2);
  std::memcpy(at, kLiterals[tag - kNull], sizeof kLiterals[0]);
  return at + (tag == kFalse ? 5 : 4);
}

char* StoredJsonWriter::text(char* at, Bytes bytes) {
  const size_t header = bytes.tag() == kString1 ? 2 : 1;
  if (bytes.size < header) return at;
  const size_t length =
      header == 2 ? load_at<uint8_t>(bytes.at + 1) : size_t{static_cast<uint8_t>(bytes.tag() - kShortString)};
  return length <= bytes.size - header ? pen_.quoted(at, {bytes.at + header, length}, 1) : at;
}

char* StoredJsonWriter::scalar(char* at, Bytes bytes) {
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
