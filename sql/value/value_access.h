// The reading of values in place, inlined into the loops of scans. Part of value.h, which includes it; do not
// include it by itself.
#pragma once

#include "sql/value/document_layout.h"
#include "sql/value/value.h"

namespace quire::sql {

// The value whose tag byte is bytes[0]; undefined where it does not fit.
inline Value decode_value(std::span<const std::byte> bytes, DictionaryNumber dictionary) noexcept {
  using namespace layout;
  if (bytes.empty()) [[unlikely]]
    return {};
  const std::byte* at = bytes.data();
  const size_t size = bytes.size();
  const auto text = [](const std::byte* first, size_t length) {
    return Value::string({reinterpret_cast<const char*>(first), length});
  };
  const auto tag = static_cast<uint8_t>(at[0]);
  if (tag <= kMostTagInteger) return Value::integer(tag);
  if (tag <= kShortString + kMostShortString) {
    const size_t length = tag - kShortString;
    return length < size ? text(at + 1, length) : Value();
  }
  if (is_object_tag(tag)) return Value::encoded(Kind::object, bytes, dictionary);
  if (is_array_tag(tag)) return Value::encoded(Kind::array, bytes, dictionary);
  switch (tag) {
    case kNull:
      return Value::null();
    case kFalse:
      return Value::boolean(false);
    case kTrue:
      return Value::boolean(true);
    case kInteger1:
      return size > 1 ? Value::integer(load<int8_t>(at + 1)) : Value();
    case kInteger2:
      return size > 2 ? Value::integer(load<int16_t>(at + 1)) : Value();
    case kInteger4:
      return size > 4 ? Value::integer(load<int32_t>(at + 1)) : Value();
    case kInteger8:
      return size > 8 ? Value::integer(load<int64_t>(at + 1)) : Value();
    case kReal:
      return size > 8 ? Value::real(load<double>(at + 1)) : Value();
    case kString1:
      return size >= 2 && size - 2 >= load<uint8_t>(at + 1) ? text(at + 2, load<uint8_t>(at + 1)) : Value();
    case kString2:
      return size >= 3 && size - 3 >= load<uint16_t>(at + 1) ? text(at + 3, load<uint16_t>(at + 1)) : Value();
    case kString4:
      return size >= 5 && size - 5 >= load<uint32_t>(at + 1) ? text(at + 5, load<uint32_t>(at + 1)) : Value();
    default:
      if (!is_decimal_tag(tag) || size <= decimal_bytes(tag)) return {};
      return Value::real(load_decimal(at));
  }
}

inline uint32_t Value::size() const noexcept {
  if (is_encoded()) return layout::Container(encoded_bytes(), is_object()).count();
  if (is_extended())
    return extended_object().own.size() + static_cast<uint32_t>(extended_object().more.size());
  return is_built() ? length_ : 0;
}

inline Value Value::element(uint64_t index) const noexcept {
  if (kind_ != Kind::array) return {};
  if (form_ == kBuilt) return index < length_ ? built_elements()[index] : Value();
  const layout::Container array(encoded_bytes(), false);
  return index < array.count() ? decode_value(array.slice(static_cast<uint32_t>(index)), dictionary_)
                               : Value();
}

inline Value Value::member(const ResolvedKey& key) const noexcept {
  if (kind_ != Kind::object) return {};
  if (form_ != kEncoded || dictionary_ != key.dictionary) [[unlikely]]
    return member_by_name(key.name);
  const layout::Container object(encoded_bytes(), true);
  if (key.is_known) [[likely]] {
    const uint32_t index = object.find(key.number);
    if (index < object.count()) return decode_value(object.slice(index), dictionary_);
  }
  return object.has_inline_names() ? member_by_name(key.name) : Value();
}

inline std::span<const std::byte> Value::member_bytes(const ResolvedKey& key) const noexcept {
  if (kind_ != Kind::object || form_ != kEncoded || dictionary_ != key.dictionary || !key.is_known) return {};
  const layout::Container object(encoded_bytes(), true);
  const uint32_t index = object.find(key.number);
  if (index == object.count()) return {};
  return object.slice(index);
}

inline bool Value::has_member_between(const ResolvedKey& first, const ResolvedKey& last) const noexcept {
  if (kind_ != Kind::object || form_ != kEncoded || dictionary_ != first.dictionary) return false;
  return layout::Container(encoded_bytes(), true).has_key_between(first.number, last.number);
}

inline Value Value::member(std::string_view name) const noexcept {
  return kind_ == Kind::object ? member_by_name(name) : Value();
}

}  // namespace quire::sql
