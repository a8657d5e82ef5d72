// Joins whose partners are looked up since few rows were expected, and that meet many: from then on all is
// read and kept, and the rows are those of a join that knows no better way.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kParts = 12'000;
constexpr int kSales = 6'000;

class ManyPartnersTest : public DatabaseTest {
 protected:
  ManyPartnersTest() {
    std::string parts, sales;
    for (int i = 0; i < kParts; ++i)
      parts += fmt::format(R"({{"id":"{}","n":{},"half":{}}})"
                           "\n",
                           i, i, i / 2);
    for (int i = 0; i < kSales; ++i)
      sales += fmt::format(R"({{"id":"{}","kind":"a","part":{},"key":"{}"}})"
                           "\n",
                           i, i % 7 == 0 ? R"("none")" : std::to_string(i * 2), i * 2);
    load("parts", parts);
    load("sales", sales);
    for (const char* path : {"n", "half"})
      EXPECT_EQ(query(fmt::format("CREATE INDEX ON parts ({})", path)), "");
  }
  void load(const std::string& name, const std::string& items) {
    EXPECT_TRUE(succeeds(database_->create_container(
        fmt::format(R"({{"id":"{}","partitionKey":{{"paths":["/id"],"kind":"Hash","version":2}}}})", name))));
    std::istringstream input(items);
    EXPECT_TRUE(succeeds(database_->container(name)->import(input)));
  }

  static std::string join(std::string_view kind, std::string_view on) {
    return fmt::format("SELECT s.id, p.id AS p FROM sales s {} parts p ON {} WHERE s.kind = 'a'", kind, on);
  }
};

TEST_F(ManyPartnersTest, AllIsReadOnceSoManyHaveBeenLookedUp) {
  for (const char* const kind : {"JOIN", "LEFT JOIN"}) {
    const std::string fast = join(kind, "p.n = s.part");
    const std::string told = query("EXPLAIN ANALYZE " + fast);
    EXPECT_THAT(told, HasSubstr("lookup join on s.part = p.n"));
    // The partners of three batches, 2,637, which cost as much as all items would, and then these.
    EXPECT_THAT(told, HasSubstr("[entries read 2637, items read 14637")) << told;
    EXPECT_EQ(query(fast), query(join(kind, "[p.n] = [s.part]")));
  }
}

TEST_F(ManyPartnersTest, SoAreThoseFoundByTheirIdsAndSeveralOfOneKey) {
  for (const auto& [on, in_other_words] : {std::pair("p.id = s.key", "p.id || '' = s.key"),
                                           std::pair("p.half = s.part", "[p.half] = [s.part]")}) {
    const std::string fast = join("JOIN", on);
    EXPECT_THAT(query("EXPLAIN " + fast), HasSubstr("lookup join"));
    EXPECT_EQ(query(fast), query(join("JOIN", in_other_words)));
  }
}

TEST_F(ManyPartnersTest, EachRunOfACorrelatedQueryLooksUpAnew) {
  const std::string count =
      "SELECT VALUE (SELECT VALUE COUNT(1) FROM sales s JOIN parts p ON {} WHERE s.kind = 'a' AND p.n >= x) "
      "FROM x IN (SELECT VALUE [0, 6000, 11000, 0])";
  EXPECT_EQ(query(fmt::format(fmt::runtime(count), "p.n = s.part")),
            query(fmt::format(fmt::runtime(count), "[p.n] = [s.part]")));
}

TEST_F(ManyPartnersTest, WhatHasNoRoomForAllGoesOnLookingUp) {
  const std::string fast =
      "SELECT VALUE COUNT(1) FROM sales s JOIN parts p ON p.n = s.part WHERE s.kind = 'a'";
  EXPECT_EQ(query("PRAGMA statement_memory = 1000000"), "1000000\n");
  EXPECT_EQ(query(fast), fmt::format("{}\n", kSales - (kSales + 6) / 7));
  EXPECT_THAT(query("EXPLAIN ANALYZE " + fast), Not(HasSubstr("items read 14637")));
}

}  // namespace
}  // namespace quire::tests
