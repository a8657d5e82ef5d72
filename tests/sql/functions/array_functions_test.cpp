// Arrays, sets, choices and vectors.
#include "tests/sql/functions/call.h"

namespace quire::sql {
namespace {

TEST(ArrayFunctions, ContainByDeepEquality) {
  expect_all({
      {"ARRAY_CONTAINS", {"[1,2]", "2.0"}, "true"},
      {"ARRAY_CONTAINS", {"[1,2]", R"("2")"}, "false"},
      {"ARRAY_CONTAINS", {"[[1]]", "[1]"}, "true"},
      {"ARRAY_CONTAINS", {R"([{"a":1,"b":2}])", R"({"b":2,"a":1})"}, "true"},
      {"ARRAY_CONTAINS", {R"([{"a":1,"b":2}])", R"({"a":1})"}, "false"},
      {"ARRAY_CONTAINS", {R"([{"a":1,"b":2}])", R"({"a":1})", "undefined"}, "false"},
      {"ARRAY_CONTAINS", {"[1]", "undefined"}, "undefined"},
      {"ARRAY_CONTAINS", {"[1]", "1", "1"}, "undefined"},
      {"ARRAY_CONTAINS", {"{}", "1"}, "undefined"},
      {"ARRAY_CONTAINS", {"[null]", "null"}, "true"},
  });
}

TEST(ArrayFunctions, ContainPartially) {
  expect_all({
      {"ARRAY_CONTAINS", {R"([{"a":1,"b":2}])", R"({"a":1})", "true"}, "true"},
      {"ARRAY_CONTAINS", {R"([{"a":1},{"b":2}])", R"({"a":1,"b":2})", "true"}, "false"},
      {"ARRAY_CONTAINS", {R"([{"a":{"b":1,"c":2}}])", R"({"a":{"c":2}})", "true"}, "true"},
      {"ARRAY_CONTAINS", {R"([{"a":[{"b":1,"c":2}]}])", R"({"a":[{"b":1}]})", "true"}, "true"},
      {"ARRAY_CONTAINS", {R"([[{"b":1,"c":2}]])", R"([{"b":1}])", "true"}, "true"},
      {"ARRAY_CONTAINS", {R"([[{"b":1},2]])", R"([{"b":1}])", "true"}, "false"},
      {"ARRAY_CONTAINS", {R"([1,{"a":1}])", "1", "true"}, "true"},
      {"ARRAY_CONTAINS", {R"([1,{"a":1}])", "{}", "true"}, "true"},
      {"ARRAY_CONTAINS", {R"([1])", "{}", "true"}, "false"},
  });
}

TEST(ArrayFunctions, SeveralValuesJoinWithThreeValues) {
  expect_all({
      {"ARRAY_CONTAINS_ALL", {"[1,2,3]", "1", "3"}, "true"},
      {"ARRAY_CONTAINS_ALL", {"[1,2,3]", "1", "undefined"}, "undefined"},
      {"ARRAY_CONTAINS_ALL", {"[1,2,3]", "5", "undefined"}, "false"},
      {"ARRAY_CONTAINS_ALL", {"[]", "1"}, "false"},
      {"ARRAY_CONTAINS_ANY", {"[1,2,3]", "undefined", "3"}, "true"},
      {"ARRAY_CONTAINS_ANY", {"[1,2,3]", "undefined", "5"}, "undefined"},
      {"ARRAY_CONTAINS_ANY", {"[1,2,3]", "4", "5"}, "false"},
  });
}

TEST(ArrayFunctions, MakeArrays) {
  expect_all({
      {"ARRAY_CONCAT", {"[1]", "[]", "[[2]]"}, "[1,[2]]"},
      {"ARRAY_CONCAT", {"[1]", "2"}, "undefined"},
      {"ARRAY_LENGTH", {"[1,[2,3]]"}, "2"},
      {"ARRAY_SLICE", {"[1,2,3]", "1"}, "[2,3]"},
      {"ARRAY_SLICE", {"[1,2,3]", "-2", "1"}, "[2]"},
      {"ARRAY_SLICE", {"[1,2,3]", "-9"}, "[1,2,3]"},
      {"ARRAY_SLICE", {"[1,2,3]", "3"}, "[]"},
      {"ARRAY_SLICE", {"[1,2,3]", "0", "-1"}, "[]"},
      {"ARRAY_SLICE", {"[1,2,3]", "-9223372036854775808", "9223372036854775807"}, "[1,2,3]"},
      {"ARRAY_SLICE", {"[1,2,3]", "9223372036854775807", "9223372036854775807"}, "[]"},
      {"ARRAY_SLICE", {"[1,2,3]", "1", "1e19"}, "[2,3]"},
      {"ARRAY_SLICE", {"[1,2,3]", "1e19"}, "[]"},
      {"ARRAY_SLICE", {"[1,2,3]", "-1e19", "-1e19"}, "[]"},
      {"ARRAY_SLICE", {"[1,2,3]", "-1e19", "2"}, "[1,2]"},
      {"ARRAY_SLICE", {"[1,2,3]", "0.5"}, "undefined"},
      {"OBJECTTOARRAY", {R"({"a":1,"b":"x"})"}, R"([{"k":"a","v":1},{"k":"b","v":"x"}])"},
      {"OBJECTTOARRAY", {R"({"a":1})", R"("name")"}, R"([{"name":"a","v":1}])"},
      {"OBJECTTOARRAY", {R"({"a":1})", R"("name")", R"("value")"}, R"([{"name":"a","value":1}])"},
      {"OBJECTTOARRAY", {R"({"a":1})", R"("x")", R"("x")"}, R"([{"x":1}])"},
      {"OBJECTTOARRAY", {"{}"}, "[]"},
  });
}

TEST(ArrayFunctions, ReduceNumbers) {
  expect_all({
      {"ARRAY_SUM", {"[1,2,3.5]"}, "6.5"},
      {"ARRAY_SUM", {"[]"}, "0"},
      {"ARRAY_SUM", {R"([1,"2"])"}, "undefined"},
      {"ARRAY_AVG", {"[1,2]"}, "1.5"},
      {"ARRAY_AVG", {"[]"}, "undefined"},
      {"ARRAY_MEDIAN", {"[3,1,2]"}, "2"},
      {"ARRAY_MEDIAN", {"[4,1,3,2]"}, "2.5"},
      {"ARRAY_MEDIAN", {"[1e308,1.5e308]"}, "1.25e+308"},
      {"ARRAY_MEDIAN", {"[]"}, "undefined"},
      {"ARRAY_MEDIAN", {"[null]"}, "undefined"},
      {"ARRAY_MIN", {R"([1,"a",false,null])"}, "null"},
      {"ARRAY_MAX", {R"([1,"a",false,null])"}, R"("a")"},
      {"ARRAY_MAX", {"[1,2.5,true]"}, "2.5"},
      {"ARRAY_MAX", {"[1,[2]]"}, "undefined"},
      {"ARRAY_MIN", {"[]"}, "undefined"},
  });
}

TEST(ArrayFunctions, SkipUndefinedElements) {
  Arena arena;
  CallContext context{arena};
  const Value elements[] = {Value::integer(1), Value::undefined(), Value::integer(3)};
  const Value arguments[] = {Value::array(elements)};
  EXPECT_EQ(text_of(call_function(*find_function("ARRAY_SUM"), context, arguments)), "4");
  EXPECT_EQ(text_of(call_function(*find_function("ARRAY_AVG"), context, arguments)), "2");
  EXPECT_EQ(text_of(call_function(*find_function("ARRAY_MEDIAN"), context, arguments)), "2");
  EXPECT_EQ(text_of(call_function(*find_function("ARRAY_MIN"), context, arguments)), "1");
}

TEST(SetFunctions, RemoveDuplicates) {
  expect_all({
      {"SETUNION", {"[1,2,1.0]", "[2,3]"}, "[1,2,3]"},
      {"SETUNION", {R"([{"a":1,"b":2}])", R"([{"b":2,"a":1}])"}, R"([{"a":1,"b":2}])"},
      {"SETINTERSECT", {R"([1,2,"A","B"])", R"(["A",1,"A"])"}, R"(["A",1])"},
      {"SETINTERSECT", {"[1]", "[]"}, "[]"},
      {"SETDIFFERENCE", {"[3,1,2,3]", "[1]"}, "[3,2]"},
      {"SETEQUAL", {"[1,2,2]", "[2,1]"}, "true"},
      {"SETEQUAL", {"[1,2]", "[1]"}, "false"},
      {"SETEQUAL", {"[1,2]", "[1,3]"}, "false"},
      {"SETEQUAL", {"[]", "[]"}, "true"},
      {"SETUNION", {"[1]", "1"}, "undefined"},
  });
}

TEST(SetFunctions, TakeTimeThatGrowsWithTheElements) {
  std::string array = "[0";
  for (int i = 1; i < 50'000; ++i) array += "," + std::to_string(i);
  array += "]";
  EXPECT_EQ(call("SETEQUAL", {array, array}), "true");
  EXPECT_EQ(call("SETDIFFERENCE", {array, array}), "[]");
}

TEST(ConditionalFunctions, Choose) {
  expect_all({
      {"IIF", {"true", "1", "2"}, "1"},
      {"IIF", {"1", "1", "2"}, "2"},
      {"IIF", {"undefined", "1", "2"}, "2"},
      {"IIF", {"true", "undefined", "2"}, "undefined"},
      {"CHOOSE", {"1", R"("a")", "2"}, R"("a")"},
      {"CHOOSE", {"0", "1"}, "undefined"},
      {"CHOOSE", {"3", "1", "2"}, "undefined"},
      {"CHOOSE", {"1.5", "1", "2"}, "undefined"},
      {"CHOOSE", {"9223372036854775807", "1"}, "undefined"},
      {"CHOOSE", {"-9223372036854775808", "1"}, "undefined"},
  });
}

TEST(VectorFunctions, MeasureLikeness) {
  expect_all({
      {"VECTORDISTANCE", {"[1,0]", "[1,0]"}, "1"},
      {"VECTORDISTANCE", {"[1,0]", "[0,2]"}, "0"},
      {"VECTORDISTANCE", {"[1,2]", "[3,4]", "true", R"({"distanceFunction":"dotproduct"})"}, "11"},
      {"VECTORDISTANCE", {"[1,2]", "[4,6]", "true", R"({"distanceFunction":"euclidean"})"}, "5"},
      {"VECTORDISTANCE", {"[1,0]", "[-1,0]", "false", "{}"}, "-1"},
      {"VECTORDISTANCE", {"[1,2]", "[1]"}, "undefined"},
      {"VECTORDISTANCE", {"[]", "[]"}, "undefined"},
      {"VECTORDISTANCE", {"[0,0]", "[1,1]"}, "undefined"},
      {"VECTORDISTANCE", {"[[1]]", "[1]"}, "undefined"},
      {"VECTORDISTANCE", {"[1]", "[1]", "true", R"({"distanceFunction":"nearest"})"}, "undefined"},
  });
}

}  // namespace
}  // namespace quire::sql
