// Subqueries whose results are kept by what they read of the rows around them give what they give when they
// run for each row, as they do where RAND() stands in them.
#include <fmt/format.h>

#include <set>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class KeptResultsTest : public DatabaseTest {
 protected:
  static constexpr int kItems = 600;

  KeptResultsTest() {
    make("c", "/p");
    make("d", "/p");
    for (const char* const name : {"c", "d"}) fill(name, name[0] == 'c' ? 1 : 7);
  }

  void fill(const char* name, int step) {
    std::string items;
    for (int i = 0; i < kItems; ++i)
      items += fmt::format(R"({{"id":"{}","p":"p{}"{},"n":{},"m":{},"list":[{},{}]}})"
                           "\n",
                           i, i % 5, key(i * step), i % 11, i * 13 % 17, i % 3, i % 4);
    std::istringstream input(items);
    EXPECT_TRUE(succeeds(database_->container(name)->import(input)));
  }

  // Of every type, or none; some that are equal, but not the same.
  static std::string key(int i) {
    static const std::string long_text(300, 'x');
    static const std::string kKeys[] = {"null",
                                        "true",
                                        "1",
                                        R"("1")",
                                        "[1]",
                                        "[]",
                                        "{}",
                                        "-0.0",
                                        "0",
                                        R"({"a":1,"b":2})",
                                        R"({"b":2,"a":1})",
                                        "9007199254740992",
                                        "9007199254740993",
                                        "9007199254740992.0",
                                        R"("")",
                                        "[[]]",
                                        '"' + long_text + '"',
                                        '"' + long_text + R"(y")"};
    constexpr size_t kCount = std::size(kKeys) + 1;
    const size_t number = static_cast<size_t>(i) % kCount;
    return number == 0 ? "" : fmt::format(R"(,"k":{})", kKeys[number - 1]);
  }

  // What `sql` says with and without RAND() in its subqueries, where EACH stands.
  static std::string with(std::string sql, std::string_view each) {
    for (size_t at = sql.find("EACH"); at != std::string::npos; at = sql.find("EACH", at))
      sql.replace(at, 4, each);
    return sql;
  }
  static std::string kept(const std::string& sql) { return with(sql, "1 = 1"); }
  static std::string run_for_each(const std::string& sql) { return with(sql, "RAND() >= 0"); }

  void expect_rows_of_each_run(const std::string& sql) {
    EXPECT_THAT(query("EXPLAIN " + kept(sql)), HasSubstr("subquery, kept by")) << sql;
    EXPECT_THAT(query("EXPLAIN " + run_for_each(sql)), Not(HasSubstr("kept by"))) << sql;
    const std::string rows = query(kept(sql));
    EXPECT_THAT(rows, HasSubstr("\n")) << sql;
    EXPECT_EQ(rows, query(run_for_each(sql))) << sql;
  }
};

TEST_F(KeptResultsTest, AreThoseOfEachRun) {
  for (
      const char* const sql : {
          "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.k = c.k AND EACH)",
          "SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT 1 FROM d WHERE d.k = c.k AND d.m > c.m AND EACH)",
          "SELECT VALUE c.id FROM c WHERE c.m < (SELECT VALUE AVG(d.m) FROM d WHERE d.n = c.n AND EACH)",
          "SELECT c.id, (SELECT TOP 1 VALUE d.id FROM d WHERE d.n = c.m AND EACH ORDER BY d.m) AS a FROM c",
          "SELECT c.id, ARRAY(SELECT VALUE [c.k, d.id] FROM d WHERE d.n = 1 AND d.m < 2 AND EACH) AS a FROM "
          "c",
          "SELECT c.id, (SELECT VALUE MAX([c.list, d.k]) FROM d WHERE d.n = c.n AND EACH) AS a FROM c",
          "SELECT c.id, (SELECT VALUE {x: c.list[0], y: COUNT(1)} FROM d WHERE d.n = c.list[1] AND EACH) AS "
          "a FROM c",
          "SELECT VALUE c.id FROM c WHERE c.m IN (SELECT VALUE d.m FROM d WHERE d.k = c.k AND EACH)",
          "SELECT VALUE c.id FROM c WHERE c.k NOT IN (SELECT VALUE d.k FROM d WHERE d.n = c.n AND d.m < 7 "
          "AND EACH)",
          "SELECT VALUE c.id FROM c WHERE ALL(SELECT VALUE d.m < 16 FROM d WHERE d.n = c.m AND EACH)",
          "SELECT c.id, LAST(SELECT VALUE d.id FROM d WHERE d.n = c.n AND EACH) AS a FROM c",
          "SELECT c.id, t FROM c JOIN t IN c.list WHERE EXISTS(SELECT 1 FROM d WHERE d.n = t AND EACH)",
          "SELECT VALUE [x.n, x.k] FROM (SELECT c.n, [c.k] AS k FROM c) x WHERE EXISTS(SELECT 1 FROM d WHERE "
          "d.n = x.n AND d.k = x.k[0] AND EACH)",
          "SELECT VALUE (LET v = [c.n] IN ARRAY(SELECT VALUE d.id FROM d WHERE d.n = v[0] AND d.m = 3 AND "
          "EACH)) FROM c",
          "SELECT c.id, ARRAY(SELECT VALUE d.id FROM d WHERE d.n = c.n AND d.m = 3 AND EACH UNION ALL SELECT "
          "VALUE c.m) AS a FROM c",
          "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d o WHERE o.n = c.n AND EACH AND o.m < "
          "(SELECT "
          "VALUE SUM(d.m) FROM d WHERE d.list = o.list AND d.n != c.m AND EACH))",
          "SELECT c.n, SUM((SELECT VALUE COUNT(1) FROM d WHERE d.m = c.m AND EACH)) AS s FROM c GROUP BY c.n",
          "SELECT VALUE c.id FROM c JOIN c o ON o.id = c.id AND EXISTS(SELECT 1 FROM d WHERE d.n = c.n AND "
          "d.m = o.m AND EACH)",
      })
    expect_rows_of_each_run(sql);
}

TEST_F(KeptResultsTest, AreWorkedOutOnceForEachKey) {
  EXPECT_THAT(query("EXPLAIN ANALYZE SELECT VALUE c.id FROM c WHERE c.m < (SELECT VALUE AVG(d.m) FROM d "
                    "WHERE d.n = c.n)"),
              HasSubstr("aggregate (1)  [rows 11,"));
  EXPECT_THAT(query("EXPLAIN ANALYZE SELECT VALUE c.id FROM c WHERE (c.m % 2) IN (SELECT VALUE d.m FROM d "
                    "WHERE d.n = c.n AND d.m < 0)"),
              HasSubstr("subquery, kept by c.n"));
  // An array of the row has more than its members: here twelve lists occur.
  EXPECT_THAT(
      query("EXPLAIN ANALYZE SELECT VALUE (SELECT VALUE COUNT(1) FROM d WHERE d.list = c.list) FROM c"),
      HasSubstr("aggregate (1)  [rows 12,"));
  // Within another one, for all rows around that.
  EXPECT_THAT(
      query("EXPLAIN ANALYZE SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d o WHERE o.n = c.n AND "
            "o.m < (SELECT VALUE SUM(d.m) FROM d WHERE d.list = o.list) AND c.id = 'none')"),
      HasSubstr("aggregate (1)  [rows 12,"));
}

TEST_F(KeptResultsTest, AreNoneOfWhatMayDifferForEachRow) {
  for (const char* const sql : {
           "SELECT VALUE (SELECT VALUE COUNT(1) + RAND() FROM d WHERE d.n = c.n) FROM c",
           "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.n = c.n AND d.m < "
           "GetCurrentTimestamp())",
           "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.n = c.n AND (SELECT VALUE RAND()) "
           "> "
           "0)",
           "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.n = c.n UNION ALL SELECT VALUE "
           "udf.f(1))",
           // Nor of what reads the whole item, an array of it alone, or nothing.
           "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.n = c.n AND d != c)",
           "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM t IN c.list WHERE t > c.n)",
           "SELECT VALUE c.id FROM c WHERE c.n < (SELECT VALUE MAX(d.n) FROM d)",
           "SELECT VALUE x FROM c JOIN (SELECT VALUE d.id FROM d WHERE d.n = c.n) x",
       }) {
    const std::string plan = query(std::string("EXPLAIN ") + sql);
    EXPECT_THAT(plan, HasSubstr("subquery")) << sql;
    EXPECT_THAT(plan, Not(HasSubstr("kept by"))) << sql;
  }
  std::set<std::string> numbers;
  auto statement =
      database_->prepare("SELECT VALUE (SELECT VALUE MAX(RAND()) FROM d WHERE d.n = c.n) FROM c");
  ASSERT_TRUE(succeeds(statement));
  for (const Value row : statement->rows()) numbers.insert(row.to_json().value());
  EXPECT_EQ(numbers.size(), size_t{kItems});
}

// From so little memory that there is no room for one result to so much that all have room.
TEST_F(KeptResultsTest, AreLetGoOfWhereMemoryIsShort) {
  const std::string sql =
      "SELECT c.id, ARRAY(SELECT VALUE d.id FROM d WHERE d.n = c.n AND d.m > 12 AND EACH) AS a, (SELECT "
      "VALUE "
      "COUNT(1) FROM d WHERE CONCAT(d.id, 'x') = CONCAT(c.id, 'x') AND EACH) AS n FROM c";
  const std::string rows = query(run_for_each(sql));
  int enough = 0;
  for (size_t bytes = 100'000; bytes < 4'000'000; bytes = bytes * 6 / 5) {
    EXPECT_EQ(query(fmt::format("PRAGMA statement_memory = {}", bytes)), fmt::format("{}\n", bytes));
    if (query(run_for_each(sql)) != rows) continue;
    ++enough;
    EXPECT_EQ(query(kept(sql)), rows) << bytes;
  }
  EXPECT_GT(enough, 10);
}

TEST_F(KeptResultsTest, FailAsEachRunDoes) {
  (void)query("PRAGMA statement_memory = 200000");
  const std::string sql =
      "SELECT VALUE ARRAY(SELECT VALUE [d.id, e.id, c.n] FROM d JOIN d e WHERE d.n = c.n AND EACH) FROM c";
  EXPECT_THAT(query(kept(sql)), HasSubstr("out_of_memory: the statement needs more than its memory limit"));
  EXPECT_EQ(query(kept(sql)), query(run_for_each(sql)));
}

// Some 33,000 pairs of items, no two of which are alike; then those of a few keys.
TEST_F(KeptResultsTest, AreGivenUpWhereKeysDiffer) {
  expect_rows_of_each_run(
      "SELECT VALUE COUNT(1) FROM c JOIN c o ON o.n = c.n WHERE EXISTS(SELECT 1 FROM d WHERE d.id = "
      "CONCAT(c.id, o.id) AND EACH)");
  expect_rows_of_each_run(
      "SELECT VALUE COUNT(1) FROM c JOIN c o ON o.n = c.n WHERE EXISTS(SELECT 1 FROM d WHERE d.m = o.m AND "
      "d.id = c.id AND EACH)");
}

TEST_F(KeptResultsTest, AreOfOneRun) {
  auto statement = database_->prepare(
      "SELECT VALUE SUM((SELECT VALUE COUNT(1) FROM d WHERE d.n = c.n AND d.m < @m)) FROM c");
  ASSERT_TRUE(succeeds(statement));
  const auto sum = [&](int64_t m) {
    statement->reset();
    EXPECT_TRUE(succeeds(statement->bind("m", m)));
    return rows(*statement);
  };
  EXPECT_EQ(sum(0), "0\n");
  const std::string all = sum(100);
  EXPECT_EQ(query("DELETE FROM d WHERE d.m = 3"), "");
  EXPECT_NE(sum(100), all);
}

// Statements that change what their subqueries read see it as it was.
TEST_F(KeptResultsTest, AreOfItemsBeforeTheyChange) {
  make("b", "/p");
  fill("b", 1);
  const auto changed = [&](std::string_view name, std::string_view each) {
    EXPECT_EQ(
        query(fmt::format("UPDATE {0} SET {0}.m = (SELECT VALUE SUM(x.m) FROM {0} x WHERE x.n = {0}.n AND "
                          "{1}) WHERE {0}.n < 5",
                          name, each)),
        "");
    return query(fmt::format("SELECT x.id, x.m FROM {} x", name));
  };
  EXPECT_EQ(changed("b", "true"), changed("c", "RAND() >= 0"));
}

}  // namespace
}  // namespace quire::tests
