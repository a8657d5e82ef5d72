// The order of an index in place of a sort: what is passed over on the way, and that the rows are those that
// no index gives.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tests/engine/api/database_fixture.h"
#include "tests/engine/api/test_clock.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

// Containers c, with indexes, and d, without, of the same items; every tenth has no n, every second may
// expire.
class IndexOrderTest : public DatabaseTest {
 protected:
  void SetUp() override {
    set_time(database_->c_handle(), kNow);
    for (const char* name : {"c", "d"}) {
      make(name, "/p");
      std::string lines;
      for (int i = 0; i < 5'000; ++i)
        lines += fmt::format(R"({{"id":"{:0>4}","p":"p{}","a":{},"b":{}{}{}}})", i, i % 7, i % 40,
                             i * 7 % 101, i % 10 == 0 ? "" : fmt::format(R"(,"n":{})", i * 7919 % 2'000),
                             i % 2 == 0 ? R"(,"ttl":5)" : "") +
                 "\n";
      std::istringstream input(lines);
      ASSERT_TRUE(succeeds(database_->container(name)->import(input)));
    }
    for (const char* paths : {"n", "a, b"})
      ASSERT_EQ(query(fmt::format("CREATE INDEX ON c ({})", paths)), "");
  }
  std::string analyzed(std::string_view sql) { return query("EXPLAIN ANALYZE " + std::string(sql)); }
  // The same without indexes.
  std::string scanned(std::string sql) {
    const size_t at = sql.find("FROM c");
    return query(sql.replace(at, 6, "FROM d c"));
  }
  void expect_equal_rows(std::initializer_list<const char*> queries) {
    for (const char* sql : queries) EXPECT_EQ(query(sql), scanned(sql)) << sql;
  }

  static constexpr uint32_t kNow = 1'000;
};

constexpr std::initializer_list<const char*> kOffsets = {
    "SELECT c.id FROM c ORDER BY c.n OFFSET 4000 LIMIT 10",
    "SELECT c.id, c.a FROM c ORDER BY c.n OFFSET 4990 LIMIT 20",
    "SELECT c.id, c.n FROM c ORDER BY c.n OFFSET 450 LIMIT 100",
    "SELECT c.id FROM c ORDER BY c.n DESC OFFSET 2000 LIMIT 300",
    "SELECT c.id FROM c WHERE c.n > 100 ORDER BY c.n OFFSET 1500 LIMIT 2",
    "SELECT c.id FROM c WHERE c.a = 3 ORDER BY c.b DESC OFFSET 50 LIMIT 60",
    "SELECT c.id FROM c WHERE c.n > 100 AND c.a < 20 ORDER BY c.n OFFSET 700 LIMIT 10",
    "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 10 LIMIT 5",
    "SELECT DISTINCT c.n FROM c ORDER BY c.n OFFSET 100 LIMIT 5",
    "SELECT c.id FROM c ORDER BY c.n OFFSET 5000 LIMIT 10",
    "SELECT c.id FROM c ORDER BY c.n OFFSET 100 LIMIT 0",
};

TEST_F(IndexOrderTest, AnOffsetPassesEntriesWithoutTheirItems) {
  for (const char* order : {"c.n", "c.n DESC"}) {
    const std::string sql = fmt::format("SELECT c.id FROM c ORDER BY {} OFFSET 4000 LIMIT 10", order);
    EXPECT_THAT(analyzed(sql), HasSubstr("items read 16, rows returned 10"));
    EXPECT_THAT(analyzed(sql), Not(HasSubstr("sort")));
  }
  expect_equal_rows(kOffsets);
}

TEST_F(IndexOrderTest, AnOffsetDoesNotCountExpiredItems) {
  for (const char* name : {"c", "d"})
    EXPECT_EQ(query(fmt::format("ALTER CONTAINER {} WITH {{defaultTtl: -1}}", name)), "");
  expect_equal_rows(kOffsets);
  set_time(database_->c_handle(), kNow + 10);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c"), "2500\n");
  expect_equal_rows(kOffsets);
}

TEST_F(IndexOrderTest, AnOffsetSeesWhatIsPendingAndTheTransaction) {
  const auto change = [&](int from) {
    for (const char* name : {"c", "d"}) {
      EXPECT_EQ(query(fmt::format("DELETE FROM {} c WHERE c.id = '{:0>4}'", name, from + 1)), "");
      EXPECT_EQ(query(fmt::format("UPDATE {} c SET c.n = {} WHERE c.id = '{:0>4}'", name, from, from + 2)),
                "");
      EXPECT_EQ(query(fmt::format("INSERT INTO {} VALUES {{id: 'x{}', p: 'q', n: 50.5}}", name, from)), "");
    }
  };
  for (int from : {100, 900, 1'700}) change(from);
  expect_equal_rows(kOffsets);
  ASSERT_EQ(query("BEGIN"), "");
  for (int from : {300, 1'900}) change(from);
  expect_equal_rows(kOffsets);
  EXPECT_EQ(query("ROLLBACK"), "");
  expect_equal_rows(kOffsets);
}

// An operand that no index serves has all items read.
TEST_F(IndexOrderTest, AnOffsetHoldsWhereAllItemsAreRead) {
  for (const char* value : {"3", "[1]", "null"}) {
    const auto with = [&](std::string_view container) {
      auto statement = database_->prepare(
          fmt::format("SELECT c.id FROM {} c WHERE c.a = @a ORDER BY c.b OFFSET 50 LIMIT 5", container));
      EXPECT_TRUE(succeeds(statement));
      EXPECT_TRUE(succeeds(statement->bind("a", Json{value})));
      return rows(*statement);
    };
    EXPECT_EQ(with("c"), with("d")) << value;
  }
}

constexpr std::initializer_list<const char*> kOrders = {
    "SELECT TOP 10 c.id FROM c ORDER BY c.n, c.a",
    "SELECT TOP 600 c.id FROM c ORDER BY c.n, c.a DESC, c.p",
    "SELECT TOP 10 VALUE c.n FROM c ORDER BY c.n, c.a",
    "SELECT c.id FROM c ORDER BY c.n DESC, c.p DESC OFFSET 30 LIMIT 20",
    "SELECT TOP 30 c.id FROM c ORDER BY c.a, c.b DESC",
    "SELECT TOP 30 c.id FROM c ORDER BY c.a DESC, c.b",
    "SELECT TOP 30 c.id FROM c ORDER BY c.a, c.p, c.b",
    "SELECT TOP 30 c.id FROM c ORDER BY c.a, c.p",
    "SELECT TOP 30 c.id FROM c WHERE c.a > 7 ORDER BY c.a, c.b DESC",
    "SELECT TOP 3 c.id FROM c WHERE c.a = 7 ORDER BY c.b, c.p",
    "SELECT TOP 3 c.id FROM c WHERE c.n > 500 ORDER BY c.n DESC, c.p",
    "SELECT TOP 3 c.id FROM c WHERE c.n > 500 AND c.b < 50 ORDER BY c.n, c.p",
    "SELECT TOP 3 DISTINCT c.p FROM c WHERE c.n > 500 ORDER BY c.n, c.p",
    "SELECT TOP 0 c.id FROM c ORDER BY c.n, c.p",
};

TEST_F(IndexOrderTest, ALimitedSortEndsBehindTheValuesThatItWants) {
  const std::string by_n = "SELECT TOP 10 c.id FROM c WHERE c.n > 500 ORDER BY c.n, c.p";
  EXPECT_THAT(analyzed(by_n), HasSubstr("top-k sort by c.n, c.p, of what comes by c.n  [rows 10,"));
  EXPECT_THAT(analyzed(by_n), HasSubstr("items read 16, rows returned 10"));
  // Of the same direction, or of the other one, in the part that is sorted.
  const std::string mixed = "SELECT TOP 10 c.id FROM c ORDER BY c.a, c.b DESC";
  EXPECT_THAT(analyzed(mixed), HasSubstr("of what comes by c.a"));
  EXPECT_THAT(analyzed(mixed), HasSubstr("items read 240, rows returned 10"));
  // Rows that are equal in a and p must come in the order of their items, and not of b.
  EXPECT_THAT(analyzed("SELECT TOP 10 c.id FROM c ORDER BY c.a, c.p"), Not(HasSubstr("of what comes")));
  expect_equal_rows(kOrders);
}

TEST_F(IndexOrderTest, ALimitedSortSeesNoExpiredItemsAndTheTransaction) {
  for (const char* name : {"c", "d"})
    EXPECT_EQ(query(fmt::format("ALTER CONTAINER {} WITH {{defaultTtl: -1}}", name)), "");
  set_time(database_->c_handle(), kNow + 10);
  expect_equal_rows(kOrders);
  ASSERT_EQ(query("BEGIN"), "");
  for (const char* name : {"c", "d"}) {
    EXPECT_EQ(query(fmt::format("DELETE FROM {} c WHERE c.a < 3 AND c.b > 20", name)), "");
    EXPECT_EQ(query(fmt::format("UPDATE {} c SET c.a = 'x', c.n = 1999 WHERE c.a = 39", name)), "");
  }
  expect_equal_rows(kOrders);
  EXPECT_EQ(query("ROLLBACK"), "");
}

constexpr std::initializer_list<const char*> kJoined = {
    "SELECT TOP 10 c.id, x.b FROM c JOIN d x ON x.id = c.id AND x.p = c.p ORDER BY c.n",
    "SELECT TOP 10 c.id, x.b FROM c JOIN d x ON x.id = c.id AND x.p = c.p ORDER BY c.n DESC",
    "SELECT c.id, x.b FROM c LEFT JOIN d x ON x.id = c.id AND x.p = c.p AND x.b > 50 ORDER BY c.n OFFSET 7 "
    "LIMIT 20",
    "SELECT TOP 10 c.id, x.b FROM c JOIN d x ON x.id = c.id AND x.p = c.p ORDER BY c.n, c.b DESC",
    "SELECT TOP 20 c.id, t FROM c JOIN t IN (SELECT VALUE [c.a, c.b, c.n]) WHERE t > 30 ORDER BY c.n",
    "SELECT TOP 20 c.id, t FROM c JOIN t IN (SELECT VALUE [c.a, c.b]) ORDER BY c.a DESC, c.b DESC",
    "SELECT TOP 20 c.id, x.id AS x FROM c JOIN d x ON x.n = c.b WHERE x.a != c.a ORDER BY c.n",
    "SELECT DISTINCT TOP 20 c.n, x.p FROM c JOIN d x ON x.a = c.b ORDER BY c.n",
    "SELECT TOP 20 c.id, x.id AS x FROM c JOIN d x ON x.b = c.b JOIN d y ON y.id = x.id AND y.p = x.p WHERE "
    "y.a < 3 ORDER BY c.n",
    "SELECT TOP 5 c.id, x.id AS x FROM c JOIN (SELECT d.b, COUNT(1) AS id FROM d GROUP BY d.b) x ON x.b = "
    "c.b ORDER BY c.n",
    "SELECT TOP 5 c.id FROM c JOIN d x ON x.id = c.id AND x.p = c.p ORDER BY x.n",
    "SELECT TOP 5 c.a, COUNT(1) AS n FROM c JOIN d x ON x.id = c.id GROUP BY c.a ORDER BY c.a",
};

// What comes of an item by joins stands where the item stood.
TEST_F(IndexOrderTest, TheOrderOfTheFirstSourceIsThatOfItsJoins) {
  const std::string newest =
      "SELECT TOP 10 c.id, x.b FROM c JOIN d x ON x.id = c.id AND x.p = c.p ORDER BY c.n DESC";
  EXPECT_THAT(analyzed(newest), HasSubstr("items read 20, rows returned 10"));
  EXPECT_THAT(analyzed("SELECT TOP 5 c.id FROM c JOIN d x ON x.id = c.id AND x.p = c.p ORDER BY x.n"),
              HasSubstr("sort"));
  expect_equal_rows(kJoined);
  ASSERT_EQ(query("BEGIN"), "");
  for (const char* name : {"c", "d"}) {
    EXPECT_EQ(query(fmt::format("DELETE FROM {} c WHERE c.a < 3 AND c.b > 20", name)), "");
    EXPECT_EQ(query(fmt::format("UPDATE {} c SET c.a = 'x', c.n = 1999 WHERE c.a = 39", name)), "");
  }
  expect_equal_rows(kJoined);
  EXPECT_EQ(query("ROLLBACK"), "");
}

// So is the order of the ids within a partition.
TEST_F(IndexOrderTest, TheOrderOfIdsIsThatOfTheirJoins) {
  for (const char* joined :
       {"JOIN t IN (SELECT VALUE [c.a, c.b])", "JOIN d t ON t.n = c.n", "JOIN d t ON t.p = 'p4'"}) {
    const auto sql = [&](std::string_view order) {
      return fmt::format("SELECT TOP 30 c.id, t FROM c {} WHERE c.p = 'p3' AND c.id > '1' ORDER BY {} DESC",
                         joined, order);
    };
    EXPECT_THAT(analyzed(sql("c.id")), Not(HasSubstr("sort"))) << joined;
    EXPECT_EQ(query(sql("c.id")), query(sql("CONCAT(c.id, '')"))) << joined;
  }
}

// Most items have one value: reading it by the index would take longer than reading all.
TEST_F(IndexOrderTest, ALimitedSortOfOneFrequentValueReadsAll) {
  for (const char* name : {"c", "d"})
    EXPECT_EQ(query(fmt::format("UPDATE {} c SET c.n = 1 WHERE c.a > 1", name)), "");
  EXPECT_THAT(analyzed("SELECT TOP 10 c.id FROM c WHERE IS_DEFINED(c.n) ORDER BY c.n, c.p"),
              Not(HasSubstr("of what comes")));
  expect_equal_rows(kOrders);
}

// DISTINCT leaves one of the rows that are equal to ORDER BY, where these are equal: then further parts of an
// index do not matter, and all but some of the entries of a value are hopped over.
TEST_F(IndexOrderTest, DistinctRowsComeByTheFirstPartsOfAnIndex) {
  for (const char* order : {"c.a", "c.a DESC"}) {
    const std::string sql = fmt::format("SELECT DISTINCT c.a FROM c ORDER BY {}", order);
    EXPECT_THAT(analyzed(sql), HasSubstr("index-only scan"));
    EXPECT_THAT(analyzed(sql), Not(HasSubstr("sort")));
    EXPECT_EQ(query(sql), scanned(sql));
  }
  for (const char* sql :
       {"SELECT DISTINCT c.a, c.b FROM c ORDER BY c.a", "SELECT DISTINCT c.b FROM c ORDER BY c.a",
        "SELECT DISTINCT c.p FROM c ORDER BY c.a DESC"}) {
    EXPECT_THAT(analyzed(sql), HasSubstr("sort by"));
    EXPECT_EQ(query(sql), scanned(sql)) << sql;
  }
  expect_equal_rows({"SELECT DISTINCT VALUE c.a FROM c WHERE c.a > 7 ORDER BY c.a DESC OFFSET 3 LIMIT 20",
                     "SELECT DISTINCT VALUE c.a % 3 FROM c ORDER BY c.a",
                     "SELECT DISTINCT c.a FROM c WHERE c.b > 50 ORDER BY c.a",
                     "SELECT DISTINCT c.a, c.b FROM c ORDER BY c.a DESC, c.b DESC"});
}

TEST_F(IndexOrderTest, AnOrderByNothingOfTheItemSortsEntriesAlone) {
  const auto queries = {
      "SELECT VALUE 7 FROM c WHERE c.n > 1900 ORDER BY 'a'",
      "SELECT VALUE {} FROM c WHERE c.n > 1900 ORDER BY {} DESC",
      "SELECT DISTINCT VALUE 7 FROM c WHERE c.n > 1900 ORDER BY [1], 'a' OFFSET 0 LIMIT 5",
  };
  for (const char* sql : queries) {
    EXPECT_THAT(analyzed(sql), HasSubstr("index-only scan"));
    EXPECT_THAT(analyzed(sql), HasSubstr("sort"));
  }
  expect_equal_rows(queries);
}

TEST_F(IndexOrderTest, DistinctRowsThatAreNoFunctionOfTheirValuesAreAllMade) {
  EXPECT_EQ(query("CREATE INDEX ON c (a)"), "");
  const auto count = [&](std::string_view sql) { return std::ranges::count(query(sql), '\n'); };
  EXPECT_EQ(count("SELECT DISTINCT VALUE [c.a, RAND()] FROM c ORDER BY c.a"), 5'000);
  EXPECT_EQ(query("SELECT VALUE COUNT(DISTINCT [c.a, RAND()]) FROM c WHERE c.a >= 0"), "5000\n");
}

// Their keys are cut in the entries, whose order is not that of the items then.
TEST_F(IndexOrderTest, ItemsOfLongIdsComeAsAScanGivesThem) {
  const std::string first_half(500, 'k');
  auto planned_before = database_->prepare("SELECT VALUE c.id FROM c WHERE c.n = 1");
  for (const char* name : {"c", "d"})
    for (int i = 0; i < 60; ++i)
      ASSERT_TRUE(succeeds(database_->container(name)->create(
          fmt::format(R"({{"id":"{}{}","p":"q","a":{},"b":1,"n":{}}})", first_half, i, i % 3, i % 3))));
  EXPECT_THAT(query("CHECK c"), HasSubstr("\"findings\":0"));
  const auto expect_pages = [&](const std::string& sql) {
    std::string pages;
    for (int i = 0; i < 60; i += 10) pages += query(fmt::format("{} OFFSET {} LIMIT 10", sql, i));
    EXPECT_EQ(pages, query(sql + " OFFSET 0 LIMIT 60"));
  };
  const std::string of_partition = "SELECT VALUE RIGHT(c.id, 2) FROM c WHERE c.p = 'q'";
  expect_pages(of_partition + " ORDER BY c.n");
  expect_pages(of_partition + " ORDER BY c.a DESC, c.b DESC");
  expect_equal_rows({"SELECT c.id FROM c WHERE c.n = 1", "SELECT c.id FROM c WHERE c.a = 1 AND c.b = 1",
                     "SELECT c.id FROM c WHERE c.n IN (0, 2)",
                     "SELECT c.id FROM c WHERE c.n < 3 ORDER BY c.n"});
  EXPECT_EQ(rows(std::move(planned_before)), scanned("SELECT VALUE c.id FROM c WHERE c.n = 1"));
  for (const char* name : {"c", "d"}) {
    EXPECT_EQ(query(fmt::format("DELETE FROM {} x WHERE x.p = 'q'", name)), "");
    EXPECT_THAT(query(fmt::format("CHECK {}", name)), HasSubstr("\"findings\":0"));
  }
  EXPECT_THAT(analyzed("SELECT c.id FROM c ORDER BY c.n OFFSET 10 LIMIT 10"), Not(HasSubstr("sort")));
}

// Pages that go on behind the last row of the one before, as is written without row values.
TEST_F(IndexOrderTest, APageBeginsAtTheKeyThatAllArmsOfAnOrName) {
  const std::string page =
      "SELECT TOP 5 c.id FROM c WHERE c.a > 30 OR (c.a = 30 AND c.b > 60) ORDER BY c.a, c.b";
  const std::string plan = query("EXPLAIN " + page);
  EXPECT_THAT(plan, HasSubstr("in order"));
  EXPECT_THAT(plan, Not(HasSubstr("sort")));
  EXPECT_EQ(query(page), scanned(page));
  EXPECT_THAT(query("EXPLAIN SELECT * FROM c WHERE c.n < 3 OR (c.n = 3 AND c.a < 5)"),
              HasSubstr("index scan of container c"));
  // Equal to an array is more than to be compared with it.
  EXPECT_EQ(query("INSERT INTO c VALUES {'id': 'x', 'p': 1, 'n': [1], 'a': 1}"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.n > [1] OR (c.n = [1] AND c.a = 1)"), "\"x\"\n");
}

}  // namespace
}  // namespace quire::tests
