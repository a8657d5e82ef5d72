#include <gtest/gtest.h>

#include <set>

#include "tests/sql/functions/call.h"

namespace quire::sql {
namespace {

TEST(FunctionTable, EveryRowIsDocumentedAndNamedOnce) {
  std::set<std::string_view> names;
  for (const std::span<const Function> family : all_functions()) {
    EXPECT_FALSE(family.empty());
    for (const Function& function : family) {
      EXPECT_TRUE(names.insert(function.name).second) << function.name;
      EXPECT_EQ(function.name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"),
                std::string_view::npos);
      EXPECT_TRUE(function.signature.starts_with(std::string(function.name) + "(")) << function.name;
      EXPECT_TRUE(function.signature.ends_with(")")) << function.name;
      EXPECT_GT(function.summary.size(), 5u) << function.name;
      EXPECT_NE(function.body, nullptr) << function.name;
      EXPECT_EQ(find_function(function.name), &function) << function.name;
      EXPECT_FALSE(is_internal_to_service(function.name)) << function.name;
      EXPECT_EQ(find_aggregate(function.name), nullptr) << function.name;
    }
  }
  EXPECT_GT(names.size(), 100u);
}

TEST(FunctionTable, ParametersAreLettersOneOptionalMarkAndARepetitionAtTheEnd) {
  for (const std::span<const Function> family : all_functions()) {
    for (const Function& function : family) {
      const std::string_view parameters = function.parameters;
      EXPECT_EQ(parameters.find_first_not_of("snicbaodx?*"), std::string_view::npos) << function.name;
      EXPECT_LE(std::count(parameters.begin(), parameters.end(), '?'), 1) << function.name;
      EXPECT_FALSE(parameters.ends_with('?') || parameters.starts_with('*')) << function.name;
      const size_t repetition = parameters.find('*');
      EXPECT_TRUE(repetition == std::string_view::npos || repetition + 1 == parameters.size())
          << function.name;
    }
  }
}

TEST(FunctionTable, NamesAreFoundInAnyCase) {
  EXPECT_EQ(find_function("StringToArray"), find_function("STRINGTOARRAY"));
  EXPECT_EQ(find_function("array_Contains"), find_function("ARRAY_CONTAINS"));
  for (const std::string_view name :
       {"GetCurrentDateTime", "ObjectToArray", "SetUnion", "IntAdd", "NumberBin", "RegexMatch",
        "Contains_All_CI", "ToString", "DateTimeAdd", "LastIndexOf"})
    EXPECT_NE(find_function(name), nullptr) << name;
  EXPECT_EQ(find_function(""), nullptr);
  EXPECT_EQ(find_function("ABSOLUTE"), nullptr);
  EXPECT_EQ(find_function("AB"), nullptr);
}

TEST(FunctionTable, ArityFollowsFromTheParameters) {
  const auto arity = [](std::string_view name) {
    const Arity found = arity_of(*find_function(name));
    return std::pair(found.least, found.most);
  };
  EXPECT_EQ(arity("PI"), std::pair(0u, 0u));
  EXPECT_EQ(arity("CONTAINS"), std::pair(2u, 3u));
  EXPECT_EQ(arity("CONCAT"), std::pair(2u, UINT32_MAX));
  EXPECT_EQ(arity("DATETIMEFROMPARTS"), std::pair(3u, 7u));
  EXPECT_EQ(arity("NOW"), std::pair(0u, 2u));
}

TEST(FunctionTable, AnArgumentOfAnotherTypeMakesTheCallUndefined) {
  expect_all({
      {"ABS", {R"("1")"}, "undefined"},
      {"ABS", {"undefined"}, "undefined"},
      {"CONCAT", {R"("a")", R"("b")", "1"}, "undefined"},
      {"CONTAINS", {R"("a")", R"("a")", "undefined"}, "undefined"},
      {"CONTAINS", {R"("a")", R"("a")", "1"}, "undefined"},
      {"INTADD", {"1", "0.5"}, "undefined"},
      {"INTADD", {"1", "1e300"}, "undefined"},
      {"INTADD", {"1", "NaN"}, "undefined"},
      {"INTADD", {"1", "2.0"}, "3"},
      {"ARRAY_LENGTH", {"{}"}, "undefined"},
      {"OBJECTTOARRAY", {"[]"}, "undefined"},
  });
}

TEST(FunctionTable, AggregatesAreFoundInAnyCaseAndAreNoFunctions) {
  ASSERT_NE(find_aggregate("count"), nullptr);
  EXPECT_EQ(find_aggregate("count")->aggregate, Aggregate::count);
  EXPECT_EQ(find_aggregate("MakeSet")->aggregate, Aggregate::make_set);
  EXPECT_EQ(find_aggregate("ABS"), nullptr);
  EXPECT_EQ(all_aggregates().size(), 8u);
}

TEST(FunctionTable, KnowsWhatIsInternalToTheService) {
  EXPECT_TRUE(is_internal_to_service("_FullTextScore"));
  EXPECT_FALSE(is_internal_to_service("ABS"));
}

}  // namespace
}  // namespace quire::sql
