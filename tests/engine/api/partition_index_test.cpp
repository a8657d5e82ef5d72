// Conditions on the partition key and on what an index has: the entries of the partition alone are read. And
// an OR whose arms name keys is as many point reads.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class PartitionIndexTest : public DatabaseTest {
 protected:
  PartitionIndexTest() {
    make("c", "/p");
    fill("c", 4'000);
    EXPECT_EQ(query("CREATE INDEX by_n ON c (n)"), "");
    EXPECT_EQ(query("CREATE INDEX by_m ON c (m)"), "");
    EXPECT_EQ(query("CREATE INDEX by_pt ON c (p, t)"), "");
  }
  // n is the only one, m one of ten, p one of four.
  void fill(const std::string& name, int count) {
    std::string items;
    for (int i = 0; i < count; ++i)
      items += fmt::format(R"({{"id":"{0}","p":"p{1}","n":{0},"m":{2},"t":{3}}})"
                           "\n",
                           i, i % 4, i / 4 % 10, i * 7919 % count);
    std::istringstream input(items);
    EXPECT_TRUE(succeeds(database_->container(name)->import(input)));
  }
  std::string plan(const std::string& sql) { return query("EXPLAIN " + sql); }
};

TEST_F(PartitionIndexTest, EntriesOfOneValueAreReadOfThePartitionAlone) {
  EXPECT_THAT(
      plan("SELECT * FROM c WHERE c.p = 'p1' AND c.n = 5"),
      HasSubstr("index scan of container c by by_n (c.n = 5) within the partition (partition key = 'p1')"));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.p = 'p1' AND c.n = 5"), "\"5\"\n");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.p = 'p2' AND c.n = 5"), "");
  EXPECT_THAT(query("EXPLAIN ANALYZE SELECT VALUE COUNT(1) FROM c WHERE c.p = 'p1' AND c.m = 3"),
              HasSubstr("entries read 100,"));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.p = 'p1' AND c.m = 3"), "100\n");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.p = 'p1' AND c.n IN (9, 8, 1, 5000)"), "\"1\"\n\"9\"\n");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.p = [1] AND c.n = 5"), "");
}

TEST_F(PartitionIndexTest, RangesOfOtherPartitionsAreNotRead) {
  EXPECT_THAT(plan("SELECT * FROM c WHERE c.p = 'p1' AND c.n > 500"),
              HasSubstr("partition scan of container c"));
  EXPECT_THAT(plan("SELECT TOP 3 * FROM c WHERE c.p = 'p1' ORDER BY c.n"),
              HasSubstr("partition scan of container c"));
  // There are few.
  EXPECT_THAT(plan("SELECT * FROM c WHERE c.p = 'p1' AND c.n > 3990"),
              HasSubstr("by by_n (c.n > 3990) within"));
  EXPECT_EQ(query("SELECT VALUE c.n FROM c WHERE c.p = 'p1' AND c.n > 3990"), "3993\n3997\n");
}

TEST_F(PartitionIndexTest, AnIndexThatBeginsWithThePartitionKeyHasItsEntriesTogether) {
  EXPECT_THAT(plan("SELECT * FROM c WHERE c.p = 'p1' AND c.t < 10"),
              HasSubstr("by by_pt (c.p = 'p1' AND c.t < 10), about"));
  const std::string ordered = plan("SELECT TOP 3 VALUE c.t FROM c WHERE c.p = 'p1' ORDER BY c.t");
  EXPECT_THAT(ordered, HasSubstr("by by_pt (c.p = 'p1'), in order"));
  EXPECT_THAT(ordered, Not(HasSubstr("sort")));
  EXPECT_EQ(query("SELECT TOP 3 VALUE c.t FROM c WHERE c.p = 'p1' ORDER BY c.t"), "3\n7\n11\n");
}

TEST_F(PartitionIndexTest, SeveralPartitionsAreLookedUpByFewEntries) {
  const std::string sql = "SELECT VALUE c.id FROM c WHERE c.p IN ('p1', 'p2') AND c.n IN (5, 6, 7)";
  EXPECT_THAT(plan(sql), HasSubstr("index scan of container c by by_n (c.n IN (5, 6, 7))"));
  EXPECT_EQ(query(sql), "\"5\"\n\"6\"\n");
}

TEST_F(PartitionIndexTest, CorrelatedQueriesLookTheirItemsUp) {
  const std::string sql =
      "SELECT VALUE a.id FROM c a WHERE a.n < 3 AND EXISTS(SELECT 1 FROM c d WHERE d.p = a.p AND d.n = a.n + "
      "4)";
  EXPECT_THAT(plan(sql), HasSubstr("by by_n (d.n = a.n + 4) within the partition (partition key = a.p)"));
  EXPECT_EQ(query(sql), "\"0\"\n\"1\"\n\"2\"\n");
}

// A partition holds all numbers of one double.
TEST_F(PartitionIndexTest, NumbersThatShareAPartitionAreToldApart) {
  for (const char* const p : {"9007199254740992", "9007199254740993"})
    EXPECT_EQ(query(fmt::format("INSERT INTO c VALUES {{'id': '{0}', 'p': {0}, 'n': 7000}}", p)), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.p = 9007199254740993 AND c.n = 7000"),
            "\"9007199254740993\"\n");
}

TEST_F(PartitionIndexTest, ItemsOfSuchAPartitionComeInTheOrderOfAnIndex) {
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(query(fmt::format("INSERT INTO c VALUES {{id: 's{}', p: {}, g: {}, m: {}}}", i,
                                i % 2 == 0 ? "9007199254740993" : "9007199254740992", i % 4, i * 7 % 40)),
              "");
  EXPECT_EQ(query("CREATE INDEX by_g ON c (g, m)"), "");
  const std::string sql = "SELECT VALUE c.m FROM c WHERE c.p = 9007199254740993 AND c.g = 2 ORDER BY c.m";
  EXPECT_THAT(plan(sql), HasSubstr("in order"));
  EXPECT_EQ(query(sql), "2\n6\n10\n14\n18\n22\n26\n30\n34\n38\n");
  EXPECT_EQ(query(sql + " DESC OFFSET 2 LIMIT 3"), "30\n26\n22\n");
}

TEST_F(PartitionIndexTest, AnOrOfKeysIsPointReads) {
  const std::string sql =
      "SELECT VALUE c.id FROM c WHERE (c.p = 'p1' AND c.id = '5') OR ('2' = c.id AND c.p = 'p2') OR (c.p = "
      "'p1' AND c.id = '2') "
      "OR (c.p = 'p1' AND c.id = '5') OR (c.p = 'p1' AND c.id = 1)";
  EXPECT_THAT(plan(sql), HasSubstr("point reads of container c (5 keys)"));
  EXPECT_THAT(plan(sql), Not(HasSubstr("filter")));
  EXPECT_EQ(query(sql), "\"5\"\n\"2\"\n");
  const std::string more =
      "SELECT VALUE c.id FROM c WHERE (c.p = 'p1' AND c.id = '5' AND c.n > 5) OR (c.p = 'p2' AND c.id = '2')";
  EXPECT_THAT(plan(more), HasSubstr("point reads of container c (2 keys)"));
  EXPECT_EQ(query(more), "\"2\"\n");
}

TEST_F(PartitionIndexTest, WithoutPartitionKeyAnOrOfIdsIsPointReads) {
  make("d");
  for (const char* const id : {"b", "a", "c"})
    EXPECT_EQ(query(fmt::format("INSERT INTO d VALUES {{id: '{0}', n: '{0}'}}", id)), "");
  const std::string sql =
      "SELECT VALUE d.n FROM d WHERE d.id = 'c' OR 'a' = d.id OR d.id IN ('c') OR d.id = 1";
  EXPECT_THAT(plan(sql), HasSubstr("point reads of container d (4 keys)"));
  EXPECT_EQ(query(sql), "\"a\"\n\"c\"\n");
  EXPECT_THAT(plan("SELECT * FROM d WHERE d.id = 'c' OR d.n = 'a'"), HasSubstr("scan of container d"));
  EXPECT_THAT(plan("SELECT * FROM d WHERE d.n = 'c' OR d.n = 'a'"), HasSubstr("scan of container d"));
}

TEST_F(PartitionIndexTest, AnOrOfKeysKeepsWhatElseItsArmsSay) {
  make("own", "/id");
  EXPECT_EQ(query("INSERT INTO own VALUES {id: 'a', n: 1}, {id: 'b', n: 2}, {id: 'c', n: 3}"), "");
  EXPECT_EQ(query("SELECT VALUE o.id FROM own o WHERE (o.id = 'a' AND o.n = 1) OR (o.id = 'b' AND o.n != 2)"),
            "\"a\"\n");
  const std::string sql = "SELECT VALUE o.id FROM own o WHERE o.id = 'a' OR 'c' = o.id";
  EXPECT_THAT(plan(sql), Not(HasSubstr("filter")));
  EXPECT_EQ(query(sql), query("SELECT VALUE o.id FROM own o WHERE o.n IN (1, 3)"));
}

TEST_F(PartitionIndexTest, AnOrOfPartitionsReadsThese) {
  const std::string sql = "SELECT VALUE COUNT(1) FROM c WHERE c.p = 'p1' OR (c.p = 'p2' AND c.t < 100)";
  EXPECT_THAT(plan(sql), HasSubstr("scan of several partitions of container c (2 keys)"));
  EXPECT_EQ(query(sql), "1025\n");
  // Where one arm says nothing of it, all.
  EXPECT_THAT(plan("SELECT * FROM c WHERE c.p = 'p1' OR c.x = 2"), HasSubstr("scan of container c"));
}

}  // namespace
}  // namespace quire::tests
