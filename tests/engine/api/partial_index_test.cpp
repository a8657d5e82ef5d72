// CREATE INDEX ... WHERE, and ANALYZE: which queries use what, and that nobody's rows change.
#include <fmt/format.h>

#include <sstream>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class PartialIndexTest : public DatabaseTest {
 protected:
  void fill(int items) {
    make("c", "/p");
    std::string lines;
    for (int i = 0; i < items; ++i)
      lines += fmt::format(R"({{"id":"{0}","p":"p{1}","n":{0},"state":"{2}","kind":{3}}})", i, i % 50,
                           i % 20 == 0 ? "open" : "done", i % 4) +
               "\n";
    std::istringstream input(lines);
    ASSERT_TRUE(succeeds(database_->container("c")->import(input)));
  }
  std::string plan(std::string_view sql) { return query("EXPLAIN " + std::string(sql)); }
};

TEST_F(PartialIndexTest, ServesQueriesThatDemandTheSame) {
  fill(1000);
  EXPECT_EQ(query("CREATE INDEX open ON c (n) WHERE c.state = 'open'"), "");
  EXPECT_THAT(database_->containers().value(), HasSubstr(R"("where":"c.state = \"open\"")"));
  const std::string narrow = "SELECT VALUE c.n FROM c WHERE c.state = 'open' AND c.n >= 40 AND c.n < 80";
  EXPECT_THAT(plan(narrow), HasSubstr("by open"));
  EXPECT_EQ(query(narrow), "60\n40\n");
  EXPECT_THAT(plan("SELECT VALUE c.n FROM c WHERE c.state = 'open'"), HasSubstr("by open"));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE 'open' = c.state"), "50\n");
  EXPECT_THAT(plan("SELECT VALUE COUNT(1) FROM c WHERE c.state = 'open'"), HasSubstr("index-only scan"));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.state = 'open'"), "50\n");
  const std::string last = "SELECT TOP 2 VALUE c.n FROM c WHERE c.state = 'open' ORDER BY c.n DESC";
  EXPECT_THAT(plan(last), HasSubstr("by open backwards, in order"));
  EXPECT_EQ(query(last), "980\n960\n");
  // Whatever lets other items through does not use it.
  for (const char* other :
       {"SELECT VALUE c.n FROM c WHERE c.n = 40",
        "SELECT VALUE c.n FROM c WHERE c.state = 'done' AND c.n = 41",
        "SELECT VALUE c.n FROM c WHERE (c.state = 'open' OR c.kind = 1) AND c.n = 41",
        "SELECT VALUE c.n FROM c WHERE c.state = @s AND c.n = 40",
        "SELECT VALUE c.n FROM c WHERE NOT (c.state = 'open') AND c.n = 41", "SELECT VALUE MAX(c.n) FROM c",
        "SELECT TOP 1 VALUE c.n FROM c ORDER BY c.n DESC"})
    EXPECT_THAT(plan(other), Not(HasSubstr("by open"))) << other;
  EXPECT_EQ(query("SELECT TOP 1 VALUE c.n FROM c ORDER BY c.n DESC"), "999\n");
}

// They are equal, and yet not the same to what looks at the order of their members.
TEST_F(PartialIndexTest, ObjectsInAnotherOrderAreNotTheSame) {
  fill(100);
  EXPECT_EQ(query("CREATE INDEX first ON c (kind) WHERE OBJECTTOARRAY(CHOOSE(c.n, {a: 1, b: 2}))[0].k = 'a'"),
            "");
  const std::string same =
      "SELECT VALUE c.id FROM c WHERE OBJECTTOARRAY(CHOOSE(c.n, {a: 1, b: 2}))[0].k = 'a' AND c.kind = 1";
  EXPECT_THAT(plan(same), HasSubstr("by first"));
  EXPECT_EQ(query(same), "\"1\"\n");
  const std::string other =
      "SELECT VALUE c.id FROM c WHERE OBJECTTOARRAY(CHOOSE(c.n, {b: 2, a: 1}))[0].k = 'a' AND c.kind = 1";
  EXPECT_THAT(plan(other), Not(HasSubstr("by first")));
  EXPECT_EQ(query(other), "");
}

TEST_F(PartialIndexTest, ANarrowerBoundImpliesAWiderOne) {
  fill(1000);
  EXPECT_EQ(query("CREATE INDEX high ON c (kind) WHERE n >= 900"), "");
  for (const char* inside : {"c.n >= 900", "c.n = 950", "c.n > 900", "c.n IN (901, 999)",
                             "c.n > 950 AND c.n < 960", "c.n >= 900 AND c.state = 'open'"})
    EXPECT_THAT(plan(fmt::format("SELECT VALUE c.id FROM c WHERE {} AND c.kind = 1", inside)),
                HasSubstr("by high"))
        << inside;
  for (const char* outside :
       {"c.n > 899", "c.n = 10", "c.n IN (10, 950)", "c.n < 950", "c.n = 'text'", "IS_DEFINED(c.n)"})
    EXPECT_THAT(plan(fmt::format("SELECT VALUE c.id FROM c WHERE {} AND c.kind = 1", outside)),
                Not(HasSubstr("by high")))
        << outside;
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 900 AND c.kind = 1"), "25\n");
}

TEST_F(PartialIndexTest, FollowsTheItems) {
  fill(100);
  EXPECT_EQ(query("CREATE UNIQUE INDEX one ON c (kind) WHERE c.state = 'urgent'"), "");
  const auto urgent = [&] { return query("SELECT VALUE c.id FROM c WHERE c.state = 'urgent'"); };
  EXPECT_EQ(query("UPDATE c SET c.state = 'urgent' WHERE c.id = '7'"), "");
  EXPECT_EQ(urgent(), "\"7\"\n");
  EXPECT_THAT(query("UPDATE c SET c.state = 'urgent' WHERE c.id = '11'"),
              HasSubstr("unique index 'one' is taken"));
  EXPECT_EQ(query("UPDATE c SET c.state = 'done' WHERE c.id = '7'"), "");
  EXPECT_EQ(urgent(), "");
  EXPECT_EQ(query("UPDATE c SET c.state = 'urgent' WHERE c.id = '11'"), "");
  EXPECT_EQ(urgent(), "\"11\"\n");
  EXPECT_EQ(query("DELETE FROM c WHERE c.id = '11'"), "");
  EXPECT_EQ(urgent(), "");
  EXPECT_EQ(database_->check().value(), "[]");
}

TEST_F(PartialIndexTest, AConditionMayReadWhatNoItemHasYet) {
  make("c");
  EXPECT_EQ(query("CREATE INDEX i ON c (n) WHERE c.late.er > 1 AND c['odd name'] = true"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '1', n: 1, late: {er: 2}, 'odd name': true}, {id: '2', n: 2}"),
            "");
  EXPECT_EQ(database_->check().value(), "[]");
  EXPECT_THAT(query("CHECK c"), HasSubstr(R"("entries":1)"));
}

TEST_F(PartialIndexTest, ConditionsThatItemsAloneDoNotDecideAreRefused) {
  make("c");
  for (const char* condition :
       {"c._ts > 5", "c.n > @n", "c.n > RAND()", "c.t < GETCURRENTTIMESTAMP()", "c.t < AGO('d', 1)",
        "EXISTS(SELECT VALUE t FROM t IN c.tags)", "COUNT(1) > 2", "c = {}", "DOCUMENTID(c) > 1",
        "udf.f(c.n)", "c.n IN (SELECT VALUE 1)", "true", "[\"a b\"] = 1"})
    EXPECT_NE(query(fmt::format("CREATE INDEX i ON c (n) WHERE {}", condition)), "") << condition;
  const auto define = [&](std::string_view where) {
    const auto made = database_->create_container(fmt::format(
        R"({{"id":"d","indexes":[{{"name":"i","paths":[{{"path":"/n"}}],"where":{}}}]}})", where));
    return made ? "" : made.error().message;
  };
  EXPECT_THAT(define("5"), HasSubstr("as text"));
  EXPECT_THAT(define(R"("")"), HasSubstr("as text"));
  EXPECT_THAT(define(R"("c.n >")"), HasSubstr("index 'i': "));
  EXPECT_THAT(define(R"("c.n > 1 ORDER BY c.n")"), HasSubstr("clauses of a query"));
  EXPECT_THAT(define(R"("c.n > 1 UNION SELECT VALUE 1")"), HasSubstr("clauses of a query"));
  EXPECT_THAT(define(R"("d.n > 1")"), HasSubstr("index 'i': "));
  EXPECT_EQ(query("CREATE INDEX IF NOT EXISTS ON c (n) WHERE n > 1"), "");
  EXPECT_EQ(query("CREATE INDEX IF NOT EXISTS ON c (n) WHERE c.n > 1"), "");
  EXPECT_THAT(database_->containers().value(), Not(HasSubstr("c_n_2")));
}

TEST_F(PartialIndexTest, OneOverElementsLacksItemsWithoutAny) {
  make("c");
  EXPECT_EQ(query("CREATE INDEX n ON c (list[]) WHERE state = 1"), "");
  for (int i = 0; i < 60; ++i)
    ASSERT_EQ(
        query(fmt::format("INSERT INTO c VALUES {{id: 'i{0}', state: {1}, list: [{0}, 7]}}", i, i % 20)), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'a', state: 1}, {id: 'b', state: 1, list: []}, {id: 'c', state: "
                  "1, list: 5}"),
            "");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.state = 1"), "6\n");
  EXPECT_THAT(plan("SELECT VALUE c.id FROM c WHERE c.state = 1 AND ARRAY_CONTAINS(c.list, 21)"),
              HasSubstr("by n"));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.state = 1 AND ARRAY_CONTAINS(c.list, 21)"), "\"i21\"\n");
  EXPECT_EQ(query("UPDATE c SET c.seen = true WHERE c.state = 1"), "");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.seen"), "6\n");
  EXPECT_EQ(query("DELETE FROM c WHERE c.state = 1"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.state = 1"), "");
}

TEST_F(PartialIndexTest, AnalyzeTellsHowValuesLie) {
  fill(4000);
  EXPECT_EQ(query("CREATE INDEX kinds ON c (kind)"), "");
  EXPECT_EQ(query("CREATE INDEX n ON c (n)"), "");
  EXPECT_THAT(plan("SELECT VALUE c.id FROM c WHERE c.n >= 3000 AND c.n < 3400"), HasSubstr("about 4"));
  EXPECT_THAT(plan("SELECT VALUE c.id FROM c WHERE c.n = @n AND c.kind = @k"), HasSubstr("by n"));
  // What was found out when the index was made is not true any more, until somebody looks again.
  EXPECT_EQ(query("UPDATE c SET c.n = 1 WHERE c.n > 1"), "");
  EXPECT_EQ(query("ANALYZE c"), "");
  EXPECT_THAT(plan("SELECT VALUE c.id FROM c WHERE c.n = @n AND c.kind = @k"), Not(HasSubstr("by n ")));
  EXPECT_EQ(query("ANALYZE"), "");
  EXPECT_EQ(database_->check().value(), "[]");
  EXPECT_THAT(query("ANALYZE d"), HasSubstr("container_not_found"));
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_THAT(query("ANALYZE c"), HasSubstr("within BEGIN"));
  EXPECT_EQ(query("ROLLBACK"), "");
}

}  // namespace
}  // namespace quire::tests
