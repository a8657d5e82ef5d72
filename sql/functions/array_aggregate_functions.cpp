// One value out of an array's elements. Undefined elements are passed over; an element of another type than
// the function takes makes the result undefined.
#include <algorithm>
#include <numeric>

#include "sql/functions/families.h"
#include "sql/value/comparison.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

// The numbers of an array, in an arena.
struct Numbers {
  std::span<double> values;
  bool is_valid = true;  // false: an element is defined, but no number
};

Numbers numbers_of(const Value& array, Arena& arena) {
  Numbers numbers{arena.make_array<double>(array.size())};
  size_t count = 0;
  for (uint32_t i = 0; i < array.size(); ++i) {
    const Value element = array.element(i);
    if (element.is_undefined()) continue;
    if (!element.is_number()) return {{}, false};
    numbers.values[count++] = element.as_double();
  }
  numbers.values = numbers.values.first(count);
  return numbers;
}

// Calls `reduce` with the numbers, which are forgotten afterwards; undefined if the elements are not all
// numbers.
template <typename Reduce>
Value reduce_numbers(CallContext& context, const Value& array, Reduce reduce) {
  const ArenaScope scope(context.arena);
  const Numbers numbers = numbers_of(array, context.arena);
  return numbers.is_valid ? reduce(numbers.values) : Value::undefined();
}

double sum_of(std::span<const double> numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum;
}

Value array_sum(CallContext& context, Arguments arguments) {
  return reduce_numbers(context, arguments[0],
                        [](std::span<double> numbers) { return Value::number(sum_of(numbers)); });
}

Value array_avg(CallContext& context, Arguments arguments) {
  return reduce_numbers(context, arguments[0], [](std::span<double> numbers) {
    if (numbers.empty()) return Value::undefined();
    return Value::number(sum_of(numbers) / static_cast<double>(numbers.size()));
  });
}

Value median_of(std::span<double> numbers) {
  if (numbers.empty()) return Value::undefined();
  // nth_element needs an order, which NaN has none of; among NaN the median is NaN.
  for (const double number : numbers)
    if (number != number) return Value::real(number);
  const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return Value::number(*middle);
  const double below = *std::max_element(numbers.begin(), middle);
  return Value::number(std::midpoint(below, *middle));
}

Value array_median(CallContext& context, Arguments arguments) {
  return reduce_numbers(context, arguments[0], median_of);
}

// The first or last by ORDER BY's order of types, of primitives alone.
template <bool greatest>
Value extreme(CallContext&, Arguments arguments) {
  const Value& array = arguments[0];
  Value best;
  for (uint32_t i = 0; i < array.size(); ++i) {
    const Value element = array.element(i);
    if (element.is_undefined()) continue;
    if (element.is_array() || element.is_object()) return Value::undefined();
    const bool is_better =
        best.is_undefined() || (greatest ? total_order(element, best) > 0 : total_order(element, best) < 0);
    if (is_better) best = element;
  }
  return best;
}

constexpr Function kArrayAggregateRows[] = {
    {"ARRAY_AVG", "a", array_avg, "ARRAY_AVG(array)", "The mean of an array of numbers"},
    {"ARRAY_MAX", "a", extreme<true>, "ARRAY_MAX(array)",
     "The greatest element: null < booleans < numbers < strings"},
    {"ARRAY_MEDIAN", "a", array_median, "ARRAY_MEDIAN(array)",
     "The number in the middle of an array of numbers"},
    {"ARRAY_MIN", "a", extreme<false>, "ARRAY_MIN(array)",
     "The least element: null < booleans < numbers < strings"},
    {"ARRAY_SUM", "a", array_sum, "ARRAY_SUM(array)", "The sum of an array of numbers"},
};

}  // namespace

std::span<const Function> array_aggregate_functions() noexcept {
  return kArrayAggregateRows;
}

}  // namespace quire::sql
