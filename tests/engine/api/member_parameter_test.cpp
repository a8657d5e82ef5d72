// A parameter in brackets, c[@name], is the path that its text makes, as in Azure: for policies, indexes and
// computed properties as well.
#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class MemberParameterTest : public DatabaseTest {
 protected:
  // The rows of one run, by the text bound to @k.
  static std::string run(Statement& statement, std::string_view text) {
    statement.reset();
    if (const auto bound = statement.bind("k", text); !bound) return bound.error().message;
    return rows(statement);
  }
};

TEST_F(MemberParameterTest, AVectorHasThePolicyOfItsPath) {
  ASSERT_EQ(
      query("CREATE CONTAINER c WITH {vectorEmbeddingPolicy: {vectorEmbeddings: [{path: '/e', dataType: "
            "'float32', dimensions: 2, distanceFunction: 'euclidean'}]}}"),
      "");
  ASSERT_EQ(
      query("INSERT INTO c VALUES {id: 'far', e: [3, 0], f: [0, 1]}, {id: 'near', e: [1, 0], f: [1, 0]}"),
      "");
  auto statement = database_->prepare(
      "SELECT VALUE [c.id, VectorDistance(c[@k], [1, 0])] FROM c ORDER BY VectorDistance(c[@k], [1, 0])");
  EXPECT_EQ(run(*statement, "e"), "[\"near\",0]\n[\"far\",2]\n");
  // Without a policy it is the cosine; then the path of before again.
  EXPECT_EQ(run(*statement, "f"), "[\"near\",1]\n[\"far\",0]\n");
  EXPECT_EQ(run(*statement, "e"), "[\"near\",0]\n[\"far\",2]\n");
}

TEST_F(MemberParameterTest, AFullTextSearchTakesItForAPath) {
  ASSERT_EQ(
      query(
          "CREATE CONTAINER c WITH {fullTextPolicy: {defaultLanguage: 'de-DE', fullTextPaths: [{path: '/t', "
          "language: 'de-DE'}]}}"),
      "");
  ASSERT_EQ(query("INSERT INTO c VALUES {id: '1', t: 'Die Häuser am Meer'}, {id: '2', t: 'Haus und Haus'}"),
            "");
  auto contains = database_->prepare("SELECT VALUE c.id FROM c WHERE FullTextContains(c[@k], 'haus')");
  EXPECT_EQ(run(*contains, "t"), "\"1\"\n\"2\"\n");
  EXPECT_EQ(run(*contains, "other"), "");
  auto ranked = database_->prepare("SELECT VALUE c[@k] FROM c ORDER BY RANK FullTextScore(c[@k], 'haus')");
  EXPECT_THAT(run(*ranked, "t"), HasSubstr("Haus und Haus"));
  // What is bound is no text: then it is no path, and the search says so.
  ranked->reset();
  ASSERT_TRUE(ranked->bind("k", 7));
  EXPECT_THAT(rows(*ranked), HasSubstr("must be a property of the container's items"));
  EXPECT_THAT(query("SELECT VALUE 1 FROM c ORDER BY RANK FullTextScore(c[@k] || '', 'haus')"),
              HasSubstr("must be a property of the container's items"));
}

TEST_F(MemberParameterTest, AnIndexServesItAndAComputedPropertyIsFound) {
  ASSERT_EQ(query("CREATE CONTAINER c WITH {computedProperties: [{name: 'twice', query: 'SELECT VALUE c.n * "
                  "2 FROM c'}]}"),
            "");
  ASSERT_EQ(query("CREATE CONTAINER d"), "");
  ASSERT_EQ(query("INSERT INTO c VALUES {id: '1', n: 5, m: {n: 6}}, {id: '2', n: 6, m: {n: 5}}"), "");
  ASSERT_EQ(query("INSERT INTO d SELECT TOSTRING(x * 10 + y) AS id, x * 10 + y AS n FROM x IN (SELECT VALUE "
                  "[0, 1, 2, 3, 4, "
                  "5, 6, 7, 8, 9]) JOIN y IN (SELECT VALUE [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])"),
            "");
  ASSERT_EQ(query("CREATE INDEX by_n ON d (n)"), "");
  auto explain = database_->prepare("EXPLAIN SELECT VALUE d.id FROM d WHERE d[@k] = 5");
  EXPECT_THAT(run(*explain, "n"), HasSubstr("by_n"));
  EXPECT_THAT(run(*explain, "m"), Not(HasSubstr("by_n")));
  auto statement = database_->prepare("SELECT VALUE c[@k] FROM c WHERE c.m[@k] = 5 OR c[@k] = 10");
  EXPECT_EQ(run(*statement, "n"), "6\n");
  EXPECT_EQ(run(*statement, "twice"), "10\n");
  EXPECT_EQ(run(*statement, "no such"), "");
  auto change = database_->prepare("UPDATE c SET c.seen = c[@k] WHERE c[@k] = 6");
  EXPECT_EQ(run(*change, "n"), "");
  EXPECT_EQ(query("SELECT VALUE c.seen FROM c"), "6\n");
}

}  // namespace
}  // namespace quire::tests
