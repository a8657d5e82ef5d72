// Arrays: what they hold, and arrays from arrays.
#include <algorithm>

#include "sql/functions/families.h"
#include "sql/functions/integers.h"
#include "sql/functions/operators.h"
#include "sql/value/comparison.h"
#include "sql/value/member_reader.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

// Values nest less deep than this; one that does not matches nothing.
constexpr size_t kMostMatchedNesting = 1024;

Value array_concat(CallContext& context, Arguments arguments) {
  uint64_t count = 0;
  for (const Value& array : arguments) count += array.size();
  if (count > UINT32_MAX) return Value::undefined();
  const std::span<Value> elements = context.arena.make_array<Value>(count);
  size_t next = 0;
  for (const Value& array : arguments)
    for (uint32_t i = 0; i < array.size(); ++i)
      if (const Value element = array.element(i); element.is_defined()) elements[next++] = element;
  return Value::array(elements.first(next));
}

bool contains_equal(const Value& array, const Value& wanted) noexcept {
  const uint32_t size = array.size();
  for (uint32_t i = 0; i < size; ++i) {
    const Value element = array.element(i);
    // The equality of the operator =, in which NaN equals nothing.
    if (equal_values(element, wanted).is_true()) return true;
  }
  return false;
}

// Objects match if every property that is wanted is there and matches, arrays if they match element by
// element, all else if it is equal.
bool matches_partially(const Value& value, const Value& wanted, size_t level) noexcept {
  if (value.kind() != wanted.kind() || level > kMostMatchedNesting)
    return equal_values(value, wanted).is_true();
  if (wanted.is_object()) {
    const MemberReader members(wanted);
    for (uint32_t i = 0; i < members.size(); ++i) {
      const Member member = members[i];
      if (member.value.is_undefined()) continue;
      if (!matches_partially(value.member(member.name), member.value, level + 1)) return false;
    }
    return true;
  }
  if (wanted.is_array()) {
    if (value.size() != wanted.size()) return false;
    for (uint32_t i = 0; i < wanted.size(); ++i)
      if (!matches_partially(value.element(i), wanted.element(i), level + 1)) return false;
    return true;
  }
  return equal_values(value, wanted).is_true();
}

Value array_contains(CallContext&, Arguments arguments) {
  const Value& array = arguments[0];
  const Value& wanted = arguments[1];
  if (arguments.size() > 2 && arguments[2].is_defined() && !arguments[2].is_boolean())
    return Value::undefined();
  const bool is_partial = arguments.size() > 2 && arguments[2].is_true();
  if (!is_partial || !(wanted.is_object() || wanted.is_array()))
    return Value::boolean(contains_equal(array, wanted));
  for (uint32_t i = 0; i < array.size(); ++i)
    if (matches_partially(array.element(i), wanted, 0)) return Value::boolean(true);
  return Value::boolean(false);
}

// ARRAY_CONTAINS of each value, joined by AND or OR with three values.
template <bool of_all>
Value array_contains_several(CallContext&, Arguments arguments) {
  Value answer = Value::boolean(of_all);
  for (const Value& wanted : arguments.subspan(1)) {
    const Value one =
        wanted.is_undefined() ? Value::undefined() : Value::boolean(contains_equal(arguments[0], wanted));
    if (one.is_boolean() && one.as_boolean() != of_all) return one;
    answer = of_all ? logical_and(answer, one) : logical_or(answer, one);
  }
  return answer;
}

Value array_length(CallContext&, Arguments arguments) {
  return Value::integer(arguments[0].size());
}

Value array_slice(CallContext& context, Arguments arguments) {
  const Value& array = arguments[0];
  const int64_t size = array.size();
  int64_t start = count_argument(arguments[1]);
  if (start < 0) start = start < -size ? 0 : start + size;
  start = std::min(start, size);
  int64_t length = size - start;
  if (arguments.size() > 2) length = std::clamp<int64_t>(count_argument(arguments[2]), 0, length);
  const std::span<Value> elements = context.arena.make_array<Value>(static_cast<size_t>(length));
  for (auto at = static_cast<uint64_t>(start); Value & element : elements) element = array.element(at++);
  return Value::array(elements);
}

Value object_to_array(CallContext& context, Arguments arguments) {
  const std::string_view key_name = arguments.size() > 1 ? arguments[1].as_string() : "k";
  const std::string_view value_name = arguments.size() > 2 ? arguments[2].as_string() : "v";
  const MemberReader members(arguments[0]);
  const std::span<Value> elements = context.arena.make_array<Value>(members.size());
  size_t next = 0;
  for (uint32_t i = 0; i < members.size(); ++i) {
    const Member member = members[i];
    if (member.value.is_undefined()) continue;
    const std::span<Member> pair = context.arena.make_array<Member>(2);
    pair[0] = {key_name, Value::string(member.name)};
    pair[1] = {value_name, member.value};
    // Of two properties of one name the last remains.
    elements[next++] = Value::object(key_name == value_name ? pair.last(1) : pair);
  }
  return Value::array(elements.first(next));
}

constexpr Function kArrayRows[] = {
    {"ARRAY_CONCAT", "aa*", array_concat, "ARRAY_CONCAT(array, array, ...)", "The arrays one after another"},
    {"ARRAY_CONTAINS", "ad?x", array_contains, "ARRAY_CONTAINS(array, value [, partial])",
     "Whether an element equals the value or, if partial, has all properties of it"},
    {"ARRAY_CONTAINS_ALL", "ax*", array_contains_several<true>, "ARRAY_CONTAINS_ALL(array, value, ...)",
     "Whether the array holds all values"},
    {"ARRAY_CONTAINS_ANY", "ax*", array_contains_several<false>, "ARRAY_CONTAINS_ANY(array, value, ...)",
     "Whether the array holds any of the values"},
    {"ARRAY_LENGTH", "a", array_length, "ARRAY_LENGTH(array)", "How many elements the array has"},
    {"ARRAY_SLICE", "ac?c", array_slice, "ARRAY_SLICE(array, start [, length])",
     "The elements from a start, which counts from 0, or if negative from the end"},
    {"OBJECTTOARRAY", "o?ss", object_to_array, "OBJECTTOARRAY(object [, key_name [, value_name]])",
     "An array of {k: name, v: value} for the properties of the object"},
};

}  // namespace

std::span<const Function> array_functions() noexcept {
  return kArrayRows;
}

}  // namespace quire::sql
