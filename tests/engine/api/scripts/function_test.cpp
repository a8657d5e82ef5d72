// User-defined functions in queries.
#include <fmt/format.h>

#include "tests/engine/api/script_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;

class FunctionTest : public ScriptTest {
 protected:
  void add(std::string_view name, std::string_view body) {
    ASSERT_TRUE(succeeds(shelf_->create_script(ScriptKind::function, name, body, {.replace = true})));
  }
};

TEST_F(FunctionTest, ValuesOfEveryKindGoInAndOut) {
  add("same", "function (x) { return x; }");
  EXPECT_EQ(
      query(
          "SELECT VALUE [udf.same(null), udf.same(true), udf.same(7), udf.same(-2147483649), udf.same(1.5), "
          "udf.same('\\u00e9'), udf.same([1, {\"a\": []}]), udf.same({})] FROM shelf s WHERE s.id = 'a1'"),
      "[null,true,7,-2147483649,1.5,\"é\",[1,{\"a\":[]}],{}]\n");
  EXPECT_EQ(query("SELECT udf.same(undefined) AS u, udf.same() AS v FROM shelf s WHERE s.id = 'a1'"), "{}\n");
  EXPECT_EQ(query("SELECT VALUE udf.same(s).title FROM shelf s WHERE s.id = 'b1'"), "\"Tides\"\n");
  add("none", "function () { return function () {}; }");
  EXPECT_EQ(query("SELECT VALUE udf.none() FROM shelf s"), "");
}

TEST_F(FunctionTest, WithoutFromItIsOneOfTheContainersOwn) {
  add("next", "function (n) { return n + 1; }");
  Result<Statement> statement = shelf_->prepare("SELECT VALUE udf.next(@n)");
  ASSERT_TRUE(succeeds(statement));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(succeeds(statement->bind("n", i)));
    EXPECT_EQ(rows(*statement), std::to_string(i + 1) + "\n");
    statement->reset();
  }
  EXPECT_THAT(query("SELECT VALUE udf.next(1)"), HasSubstr("unknown_function"));
}

TEST_F(FunctionTest, FiltersSortsAndAggregates) {
  add("age", "function (year, now) { return now - year; }");
  EXPECT_EQ(query("SELECT VALUE s.id FROM shelf s WHERE udf.age(s.year, 2024) < 2"), "\"b2\"\n");
  EXPECT_EQ(query("SELECT VALUE SUM(udf.age(s.year, 2024)) FROM shelf s WHERE IS_DEFINED(s.year)"), "3\n");
  EXPECT_EQ(rows(shelf_->prepare("SELECT VALUE udf.age(c.year, @now) FROM c WHERE c.id = 'b1'")),
            "unbound_parameter: the parameter @now has no value; bind it before the first step");
  EXPECT_EQ(query("UPDATE shelf s SET s.age = udf.age(s.year, 2024) WHERE s.id = 'b1' RETURNING VALUE s.age"),
            "2\n");
}

TEST_F(FunctionTest, OfAnAsyncFunctionWhatItsPromiseComesTo) {
  add("half", "async function (year) { return { half: (await Promise.resolve(year)) / 2 }; }");
  EXPECT_EQ(query("SELECT VALUE udf.half(s.year).half FROM shelf s WHERE IS_DEFINED(s.year)"),
            "1011\n1011.5\n");
  add("none", "async function () { await null; }");
  EXPECT_EQ(query("SELECT VALUE udf.none() FROM shelf s"), "");
  add("bad", "async function (x) {\n  await null;\n  throw new Error('no ' + x);\n}");
  EXPECT_THAT(query("SELECT VALUE udf.bad(s.id) FROM shelf s"),
              HasSubstr("script_failed: function 'bad', line 3: no "));
  add("never", "function () { return new Promise(() => {}); }");
  EXPECT_THAT(query("SELECT VALUE udf.never() FROM shelf s"),
              HasSubstr("function 'never' waits for a promise that nothing will settle"));
  add("busy", "async function () { for (;;) await null; }");
  set("script_time", "100");
  EXPECT_THAT(query("SELECT VALUE udf.busy() FROM shelf s"), HasSubstr("timeout: function 'busy'"));
}

TEST_F(FunctionTest, AFailureFailsTheQueryAndTheNextIsAnswered) {
  add("bad", "function (x) {\n  throw new Error('no ' + x);\n}");
  EXPECT_THAT(query("SELECT VALUE udf.bad(s.id) FROM shelf s"),
              HasSubstr("script_failed: function 'bad', line 2: no "));
  add("half", "function () { return '\\ud800'; }");
  EXPECT_THAT(
      query("SELECT VALUE udf.half() FROM shelf s"),
      HasSubstr("invalid_json: function 'half' gives invalid JSON: a string holds half of a surrogate pair"));
  add("loop", "function () { for (;;) {} }");
  set("script_time", "100");
  EXPECT_THAT(query("SELECT VALUE udf.loop() FROM shelf s"), HasSubstr("timeout: function 'loop'"));
  add("reach", "function () { return __.getSelfLink(); }");
  EXPECT_THAT(query("SELECT VALUE udf.reach() FROM shelf s"), HasSubstr("script_failed"));
  EXPECT_THAT(query("SELECT VALUE udf.missing() FROM shelf s"),
              HasSubstr("unknown_function: the user-defined function udf.missing"));
  EXPECT_THAT(query("SELECT VALUE udf.bad()"), HasSubstr("unknown_function"));
  add("good", "function () { return 1; }");
  EXPECT_EQ(query("SELECT VALUE udf.good() FROM shelf s WHERE s.id = 'a1'"), "1\n");
}

TEST_F(FunctionTest, AProcedureQueriesWithThem) {
  add("twice", "function (x) { return x * 2; }");
  EXPECT_EQ(
      body_of("function () { __.queryDocuments(__.getSelfLink(), 'SELECT VALUE udf.twice(c.year) FROM c "
              "WHERE IS_DEFINED(c.year)', (err, feed) => __.response.setBody(err ? err.message : feed)); }"),
      "[4044,4046]");
}

TEST_F(FunctionTest, OneOfTwoContainersIsAmbiguous) {
  Container other = make("other", "/k");
  ASSERT_TRUE(succeeds(other.create(R"({"id":"a1","k":1})")));
  add("f", "function () { return 1; }");
  EXPECT_EQ(query("SELECT VALUE udf.f() FROM other o JOIN shelf s ON s.id = o.id"), "1\n");
  ASSERT_TRUE(succeeds(other.create_script(ScriptKind::function, "f", "function () { return 2; }")));
  EXPECT_THAT(query("SELECT VALUE udf.f() FROM other o JOIN shelf s ON s.id = o.id"),
              HasSubstr("both container"));
}

// The engine holds the names that are known outside; there is no end to them over many rows.
TEST_F(ScriptTest, AFunctionMayMeetEverMoreNames) {
  set("script_memory", "4194304");
  EXPECT_EQ(query("CREATE FUNCTION turned ON shelf AS $$ function (name) { return { [name]: [name] }; } $$"),
            "");
  EXPECT_EQ(
      query("CREATE FUNCTION first ON shelf AS $$ function (all) { return Object.keys(all[0])[0]; } $$"), "");
  std::string list = "[";
  for (int i = 0; i < 60'000; ++i)
    list += fmt::format("{}\"a name that is new to all, {}\"", i == 0 ? "" : ",", i);
  auto statement = database_->prepare(
      "SELECT VALUE COUNT(1) FROM shelf s JOIN name IN (SELECT VALUE @list) WHERE s.id = 'a1' AND "
      "udf.first([udf.turned(name)]) = name");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("list", Json{list + "]"})));
  EXPECT_EQ(rows(*statement), "60000\n");
}

// What Node.js with ICU says of them.
TEST_F(ScriptTest, TextsAreComparedByLettersThenByAccentsThenByCase) {
  EXPECT_EQ(body_of("function () { getContext().getResponse().setBody(['z', 'B', 'a', 'É', 'b', 'A', 'e', "
                    "'é', 'ss', 'ß', '10', '9', ' ',"
                    "'_', '#', 'я', 'Я', 'è'].sort((x, y) => x.localeCompare(y)).join('|')); }"),
            R"(" |_|#|10|9|a|A|b|B|e|é|É|è|ss|ß|z|я|Я")");
  EXPECT_EQ(body_of("function () { const by = (options) => (x, y) => x.localeCompare(y, 'en', options);"
                    "getContext().getResponse().setBody([['a10', 'a9', 'A09'].sort(by({ numeric: true })),"
                    "  by({ sensitivity: 'base' })('É', 'e'), by({ sensitivity: 'accent' })('É', 'é'), by({ "
                    "sensitivity: 'case' })('É', 'E'),"
                    "  by({ sensitivity: 'case' })('E', 'e'), 'x'.localeCompare('x'), "
                    "'x'.localeCompare('undefined') > 0]); }"),
            R"([["a9","A09","a10"],0,0,0,1,0,true])");
}

}  // namespace
}  // namespace quire::tests
