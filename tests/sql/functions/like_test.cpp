#include "sql/functions/like.h"

#include <gtest/gtest.h>

#include <string>

namespace quire::sql {
namespace {

bool like(std::string_view text, std::string_view pattern, std::optional<std::string_view> escape = {}) {
  auto compiled = LikePattern::compile(pattern, escape);
  EXPECT_TRUE(compiled) << pattern;
  return compiled && (*compiled)->matches(text);
}

TEST(Like, WithoutWildcardsIsEquality) {
  EXPECT_TRUE(like("abc", "abc"));
  EXPECT_FALSE(like("abcd", "abc"));
  EXPECT_FALSE(like("ABC", "abc"));
  EXPECT_TRUE(like("", ""));
  EXPECT_FALSE(like("a", ""));
}

TEST(Like, PercentIsAnyRun) {
  EXPECT_TRUE(like("", "%"));
  EXPECT_TRUE(like("abc", "%%"));
  EXPECT_TRUE(like("abc", "ab%"));
  EXPECT_FALSE(like("xab", "ab%"));
  EXPECT_TRUE(like("xab", "%ab"));
  EXPECT_TRUE(like("xaby", "%ab%"));
  EXPECT_FALSE(like("xay", "%ab%"));
  EXPECT_TRUE(like("line\nbreak", "line%"));
}

TEST(Like, LiteralsBetweenRunsMayNotOverlap) {
  EXPECT_TRUE(like("abcabc", "ab%bc"));
  EXPECT_FALSE(like("abc", "ab%bc"));
  EXPECT_TRUE(like("a-b-c-d", "a%b%c%d"));
  EXPECT_FALSE(like("a-c-b-d", "a%b%c%d"));
  EXPECT_FALSE(like("aba", "%ab%ba%"));
  EXPECT_TRUE(like("abba", "%ab%ba%"));
}

TEST(Like, UnderscoreIsOneCharacter) {
  EXPECT_TRUE(like("cat", "c_t"));
  EXPECT_FALSE(like("ct", "c_t"));
  EXPECT_TRUE(like("c\nt", "c_t"));
  EXPECT_TRUE(like("c\u00FCt", "c_t"));
  EXPECT_TRUE(like("c\U0001F600t", "c_t"));
  EXPECT_TRUE(like("a.b", "a._"));
  EXPECT_FALSE(like("axb", "a._"));
}

TEST(Like, BracketsAreSets) {
  EXPECT_TRUE(like("bat", "[bc]at"));
  EXPECT_FALSE(like("rat", "[bc]at"));
  EXPECT_TRUE(like("d", "[a-f]"));
  EXPECT_FALSE(like("d", "[^a-f]"));
  EXPECT_TRUE(like("z", "[^a-f]"));
  EXPECT_TRUE(like("\u00E9", "[\u00E0-\u00EF]"));
  EXPECT_TRUE(like("-", "[a-]"));
  EXPECT_TRUE(like("]", "[]]"));
  EXPECT_TRUE(like("\\", "[\\x]"));
  EXPECT_FALSE(like("b", "[z-a]"));
  EXPECT_TRUE(like("b", "[^z-a]"));
}

TEST(Like, AWildcardInBracketsStandsForItself) {
  EXPECT_TRUE(like("50%", "50[%]"));
  EXPECT_FALSE(like("500", "50[%]"));
  EXPECT_TRUE(like("a_b", "a[_]b"));
}

TEST(Like, AnUnclosedBracketStandsForItself) {
  EXPECT_TRUE(like("a[b", "a[b"));
  EXPECT_TRUE(like("a[bcd", "a[b%"));
  EXPECT_TRUE(like("[]", "[]"));
}

TEST(Like, EscapeTakesTheMeaningFromTheNextCharacter) {
  EXPECT_TRUE(like("50%", "50!%", "!"));
  EXPECT_FALSE(like("500", "50!%", "!"));
  EXPECT_TRUE(like("a_b!", "a!_b!!", "!"));
  EXPECT_TRUE(like("[x]", "![x]", "!"));
  EXPECT_TRUE(like("a]", "a[!]]", "!"));
  EXPECT_TRUE(like("50%", "50\u00FC%", "\u00FC"));
  EXPECT_TRUE(like("a!", "a!", "!"));
}

TEST(Like, EscapeIsOneCharacter) {
  EXPECT_FALSE(LikePattern::compile("a", ""));
  const auto two = LikePattern::compile("a", "ab");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, ErrorCode::semantic);
  EXPECT_FALSE(LikePattern::compile("a", "\u00FC\u00FC"));
}

TEST(Like, TimeGrowsWithTheTextAlone) {
  const std::string text(100'000, 'a');
  EXPECT_FALSE(like(text, "%a%a%a%a%a%a%a%a%a%b%"));
  EXPECT_FALSE(like(text, "%a_%a_%a_%a_%b"));
}

TEST(Like, APatternThatNeedsAnExpressionIsBounded) {
  const std::string long_run(70'000, '_');
  const auto compiled = LikePattern::compile(long_run, {});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code, ErrorCode::limit_exceeded);
  EXPECT_TRUE(like(std::string(70'000, 'a') + "b", std::string(70'000, 'a') + "%"));
}

}  // namespace
}  // namespace quire::sql
