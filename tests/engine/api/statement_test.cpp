// Statements through the public API: rows, parameters, errors with their place, and what happens to them when
// containers change under them.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class StatementTest : public DatabaseTest {
 protected:
  StatementTest() {
    for (const char* item : {R"({"id":"nice","country":"FR","people":348085,"tags":["sea","old"]})",
                             R"({"id":"lyon","country":"FR","people":522250,"tags":[]})",
                             R"({"id":"bonn","country":"DE","people":335975})"})
      EXPECT_TRUE(succeeds(cities_.create(item)));
  }
  Container cities_ = make("cities", "/country");
};

TEST_F(StatementTest, GivesRowsAsValuesAndAsJson) {
  auto statement =
      database_->prepare("SELECT c.id, c.tags[0] AS tag FROM cities c WHERE c.country = 'FR' ORDER BY c.id");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(*statement->step());
  EXPECT_EQ(statement->row_json().value(), R"({"id":"lyon"})");
  ASSERT_TRUE(*statement->step());
  EXPECT_EQ(statement->row()["tag"].as_string(), "sea");
  EXPECT_EQ(statement->row_json().value(), R"({"id":"nice","tag":"sea"})");
  EXPECT_FALSE(*statement->step());
  EXPECT_EQ(statement->stats().items_read, 2u);
  EXPECT_EQ(statement->stats().rows_returned, 2u);
}

TEST_F(StatementTest, TheLinesOfExplainAnalyzeAreJsonWhateverTheQueryGives) {
  for (const char* sql : {"EXPLAIN ANALYZE SELECT * FROM c", "EXPLAIN ANALYZE SELECT VALUE c FROM c",
                          "EXPLAIN ANALYZE SELECT TOP 1 c.id FROM c"}) {
    auto statement = cities_.prepare(sql);
    ASSERT_TRUE(succeeds(statement));
    while (*statement->step()) {
      const std::string json(statement->row_json().value());
      EXPECT_EQ(json, statement->row().to_json().value()) << sql;
      EXPECT_THAT(json, testing::EndsWith("\"")) << sql;
    }
  }
}

TEST_F(StatementTest, ItemsMayComeWithoutTheSystemProperties) {
  auto statement = cities_.prepare("SELECT VALUE c FROM c WHERE c.id = 'bonn'");
  ASSERT_TRUE(succeeds(statement));
  const std::string item = R"({"id":"bonn","country":"DE","people":335975})";
  EXPECT_THAT(rows(*statement),
              testing::AllOf(StartsWith(item.substr(0, item.size() - 1)), HasSubstr("_ts")));
  statement->omit_system_properties();
  statement->reset();
  EXPECT_EQ(rows(*statement), item + "\n");
  for (const char* sql : {"SELECT * FROM c WHERE c.id = 'bonn'", "SELECT c FROM c WHERE c.id = 'bonn'",
                          "SELECT VALUE {item: c, dated: c._ts > 0} FROM c WHERE c.id = 'bonn'",
                          "SELECT VALUE c FROM c WHERE c.country = 'DE' ORDER BY c.people"}) {
    auto other = cities_.prepare(sql);
    ASSERT_TRUE(succeeds(other));
    other->omit_system_properties();
    const std::string row = rows(*other);
    EXPECT_THAT(row, HasSubstr(item)) << sql;
    EXPECT_THAT(row, testing::Not(HasSubstr("_rid"))) << sql;
    EXPECT_EQ(row.find("dated") != std::string::npos, row.find("\"dated\":true") != std::string::npos) << row;
  }
}

// Only what is given has none: which rows are found is the same.
TEST_F(StatementTest, ItemsWithinTheStatementKeepTheirSystemProperties) {
  for (const char* sql :
       {"SELECT VALUE v FROM (SELECT VALUE c FROM c OFFSET 0 LIMIT 5) v WHERE v._ts > 0",
        "SELECT VALUE v FROM (SELECT DISTINCT VALUE c FROM c) v WHERE v._ts > 0",
        "SELECT VALUE v FROM (SELECT VALUE c FROM c) v WHERE v._ts > 0",
        "SELECT VALUE {v: [v], dated: v._ts > 0} FROM c JOIN (SELECT VALUE c) v WHERE IS_DEFINED(v._etag)",
        "SELECT VALUE ARRAY(SELECT VALUE c) FROM c WHERE CONTAINS(TOSTRING(c), '_rid')",
        "SELECT VALUE MAKELIST(c) FROM c GROUP BY c.country HAVING MAKELIST(c)[0]._ts > 0",
        "SELECT c FROM c GROUP BY c", "SELECT VALUE MAKELIST(c) FROM c GROUP BY c.country",
        "SELECT VALUE c FROM c UNION ALL SELECT VALUE v FROM (SELECT DISTINCT VALUE c FROM c) v"}) {
    auto with = cities_.prepare(sql), without = cities_.prepare(sql);
    ASSERT_TRUE(succeeds(with));
    without->omit_system_properties();
    const std::string all = rows(*with), own = rows(*without);
    EXPECT_EQ(std::ranges::count(all, '\n'), std::ranges::count(own, '\n')) << sql;
    EXPECT_THAT(all, HasSubstr("_rid")) << sql;
    EXPECT_THAT(own, HasSubstr("\"country\"")) << sql;
    EXPECT_THAT(own, testing::Not(HasSubstr("_rid"))) << sql;
    EXPECT_THAT(own, testing::Not(HasSubstr("\"dated\":false"))) << sql;
  }
}

// JSON is written from the item as it is stored, or from the value where that was asked for first.
TEST_F(StatementTest, AnItemAsAWholeIsTheSameAsAValueAndAsJson) {
  for (const char* sql :
       {"SELECT * FROM c", "SELECT VALUE c FROM c WHERE c.country = 'FR'", "SELECT TOP 2 * FROM c",
        "SELECT * FROM c ORDER BY c.people DESC", "SELECT VALUE c FROM c ORDER BY c.id OFFSET 1 LIMIT 1",
        "SELECT DISTINCT VALUE c FROM c", "SELECT VALUE c FROM c UNION ALL SELECT VALUE c FROM c",
        "SELECT VALUE c FROM c JOIN t IN c.tags", "SELECT c AS city FROM c",
        "SELECT VALUE d FROM (SELECT VALUE c FROM c) d"}) {
    auto statement = cities_.prepare(sql);
    ASSERT_TRUE(succeeds(statement)) << sql;
    const std::string as_json = rows(*statement);
    EXPECT_THAT(as_json, HasSubstr("\"_ts\":")) << sql;
    statement->reset();
    std::string as_values;
    while (*statement->step()) {
      const Value row = statement->row()["city"].is_undefined() ? statement->row() : statement->row()["city"];
      EXPECT_EQ(row["_attachments"].as_string(), "attachments/") << sql;
      EXPECT_EQ(row["_etag"].as_string().size(), 38U) << sql;
      as_values.append(statement->row_json().value()) += '\n';
    }
    EXPECT_EQ(as_values, as_json) << sql;
    EXPECT_TRUE(statement->row().is_undefined());
  }
}

TEST_F(StatementTest, OnAContainerTheFirstIdentifierStandsForItWhateverItSays) {
  EXPECT_EQ(rows(cities_.prepare("SELECT VALUE COUNT(1) FROM c WHERE c.country = 'FR'")), "2\n");
  EXPECT_EQ(rows(cities_.prepare("SELECT VALUE COUNT(1) FROM root r")), "3\n");
  EXPECT_THAT(query("SELECT VALUE COUNT(1) FROM citties"), HasSubstr("'cities'"));
}

TEST_F(StatementTest, ParametersOfEveryKindAreBoundByName) {
  auto statement = database_->prepare("SELECT VALUE [@text, @number, @real, @yes, @nothing, @list, @text]");
  ASSERT_TRUE(succeeds(statement));
  EXPECT_THAT(statement->parameter_names(), ElementsAre("text", "number", "real", "yes", "nothing", "list"));
  {
    const std::string text = "été";  // gone before the step
    ASSERT_TRUE(succeeds(statement->bind("@text", text)));
  }
  ASSERT_TRUE(succeeds(statement->bind("number", INT64_MIN)));
  ASSERT_TRUE(succeeds(statement->bind("real", 0.5)));
  ASSERT_TRUE(succeeds(statement->bind("yes", true)));
  ASSERT_TRUE(succeeds(statement->bind("nothing", nullptr)));
  ASSERT_TRUE(succeeds(statement->bind("list", Json{R"([1,{"a":"b"}])"})));
  const std::string expected = "[\"été\",-9223372036854775808,0.5,true,null,[1,{\"a\":\"b\"}],\"été\"]\n";
  EXPECT_EQ(rows(*statement), expected);
  ASSERT_TRUE(succeeds((statement->reset(), statement->bind("real", Scalar::undefined()))));
  EXPECT_EQ(rows(*statement), "[\"été\",-9223372036854775808,true,null,[1,{\"a\":\"b\"}],\"été\"]\n");
}

TEST_F(StatementTest, NamesOfParametersStayWhereTheyAreWhenItIsPlannedAgain) {
  auto statement = database_->prepare("SELECT VALUE c.id FROM cities c WHERE c.country = @country");
  ASSERT_TRUE(succeeds(statement));
  const std::vector<std::string_view> names = statement->parameter_names();
  ASSERT_TRUE(succeeds(statement->bind("country", "nowhere")));
  EXPECT_EQ(rows(*statement), "");
  statement->reset();
  EXPECT_EQ(query("CREATE INDEX by_country ON cities (country)"), "");
  EXPECT_EQ(rows(*statement), "");
  EXPECT_EQ(statement->parameter_names()[0].data(), names[0].data());
  EXPECT_THAT(names, ElementsAre("country"));
}

TEST_F(StatementTest, ParametersAreChecked) {
  auto statement = database_->prepare("SELECT VALUE @country");
  EXPECT_THAT(rows(*statement), StartsWith("unbound_parameter"));
  EXPECT_EQ(statement->error()->line, 1u);
  EXPECT_EQ(statement->error()->column, 14u);
  statement->reset();
  EXPECT_TRUE(fails_with(statement->bind("contry", 1), QUIRE_INVALID_ARGUMENT, "'country'"));
  EXPECT_TRUE(fails_with(statement->bind("country", "\xff"), QUIRE_INVALID_ARGUMENT, "UTF-8"));
  EXPECT_TRUE(fails_with(statement->bind("country", Json{"{"}), QUIRE_INVALID_JSON));
  ASSERT_TRUE(succeeds(statement->bind("country", 1)));
  ASSERT_TRUE(*statement->step());
  EXPECT_TRUE(fails_with(statement->bind("country", 2), QUIRE_MISUSE, "reset"));
}

TEST_F(StatementTest, ErrorsSayWhatAndWhere) {
  const auto error = database_->prepare("SELECT *\nFROM cities c WHERE c.country == 1").error();
  EXPECT_EQ(error.code, QUIRE_SYNTAX);
  EXPECT_EQ(error.line, 2u);
  EXPECT_EQ(error.status, 400);
  EXPECT_TRUE(
      fails_with(database_->prepare("SELECT VALUE d.id FROM cities c"), QUIRE_UNRESOLVED_NAME, "'d'"));
  EXPECT_TRUE(fails_with(database_->prepare("SELECT VALUE LENGHT('a')"), QUIRE_UNKNOWN_FUNCTION, "LENGTH"));
  EXPECT_TRUE(fails_with(database_->prepare("SELECT VALUE LENGTH('a', 'b')"), QUIRE_WRONG_ARITY));
  EXPECT_TRUE(fails_with(database_->prepare("SELECT VALUE 'cut o"), QUIRE_SYNTAX));
  EXPECT_TRUE(fails_with(database_->prepare(""), QUIRE_SYNTAX));
  EXPECT_TRUE(fails_with(database_->prepare("SELECT VALUE '" + std::string(600'000, 'x') + "'"),
                         QUIRE_LIMIT_EXCEEDED));
}

TEST_F(StatementTest, StrictModeTakesOnlyWhatAzureTakes) {
  EXPECT_EQ(query("SELECT VALUE COUNT(*) FROM cities c"), "3\n");
  const std::string path = file("strict.quire");
  auto strict = Database::open(path, {.strict = true});
  ASSERT_TRUE(succeeds(strict->create_container(R"({"id":"c"})")));
  EXPECT_TRUE(fails_with(strict->prepare("SELECT VALUE COUNT(*) FROM c"), QUIRE_NOT_IN_STRICT_MODE));
  EXPECT_TRUE(succeeds(strict->prepare("SELECT VALUE COUNT(1) FROM c")));
}

TEST_F(StatementTest, NotANumberIsAValueButNoJson) {
  auto statement = database_->prepare("SELECT VALUE [NaN]");
  ASSERT_TRUE(*statement->step());
  EXPECT_TRUE(fails_with(statement->row_json(), QUIRE_NOT_JSON_RESULT));
  EXPECT_TRUE(fails_with(statement->row().to_json(), QUIRE_NOT_JSON_RESULT));
  EXPECT_TRUE(statement->row()[0].as_real() != statement->row()[0].as_real());
}

TEST_F(StatementTest, RowsComeFromTheSnapshotOfTheFirstStep) {
  auto statement = database_->prepare("SELECT VALUE c.id FROM cities c");
  ASSERT_TRUE(*statement->step());
  ASSERT_TRUE(succeeds(cities_.remove("DE", "bonn")));
  ASSERT_TRUE(succeeds(database_->drop_container("cities")));
  size_t count = 1;
  while (statement->step().value()) ++count;
  EXPECT_EQ(count, 3u);
  statement->reset();
  EXPECT_TRUE(fails_with(statement->step(), QUIRE_CONTAINER_NOT_FOUND));
}

TEST_F(StatementTest, AContainerMadeAnewUnderItsNameIsQueriedAnew) {
  auto by_name =
      database_->prepare("SELECT VALUE c.id FROM cities c WHERE c.country = 'FR' AND c.id = 'nice'");
  auto by_container = cities_.prepare("SELECT VALUE c.id FROM c");
  EXPECT_EQ(rows(*by_name), "\"nice\"\n");
  EXPECT_EQ(by_name->stats().items_read, 1u);
  ASSERT_TRUE(succeeds(database_->drop_container("cities")));
  // With another partition key, so that the old point read would miss it.
  auto cities = make("cities", "/region");
  ASSERT_TRUE(succeeds(cities.create(R"({"id":"nice","country":"FR","region":"PACA"})")));
  EXPECT_EQ(rows(*by_name), "\"nice\"\n");
  EXPECT_THAT(rows(*by_container), StartsWith("container_not_found"));
}

TEST_F(StatementTest, NamesThatCameAfterPreparingAreFound) {
  auto statement = database_->prepare("SELECT VALUE c.mayor FROM cities c");
  EXPECT_EQ(rows(*statement), "");
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":"graz","country":"AT","mayor":"Kahr"})")));
  EXPECT_EQ(rows(*statement), "\"Kahr\"\n");
}

TEST_F(StatementTest, KeysThatNoItemCanHaveFindNothing) {
  EXPECT_EQ(query("SELECT * FROM cities c WHERE c.country = '" + std::string(3000, 'x') + "'"), "");
  EXPECT_EQ(
      query("SELECT * FROM cities c WHERE c.country = 'FR' AND c.id = '" + std::string(3000, 'x') + "'"), "");
  EXPECT_EQ(query("SELECT * FROM cities c WHERE c.country = 'FR' AND c.id = ''"), "");
}

TEST_F(StatementTest, AMemoryLimitEndsTheStatementAlone) {
  const auto small = Database::open(":memory:", {.statement_memory = 1 << 20});
  ASSERT_TRUE(succeeds(small));
  const std::string_view digits = "[0,1,2,3,4,5,6,7,8,9]";
  auto statement = small->prepare(
      "SELECT DISTINCT VALUE [a, b, c, d, e] FROM a IN (SELECT VALUE @n) JOIN b IN (SELECT VALUE @n) "
      "JOIN c IN (SELECT VALUE @n) JOIN d IN (SELECT VALUE @n) JOIN e IN (SELECT VALUE @n)");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("n", Json{digits})));
  EXPECT_THAT(rows(*statement), StartsWith("out_of_memory"));
  EXPECT_EQ(rows(small->prepare("SELECT VALUE 1")), "1\n");
}

TEST_F(StatementTest, ATimeLimitEndsWhatRuns) {
  const std::string query_text =
      "SELECT VALUE COUNT(1) FROM a IN (SELECT VALUE @n) JOIN b IN (SELECT VALUE @n) JOIN c IN (SELECT VALUE "
      "@n) "
      "JOIN d IN (SELECT VALUE @n) JOIN e IN (SELECT VALUE @n) JOIN f IN (SELECT VALUE @n) JOIN g IN (SELECT "
      "VALUE @n) "
      "JOIN h IN (SELECT VALUE @n)";
  const std::string_view digits = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]";
  EXPECT_EQ(query("PRAGMA statement_time"), "0\n");
  EXPECT_EQ(query("PRAGMA statement_time = 50"), "50\n");
  auto statement = database_->prepare(query_text);
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("n", Json{digits})));
  EXPECT_THAT(rows(*statement), StartsWith("timeout: the statement took longer than the 50 ms"));
  const std::string before = query("SELECT VALUE COUNT(1) FROM cities");
  auto change = database_->prepare("UPDATE cities c SET c.x = (" + query_text + ") WHERE true");
  ASSERT_TRUE(succeeds(change));
  ASSERT_TRUE(succeeds(change->bind("n", Json{digits})));
  EXPECT_THAT(rows(*change), StartsWith("timeout"));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM cities c WHERE IS_DEFINED(c.x)"), "0\n");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM cities"), before);
  EXPECT_EQ(query("PRAGMA statement_time = 0"), "0\n");
  EXPECT_EQ(query("SELECT VALUE 1"), "1\n");
}

TEST_F(StatementTest, AnInterruptConcernsWhatRunsNotWhatStartsLater) {
  auto statement = database_->prepare("SELECT VALUE c.id FROM cities c");
  database_->interrupt();
  EXPECT_TRUE(*statement->step());
  database_->interrupt();
  EXPECT_EQ(rows(*statement).size(), std::string_view("'nice'\n'lyon'\n'bonn'\n").size());
}

// Rows come in batches: those that lie ready are not given any more.
TEST_F(StatementTest, AnInterruptEndsAStatementAtItsNextStep) {
  auto statement = database_->prepare("SELECT VALUE c.id FROM cities c ORDER BY c.id");
  ASSERT_TRUE(*statement->step());
  database_->interrupt();
  EXPECT_TRUE(fails_with(statement->step(), QUIRE_INTERRUPTED));
  statement->reset();
  EXPECT_TRUE(*statement->step());
}

TEST_F(StatementTest, AnInterruptEndsTheWaitOfAWriter) {
  ASSERT_EQ(query("BEGIN"), "");
  ASSERT_EQ(query("INSERT INTO cities VALUES {id: 'open', country: 'FR'}"), "");
  std::atomic<bool> has_ended = false;
  std::thread waiting([&] {
    EXPECT_THAT(query("INSERT INTO cities VALUES {id: 'late', country: 'FR'}"), StartsWith("interrupted"));
    EXPECT_TRUE(fails_with(database_->container("cities")->create(R"({"id":"late","country":"FR"})"),
                           QUIRE_INTERRUPTED, "others were writing"));
    has_ended = true;
  });
  while (!has_ended) database_->interrupt();
  waiting.join();
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM cities c WHERE c.id IN ('open', 'late')"), "\"open\"\n");
}

// One batch of rows may have any number of partners.
TEST_F(StatementTest, ATimeLimitEndsWhatMakesManyRowsOfAFew) {
  std::string numbers = "0";
  for (int i = 1; i < 12'000; ++i) numbers += fmt::format(",{}", i);
  make("many", "/p");
  ASSERT_EQ(query("INSERT INTO many VALUES {id: 'a', p: 1, n: [" + numbers + "]}"), "");
  ASSERT_EQ(
      query(
          "INSERT INTO many SELECT CONCAT('i', TOSTRING(x)) AS id, 2 AS p, x AS k FROM many m JOIN x IN m.n "
          "WHERE x < 4000"),
      "");
  EXPECT_EQ(query("PRAGMA statement_time = 30"), "30\n");
  for (const std::string sql : {
           "JOIN x IN m.n WHERE ARRAY_CONTAINS(m.n, -x - 1)",
           "JOIN (SELECT VALUE x FROM x IN m.n) x WHERE ARRAY_CONTAINS(m.n, -x - 1)",
           "JOIN many i WHERE m.p = 1 AND ARRAY_CONTAINS(m.n, -i.k - 1)",
           "LEFT JOIN many i ON m.p = 1 AND ARRAY_CONTAINS(m.n, -i.k - 1)",
       })
    EXPECT_THAT(query("SELECT VALUE COUNT(1) FROM many m " + sql), StartsWith("timeout")) << sql;
}

TEST_F(StatementTest, ExplainShowsHowTheItemsAreReached) {
  EXPECT_THAT(query("EXPLAIN SELECT * FROM cities c WHERE c.country = 'FR' AND c.id = 'nice'"),
              HasSubstr("point read"));
  EXPECT_THAT(query("EXPLAIN SELECT * FROM cities c WHERE c.country = 'FR'"), HasSubstr("partition scan"));
}

}  // namespace
}  // namespace quire::tests
