// FROM (SELECT * FROM c WHERE p) s, as object mappers write it around a query of their user: planned as FROM
// c s WHERE p, and the same rows. So is JOIN (SELECT VALUE t FROM t IN c.tags WHERE p) s.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class FilteredItemsTest : public DatabaseTest {
 protected:
  FilteredItemsTest() {
    make("c", "/p");
    make("d", "/p");
    for (const char* const name : {"c", "d"}) {
      std::string items;
      for (int i = 0; i < 400; ++i)
        items += fmt::format(R"({{"id":"{}","p":"p{}","n":{},"m":{},"tags":["t{}","t{}"]}})"
                             "\n",
                             i, i % 5, i, i * 13 % 17, i % 3, i % 7);
      std::istringstream input(items);
      EXPECT_TRUE(succeeds(database_->container(name)->import(input)));
    }
    EXPECT_EQ(query("CREATE INDEX by_n ON c (n)"), "");
  }
  std::string plan(const std::string& sql) { return query("EXPLAIN " + sql); }
};

TEST_F(FilteredItemsTest, IndexesAndKeysServeWhatIsAskedOfIt) {
  const std::string ask = "SELECT VALUE s.id FROM (SELECT * FROM c) s WHERE ";
  EXPECT_THAT(plan(ask + "s.n = 3"), HasSubstr("index scan of container c by by_n (s.n = 3)"));
  EXPECT_THAT(plan(ask + "s.p = 'p1'"), HasSubstr("partition scan of container c"));
  EXPECT_THAT(plan(ask + "s.p = 'p1' AND s.id = '1'"), HasSubstr("point read of container c"));
  EXPECT_THAT(plan("SELECT TOP 3 VALUE s.id FROM (SELECT * FROM (SELECT VALUE x FROM c x) y) s ORDER BY s.n"),
              Not(HasSubstr("sort")));
  EXPECT_THAT(plan("SELECT VALUE s.id FROM (SELECT * FROM c WHERE c.p = 'p2') s WHERE s.id = '2'"),
              HasSubstr("point read of container c"));
}

TEST_F(FilteredItemsTest, GivesTheRowsOfItsContainer) {
  const std::pair<const char*, const char*> same[] = {
      {"SELECT VALUE s.id FROM (SELECT * FROM c WHERE c.n > 390) s WHERE s.m < 9",
       "SELECT VALUE s.id FROM c s WHERE s.n > 390 AND s.m < 9"},
      {"SELECT * FROM (SELECT * FROM c WHERE c.n IN (7, 8)) s", "SELECT * FROM c WHERE c.n IN (7, 8)"},
      {"SELECT VALUE s FROM (SELECT VALUE c FROM c WHERE c.n = 7) AS s",
       "SELECT VALUE c FROM c WHERE c.n = 7"},
      {"SELECT c.id, t FROM (SELECT * FROM c WHERE c.n < 4) c JOIN t IN c.tags WHERE t = 't1'",
       "SELECT c.id, t FROM c JOIN t IN c.tags WHERE c.n < 4 AND t = 't1'"},
      {"SELECT s.m, COUNT(1) AS k FROM (SELECT * FROM c WHERE c.n < 50) s GROUP BY s.m ORDER BY s.m",
       "SELECT s.m, COUNT(1) AS k FROM c s WHERE s.n < 50 GROUP BY s.m ORDER BY s.m"},
      {"SELECT s.id, x.id AS d FROM c s JOIN (SELECT * FROM d WHERE d.m = 3) x ON x.n = s.n ORDER BY s.n",
       "SELECT s.id, x.id AS d FROM c s JOIN d x ON x.n = s.n WHERE x.m = 3 ORDER BY s.n"},
      {"SELECT s.id, x.id AS d FROM c s LEFT JOIN (SELECT * FROM d WHERE d.m = 3) x ON x.n = s.n ORDER BY "
       "s.n",
       "SELECT s.id, x.id AS d FROM c s LEFT JOIN d x ON x.n = s.n AND x.m = 3 ORDER BY s.n"},
      {"SELECT s.id, x.id AS d FROM c s JOIN (SELECT * FROM d WHERE d.n = s.n + 1) x ORDER BY s.n",
       "SELECT s.id, x.id AS d FROM c s JOIN d x WHERE x.n = s.n + 1 ORDER BY s.n"},
      {"SELECT VALUE s.id FROM c s WHERE EXISTS(SELECT 1 FROM (SELECT * FROM d WHERE d.m = 3) x WHERE x.n = "
       "s.n)",
       "SELECT VALUE s.id FROM c s WHERE EXISTS(SELECT 1 FROM d x WHERE x.m = 3 AND x.n = s.n)"},
      {"SELECT VALUE s.id FROM (SELECT * FROM c WHERE EXISTS(SELECT 1 FROM t IN c.tags WHERE t = 't5')) s",
       "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 't5')"},
      {"SELECT c.id, s FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t != 't1') s WHERE c.n < 9",
       "SELECT c.id, s FROM c JOIN s IN c.tags WHERE c.n < 9 AND s != 't1'"},
      {"SELECT c.id, s, r FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t = 't1') s JOIN (SELECT * FROM "
       "t IN c.tags "
       "WHERE t != s) r WHERE c.n < 30",
       "SELECT c.id, s, r FROM c JOIN s IN c.tags JOIN r IN c.tags WHERE c.n < 30 AND s = 't1' AND r != s"},
      {"SELECT VALUE s FROM (SELECT VALUE t FROM t IN c.tags WHERE t = 't6') s",
       "SELECT VALUE t FROM t IN c.tags WHERE t = 't6'"},
      {"SELECT c.id FROM c JOIN (SELECT VALUE t FROM c.tags[0] t WHERE t = 't1') s WHERE c.n < 20",
       "SELECT c.id FROM c WHERE c.n < 20 AND c.tags[0] = 't1'"},
      {"SELECT c.id, COUNT(1) AS k FROM c JOIN (SELECT VALUE t FROM t IN c.tags) s WHERE c.n < 5 GROUP BY "
       "c.id ORDER BY c.id",
       "SELECT c.id, COUNT(1) AS k FROM c JOIN t IN c.tags WHERE c.n < 5 GROUP BY c.id ORDER BY c.id"},
      {"SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM (SELECT VALUE t FROM t IN c.tags WHERE t = 't5') "
       "s)",
       "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 't5')"},
      {"SELECT VALUE s.id FROM (SELECT * FROM c WHERE c.n) s", "SELECT VALUE c.id FROM c WHERE c.n"},
  };
  for (const auto& [wrapped, spelled_out] : same) {
    const std::string rows = query(spelled_out);
    EXPECT_THAT(rows, Not(HasSubstr("error"))) << spelled_out;
    EXPECT_EQ(query(wrapped), rows) << wrapped;
    EXPECT_THAT(plan(wrapped), Not(HasSubstr("rows of a subquery"))) << wrapped;
  }
}

TEST_F(FilteredItemsTest, ElementsThatAreFilteredAreFoundByAnIndex) {
  EXPECT_EQ(query("CREATE INDEX by_tag ON c (tags[])"), "");
  EXPECT_THAT(plan("SELECT VALUE c.id FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t = 't5') s"),
              HasSubstr("index scan of container c by by_tag"));
}

TEST_F(FilteredItemsTest, ALeftJoinKeepsRowsWithoutElements) {
  EXPECT_EQ(query("SELECT c.id, s FROM c LEFT JOIN (SELECT VALUE t FROM t IN c.tags WHERE t = 't1') s ON s > "
                  "'t0' WHERE "
                  "c.n IN (0, 1)"),
            "{\"id\":\"0\"}\n{\"id\":\"1\",\"s\":\"t1\"}\n{\"id\":\"1\",\"s\":\"t1\"}\n");
}

TEST_F(FilteredItemsTest, WhatDoesMoreThanFilterRunsByItself) {
  for (const char* const inner :
       {"SELECT TOP 2 * FROM c ORDER BY c.n DESC", "SELECT * FROM c ORDER BY c.n OFFSET 0 LIMIT 2",
        "SELECT DISTINCT VALUE c FROM c", "SELECT c.id, c.n FROM c", "SELECT VALUE c.tags FROM c",
        "SELECT VALUE c FROM c JOIN t IN c.tags", "SELECT VALUE {t: t} FROM t IN c.tags",
        "SELECT * FROM c WHERE c.n = 1 UNION ALL SELECT * FROM c WHERE c.n = 2"})
    EXPECT_THAT(plan(fmt::format("SELECT VALUE s FROM ({}) s", inner)), HasSubstr("rows of a subquery"))
        << inner;
  EXPECT_EQ(query("SELECT VALUE s.n FROM (SELECT TOP 2 * FROM c ORDER BY c.n DESC) s WHERE s.n < 399"),
            "398\n");
  EXPECT_THAT(query("SELECT VALUE c.n FROM (SELECT * FROM c) s"), HasSubstr("'c'"));
}

TEST_F(FilteredItemsTest, PoliciesOfTheContainerHoldAndComputedPropertiesStayOutside) {
  EXPECT_EQ(query("CREATE CONTAINER v PARTITION KEY ('/p') WITH {computedProperties: [{name: 'twice', query: "
                  "'SELECT VALUE v.n * 2 FROM v'}], vectorEmbeddingPolicy: {vectorEmbeddings: [{path: '/e', "
                  "dataType: 'float32', dimensions: 2, distanceFunction: 'euclidean'}]}}"),
            "");
  EXPECT_EQ(
      query("INSERT INTO v VALUES {id: '1', p: 'a', n: 4, e: [1, 1]}, {id: '2', p: 'a', n: 5, e: [9, 9]}"),
      "");
  EXPECT_EQ(query("SELECT TOP 1 s.id, VECTORDISTANCE(s.e, [1, 4]) AS far FROM (SELECT * FROM v) s "
                  "ORDER BY VECTORDISTANCE(s.e, [1, 4])"),
            "{\"id\":\"1\",\"far\":3}\n");
  EXPECT_EQ(query("SELECT s.id, s.twice, s._ts > 0 AS t FROM (SELECT * FROM v WHERE v.twice = 8) s"),
            "{\"id\":\"1\",\"t\":true}\n");
}

}  // namespace
}  // namespace quire::tests
