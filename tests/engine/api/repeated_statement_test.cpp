// Statements that are run again and again, beside new ones: what a run leaves behind must not show in the
// next.
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

class RepeatedStatementTest : public DatabaseTest {
 protected:
  // Many with the same number and with long texts that begin alike, in two partitions, with indexes over
  // both.
  void fill() {
    Container container = make("c", "/p");
    std::string lines;
    for (int i = 0; i < 400; ++i)
      lines += fmt::format(R"({{"id":"{}","p":{},"a":{},"s":"{}"}})", i, i % 2, i % 37, text(i % 11)) + '\n';
    std::istringstream input(lines);
    ASSERT_TRUE(succeeds(container.import(input)));
    ASSERT_EQ(query("CREATE INDEX by_a ON c (a)"), "");
    ASSERT_EQ(query("CREATE INDEX by_s ON c (s)"), "");
  }
  // Every second is too long for the key of an entry.
  static std::string text(int number) {
    return std::string(number % 2 == 0 ? 300 : 3, 'x') + std::to_string(number);
  }

  std::string any_value() {
    switch (random_() % 9) {
      case 0:
        return "null";
      case 1:
        return "[1]";
      case 8:
        return numbers(20);
      case 2:
        return "\"x\"";
      case 3:
      case 4:
        return '"' + text(static_cast<int>(random_() % 12)) + '"';
      default:
        return std::to_string(random_() % 40);
    }
  }
  static std::string numbers(size_t count) {
    std::string text = "[0";
    for (size_t i = 1; i < count; ++i) text += fmt::format(",{}", i);
    return text + "]";
  }
  // The rows, `most` at most; then it is left where it is.
  static std::string rows(Statement& statement, size_t most) {
    std::string text;
    for (size_t i = 0; i < most; ++i) {
      const auto row = statement.step();
      EXPECT_TRUE(succeeds(row));
      if (!row || !*row) break;
      text += std::string(statement.row_json().value()) + ' ';
    }
    return text;
  }
  static void bind(Statement& statement, const std::string& x, const std::string& p) {
    ASSERT_TRUE(succeeds(statement.bind("x", Json{x})));
    ASSERT_TRUE(succeeds(statement.bind("p", Json{p})));
  }

  std::mt19937_64 random_{11};
};

TEST_F(RepeatedStatementTest, FindsWhatANewOneFinds) {
  fill();
  const std::vector<std::string> texts{
      "SELECT VALUE c.id FROM c WHERE c.a = @x OR @p = 7",
      "SELECT VALUE c.id FROM c WHERE c.a = @x AND @p != 7",
      "SELECT VALUE c.id FROM c WHERE c.a = @x AND c.p = @p",
      "SELECT VALUE c.id FROM c WHERE c.s = @x AND @p != 7",
      "SELECT VALUE c.id FROM c WHERE c.s >= @x AND c.p = @p",
      "SELECT VALUE c.id FROM c WHERE c.a >= @x AND c.p = @p ORDER BY c.a OFFSET 0 LIMIT 20",
      "SELECT VALUE c.id FROM c WHERE c.a <= @x AND @p != 7 ORDER BY c.a DESC OFFSET 0 LIMIT 20",
      "SELECT VALUE c.s FROM c WHERE c.s <= @x AND @p != 7 ORDER BY c.s DESC",
      "SELECT VALUE c.a FROM c WHERE c.a > @x AND @p != 7",
      "SELECT VALUE MAX(c.a) FROM c WHERE c.a < @x AND @p != 7",
      "SELECT VALUE COUNT(1) FROM c WHERE c.a IN (@x, 5, 6) AND @p != 7",
      "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(@x, c.a % 37) AND @p != 7",
      "SELECT VALUE {low: MIN(c.a), high: MAX(c.a)} FROM c WHERE @p != 7 AND @x = @x",
  };
  for (const std::string& text : texts) {
    auto repeated = database_->prepare(text);
    ASSERT_TRUE(succeeds(repeated)) << text;
    for (int run = 0; run < 60; ++run) {
      const std::string x = any_value(), p = std::to_string(random_() % 2);
      const size_t most = random_() % 3 == 0 ? random_() % 5 : 1000;
      auto once = database_->prepare(text);
      ASSERT_TRUE(succeeds(once));
      bind(*once, x, p);
      repeated->reset();
      bind(*repeated, x, p);
      ASSERT_EQ(rows(*repeated, most), rows(*once, most)) << text << ' ' << x << ' ' << p;
      if (random_() % 16 == 0) {
        ASSERT_EQ(query("UPDATE c SET c.a = (c.a + 1) % 37 WHERE c.id = '7'"), "");
      }
    }
  }
}

// Of a long array a table is made, which takes memory: to compare its elements with each item would take
// time.
TEST_F(RepeatedStatementTest, ALongArrayBehindAShortOneIsLookedUpAsANewStatementDoes) {
  fill();
  ASSERT_EQ(query("PRAGMA statement_memory = 20000"), "20000\n");
  auto statement = database_->prepare("SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(@list, c.a % 37)");
  ASSERT_TRUE(succeeds(statement));
  for (const size_t count : {2, 5000, 2}) {
    ASSERT_TRUE(succeeds(statement->bind("list", Json{numbers(count)})));
    const std::string given = DatabaseTest::rows(*statement);
    if (count == 2)
      EXPECT_EQ(given, "22\n");
    else
      EXPECT_THAT(given, testing::StartsWith("out_of_memory"));
    statement->reset();
  }
}

// A plan names indexes by numbers, and after a rollback other paths may have these.
TEST_F(RepeatedStatementTest, AStatementThatRanInATransactionIsPlannedAnewAfterItsRollback) {
  ASSERT_TRUE(succeeds(
      database_->create_container(R"({"id": "c", "indexingPolicy": {"includedPaths": [{"path": "/*"}]}})")));
  Container container = std::move(database_->container("c").value());
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += fmt::format(R"({{"id":"x{}"}})", i) + '\n';
  std::istringstream input(lines);
  ASSERT_TRUE(succeeds(container.import(input)));
  auto repeated = database_->prepare("SELECT VALUE c.id FROM c WHERE c.a = 1");
  ASSERT_TRUE(succeeds(repeated));

  ASSERT_EQ(query("BEGIN"), "");
  ASSERT_TRUE(succeeds(container.create(R"({"id":"undone","a":1,"b":2})")));
  EXPECT_EQ(DatabaseTest::rows(*repeated), "\"undone\"\n");
  ASSERT_EQ(query("ROLLBACK"), "");
  ASSERT_TRUE(succeeds(container.create(R"({"id":"1","b":1,"a":2})")));
  ASSERT_TRUE(succeeds(container.create(R"({"id":"2","b":2,"a":1})")));
  repeated->reset();
  EXPECT_EQ(DatabaseTest::rows(*repeated), "\"2\"\n");
}

// Prepared when there was nothing to look up.
TEST_F(RepeatedStatementTest, AStatementIsPlannedAnewOnceThereAreManyMoreItems) {
  make("c", "/p");
  Container container = std::move(database_->container("c").value());
  ASSERT_EQ(query("CREATE INDEX n ON c (n)"), "");
  auto repeated = database_->prepare("SELECT VALUE c.id FROM c WHERE c.n = @n");
  ASSERT_TRUE(succeeds(repeated) && succeeds(repeated->bind("n", 7)));
  const auto items_read = [&](const std::string& expected) {
    EXPECT_EQ(DatabaseTest::rows(*repeated), expected);
    const uint64_t read = repeated->stats().items_read;
    repeated->reset();
    return read;
  };
  EXPECT_EQ(items_read(""), 0u);
  const auto add = [&](int from, int count) {
    for (int i = from; i < from + count; ++i)
      ASSERT_TRUE(succeeds(container.create(fmt::format(R"({{"id":"{0}","p":1,"n":{0}}})", i))));
  };
  add(0, 300);
  EXPECT_EQ(items_read("\"7\"\n"), 1u);

  // Within a transaction, too, of whose items nobody else knows yet.
  ASSERT_EQ(query("DELETE FROM c"), "");
  EXPECT_EQ(items_read(""), 0u);
  ASSERT_EQ(query("BEGIN"), "");
  add(0, 300);
  EXPECT_EQ(items_read("\"7\"\n"), 1u);
  ASSERT_EQ(query("COMMIT"), "");
}

}  // namespace
}  // namespace quire::tests
