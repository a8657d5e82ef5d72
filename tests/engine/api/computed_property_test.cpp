// Computed properties through the public API: where they can stand, and what a definition may not hold.
#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;

class ComputedPropertyTest : public DatabaseTest {
 protected:
  ComputedPropertyTest() {
    EXPECT_EQ(query("CREATE CONTAINER p PARTITION KEY ('/k') WITH {computedProperties: ["
                    "{name: 'lower', query: 'SELECT VALUE LOWER(c.name) FROM c'},"
                    "{name: 'price', query: 'SELECT VALUE {net: r.cost, gross: r.cost * 1.5} FROM root r'},"
                    "{name: 'words', query: \"SELECT VALUE STRINGSPLIT(p.name, ' ') FROM p\"}]}"),
              "");
    EXPECT_EQ(query("INSERT INTO p VALUES {id: '1', k: 1, name: 'Red Tea', cost: 2}, "
                    "{id: '2', k: 1, name: 'ALE', cost: 4}, {id: '3', k: 2, name: 'Milk', lower: 'own'}, "
                    "{id: '4', k: 2}"),
              "");
  }
  std::string refused(const std::string& property) {
    return query("CREATE CONTAINER x WITH {computedProperties: [" + property + "]}");
  }
  std::string refused_query(const std::string& sql) { return refused("{name: 'n', query: \"" + sql + "\"}"); }
};

TEST_F(ComputedPropertyTest, StandsWhereverAPropertyCan) {
  EXPECT_EQ(query("SELECT c.id, c.lower FROM p c WHERE c.k = 1 ORDER BY c.lower"),
            "{\"id\":\"2\",\"lower\":\"ale\"}\n{\"id\":\"1\",\"lower\":\"red tea\"}\n");
  EXPECT_EQ(query("SELECT VALUE c.id FROM p c WHERE c.lower = 'red tea'"), "\"1\"\n");
  EXPECT_EQ(query("SELECT VALUE c['price'].gross FROM p c WHERE c.price.net > 3"), "6\n");
  EXPECT_EQ(query("SELECT c.lower, COUNT(1) AS n FROM p c WHERE IS_DEFINED(c.lower) GROUP BY c.lower ORDER "
                  "BY c.lower"),
            "{\"lower\":\"ale\",\"n\":1}\n{\"lower\":\"own\",\"n\":1}\n{\"lower\":\"red tea\",\"n\":1}\n");
  EXPECT_EQ(query("SELECT VALUE w FROM p c JOIN w IN c.words WHERE c.id = '1'"), "\"Red\"\n\"Tea\"\n");
  EXPECT_EQ(query("SELECT VALUE w FROM w IN p.words WHERE w = 'ALE'"), "\"ALE\"\n");
  EXPECT_EQ(
      query("SELECT VALUE EXISTS(SELECT VALUE w FROM w IN c.words WHERE w = 'Tea') FROM p c WHERE c.k = 1"),
      "true\nfalse\n");
  EXPECT_EQ(query("SELECT VALUE [a.id, b.id] FROM p a JOIN p b ON b.lower = LOWER(a.name) WHERE a.k = 1 AND "
                  "a.cost = 2"),
            "[\"1\",\"1\"]\n");
  EXPECT_EQ(query("SELECT VALUE MAX(c.price.gross) FROM p c"), "6\n");
  Container container = std::move(database_->container("p").value());
  EXPECT_EQ(rows(container.prepare("SELECT VALUE c.lower FROM c WHERE c.id = '2'")), "\"ale\"\n");
}

// A handle of its own stands for another process: it shares nothing but the file.
TEST_F(ComputedPropertyTest, AChangeByAnotherProcessIsSeen) {
  reopen(file("changed.quire"));
  EXPECT_EQ(
      query("CREATE CONTAINER p WITH {computedProperties: [{name: 'n', query: 'SELECT VALUE c.a + 1 FROM "
            "c'}]}"),
      "");
  EXPECT_EQ(query("INSERT INTO p VALUES {id: '1', a: 1}"), "");
  Database other = std::move(Database::open(file("changed.quire")).value());
  Container held = std::move(database_->container("p").value());
  Statement prepared = std::move(database_->prepare("SELECT VALUE c.n FROM p c").value());
  EXPECT_EQ(rows(prepared), "2\n");
  EXPECT_EQ(
      rows(other.prepare("ALTER CONTAINER p WITH {computedProperties: [{name: 'n', query: 'SELECT VALUE "
                         "c.a + 10 FROM c'}], throughput: 400}")),
      "");
  prepared.reset();
  EXPECT_EQ(rows(prepared), "11\n");
  EXPECT_EQ(query("SELECT VALUE c.n FROM p c"), "11\n");
  EXPECT_EQ(rows(held.prepare("SELECT VALUE c.n FROM c")), "11\n");
  EXPECT_EQ(query("UPDATE p c SET c.b = c.n RETURNING VALUE c.b"), "11\n");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("SELECT VALUE c.n FROM p c"), "11\n");
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(rows(other.prepare("ALTER CONTAINER p WITH {computedProperties: []}")), "");
  EXPECT_EQ(query("SELECT VALUE c.n FROM p c"), "");
  EXPECT_TRUE(succeeds(held.create(R"({"id":"2","a":2})")));
}

TEST_F(ComputedPropertyTest, IsNoPartOfTheItem) {
  EXPECT_THAT(query("SELECT * FROM p c WHERE c.id = '2'"), Not(HasSubstr("lower")));
  EXPECT_EQ(query("SELECT VALUE IS_DEFINED(c.lower) FROM p c WHERE c.id = '4'"), "false\n");
  EXPECT_EQ(query("UPDATE p c SET c.seen = c.lower WHERE c.lower = 'ale' RETURNING c.seen, c.price.net"),
            "{\"seen\":\"ale\",\"net\":4}\n");
  EXPECT_THAT(query("SELECT VALUE c FROM p c WHERE c.id = '2'"), Not(HasSubstr("\"lower\"")));
}

TEST_F(ComputedPropertyTest, TheItemsOwnPropertyComesFirst) {
  EXPECT_EQ(query("SELECT VALUE c.lower FROM p c WHERE c.id = '3'"), "\"own\"\n");
  EXPECT_EQ(query("UPDATE p c SET c.lower = 'mine' WHERE c.id = '1' RETURNING VALUE c.lower"), "\"mine\"\n");
  EXPECT_EQ(query("CREATE INDEX ON p (lower)"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM p c WHERE c.lower = 'ale'"), "\"2\"\n");
}

TEST_F(ComputedPropertyTest, FollowsItsDefinition) {
  auto statement = database_->prepare("SELECT VALUE c.lower FROM p c WHERE c.id = '2'");
  EXPECT_EQ(rows(*statement), "\"ale\"\n");
  Container container = std::move(database_->container("p").value());
  auto in_container = container.prepare("SELECT VALUE c.lower FROM c WHERE c.id = '2'");
  EXPECT_EQ(rows(*in_container), "\"ale\"\n");
  EXPECT_EQ(query("ALTER CONTAINER p WITH {computedProperties: [{name: 'lower', query: 'SELECT VALUE c.cost "
                  "FROM c'}]}"),
            "");
  EXPECT_EQ(rows(*statement), "4\n");
  EXPECT_EQ(rows(*in_container), "4\n");
  EXPECT_EQ(query("SELECT VALUE c.price FROM p c"), "");
  EXPECT_EQ(query("ALTER CONTAINER p WITH {computedProperties: null}"), "");
  EXPECT_EQ(rows(*statement), "");
}

TEST_F(ComputedPropertyTest, DefinitionsAreChecked) {
  for (const char* sql :
       {"SELECT c.a FROM c", "SELECT VALUE c.a FROM c WHERE true", "SELECT VALUE c.a FROM c ORDER BY c.a",
        "SELECT DISTINCT VALUE c.a FROM c", "SELECT TOP 1 VALUE c.a FROM c", "SELECT VALUE t FROM t IN c.a",
        "SELECT VALUE c FROM c.a", "SELECT VALUE c.a FROM c JOIN t IN c.b",
        "SELECT VALUE c.a FROM c OFFSET 1 LIMIT 1", "SELECT VALUE c.a FROM c GROUP BY c.a", "SELECT * FROM c",
        "SELECT VALUE 1", "DELETE FROM c", "SELECT VALUE c.a FROM c UNION SELECT VALUE 1 FROM c"})
    EXPECT_THAT(refused_query(sql), HasSubstr("computed property 'n' must be SELECT VALUE expression FROM c"))
        << sql;
  EXPECT_THAT(refused_query("SELECT VALUE FROM c"), HasSubstr("does not parse"));
  EXPECT_THAT(refused_query("SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.a) FROM c"),
              HasSubstr("a subquery"));
  EXPECT_THAT(refused_query("SELECT VALUE EXISTS(SELECT 1 FROM t IN c.a) FROM c"), HasSubstr("a subquery"));
  EXPECT_THAT(refused_query("SELECT VALUE COUNT(1) FROM c"), HasSubstr("an aggregate"));
  EXPECT_THAT(refused_query("SELECT VALUE [GETCURRENTDATETIME()] FROM c"), HasSubstr("not deterministic"));
  EXPECT_THAT(refused_query("SELECT VALUE {a: RAND()} FROM c"), HasSubstr("not deterministic"));
  EXPECT_THAT(refused_query("SELECT VALUE udf.f(c) FROM c"), HasSubstr("a user-defined function"));
  EXPECT_THAT(refused_query("SELECT VALUE @p FROM c"), HasSubstr("a parameter"));
  EXPECT_THAT(refused_query("SELECT VALUE NOSUCH(c.a) FROM c"), HasSubstr("means nothing"));
  EXPECT_THAT(refused_query("SELECT VALUE d.a FROM c"), HasSubstr("means nothing"));
  EXPECT_THAT(refused_query("SELECT VALUE c.n FROM c"), HasSubstr("refers to the computed property 'n'"));
  EXPECT_THAT(refused_query("SELECT VALUE '" + std::string(5000, 'x') + "' FROM c"),
              HasSubstr("more than 4096 bytes"));
  EXPECT_THAT(
      refused_query("SELECT VALUE " + std::string(100, '[') + "1" + std::string(100, ']') + " FROM c"),
      HasSubstr("levels deep"));
}

TEST_F(ComputedPropertyTest, NamesAreChecked) {
  const std::string sql = ", query: 'SELECT VALUE c.a FROM c'}";
  for (const char* name : {"id", "_ts", "_etag", "_rid", "_self", "_attachments"})
    EXPECT_THAT(refused("{name: '" + std::string(name) + "'" + sql), HasSubstr("the database uses itself"))
        << name;
  EXPECT_THAT(refused("{name: ''" + sql), HasSubstr("needs a name"));
  EXPECT_THAT(refused("{name: 'a/b'" + sql), HasSubstr("one name at the top"));
  EXPECT_THAT(refused("{name: 'n'" + sql + ", {name: 'n'" + sql), HasSubstr("is there twice"));
  EXPECT_THAT(refused("{name: 1" + sql), HasSubstr("looks like"));
  EXPECT_THAT(refused("{name: 'n'}"), HasSubstr("looks like"));
  EXPECT_THAT(refused("1"), HasSubstr("looks like"));
  EXPECT_THAT(query("CREATE CONTAINER x WITH {computedProperties: 1}"), HasSubstr("must be an array"));
  std::string many;
  for (int i = 0; i < 21; ++i) many += (i == 0 ? "{name: 'n" : ", {name: 'n") + std::to_string(i) + "'" + sql;
  EXPECT_THAT(refused(many), HasSubstr("the limit is 20"));
  EXPECT_THAT(query("ALTER CONTAINER p WITH {computedProperties: [{name: 'id'" + sql + "]}"),
              HasSubstr("invalid_definition"));
  const auto made = database_->create_container(
      R"({"id":"x","computedProperties":[{"name":"id","query":"SELECT VALUE 1 FROM c"}]})");
  EXPECT_TRUE(fails_with(made, QUIRE_INVALID_DEFINITION));
}

TEST_F(ComputedPropertyTest, ReferencesStandForABoundedNumberOfExpressions) {
  std::string list = "c.a";
  for (int i = 0; i < 500; ++i) list += ",c.a";
  EXPECT_EQ(query("CREATE CONTAINER x WITH {computedProperties: [{name: 'sum', query: 'SELECT VALUE [" +
                  list + "] FROM c'}]}"),
            "");
  std::string uses = "c['sum']";
  for (int i = 0; i < 400; ++i) uses += ", c['sum']";
  EXPECT_THAT(query("SELECT VALUE [" + uses + "] FROM x c"), HasSubstr("limit_exceeded"));
}

}  // namespace
}  // namespace quire::tests
