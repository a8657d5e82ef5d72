// Equality, hash, order and order-preserving keys, each against the others over one list of awkward values.
#include "sql/value/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sql/value/key_encoding.h"
#include "tests/sql/value/sample_documents.h"

namespace quire::sql {
namespace {

constexpr int64_t kTwo53 = int64_t{1} << 53;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string key_of(const Value& value) {
  std::string key;
  encode_key(value, key);
  return key;
}
std::string descending_key_of(const Value& value) {
  std::string key;
  encode_key_descending(value, key);
  return key;
}

// Rising in total_order; equal neighbours are grouped. Arrays and objects stand apart: their order is by
// hash.
std::vector<std::vector<Value>> ascending() {
  using namespace std::string_view_literals;
  const auto i = [](int64_t n) { return Value::integer(n); };
  const auto r = [](double d) { return Value::real(d); };
  const auto s = [](std::string_view text) { return Value::string(text); };
  return {{Value::undefined()},
          {Value::null()},
          {Value::boolean(false)},
          {Value::boolean(true)},
          {r(std::nan("")), r(-std::nan("1"))},
          {r(-kInfinity)},
          {r(-1e300)},
          {r(-9223372036854777856.0)},
          {i(INT64_MIN), r(-9223372036854775808.0)},
          {i(INT64_MIN + 1)},
          {i(INT64_MIN + 1024), r(-9223372036854774784.0)},
          {i(-kTwo53 - 2), r(-9007199254740994.0)},
          {i(-kTwo53 - 1)},
          {i(-kTwo53), r(-9007199254740992.0)},
          {i(-kTwo53 + 1), r(-9007199254740991.0)},
          {r(-1.5)},
          {i(-1), r(-1)},
          {r(-5e-324)},
          {i(0), r(0.0), r(-0.0)},
          {r(5e-324)},
          {r(0.1)},
          {i(1), r(1.0)},
          {r(1.5)},
          {i(255)},
          {i(256)},
          {i(kTwo53), r(9007199254740992.0)},
          {i(kTwo53 + 1)},
          {i(kTwo53 + 2), r(9007199254740994.0)},
          {i(kTwo53 + 3)},
          {i((int64_t{1} << 62) - 1)},
          {i(int64_t{1} << 62), r(4611686018427387904.0)},
          {i(INT64_MAX - 1024)},
          {i(INT64_MAX - 1023), r(9223372036854774784.0)},
          {i(INT64_MAX - 1022)},
          {i(INT64_MAX)},
          {r(9223372036854775808.0)},
          {r(9223372036854777856.0)},
          {r(1e300)},
          {r(kInfinity)},
          {s("")},
          {s("\0"sv)},
          {s("\0\0"sv)},
          {s("\0\x01"sv)},
          {s("\0a"sv)},
          {s("\x01")},
          {s("A")},
          {s("a")},
          {s("a\0"sv)},
          {s("a\0b"sv)},
          {s("a\x01")},
          {s("ab")},
          {s("b")},
          {s("é")},
          {s("\U0001F600")}};
}

void expect_order(const Value& a, const Value& b, std::strong_ordering expected) {
  const std::string what = json_of(a) + " against " + json_of(b);
  EXPECT_TRUE(total_order(a, b) == expected) << what;
  EXPECT_EQ(deep_equal(a, b), expected == 0) << what;
  EXPECT_TRUE(expected != 0 || deep_hash(a) == deep_hash(b)) << what;
  const std::string left = key_of(a), right = key_of(b);
  EXPECT_TRUE((left.compare(right) <=> 0) == expected) << what;
  const std::string left_down = descending_key_of(a), right_down = descending_key_of(b);
  EXPECT_TRUE((right_down.compare(left_down) <=> 0) == expected) << what;
  if (expected != 0) {
    EXPECT_FALSE(left.starts_with(right) || right.starts_with(left)) << what;
    EXPECT_FALSE(left_down.starts_with(right_down) || right_down.starts_with(left_down)) << what;
  }
}

TEST(Order, AllPairsOfAwkwardScalarsAgreeInEveryMeasure) {
  const auto groups = ascending();
  for (size_t i = 0; i < groups.size(); ++i)
    for (size_t j = 0; j < groups.size(); ++j)
      for (const Value& a : groups[i])
        for (const Value& b : groups[j]) expect_order(a, b, i <=> j);
}

TEST(Order, RandomIntegersAndDoublesShareOneLine) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20'000; ++i) {
    const auto integer = static_cast<int64_t>(random()) >> (random() % 64);
    const double near = static_cast<double>(integer);
    for (const double real :
         {near, std::nextafter(near, kInfinity), std::nextafter(near, -kInfinity), near + 0.5}) {
      const auto exact = static_cast<long double>(integer) <=> static_cast<long double>(real);
      const auto expected = exact < 0   ? std::strong_ordering::less
                            : exact > 0 ? std::strong_ordering::greater
                                        : std::strong_ordering::equal;
      expect_order(Value::integer(integer), Value::real(real), expected);
    }
  }
}

TEST(Order, ContainersAgreeInEveryMeasureWhateverTheirForm) {
  SampleDocuments documents;
  SampleDocuments others;
  others.read(R"({"b":0,"c":0})");
  std::vector<Value> values;
  for (const std::string_view json : {"[]", "[1]", "[1,2]", "[2,1]", "[[1],2]", "[null]", "{}", R"({"a":1})",
                                      R"({"a":1,"b":[1,{"c":"x"}]})", R"({"b":[1,{"c":"x"}],"a":1.0})",
                                      R"({"a":{"b":1}})", R"({"b":{"a":1}})", R"([{}])", R"([""])"}) {
    values.push_back(documents.read(json));
    values.push_back(others.read(json));
    values.push_back(documents.build(json));
  }
  for (const Value& a : values)
    for (const Value& b : values) {
      expect_order(a, b, total_order(a, b));
      EXPECT_TRUE(total_order(a, b) == (0 <=> total_order(b, a)));
      EXPECT_TRUE(a.kind() == b.kind() || (total_order(a, b) < 0) == a.is_array());
    }
  EXPECT_TRUE(deep_equal(documents.read(R"({"a":1,"b":2})"), others.build(R"({"b":2.0,"a":1})")));
  EXPECT_FALSE(deep_equal(documents.read("[1,2]"), documents.read("[2,1]")));
}

TEST(Order, AMemberThatIsUndefinedCountsAsAbsent) {
  const Member with[] = {{"a", Value::integer(1)}, {"u", Value::undefined()}};
  const Member without[] = {{"a", Value::integer(1)}};
  expect_order(Value::object(with), Value::object(without), std::strong_ordering::equal);
  expect_order(Value::object(without), Value::object(with), std::strong_ordering::equal);
}

TEST(Order, EqualObjectsOfManyMembersInOtherOrderCompareQuickly) {
  SampleDocuments documents;
  std::string forward = "{", backward = "{";
  for (int i = 0; i < 50'000; ++i) {
    forward += "\"m" + std::to_string(i) + "\":" + std::to_string(i) + ",";
    backward += "\"m" + std::to_string(49'999 - i) + "\":" + std::to_string(49'999 - i) + ",";
  }
  forward.back() = backward.back() = '}';
  EXPECT_TRUE(deep_equal(documents.read(forward), documents.read(backward)));
  EXPECT_EQ(deep_hash(documents.read(forward)), deep_hash(documents.read(backward)));
}

TEST(Order, OperatorsCompareOnlyWithinOneType) {
  const auto order = [](const Value& a, const Value& b) { return compare_values(a, b); };
  const Value one = Value::integer(1), text = Value::string("a"), nan = Value::real(std::nan(""));
  EXPECT_EQ(order(one, Value::real(1.5)), std::partial_ordering::less);
  EXPECT_EQ(order(one, Value::real(1.0)), std::partial_ordering::equivalent);
  EXPECT_EQ(order(text, Value::string("b")), std::partial_ordering::less);
  EXPECT_EQ(order(Value::boolean(true), Value::boolean(false)), std::partial_ordering::greater);
  EXPECT_EQ(order(Value::null(), Value::null()), std::partial_ordering::equivalent);
  EXPECT_EQ(order(one, nan), std::partial_ordering::unordered);
  EXPECT_EQ(order(nan, nan), std::partial_ordering::unordered);
  EXPECT_EQ(order(one, text), std::nullopt);
  EXPECT_EQ(order(Value::undefined(), Value::undefined()), std::nullopt);
  EXPECT_EQ(order(Value::array({}), Value::array({})), std::nullopt);
  EXPECT_EQ(order(Value::object({}), Value::object({})), std::nullopt);
}

TEST(KeyEncoding, ConcatenatedKeysSortComponentByComponent) {
  const auto pair = [](const Value& a, const Value& b) { return key_of(a) + key_of(b); };
  EXPECT_LT(pair(Value::string("a"), Value::string("z")), pair(Value::string("ab"), Value::string("a")));
  EXPECT_LT(pair(Value::integer(1), Value::integer(9)), pair(Value::real(1.5), Value::integer(0)));
}

TEST(Numbers, IntegralDoublesWithin53BitsBecomeIntegers) {
  EXPECT_EQ(Value::number(2.0).kind(), Kind::integer);
  EXPECT_EQ(Value::number(-0.0).as_integer(), 0);
  EXPECT_EQ(Value::number(9007199254740992.0).kind(), Kind::integer);
  EXPECT_EQ(Value::number(9007199254740994.0).kind(), Kind::real);
  EXPECT_EQ(Value::number(0.5).kind(), Kind::real);
  EXPECT_EQ(Value::number(std::nan("")).kind(), Kind::real);
  EXPECT_EQ(Value::number(kInfinity).kind(), Kind::real);
}

}  // namespace
}  // namespace quire::sql
