// The parts of Value that need a key dictionary or compare names.
#include "sql/value/value.h"

#include <cmath>

#include "sql/value/key_dictionary.h"
#include "sql/value/member_reader.h"

namespace quire::sql {
namespace {

// Up to here every integral double is one integer and one only.
constexpr double kLargestExactInteger = 9007199254740992.0;  // 2^53

}  // namespace

Value Value::number(double d) noexcept {
  if (d >= -kLargestExactInteger && d <= kLargestExactInteger) {
    const auto integer = static_cast<int64_t>(d);
    if (static_cast<double>(integer) == d) return Value::integer(integer);
  }
  return Value::real(d);
}

Value Value::member_by_name(std::string_view name) const noexcept {
  if (form_ != kEncoded) {
    for (const Member& member : is_extended() ? extended_object().more : built_members())
      if (member.name == name) return member.value;
    return is_extended() ? extended_object().own.member(name) : Value();
  }
  const layout::Container object(encoded_bytes(), true);
  if (const KeyDictionary* dictionary = KeyDictionary::of(dictionary_)) {
    if (const auto number = dictionary->find(name)) {
      const uint32_t index = object.find(*number);
      if (index < object.count()) return decode_value(object.slice(index), dictionary_);
    }
  }
  if (!object.has_inline_names()) return {};
  for (uint32_t i = 0; i < object.count(); ++i) {
    if (object.key(i) != kInlineKey) continue;
    const Member member = member_at(i);
    if (member.name == name) return member.value;
  }
  return {};
}

Member Value::member_at(uint32_t index) const noexcept {
  if (kind_ != Kind::object) return {};
  const MemberReader members(*this);
  return index < members.size() ? members[index] : Member();
}

}  // namespace quire::sql
