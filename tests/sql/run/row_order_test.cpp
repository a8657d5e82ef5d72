// The sort by chunks of keys against a stable sort by comparison.
#include "sql/run/row_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>

namespace quire::sql {
namespace {

using Limits = std::numeric_limits<double>;

std::vector<Value> awkward_values() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> made = {"", std::string(1, '\0'), "a", std::string("a\0", 2),
                                     "\xF0\x9F\x98\x80"};
    for (const size_t length : {5u, 6u, 7u, 11u, 12u, 13u, 35u, 36u, 37u, 100u})
      for (const char* end : {"", "a", "b", "\x7F", "\xC3\xA9"})
        made.push_back(std::string(length, 'x') + end);
    return made;
  }();
  static const Value elements[] = {Value::integer(1), Value::string("a")};
  static const Member members[] = {{"a", Value::integer(1)}, {"b", Value::null()}};
  std::vector<Value> values = {Value::undefined(), Value::null(), Value::boolean(false),
                               Value::boolean(true)};
  for (const double real :
       {0.0, -0.0, 1.0, -1.0, 0.5, 1e300, -1e300, 5e-324, 9007199254740992.0, 9007199254740994.0,
        9223372036854775808.0, -9223372036854775808.0, Limits::infinity(), -Limits::infinity(),
        Limits::quiet_NaN(), std::nextafter(1.0, 2.0)})
    values.push_back(Value::real(real));
  for (const int64_t integer :
       {INT64_MIN, INT64_MIN + 1, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{9007199254740991},
        int64_t{9007199254740992}, int64_t{9007199254740993}, INT64_MAX - 1, INT64_MAX})
    values.push_back(Value::integer(integer));
  for (const std::string& text : texts) values.push_back(Value::string(text));
  for (size_t size = 0; size <= 2; ++size) {
    values.push_back(Value::array(std::span(elements).first(size)));
    values.push_back(Value::object(std::span(members).first(size)));
  }
  return values;
}

void expect_stable_order(size_t rows, const std::vector<bool>& descending, std::mt19937_64& random) {
  const std::vector<Value> values = awkward_values();
  const size_t width = descending.size() + 1;
  std::vector<Value> table(rows * width);
  for (Value& value : table) value = values[random() % values.size()];
  std::vector<uint32_t> expected(rows);
  std::iota(expected.begin(), expected.end(), 0u);
  std::vector<uint32_t> order = expected;
  std::stable_sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) {
    return compare_keys(&table[a * width], &table[b * width], descending) < 0;
  });
  MemoryBudget memory(SIZE_MAX);
  RowOrder(table, width, descending, memory).sort(order);
  EXPECT_EQ(order, expected);
}

TEST(RowOrderTest, SortsAsComparisonDoes) {
  std::mt19937_64 random(1);
  for (const size_t rows : {0u, 1u, 2u, 24u, 25u, 500u, 5000u})
    for (const std::vector<bool>& descending :
         {std::vector{false}, std::vector{true}, std::vector{false, true}, std::vector{true, true, false}})
      expect_stable_order(rows, descending, random);
}

}  // namespace
}  // namespace quire::sql
