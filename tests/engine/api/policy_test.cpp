// Definitions as Azure's documentation, SDKs and templates write them: taken, and acted on.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class PolicyTest : public DatabaseTest {
 protected:
  // Makes the container c anew. Nothing, or the error.
  std::string define(std::string_view members) {
    query("DROP CONTAINER IF EXISTS c");
    const auto made = database_->create_container(R"({"id":"c",)" + std::string(members) + "}");
    return made ? "" : std::string(made.error().name()) + ": " + made.error().message;
  }
  // A hundred items, with x and y from 0 to 9 in `members`.
  void fill(std::string_view members) {
    constexpr std::string_view kDigits = "(SELECT VALUE [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])";
    ASSERT_EQ(
        query(fmt::format("INSERT INTO c SELECT TOSTRING(x * 10 + y) AS id, {} FROM x IN {} JOIN y IN {}",
                          members, kDigits, kDigits)),
        "");
  }
  std::string define_paths(std::string_view included) {
    return define(R"("indexingPolicy":{"includedPaths":[)" + std::string(included) +
                  R"(],"excludedPaths":[{"path":"/*"}]})");
  }
};

TEST_F(PolicyTest, WordsStandInAnyCase) {
  EXPECT_EQ(
      define(
          R"("indexingPolicy":{"indexingMode":"Consistent","automatic":true,"includedPaths":[{"path":"/*"}],
      "compositeIndexes":[[{"path":"/a","order":"Ascending"},{"path":"/b","order":"Descending"}]],
      "spatialIndexes":[{"path":"/p/?","types":["point"]}],"vectorIndexes":[{"path":"/v","type":"DiskANN"}]},
      "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"Float32","distanceFunction":"Cosine"}]})"),
      "");
  fill("x AS a, y AS b");
  EXPECT_THAT(query("EXPLAIN SELECT TOP 2 VALUE c.id FROM c ORDER BY c.a, c.b DESC"), HasSubstr("composite"));
  EXPECT_EQ(query("PRAGMA strict = on"), "true\n");
  EXPECT_EQ(rows(database_->container("c")->prepare("SELECT TOP 2 VALUE c.id FROM c ORDER BY c.a DESC, c.b")),
            "\"90\"\n\"91\"\n");
  EXPECT_THAT(rows(database_->container("c")->prepare("SELECT VALUE c.id FROM c ORDER BY c.a, c.b")),
              HasSubstr("composite index"));
  EXPECT_EQ(query("PRAGMA strict = off"), "false\n");
  EXPECT_EQ(define(R"("indexingPolicy":{"indexingMode":"None"})"), "");
}

TEST_F(PolicyTest, TuplesHaveBlanksAndPaths) {
  ASSERT_EQ(
      define_paths(R"({"path":"/events/[]/category/?"},{"path":"/events/[]/{name/first, category}/?"})"), "");
  fill("[{name: {first: x, last: y}, category: y}] AS events");
  const auto plan = [&](std::string_view condition) {
    return query("EXPLAIN SELECT VALUE c.id FROM c JOIN e IN c.events WHERE " + std::string(condition));
  };
  EXPECT_THAT(plan("e.category = 3"), HasSubstr("index scan of container c by /events/[]/category"));
  EXPECT_THAT(plan("e.name.first = 3"), HasSubstr("index scan of container c by /events/[]/name/first"));
  EXPECT_THAT(plan("e.name.last = 3"), Not(HasSubstr("index scan")));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c JOIN e IN c.events WHERE e.name.first = 3 AND e.category = 4"),
            "\"34\"\n");
}

TEST_F(PolicyTest, TuplesThatMakeNoSenseAreRefused) {
  EXPECT_THAT(define_paths(R"({"path":"/events/[]/{{name, first},category}/?"})"),
              HasSubstr("has {} within {}"));
  for (const char* path :
       {"/events/[]/{/name,/category}/?", "/events/[]/{name/?,category/?}/?", "/e/[]/{a, b/*}/?"})
    EXPECT_THAT(define_paths(R"({"path":")" + std::string(path) + R"("})"), HasSubstr("a name within {}"))
        << path;
  EXPECT_THAT(define_paths(R"({"path":"/events/[]/{name, }/?"})"), HasSubstr("an empty name in {}"));
}

TEST_F(PolicyTest, ACompositeIndexOverElementsIsKept) {
  ASSERT_EQ(define(R"("indexingPolicy":{"includedPaths":[{"path":"/*"}],
      "compositeIndexes":[[{"path":"/family"},{"path":"/children/[]/age","order":"descending"}]]})"),
            "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '1', family: 'a', children: [{age: 3}, {age: 4}]}"), "");
  EXPECT_EQ(query("SELECT VALUE x.age FROM c JOIN x IN c.children WHERE c.family = 'a' AND x.age > 3"),
            "4\n");
  EXPECT_EQ(database_->check().value(), "[]");
  EXPECT_THAT(database_->containers().value(), HasSubstr("/children/[]/age"));
}

TEST_F(PolicyTest, AMemberThatIsNearlyAKnownOneIsASlip) {
  EXPECT_THAT(define(R"("defaultTTL":60)"),
              HasSubstr("no member \"defaultTTL\"; did you mean 'defaultTtl'?"));
  EXPECT_THAT(define(R"("indexPolicy":{})"), HasSubstr("did you mean 'indexingPolicy'?"));
  EXPECT_THAT(define(R"("computed_properties":[])"), HasSubstr("did you mean 'computedProperties'?"));
  EXPECT_EQ(
      define(R"("analyticalStorageTtl":-1,"createdBy":"me","conflictResolutionPolicy":{"mode":"Custom"})"),
      "");
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTTL: null}"), "")
      << "as a file of an earlier version may need";
  EXPECT_THAT(query("ALTER CONTAINER c WITH {uniqueKeysPolicy: {}}"),
              HasSubstr("did you mean 'uniqueKeyPolicy'?"));
}

}  // namespace
}  // namespace quire::tests
