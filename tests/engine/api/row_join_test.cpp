// Joins by conditions that are no equality: where the right side has an index over what they compare, it is
// asked for each row of the left one, and the rows are those of all pairs that pass.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class RowJoinTest : public DatabaseTest {
 protected:
  RowJoinTest() {
    make("points", "/k");
    make("spans");
    std::string items;
    for (int i = 0; i < 3000; ++i)
      items += fmt::format(R"({{"id":"{}","k":"p{}","at":{},"c":{},"tags":["a{}","b{}"]}})"
                           "\n",
                           i, i % 7, at(i), i % 10, i % 3, i % 5);
    std::istringstream input(items);
    EXPECT_TRUE(succeeds(database_->container("points")->import(input)));
    EXPECT_EQ(query("CREATE INDEX by_at ON points (at)"), "");
    constexpr const char* kSpans[] = {"10, 20",     "20, 10",  "-5, 3",        "2990, 5000",  "'a', 'm'",
                                      "null, null", "true, 7", "[1], [3]",     "{}, {x: 1}",  "1.5, 'z'",
                                      "'', 'n7'",   "7, 7",    "2e300, 3e300", "'n3', 'n3z'", "false, true"};
    int number = 0;
    for (const char* const span : kSpans) {
      const std::string_view both = span;
      const size_t comma = both.find(", ");
      EXPECT_EQ(query(fmt::format("INSERT INTO spans VALUES {{id: 's{}', lo: {}, hi: {}, n: {}}}", number,
                                  both.substr(0, comma), both.substr(comma + 2), number % 4)),
                "");
      ++number;
    }
    EXPECT_EQ(query("INSERT INTO spans VALUES {id: 'none'}"), "");
  }

  // Mostly numbers; some of every other type, and some items without.
  static std::string at(int i) {
    switch (i % 20) {
      case 7:
        return fmt::format(R"("n{}")", i % 50);
      case 9:
        return i % 3 == 0 ? "null" : i % 3 == 1 ? "true" : "false";
      case 11:
        return fmt::format("[{}]", i % 4);
      case 13:
        return fmt::format(R"({{"x":{}}})", i % 3);
      default:
        return fmt::format("{}", i);
    }
  }

  // `on` with x.at for what is compared, and the same in words that no index serves.
  void expect_rows_of_all_pairs(const std::string& select, const std::string& on, bool is_by_row = true) {
    const auto sql = [&](std::string_view compared) {
      std::string text = on;
      for (size_t at = text.find("x.at"); at != std::string::npos;
           at = text.find("x.at", at + compared.size()))
        text.replace(at, 4, compared);
      return select + text;
    };
    const std::string fast = sql("x.at"), slow = sql("(x.at ?? x.none)");
    const auto by_row = HasSubstr("lookup join, row by row");
    if (is_by_row)
      EXPECT_THAT(query("EXPLAIN " + fast), by_row) << fast;
    else
      EXPECT_THAT(query("EXPLAIN " + fast), Not(by_row)) << fast;
    EXPECT_THAT(query("EXPLAIN " + slow), Not(by_row)) << slow;
    const std::string rows = query(fast);
    EXPECT_EQ(rows, query(slow)) << fast;
    EXPECT_THAT(rows, HasSubstr("\n")) << fast;
  }
};

constexpr const char* kConditions[] = {"x.at >= s.lo AND x.at < s.hi", "x.at BETWEEN s.lo AND s.hi",
                                       "x.at > s.lo AND x.at <= s.hi AND x.id != '12'",
                                       "s.hi > x.at AND s.lo <= x.at AND s.n < 3"};

TEST_F(RowJoinTest, ReadsWhatEachRowAsksFor) {
  for (const std::string condition : kConditions) {
    expect_rows_of_all_pairs("SELECT s.id AS s, x.id, x.at FROM spans s JOIN points x ON ", condition);
    expect_rows_of_all_pairs("SELECT s.id AS s, x.id, x.at FROM spans s JOIN points x WHERE ", condition);
    expect_rows_of_all_pairs("SELECT s.id AS s, x.id, x.at FROM spans s LEFT JOIN points x ON ", condition);
  }
  expect_rows_of_all_pairs("SELECT s.id, COUNT(1) AS n FROM spans s JOIN points x WHERE ",
                           "x.at >= s.lo AND x.at < s.hi GROUP BY s.id");
  expect_rows_of_all_pairs("SELECT TOP 7 s.id AS s, x.id, x.at FROM spans s JOIN points x WHERE ",
                           "x.at >= s.lo AND x.at < s.hi ORDER BY x.id DESC, s.id");
}

// Each partner once, in the order of all pairs, whichever arms lead to it.
TEST_F(RowJoinTest, ReadsWhatEachArmOfAnOrAsksFor) {
  EXPECT_EQ(query("CREATE INDEX by_tag ON points (tags)"), "");
  for (const std::string condition :
       {"x.at = s.lo OR x.at = s.hi", "x.at IN (s.lo, s.hi, s.lo, s.none)",
        "(x.at = s.lo AND s.n < 3) OR (x.at = s.hi AND x.k != 'p1')", "x.at = s.hi OR x.tags = ['a1', 'b1']",
        "x.at = s.lo OR x.at > s.lo AND x.at <= s.hi", "(x.at = s.lo OR x.at = s.n) AND x.k < s.id"}) {
    expect_rows_of_all_pairs("SELECT s.id AS s, x.id, x.at FROM spans s JOIN points x ON ", condition);
    expect_rows_of_all_pairs("SELECT s.id AS s, x.id, x.at FROM spans s JOIN points x WHERE ", condition);
    expect_rows_of_all_pairs("SELECT s.id AS s, x.id, x.at FROM spans s LEFT JOIN points x ON ", condition);
  }
  expect_rows_of_all_pairs(
      "SELECT s.id AS s, x.id FROM points s JOIN points x ON x.id != s.id AND ",
      "(x.at = s.at OR x.at = s.tags[0] OR x.at = 7) WHERE s.id > '29' AND s.id < '2990'");
  expect_rows_of_all_pairs("SELECT o.id, ARRAY(SELECT VALUE x.id FROM spans s JOIN points x ON ",
                           "x.at = s.lo OR x.at = o.hi) AS ids FROM spans o");
}

// An index leads to the items of a constant, and another to fewer of them for each row.
TEST_F(RowJoinTest, TakesAnotherIndexThanThatOfAConstant) {
  EXPECT_EQ(query("CREATE INDEX by_c ON points (c)"), "");
  EXPECT_THAT(query("EXPLAIN SELECT * FROM points x WHERE x.c = 3"), HasSubstr("by by_c"));
  for (const std::string join : {"JOIN", "LEFT JOIN"}) {
    const std::string select = "SELECT s.id AS s, x.id, x.c FROM spans s " + join + " points x ON ";
    expect_rows_of_all_pairs(select, "x.c = 3 AND (x.at = s.lo OR x.at = s.n OR x.at = 23)");
    expect_rows_of_all_pairs(select, "x.c = 3 AND x.at IN (s.lo, s.hi, 23)");
    expect_rows_of_all_pairs(select, "(x.c = 3 AND x.at = 23) OR (x.c = 3 AND x.at = s.hi)");
  }
}

// An arm that no index serves may be true of any item.
TEST_F(RowJoinTest, ComparesAllPairsWhereAnArmLeadsNowhere) {
  for (const char* const condition : {"x.at = s.lo OR x.k = s.id", "x.at = s.lo OR s.n = 1",
                                      "x.at = s.lo OR (x.id != s.id AND x.at != s.hi)"})
    expect_rows_of_all_pairs("SELECT s.id AS s, x.id FROM spans s JOIN points x ON ", condition, false);
}

// A row's partners fill more than a batch.
TEST_F(RowJoinTest, GivesManyPartnersOfARow) {
  EXPECT_EQ(query("INSERT INTO spans VALUES {id: 'wide', lo: -1, hi: 1e9, n: 1}"), "");
  for (const char* const join : {"JOIN", "LEFT JOIN"})
    expect_rows_of_all_pairs(fmt::format("SELECT s.id AS s, x.id, s.hi FROM spans s {} points x ON ", join),
                             "x.at >= s.lo AND x.at < s.hi");
}

TEST_F(RowJoinTest, StandsAmongOtherSources) {
  expect_rows_of_all_pairs("SELECT s.id AS s, x.id, t FROM spans s JOIN points x JOIN t IN x.tags WHERE ",
                           "x.at >= s.lo AND x.at < s.hi AND t != 'a1'");
  expect_rows_of_all_pairs(
      "SELECT s.id AS s, x.id, o.n FROM spans s JOIN points x JOIN spans o ON o.n = s.n WHERE ",
      "x.at > s.lo AND x.at < s.hi");
  // Anew for each row of the query around it, and left halfway.
  expect_rows_of_all_pairs(
      "SELECT VALUE o.id FROM spans o WHERE EXISTS(SELECT 1 FROM s IN (SELECT VALUE [o, "
      "{lo: 3, hi: o.hi}]) JOIN points x ON ",
      "x.at >= s.lo AND x.at < s.hi)");
  expect_rows_of_all_pairs("SELECT o.id, ARRAY(SELECT VALUE x.id FROM spans s JOIN points x ON ",
                           "x.at >= s.lo AND x.at < s.hi AND s.n = o.n) AS ids FROM spans o");
}

// Where all pairs are less work.
TEST_F(RowJoinTest, ComparesAllPairsWhereThatIsLess) {
  EXPECT_EQ(query("DELETE FROM points WHERE points.k != 'p1' OR points.id > '19'"), "");
  expect_rows_of_all_pairs("SELECT s.id AS s, x.id FROM spans s JOIN points x ON ",
                           "x.at >= s.lo AND x.at < s.hi", false);
}

// What the right side of a row fails with, or is asked to end by, ends the join.
TEST_F(RowJoinTest, EndsWhereTheRightSideEnds) {
  EXPECT_EQ(query("UPDATE points SET points.n = 1"), "");
  EXPECT_EQ(query("PRAGMA statement_time = 1"), "1\n");
  for (const char* const join : {"JOIN", "LEFT JOIN"})
    EXPECT_THAT(
        query(fmt::format("SELECT VALUE COUNT(x.n) FROM points p {} points x ON x.at >= p.at AND x.at < "
                          "p.at + 900",
                          join)),
        HasSubstr("timeout"));
}

// Without room for the keys that a row leads to, no row reads all points in their place.
TEST_F(RowJoinTest, DoesNotReadAllPairsForWantOfMemory) {
  constexpr const char* kByRow =
      "SELECT VALUE COUNT(1) FROM points p JOIN points x ON x.at >= p.at AND x.at < p.at + 3";
  constexpr const char* kBySubquery =
      "SELECT VALUE SUM(n) FROM points p JOIN (SELECT VALUE COUNT(x.k) FROM points x WHERE x.at >= p.at AND "
      "x.at < p.at + 3) n";
  EXPECT_EQ(query("PRAGMA statement_memory = 30000"), "30000\n");
  for (const char* const sql : {kByRow, kBySubquery})
    EXPECT_THAT(query(sql), HasSubstr("out_of_memory: the keys of the items")) << sql;
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM points x WHERE x.at >= 100 AND x.at < 103"), "3\n")
      << "read once, all of them take no memory";
  EXPECT_EQ(query("PRAGMA statement_memory = 1000000"), "1000000\n");
  EXPECT_EQ(query(kByRow), "6447\n");
  EXPECT_EQ(query(kBySubquery), "6447\n");
}

TEST_F(RowJoinTest, SeesWhatATransactionHasDone) {
  auto statement = database_->prepare(
      "SELECT VALUE x.id FROM spans s JOIN points x ON x.at > s.lo AND x.at < s.hi WHERE s.n = 9");
  ASSERT_TRUE(succeeds(statement));
  EXPECT_EQ(rows(*statement), "");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO spans VALUES {id: 'new', lo: 8000, hi: 9000, n: 9}"), "");
  EXPECT_EQ(query("INSERT INTO points VALUES {id: 'new', k: 'new', at: 8500}"), "");
  statement->reset();
  EXPECT_EQ(rows(*statement), "\"new\"\n");
  EXPECT_EQ(query("ROLLBACK"), "");
  statement->reset();
  EXPECT_EQ(rows(*statement), "");
}

}  // namespace
}  // namespace quire::tests
