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

}  // namespace
}  // namespace quire::tests
