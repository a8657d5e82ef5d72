// ORDER BY under a limit whose scan several threads share: the same rows in the same order as one thread
// gives.
#include <fmt/format.h>

#include <sstream>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kShared = "shared out among threads";

class SharedSortTest : public DatabaseTest {
 protected:
  static constexpr int kItems = 25'000;

  // Of n there are few values, so that most rows have equals; v is missing in some, and of several kinds.
  SharedSortTest() {
    make("c", "/k");
    std::string items;
    for (int i = 0; i < kItems; ++i) {
      const std::string v = i % 7 == 0   ? ""
                            : i % 5 == 0 ? fmt::format(R"(,"v":"s{}")", i % 90)
                                         : fmt::format(R"(,"v":{})", i * 7919 % 10007);
      items += fmt::format(R"({{"id":"{}","k":"p{}","n":{}{}}})"
                           "\n",
                           i, i % 301, i * 31 % 17, v);
    }
    std::istringstream input(items);
    EXPECT_TRUE(succeeds(database_->container("c")->import(input)));
  }

  std::string by_threads(int threads, std::string_view sql) {
    EXPECT_EQ(query(fmt::format("PRAGMA threads = {}", threads)), fmt::format("{}\n", threads));
    return query(sql);
  }
  void expect_rows_of_one_thread(std::string_view sql) {
    EXPECT_THAT(query(fmt::format("EXPLAIN {}", sql)), HasSubstr(kShared)) << sql;
    const std::string expected = by_threads(1, sql);
    for (const int threads : {2, 3}) EXPECT_TRUE(by_threads(threads, sql) == expected) << sql;
  }
};

TEST_F(SharedSortTest, GivesTheRowsOfOneThreadInTheirOrder) {
  for (const std::string_view sql :
       {"SELECT TOP 10 * FROM c ORDER BY c.v", "SELECT TOP 10 * FROM c ORDER BY c.v DESC",
        "SELECT TOP 100 VALUE c.id FROM c ORDER BY c.n",
        "SELECT TOP 1 c.id, c.v FROM c ORDER BY c.n DESC, c.v",
        "SELECT c.id FROM c ORDER BY c.n, c.v DESC OFFSET 990 LIMIT 10",
        "SELECT c.id FROM c ORDER BY c.n OFFSET 900 LIMIT 200", "SELECT TOP 1000 c.id FROM c ORDER BY c.n",
        "SELECT TOP 20 VALUE c.v FROM c ORDER BY c.n", "SELECT TOP 20 VALUE c.v FROM c ORDER BY c.v DESC",
        "SELECT TOP 5 c.id FROM c WHERE c.v > 5000 ORDER BY c.v", "SELECT TOP 0 * FROM c ORDER BY c.v",
        "SELECT TOP 5 c.id FROM c WHERE c.v = 'none' ORDER BY c.n",
        "SELECT TOP 5 c.id FROM c WHERE c.n = 3 ORDER BY c.none, c.k DESC",
        "SELECT TOP 7 VALUE c.id FROM c WHERE c.n < 9 ORDER BY CONCAT(c.k, c.id) DESC",
        "SELECT TOP 40 c.id FROM c ORDER BY UPPER(CONCAT('a key that lies in no item ', c.v)) DESC, c.n * 2",
        "SELECT TOP 9 c.id FROM c ORDER BY [c.n, c.v], {k: c.k}",
        "SELECT TOP 3 VALUE {id: c.id, v: c.v} FROM c ORDER BY c._ts, c.v, c.id"})
    expect_rows_of_one_thread(sql);
}

TEST_F(SharedSortTest, OfEachRangeNoMoreThanIsWantedIsHandedOn) {
  EXPECT_EQ(query("PRAGMA threads = 2"), "2\n");
  EXPECT_THAT(
      query("EXPLAIN ANALYZE SELECT TOP 3 c.id FROM c WHERE c.n < 5 ORDER BY c.v"),
      testing::AllOf(HasSubstr("filter c.n < 5 (shared out among threads, PRAGMA threads)  [rows 735"),
                     HasSubstr("items read 25000, rows returned 3")));
  // Where keys are needed of all rows in any case, or a condition is no thread's own, one reads.
  for (const std::string_view sql :
       {"SELECT c.id FROM c ORDER BY c.v", "SELECT DISTINCT TOP 3 c.n FROM c ORDER BY c.n",
        "SELECT TOP 3 c.id FROM c ORDER BY (SELECT VALUE COUNT(1) FROM c d WHERE d.id = c.v)",
        "SELECT TOP 3 c.n, COUNT(1) AS x FROM c GROUP BY c.n ORDER BY c.n",
        "SELECT TOP 3 c.id FROM c WHERE c.k = 'p1' ORDER BY c.v"})
    EXPECT_THAT(query(fmt::format("EXPLAIN {}", sql)), Not(HasSubstr(kShared))) << sql;
}

TEST_F(SharedSortTest, WhatRunsOverItsMemoryIsToldAsByOneThread) {
  EXPECT_EQ(query("PRAGMA statement_memory = 60000"), "60000\n");
  constexpr std::string_view kLongKeys =
      "SELECT TOP 1000 VALUE c.id FROM c ORDER BY CONCAT('a key that lies in no item ', c.k, c.id)";
  for (const int threads : {1, 2})
    EXPECT_THAT(by_threads(threads, kLongKeys),
                HasSubstr("memory limit of 60000 bytes; narrow it, or raise"));
}

TEST_F(SharedSortTest, AStatementRunsAgainWithOtherLimitsAndItems) {
  EXPECT_EQ(query("PRAGMA threads = 2"), "2\n");
  auto statement = database_->prepare(
      "SELECT VALUE c.id FROM c WHERE c.n >= @least ORDER BY c.n, c.id OFFSET @from LIMIT @count");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("least", int64_t{0})));
  const auto run = [&](int64_t from, int64_t count) {
    statement->reset();
    EXPECT_TRUE(succeeds(statement->bind("from", from)));
    EXPECT_TRUE(succeeds(statement->bind("count", count)));
    return rows(*statement);
  };
  EXPECT_EQ(run(0, 2), "\"0\"\n\"10013\"\n");
  EXPECT_EQ(run(1, 1), "\"10013\"\n");
  EXPECT_EQ(run(0, 0), "");
  EXPECT_EQ(std::ranges::count(run(5, 20'000), '\n'), 20'000);
  EXPECT_THAT(run(0, -1), HasSubstr("LIMIT must be a whole number"));
  EXPECT_EQ(query("UPSERT INTO c VALUES {id: 'first', k: 'p1', n: 0.5}"), "");
  EXPECT_EQ(query("DELETE FROM c WHERE c.n = 0"), "");
  EXPECT_EQ(run(0, 1), "\"first\"\n");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("UPSERT INTO c VALUES {id: 'within', k: 'p2', n: 0.25}"), "");
  EXPECT_EQ(run(0, 1), "\"within\"\n");
  statement->reset();
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(run(0, 1), "\"first\"\n");
}

}  // namespace
}  // namespace quire::tests
