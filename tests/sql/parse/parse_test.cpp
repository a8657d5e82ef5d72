// What the parser takes, how it prints, and how it refuses.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "sql/parse/ast.h"

namespace quire::sql {
namespace {

std::string printed(std::string_view text, bool strict = false) {
  const auto parsed = parse(text, strict);
  return parsed ? print((*parsed)->statement) : "error: " + parsed.error().message;
}

struct Accepted {
  std::string_view name;
  std::string_view text;
};

class AcceptedTest : public testing::TestWithParam<Accepted> {};

TEST_P(AcceptedTest, PrintsAsTextThatParsesToItself) {
  const std::string once = printed(GetParam().text);
  ASSERT_FALSE(once.starts_with("error")) << once;
  EXPECT_EQ(printed(once), once);
}

INSTANTIATE_TEST_SUITE_P(
    Parse, AcceptedTest,
    testing::Values(
        Accepted{"star", "select * from c"}, Accepted{"value", "SELECT VALUE c.a[\"b c\"][0] FROM root c"},
        Accepted{"lateral", "SELECT x FROM c JOIN x IN c.list JOIN (SELECT VALUE 1) y"},
        Accepted{"iteration", "SELECT VALUE z FROM z IN c.list"},
        Accepted{"operators", "SELECT VALUE 1 + 2 * -3 || 'a' ?? b ? c : d FROM c"},
        Accepted{"between", "SELECT 1 FROM c WHERE c.a BETWEEN 1 AND 2 AND c.b = 3"},
        Accepted{"like", "SELECT 1 FROM c WHERE c.a NOT LIKE 'a!%' ESCAPE '!'"},
        Accepted{"grouping", "SELECT c.a, COUNT(1) FROM c GROUP BY c.a ORDER BY c.a DESC OFFSET 1 LIMIT @n"},
        Accepted{"subqueries", "SELECT ARRAY(SELECT 1), (SELECT 2) FROM c WHERE EXISTS(SELECT 3)"},
        Accepted{"additions", "SELECT CASE WHEN c.a IS NULL THEN 1 ELSE 2 END FROM c UNION ALL SELECT 1;"},
        Accepted{"joins", "SELECT p FROM p LEFT JOIN a ON a.x = p.x INNER JOIN b ON b.y = a.y"},
        Accepted{"unreserved", "SELECT 1 AS rank, c.first, c.all FROM c"},
        Accepted{"left", "SELECT LEFT(c.a, 2), RIGHT(c.a, 2) FROM c"},
        Accepted{"numbers", "SELECT VALUE [.5, 5., 1e5, 9223372036854775807, NaN, Infinity]"},
        Accepted{"insert", "insert into c values {id: '1'}, {'id': '2'} returning c.id, c._ts"},
        Accepted{"insert_query", "UPSERT INTO c SELECT p.id FROM people p WHERE p.values = 1"},
        Accepted{"replace", "REPLACE INTO c VALUES @item RETURNING *;"},
        Accepted{"update", "UPDATE c AS x SET x.a.b = x.n + 1, x['set'] = [1] UNSET x.d WHERE x.id = '1'"},
        Accepted{"unset", "UPDATE c UNSET c.returning, c.values RETURNING VALUE c"},
        Accepted{
            "patch",
            "PATCH c AS x WITH [{op: 'incr', path: '/patch', 'value': x.n}] WHERE x.id = '1' RETURNING *"},
        Accepted{"quoted_query", "SELECT * FROM 'order-items' AS i JOIN \"a\\\"b\".tags AS t"},
        Accepted{"quoted_iteration", "SELECT t FROM t IN 'order-items'.tags"},
        Accepted{"quoted_insert", "INSERT INTO 'order-items' SELECT * FROM 'order'"},
        Accepted{"quoted_update", "UPDATE 'order-items' i SET i.a = 1"},
        Accepted{"quoted_create", "CREATE CONTAINER IF NOT EXISTS 'order-items' PARTITION KEY (/id)"},
        Accepted{"quoted_drop", "DROP CONTAINER IF EXISTS 'order-items'"},
        Accepted{"delete", "DELETE FROM c WHERE c['into'] IN (1, 'set')"},
        Accepted{"create",
                 "CREATE CONTAINER IF NOT EXISTS c PARTITION KEY (/key/width, '/b c') WITH {defaultTtl: 1}"},
        Accepted{"alter", "ALTER CONTAINER container WITH {'indexingPolicy': {'indexingMode': 'none'}}"},
        Accepted{"begin", "begin transaction"}, Accepted{"commit", "COMMIT;"},
        Accepted{"rollback", "ROLLBACK"}, Accepted{"pragma", "PRAGMA strict"},
        Accepted{"pragma_value", "PRAGMA durability = relaxed"}, Accepted{"pragma_on", "PRAGMA strict = on"},
        Accepted{"drop", "DROP CONTAINER IF EXISTS partition"},
        Accepted{"create_index", "CREATE INDEX ON c (a.b, [\"odd name\"].x DESC, d ASC)"},
        Accepted{"check", "CHECK"}, Accepted{"analyze", "ANALYZE"}, Accepted{"analyze_one", "analyze books"},
        Accepted{"check_one", "check books;"}, Accepted{"check_quoted", "CHECK 'my books'"},
        Accepted{"name", "SELECT check.a FROM check"},
        Accepted{"quoted_index", "CREATE INDEX 'by name' ON 'my books' (name)"},
        Accepted{"drop_quoted_index", "DROP INDEX IF EXISTS 'by name' ON 'my books'"},
        Accepted{"create_unique_index", "CREATE UNIQUE INDEX IF NOT EXISTS on_b ON index ('/a/[]/b')"},
        Accepted{"create_index_of_elements", "CREATE INDEX tags ON c (c.tags[].key DESC)"},
        Accepted{"create_index_where", "CREATE INDEX i ON c (n) WHERE c.n > 1"},
        Accepted{"drop_index", "DROP INDEX IF EXISTS i ON c;"},
        Accepted{"drop_index_anywhere", "DROP INDEX unique"},
        Accepted{"containers_may_be_named_index", "DROP CONTAINER index"},
        Accepted{"procedure", "CREATE PROCEDURE p ON c AS $$ function () { return '$'; } $$;"},
        Accepted{"quoted_procedure", "create or replace procedure 'my own' on 'my books' as $$x$$"},
        Accepted{"marked_procedure",
                 "CREATE PROCEDURE p ON c AS $a_1$ function () { return '$$ $a$ $'; } $a_1$;"},
        Accepted{"function", "CREATE FUNCTION f ON c AS $$$$"},
        Accepted{"trigger", "CREATE TRIGGER t PRE ALL ON c AS $$x$$"},
        Accepted{"trigger_always", "CREATE OR REPLACE TRIGGER t post update ON c ALWAYS AS $$x$$"},
        Accepted{"drop_trigger", "DROP TRIGGER IF EXISTS t ON c"},
        Accepted{"drop_procedure", "DROP PROCEDURE p ON c;"},
        Accepted{"drop_function", "DROP FUNCTION f ON c"}, Accepted{"execute", "EXECUTE p() ON c"},
        Accepted{"execute_in", "EXECUTE p({a: [1]}, @x) ON c IN PARTITION 'k', 1;"},
        Accepted{
            "scripts_words_are_names",
            "SELECT procedure.trigger, execute.always FROM procedure JOIN execute IN procedure.function"},
        Accepted{"comments", "SELECT /* all */ * -- of it\nFROM c"}),
    [](const auto& info) { return std::string(info.param.name); });

struct Refused {
  std::string_view name;
  std::string_view text;
  uint32_t line;
  uint32_t column;
};

class RefusedTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedTest, SaysWhere) {
  const auto parsed = parse(GetParam().text, false);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::syntax) << parsed.error().message;
  EXPECT_EQ(parsed.error().position.line, GetParam().line) << parsed.error().message;
  EXPECT_EQ(parsed.error().position.column, GetParam().column) << parsed.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Parse, RefusedTest,
    testing::Values(Refused{"misspelt", "SELECT * FORM c", 1, 10},
                    Refused{"cut_off", "SELECT * FROM c WHERE", 1, 22},
                    Refused{"second_line", "SELECT *\nFROM c\nWHERE == 1", 3, 7},
                    Refused{"unclosed_string", "SELECT VALUE 'abc", 1, 14},
                    Refused{"unclosed_script", "CREATE PROCEDURE p ON c AS $$ x $ y", 1, 28},
                    Refused{"unclosed_marked_script", "CREATE PROCEDURE p ON c AS $x$ x $ y $$ $y$", 1, 28},
                    Refused{"digit_in_mark", "CREATE PROCEDURE p ON c AS $1$ x $1$", 1, 28},
                    Refused{"trigger_time", "CREATE TRIGGER t DURING ALL ON c AS $$x$$", 1, 18},
                    Refused{"trigger_operation", "CREATE TRIGGER t PRE READ ON c AS $$x$$", 1, 22},
                    Refused{"execute_without_container", "EXECUTE p()", 1, 12},
                    Refused{"reserved", "SELECT c.order FROM c", 1, 10}, Refused{"empty", "", 1, 1},
                    Refused{"columns_count_code_points", "SELECT VALUE 'їжак' 'x'", 1, 21}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ParseTest, HintsAtCommonSlips) {
  constexpr std::pair<std::string_view, std::string_view> kSlips[] = {
      {"SELECT 1 FROM c WHERE c.a == 1", "write = to compare"},
      {"SELECT 1 FROM c WHERE !c.a", "write NOT"},
      {"SELECT 1 FROM c WHERE c.a && c.b", "write AND"},
      {"SELECT c.value FROM c", "write [\"value\"] without the dot"},
      {"SELECT 1 AS value FROM c", "write AS \"value\""},
      {"SELECT {order: 1}", "write \"order\" in quotes"},
      {"SELECT {a: 1, order: 1}", "write \"order\" in quotes"},
      {"SELECT c.* FROM c", "a whole item is SELECT *"},
      {"SELECT *, c.a FROM c", "stands alone in a select list"},
      {"SELECT TOP 5 DISTINCT c.a FROM c", "DISTINCT stands before TOP"},
      {"SELECT c.a, FROM c", "remove the comma before it"},
      {"SELECT 1 FROM a, b", "joined with JOIN"},
      {"SELECT 1 FROM c LIMIT 5", "OFFSET 0 LIMIT n"},
      {"SELECT 1 FROM c WHERE c.a IN @list", "ARRAY_CONTAINS(@list, x)"},
      {"SELECT 1 FROM c WHERE c.a = John Smith", "a string needs quotes"},
      {"SELECT 1 FROM c WHERE c.a = \u201CJohn\u201D", "typographic quote"},
      {"SELECT c.id FORM c", "did you mean FROM?"},
      {"SELECT * WHEE true", "did you mean WHERE?"},
      {"SELECT 1 FROM c WHERE c.a = 0xFF", "no hexadecimal numbers"},
  };
  for (const auto& [text, hint] : kSlips)
    EXPECT_NE(printed(text).find(hint), std::string::npos) << text << "\n" << printed(text);
}

TEST(ParseTest, NamesWhatCouldStandThere) {
  EXPECT_EQ(printed("SELECT VALUE ABS(-1"),
            "error: the query ends too early: expected an operator, ',' or ')'");
  EXPECT_EQ(printed("SELECT * FROM"), "error: the query ends too early: expected a name, a string or '('");
  EXPECT_EQ(printed("SELECT TOP -1 c.a"), "error: unexpected '-': expected an integer or a parameter");
  // Strict mode does not offer what it would then refuse.
  EXPECT_EQ(printed("SELECT VALUE 1, 2", true).find("UNION"), std::string::npos);
}

TEST(ParseTest, OutlinesEachOperatorWhereItBelongs) {
  const auto parsed = parse("SELECT c.a AS x FROM c WHERE c.a = 1 OR NOT c.b", false);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(outline((*parsed)->statement),
            "SELECT\n"
            "  item AS \"x\"\n"
            "    member \"a\"\n"
            "      identifier c\n"
            "  FROM c\n"
            "  WHERE\n"
            "    OR\n"
            "      operator =\n"
            "        member \"a\"\n"
            "          identifier c\n"
            "        literal 1\n"
            "      operator NOT\n"
            "        member \"b\"\n"
            "          identifier c\n");
}

TEST(ParseTest, StrictModeTakesTheServicesGrammarAlone) {
  for (const std::string_view text :
       {"SELECT 1;", "SELECT COUNT(*) FROM c", "SELECT 1 FROM c WHERE c.a IS NULL",
        "SELECT 1 UNION ALL SELECT 2", "SELECT 1 FROM c WHERE c.a BETWEEN 1 AND 2 AND c.b = 3",
        "EXPLAIN SELECT 1"}) {
    EXPECT_FALSE(printed(text).starts_with("error")) << text;
    EXPECT_TRUE(printed(text, true).starts_with("error")) << text;
  }
}

TEST(ParseTest, OperatorsHaveTheServicesFlatLevels) {
  // 1 | 2 + 3 is (1 | 2) + 3: the outermost node adds.
  const auto parsed = parse("SELECT VALUE 1 | 2 + 3", true);
  ASSERT_TRUE(parsed);
  const Expression& sum = *(*parsed)->statement.query->items[0].expression;
  EXPECT_EQ(sum.binary_operator, BinaryOperator::add);
  // NOT binds tightest.
  const auto negated = parse("SELECT VALUE NOT c.x = 1 FROM c", true);
  ASSERT_TRUE(negated);
  EXPECT_EQ((*negated)->statement.query->items[0].expression->kind, ExpressionKind::binary);
}

TEST(ParseTest, AndAndOrAreFlat) {
  const auto parsed = parse("SELECT VALUE a AND b AND c AND d FROM x", false);
  ASSERT_TRUE(parsed);
  const Expression& all = *(*parsed)->statement.query->items[0].expression;
  EXPECT_EQ(all.kind, ExpressionKind::logical_and);
  EXPECT_EQ(all.operands.size(), 4u);
}

// As programs write conditions that they put together one by one.
TEST(ParseTest, ParenthesesAroundTheBeginningOfAChainAreNoDepth) {
  std::string text = "(a = 0)";
  for (int i = 1; i < 1'800; ++i) text = "(" + text + " OR (a = 1))";
  const auto parsed = parse("SELECT VALUE " + text + " FROM a", false);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ((*parsed)->statement.query->items[0].expression->operands.size(), 1'800u);
}

std::string repeated(std::string_view part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(ParseTest, DeepNestingIsAnErrorAndNoCrash) {
  for (const std::string& text :
       {"SELECT VALUE " + repeated("(", 50'000) + "1", "SELECT VALUE 1" + repeated("+1", 100'000),
        "SELECT VALUE " + repeated("[", 50'000), "SELECT VALUE " + repeated("NOT ", 50'000) + "x",
        "SELECT VALUE " + repeated("(SELECT VALUE ", 20'000) + "1",
        "SELECT VALUE c" + repeated(".a", 100'000),
        "SELECT VALUE " + repeated("1?", 50'000) + "1" + repeated(":1", 50'000),
        "SELECT VALUE " + repeated("{a:", 50'000), "SELECT VALUE " + repeated("ABS(", 50'000),
        "SELECT VALUE 1 FROM " + repeated("(SELECT VALUE 1 FROM ", 20'000) + "c",
        "SELECT VALUE 1 WHERE " + repeated("EXISTS(SELECT VALUE 1 WHERE ", 10'000) + "true",
        "SELECT VALUE 1" + repeated(" UNION SELECT VALUE 1", 20'000),
        // These are wide, but run as deep: each JOIN stands on the last, each arm within the last.
        "SELECT VALUE 1 FROM c" + repeated(" JOIN x IN c.x", 20'000),
        "SELECT VALUE CASE" + repeated(" WHEN c.a THEN 1", 20'000) + " END"}) {
    const auto parsed = parse(text, false);
    ASSERT_FALSE(parsed) << text.substr(0, 40);
    EXPECT_EQ(parsed.error().code, ErrorCode::limit_exceeded) << parsed.error().message;
  }
}

TEST(ParseTest, ManyJoinsAndArmsAreTaken) {
  EXPECT_TRUE(parse("SELECT VALUE 1 FROM c" + repeated(" JOIN x IN c.x", 1000), false));
  EXPECT_TRUE(parse("SELECT VALUE CASE" + repeated(" WHEN c.a THEN 1", 1000) + " END FROM c", false));
}

TEST(ParseTest, LongListsAreTaken) {
  EXPECT_TRUE(parse("SELECT 1 FROM c WHERE c.a IN (0" + repeated(",1234567", 40'000) + ")", true));
  EXPECT_TRUE(parse("SELECT 1 FROM c WHERE c.a = 0" + repeated(" OR c.a = 1", 20'000), true));
}

TEST(ParseTest, TextPastTheLimitIsRefused) {
  const auto parsed = parse("SELECT 1 " + std::string(600 * 1024, ' '), false);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::limit_exceeded);
}

TEST(ParseTest, EveryPrefixOfAStatementIsTakenOrRefusedCleanly) {
  const std::string text =
      "SELECT TOP 5 c.a AS \"x\", {b: [1.5e3, 'q\\u0041']} FROM c JOIN t IN c.t WHERE c.a LIKE '%' AND t NOT "
      "IN (1)";
  for (size_t length = 0; length < text.size(); ++length) {
    const auto parsed = parse(text.substr(0, length), false);
    EXPECT_TRUE(parsed || !parsed.error().message.empty());
  }
}

TEST(ParseTest, InvalidUtf8IsRefusedWhereItStands) {
  using std::string_literals::operator""s;
  // A byte that begins nothing, a stray continuation, a cut sequence, a long form, a surrogate, past the last
  // code point.
  for (const std::string_view bad :
       {"\xFF", "\x80", "\xE2\x82", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    for (const std::string& before :
         {"SELECT VALUE '"s, "SELECT VALUE 'їжак"s, "SELECT 1 AS "s, "SELECT 1 -- "s}) {
      const auto parsed = parse(before + std::string(bad) + "'", false);
      ASSERT_FALSE(parsed);
      EXPECT_EQ(parsed.error().code, ErrorCode::syntax);
      EXPECT_EQ(parsed.error().message, "the statement is not valid UTF-8");
      EXPECT_EQ(parsed.error().position.offset, before.size());
    }
  }
  EXPECT_TRUE(printed("SELECT VALUE '\\ud800'").starts_with("error"));
}

TEST(ParseTest, MessagesShowTheBeginningOfLongWords) {
  for (const std::string& text :
       {"SELECT VALUE 1 " + repeated("'x'", 1) + repeated("y", 400'000),
        "SELECT VALUE 1 + '" + repeated("x", 400'000) + "' 'y'", "SELECT VALUE " + repeated("9", 400'000)}) {
    const auto parsed = parse(text, false);
    ASSERT_FALSE(parsed);
    EXPECT_LT(parsed.error().message.size(), 300u) << parsed.error().message.substr(0, 400);
  }
}

}  // namespace
}  // namespace quire::sql
