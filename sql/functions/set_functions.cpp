// Arrays as sets: an element counts once, equality is deep. Results keep the order of first arrival, and an
// intersection that of its second array, as the service's samples show.
#include "sql/functions/families.h"
#include "sql/functions/value_set.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

ValueSet make_set(const Value& array, size_t capacity, Arena& arena) {
  ValueSet set(arena, capacity);
  const uint32_t size = array.size();
  for (uint32_t i = 0; i < size; ++i)
    if (const Value element = array.element(i); element.is_defined()) set.add(element);
  return set;
}

ValueSet make_set(const Value& array, Arena& arena) {
  return make_set(array, array.size(), arena);
}

Value set_union(CallContext& context, Arguments arguments) {
  const Value& b = arguments[1];
  ValueSet set = make_set(arguments[0], size_t{arguments[0].size()} + b.size(), context.arena);
  for (uint32_t i = 0; i < b.size(); ++i)
    if (const Value element = b.element(i); element.is_defined()) set.add(element);
  return Value::array(set.values());
}

// The distinct elements of `array` that are, or are not, in `other`.
Value keep(const Value& array, const Value& other, bool wanted, Arena& arena) {
  const ValueSet others = make_set(other, arena);
  ValueSet kept(arena, array.size());
  for (uint32_t i = 0; i < array.size(); ++i) {
    const Value element = array.element(i);
    if (element.is_defined() && others.contains(element) == wanted) kept.add(element);
  }
  return Value::array(kept.values());
}

Value set_intersect(CallContext& context, Arguments arguments) {
  return keep(arguments[1], arguments[0], true, context.arena);
}

Value set_difference(CallContext& context, Arguments arguments) {
  return keep(arguments[0], arguments[1], false, context.arena);
}

Value set_equal(CallContext& context, Arguments arguments) {
  const ValueSet a = make_set(arguments[0], context.arena);
  const ValueSet b = make_set(arguments[1], context.arena);
  if (a.size() != b.size()) return Value::boolean(false);
  for (const Value& element : a.values())
    if (!b.contains(element)) return Value::boolean(false);
  return Value::boolean(true);
}

constexpr Function kSetRows[] = {
    {"SETDIFFERENCE", "aa", set_difference, "SETDIFFERENCE(a, b)", "The distinct elements of a that b lacks"},
    {"SETEQUAL", "aa", set_equal, "SETEQUAL(a, b)",
     "Whether both arrays hold the same elements, in whatever order"},
    {"SETINTERSECT", "aa", set_intersect, "SETINTERSECT(a, b)",
     "The distinct elements that both arrays hold"},
    {"SETUNION", "aa", set_union, "SETUNION(a, b)", "The distinct elements of both arrays"},
};

}  // namespace

std::span<const Function> set_functions() noexcept {
  return kSetRows;
}

}  // namespace quire::sql
