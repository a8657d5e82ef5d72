#include "sql/functions/full_text.h"

#include "sql/functions/text_analyzer.h"
#include "sql/functions/text_terms.h"
#include "sql/functions/words.h"
#include "tests/sql/functions/call.h"

namespace quire::sql {
namespace {

std::string words_of(std::string_view text) {
  std::string joined;
  WordReader reader(text);
  while (const auto word = reader.next()) joined += (joined.empty() ? "" : "|") + std::string(*word);
  return joined;
}

TEST(Words, AreRunsOfLettersAndDigits) {
  EXPECT_EQ(words_of(""), "");
  EXPECT_EQ(words_of(" -- ... "), "");
  EXPECT_EQ(words_of("one, two;three"), "one|two|three");
  EXPECT_EQ(words_of("snake_case _x 42nd"), "snake_case|x|42nd");
  EXPECT_EQ(words_of("don't 'quoted' rock'n'roll dogs'"), "don't|quoted|rock'n'roll|dogs");
  EXPECT_EQ(words_of("1,000.5 1,000, e.g. 3.x"), "1,000.5|1,000|e.g|3|x");
  EXPECT_EQ(words_of("naïve Ünïcode Ελλάδα"), "naïve|Ünïcode|Ελλάδα");
  EXPECT_EQ(words_of("cafe\u0301s"), "cafe\u0301s");
  EXPECT_EQ(words_of("北京ab ひらカタカナ"), "北|京|ab|ひ|ら|カタカナ");
  EXPECT_EQ(words_of("a\xFFz"), "a|z");
}

std::string stems_of(std::string_view text, std::string_view language) {
  TextAnalyzer analyzer(language);
  std::string joined;
  analyzer.start(text);
  while (const auto stem = analyzer.next()) joined += (joined.empty() ? "" : "|") + std::string(*stem);
  return joined;
}

TEST(TextAnalyzer, GivesStemsOfItsLanguage) {
  EXPECT_EQ(stems_of("The Connections of connected dogs' and the dog’s", "en-US"), "connect|connect|dog|dog");
  EXPECT_EQ(stems_of("Häuser und HÄUSERN", "de-DE"), "haus|und|haus");
  EXPECT_EQ(stems_of("The Running", "xx-XX"), "the|running");
  EXPECT_EQ(stems_of("e\u0301t\u00e9", "xx-XX"), "\u00e9t\u00e9");
  EXPECT_EQ(stems_of(std::string(1000, 'S'), "en-US"), std::string(1000, 's'));
}

TermCounts count(std::string_view text, std::initializer_list<std::string_view> terms) {
  TextAnalyzer analyzer(kDefaultTextLanguage);
  Arena arena;
  std::vector<TextTerm> read;
  for (const std::string_view json : terms) read.push_back(*read_text_term(value_of(json, arena), analyzer));
  TermCounts counts;
  count_terms(text, read, analyzer, counts);
  return counts;
}

TEST(TextTerms, AreCountedWhereverTheyOccur) {
  const TermCounts counts = count("to be red, red and green red",
                                  {"\"red\"", "\"red red\"", "\"red green\"", "\"blue\"", "\"the\""});
  EXPECT_EQ(counts.words, 4u);
  EXPECT_EQ(counts.counts, (std::vector<uint64_t>{3, 1, 1, 0, 0}));
}

TEST(TextTerms, AtADistanceAreSpeltAlike) {
  const auto is_alike = [](std::string_view word, std::string_view term, int distance) {
    const std::string json =
        R"({"term":")" + std::string(term) + R"(","distance":)" + std::to_string(distance) + "}";
    return count(word, {json}).counts[0] == 1;
  };
  EXPECT_TRUE(is_alike("kart", "karl", 1));
  EXPECT_TRUE(is_alike("kart", "art", 1));
  EXPECT_TRUE(is_alike("art", "kart", 1));
  EXPECT_FALSE(is_alike("kart", "ar", 1));
  EXPECT_TRUE(is_alike("kart", "ar", 2));
  EXPECT_TRUE(is_alike("über", "uber", 1));
  EXPECT_FALSE(is_alike("abcd", "badc", 2));
  EXPECT_FALSE(is_alike("kart", "karl", 0));
  EXPECT_TRUE(is_alike("é", "yz", 2));
  EXPECT_FALSE(is_alike("é", "yza", 2));
}

TEST(TextTerms, HaveBounds) {
  TextAnalyzer analyzer(kDefaultTextLanguage);
  std::string phrase;
  for (size_t i = 0; i < kMostTermWords; ++i) phrase += " w" + std::to_string(i);
  ASSERT_TRUE(read_text_term(Value::string(phrase), analyzer));
  EXPECT_EQ(count("x" + phrase + " y", {"\"" + phrase + "\""}).counts[0], 1u);
  const std::string longer = phrase + " oak";
  EXPECT_FALSE(read_text_term(Value::string(longer), analyzer));
  Arena arena;
  EXPECT_FALSE(read_text_term(value_of(R"({"term":"a","distance":-1})", arena), analyzer));
  EXPECT_FALSE(read_text_term(value_of(R"({"term":"a","distance":1.5})", arena), analyzer));
  EXPECT_FALSE(read_text_term(value_of(R"({"distance":1})", arena), analyzer));
}

TEST(FullText, FunctionsWorkWithoutAState) {
  expect_all({
      {"FULLTEXTCONTAINS", {"\"two dogs\"", "\"dog\""}, "true"},
      {"FULLTEXTCONTAINSALL", {"\"two dogs\"", "\"dog\"", "\"cat\""}, "false"},
      {"FULLTEXTCONTAINSANY", {"\"two dogs\"", "\"dog\"", "\"cat\""}, "true"},
      {"FULLTEXTCONTAINSANY", {"5", "\"dog\""}, "undefined"},
  });
}

// Two items of 4 words each, one of which has the term twice: ln(1 + 1.5 / 1.5) * 2 * 2.2 / (2 + 1.2).
TEST(FullText, ScoreIsBm25) {
  const std::vector<std::optional<Value>> constants{Value::string("en-US"), std::nullopt,
                                                    Value::string("red")};
  auto relevance = Relevance::prepare(constants);
  ASSERT_TRUE(relevance);
  (*relevance)->add_item(Value::string("red green red blue"));
  (*relevance)->add_item(Value::string("oak elm ash yew"));
  const Function& score = *full_text_in_language(*find_function("FULLTEXTSCORE"));
  Arena arena;
  CallContext context{arena, relevance->get()};
  const auto score_of = [&](std::string_view text) {
    return call_function(score, context,
                         std::vector{Value::string("en-US"), Value::string(text), Value::string("red")})
        .as_double();
  };
  EXPECT_NEAR(score_of("red green red blue"), std::log(2.0) * 2 * 2.2 / 3.2, 1e-12);
  EXPECT_EQ(score_of("nothing of it"), 0);
  EXPECT_GT(score_of("red"), score_of("red green"));
}

}  // namespace
}  // namespace quire::sql
