// What decides between an index and a way without: the values of parameters, in each run, and how many
// partitions are asked for.
#include <fmt/format.h>

#include <initializer_list>

#include "tests/engine/api/index_choice_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

// What a parameter asks for decides, in each run, whether an index leads to few items.
TEST_F(IndexChoiceTest, TheValuesOfParametersDecideWhetherAnIndexIsUsed) {
  constexpr uint64_t kAll = 20'000;
  struct Run {
    std::string_view value;
    uint64_t items_read;
  };
  const auto expect_runs = [&](std::string sql, std::initializer_list<Run> runs) {
    auto statement = database_->prepare(sql);
    auto scanned = database_->prepare(sql.replace(sql.find("FROM c"), 6, "FROM d c"));
    ASSERT_TRUE(succeeds(statement) && succeeds(scanned));
    for (const auto& [value, items_read] : runs) {
      for (auto* const run : {&*statement, &*scanned})
        ASSERT_TRUE(succeeds(run->bind("x", Json{std::string(value)})));
      EXPECT_EQ(rows(*statement), rows(*scanned)) << sql << ' ' << value;
      EXPECT_EQ(statement->stats().items_read, items_read) << sql << ' ' << value;
      statement->reset();
      scanned->reset();
    }
  };
  expect_runs("SELECT VALUE c.id FROM c WHERE c.text > @x",
              {{R"("019989")", 10}, {R"("000010")", kAll}, {R"("zzz")", 0}, {"5", 0}, {R"("019899")", 100}});
  expect_runs("SELECT VALUE c.id FROM c WHERE c.text >= @x AND c.text < '010000'",
              {{R"("009990")", 10}, {R"("000000")", kAll}, {R"("011111")", 0}});
  expect_runs("SELECT VALUE c.id FROM c WHERE STARTSWITH(c.text, @x) AND c.a < 90",
              {{R"("00123")", 10}, {R"("01")", kAll}, {R"("x")", 0}});
  expect_runs("SELECT VALUE c.id FROM c WHERE c.text LIKE @x", {{R"("00123%")", 10},
                                                                {R"("%123_")", kAll},
                                                                {R"("00012_")", 10},
                                                                {R"("0012_5")", 100},
                                                                {R"("x%")", 0},
                                                                {"5", 0}});
  // One value in nine of ten items: as samples tell of an index, and as ANALYZE does.
  for (const char* name : {"c", "d"})
    ASSERT_EQ(query(fmt::format("UPDATE {} u SET u.few = IIF(u.few > 0, 'most', u.few)", name)), "");
  ASSERT_EQ(query("DROP INDEX few ON c"), "");
  ASSERT_EQ(query("CREATE INDEX few ON c (few)"), "");
  for (const std::string_view analyze : {"PRAGMA threads", "ANALYZE"}) {
    (void)query(analyze);
    expect_runs("SELECT VALUE c.id FROM c WHERE c.few = @x",
                {{R"("most")", kAll}, {"0", 2'000}, {R"("none")", 0}, {R"("most")", kAll}});
  }
  // An order is followed for a frequent value; of a rare one the items are sorted.
  expect_runs("SELECT TOP 3 VALUE c.id FROM c WHERE c.few = @x ORDER BY c.text",
              {{R"("none")", 0}, {R"("most")", 9}, {R"("none")", 0}});
  EXPECT_THAT(plan("SELECT VALUE c.id FROM c WHERE c.text > @x"),
              HasSubstr("entries of text another plan is taken"));
  EXPECT_THAT(plan("SELECT TOP 3 VALUE c.id FROM c WHERE c.text > @x ORDER BY c.text"),
              Not(HasSubstr("another plan")));
  EXPECT_THAT(plan("SELECT VALUE c.id FROM c WHERE c.text = @x"), Not(HasSubstr("another plan")));
}

// Of several partitions each is read whole only where no index leads to fewer items.
TEST_F(IndexChoiceTest, SeveralPartitionsAreAConditionWhereAnIndexLeadsToFewItems) {
  for (const std::string_view condition :
       {"(c.p = 'p1' AND c.text = '000007') OR (c.p = 'p2' AND c.text = '000008')",
        "(c.p = 'p1' OR c.p = 'p2') AND c.text LIKE '00010%'",
        "c.p IN ('p1', 'p2') AND c.text LIKE '00010%'"}) {
    const std::string sql = fmt::format("SELECT VALUE c.id FROM c WHERE {}", condition);
    EXPECT_THAT(plan(sql), HasSubstr("by text")) << condition;
    EXPECT_EQ(query(sql), scanned(sql)) << condition;
  }
  const std::string first = "SELECT TOP 10 VALUE c.id FROM c WHERE c.p = 'p1' OR c.p = 'p2' ORDER BY c.text";
  EXPECT_THAT(plan(first), HasSubstr("by text, in order"));
  EXPECT_EQ(query(first), scanned(first));
  const std::string whole = "SELECT VALUE c.id FROM c WHERE (c.p = 'p1' OR c.p = 'p2') AND c.b > 0";
  EXPECT_THAT(plan(whole), HasSubstr("several partitions"));
  EXPECT_EQ(query(whole), scanned(whole));
}

// An index that begins with the partition key leads to as many items as the partition has, however far its
// entries are counted.
TEST_F(IndexChoiceTest, APartitionIsAsLargeByAnIndexAsByItself) {
  make("o", "/cust");
  std::string lines;
  for (int i = 0; i < 5'000; ++i)
    lines +=
        fmt::format(R"({{"id":"{}","cust":{},"date":{},"total":{}}})", i, i < 1'000 ? 0 : i, i % 7, i) + "\n";
  std::istringstream input(lines);
  ASSERT_TRUE(succeeds(database_->container("o")->import(input)));
  ASSERT_EQ(query("CREATE INDEX cd ON o (cust, date)"), "");
  EXPECT_THAT(plan("SELECT VALUE SUM(x.total) FROM o x WHERE x.cust = 0"), HasSubstr("partition scan"));
  EXPECT_THAT(plan("SELECT TOP 10 VALUE x.id FROM o x WHERE x.cust = 0 ORDER BY x.id"), HasSubstr("by id"));
  EXPECT_THAT(plan("SELECT VALUE COUNT(1) FROM o x WHERE x.cust = 0 AND x.date = 3"), HasSubstr("by cd"));
  EXPECT_EQ(query("SELECT VALUE SUM(x.total) FROM o x WHERE x.cust = 0"), "499500\n");
}

// What leads to an item by one of its elements leaves the rest to be looked at, of that element.
TEST_F(IndexChoiceTest, AnElementThatIsFoundHasToMeetAllConditions) {
  for (const char* const name : {"e", "f"}) {
    make(name, "/p");
    std::string lines;
    for (int i = 0; i < 1'000; ++i)
      lines += fmt::format(R"({{"id":"{0}","p":{0},"tags":["t{0}","u{1}"]}})", i, i * 7 % 1'000) + "\n";
    std::istringstream input(lines);
    ASSERT_TRUE(succeeds(database_->container(name)->import(input)));
  }
  ASSERT_EQ(query("CREATE INDEX tags ON e (tags[])"), "");
  for (const std::string_view condition :
       {"t LIKE 't12%'", "t LIKE 't12%' AND t != 't12'", "t LIKE 't12%' AND t LIKE '%5'",
        "t LIKE 't12%' AND t = 'u7'", "t > 't12' AND t < 't13' AND LENGTH(t) = 3",
        "STARTSWITH(t, 't12') AND ENDSWITH(t, '5')"}) {
    const auto by = [&](std::string_view name) {
      return query(fmt::format("SELECT VALUE c.id FROM {} c WHERE EXISTS(SELECT 1 FROM t IN c.tags WHERE {})",
                               name, condition));
    };
    EXPECT_EQ(by("e"), by("f")) << condition;
    EXPECT_THAT(query(fmt::format(
                    "EXPLAIN SELECT 1 FROM e c WHERE EXISTS(SELECT 1 FROM t IN c.tags WHERE {})", condition)),
                HasSubstr("by tags"));
  }
}

// Of several conditions on elements, and of several keys of a join, the rarest value leads, not the first.
TEST_F(IndexChoiceTest, TheRarestValueLeads) {
  make("e", "/p");
  std::string lines;
  for (int i = 0; i < 3'000; ++i)
    lines +=
        fmt::format(R"({{"id":"{}","p":{},"kind":{},"number":{},"tags":["x","{}"]}})", i, i, i % 3, i, i) +
        "\n";
  std::istringstream input(lines);
  ASSERT_TRUE(succeeds(database_->container("e")->import(input)));
  for (const std::string_view index : {"tags ON e (tags[])", "kind ON e (kind)", "number ON e (number)"})
    ASSERT_EQ(query(fmt::format("CREATE INDEX {}", index)), "");
  for (const std::string_view condition : {"ARRAY_CONTAINS(e.tags, 'x') AND ARRAY_CONTAINS(e.tags, '7')",
                                           "EXISTS(SELECT 1 FROM t IN e.tags WHERE t = 'x') AND "
                                           "EXISTS(SELECT 1 FROM t IN e.tags WHERE t = '7')"}) {
    const std::string sql = fmt::format("SELECT VALUE e.id FROM e WHERE {}", condition);
    EXPECT_THAT(plan(sql), HasSubstr("'7')), about 1 entries")) << plan(sql);
    EXPECT_EQ(query(sql), "\"7\"\n");
  }
  for (const std::string_view sql :
       {"SELECT VALUE e.id FROM e JOIN t IN e.tags WHERE t = '5' OR t = '6' OR t IN ('7')",
        "SELECT VALUE e.id FROM e WHERE EXISTS(SELECT 1 FROM t IN e.tags WHERE t = '5' OR '6' = t OR t IN "
        "('7'))"}) {
    EXPECT_THAT(plan(sql), HasSubstr("container e by tags")) << plan(sql);
    EXPECT_EQ(query(sql), "\"5\"\n\"6\"\n\"7\"\n") << sql;
  }
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM e JOIN t IN e.tags WHERE t = 'x' OR t = '6' OR e.kind = 0"),
            "4000\n");
  for (const std::string_view keys :
       {"y.kind = x.kind AND y.number = x.number", "y.number = x.number AND y.kind = x.kind"}) {
    const std::string sql =
        fmt::format("SELECT VALUE y.id FROM e x JOIN e y ON {} WHERE x.number IN (5, 6)", keys);
    EXPECT_THAT(plan(sql), HasSubstr("index scan of container e by number, about 2 entries")) << plan(sql);
    EXPECT_EQ(query(sql), "\"5\"\n\"6\"\n");
  }
}

}  // namespace
}  // namespace quire::tests
