// Statements that change items and containers, through the public API.
#include <fmt/format.h>

#include <cmath>
#include <thread>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class ChangeTest : public DatabaseTest {
 protected:
  ChangeTest() {
    make("people", "/city");
    EXPECT_EQ(
        query("INSERT INTO people VALUES {id: '1', city: 'Kyiv', age: 30}, {id: '2', city: 'Lviv', age: 41, "
              "tags: ['a', 'b']}, {id: '3', city: 'Lviv'}"),
        "");
  }
  std::string ids() { return query("SELECT VALUE p.id FROM people p ORDER BY p.id"); }
};

TEST_F(ChangeTest, InsertWritesAllOrNothing) {
  EXPECT_EQ(ids(), "\"1\"\n\"2\"\n\"3\"\n");
  EXPECT_THAT(query("INSERT INTO people VALUES {id: '4', city: 'Kyiv'}, {id: '1', city: 'Kyiv'}"),
              HasSubstr("conflict: item '1'"));
  EXPECT_THAT(query("INSERT INTO people VALUES {id: '4', city: {}}"), HasSubstr("invalid_partition_key"));
  for (const std::string_view item : {"1", "undefined", "{id: '4', city: 'Kyiv'}, {id: '5'}.typo"})
    EXPECT_THAT(query(fmt::format("INSERT INTO people VALUES {}", item)), HasSubstr("must be a JSON object"));
  EXPECT_THAT(query("INSERT INTO people VALUES {id: '4', n: 1e308 * 10}"), HasSubstr("not_json_result"));
  EXPECT_EQ(ids(), "\"1\"\n\"2\"\n\"3\"\n");
}

TEST_F(ChangeTest, OfSeveralItemsTheOneThatIsWrongIsNamed) {
  EXPECT_EQ(query("ALTER CONTAINER people WITH {defaultTtl: 100}"), "");
  EXPECT_THAT(query("UPDATE people p SET p.ttl = p.id = '2' ? 0 : 5"), HasSubstr("2147483647 (item '2')"));
  EXPECT_THAT(query("INSERT INTO people VALUES {id: '4', city: 'Kyiv'}, 5"),
              HasSubstr("must be a JSON object (item number 2)"));
  EXPECT_THAT(query("INSERT INTO people VALUES {id: '4', city: 'Kyiv'}, {id: 5, city: 'Kyiv'}"),
              HasSubstr("must be a string (item number 2)"));
  EXPECT_THAT(query("UPDATE people p SET p.age = 1 / (p.age ?? 0)"), HasSubstr("(item '3')"));
  // What a message says already it says once, and of one item alone there is no number.
  EXPECT_THAT(query("INSERT INTO people VALUES {id: '4', city: {}}"), Not(HasSubstr("(item '4') (item")));
  EXPECT_THAT(query("INSERT INTO people VALUES {id: '4', city: 'Kyiv'}, {city: {}}"),
              Not(HasSubstr("(item number")));
  EXPECT_THAT(query("INSERT INTO people VALUES 5"), Not(HasSubstr("(item")));
}

// A place in the text of an item is none in the statement.
TEST_F(ChangeTest, AnItemThatIsNestedTooDeeplyHasNoPlaceInTheStatement) {
  std::string deep = "1";
  for (int level = 0; level < 70; ++level) deep = "[" + deep + "]";
  auto statement = database_->prepare("INSERT INTO people SELECT '4' AS id, 'Kyiv' AS city, " +
                                      std::string(deep).replace(70, 1, "d") + " AS deep FROM (SELECT VALUE " +
                                      deep + ") d");
  ASSERT_TRUE(succeeds(statement));
  EXPECT_THAT(rows(*statement), HasSubstr("invalid_json: invalid JSON: nesting is deeper than 128 levels"));
  ASSERT_TRUE(statement->error());
  EXPECT_EQ(statement->error()->line, 0u);
}

TEST_F(ChangeTest, InsertTakesParametersAndQueries) {
  auto statement = database_->prepare("INSERT INTO people VALUES @item RETURNING p.n");
  EXPECT_FALSE(statement.has_value());  // the container has no alias p here
  statement = database_->prepare("INSERT INTO people VALUES @item RETURNING people.n");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("item", Json{R"({"id":"4","city":"Kyiv","n":9007199254740993})"})));
  EXPECT_EQ(rows(*statement), "{\"n\":9007199254740993}\n");
  make("copies", "/id");
  EXPECT_EQ(query("INSERT INTO copies SELECT p.id, p.age FROM people p WHERE p.city = 'Lviv' RETURNING VALUE "
                  "copies.id"),
            "\"2\"\n\"3\"\n");
  EXPECT_EQ(query("UPSERT INTO copies SELECT c.id, 1 AS n FROM copies c"), "");
  EXPECT_EQ(query("SELECT VALUE SUM(c.n) FROM copies c"), "2\n");
  EXPECT_THAT(query("REPLACE INTO copies VALUES {id: 'x'}"), HasSubstr("not_found"));
}

TEST_F(ChangeTest, UpdateSetsAndUnsetsPaths) {
  EXPECT_EQ(
      query("UPDATE people p SET p.age = p.age + 1, p.was = p.age, p.home.street = 'x', p.tags[1] = null "
            "UNSET p.nothing.there WHERE p.id = '2' RETURNING p.age, p.was, p.home, p.tags"),
      "{\"age\":42,\"was\":41,\"home\":{\"street\":\"x\"},\"tags\":[\"a\",null]}\n");
  EXPECT_EQ(
      query("UPDATE people SET people.tags[2] = 'c' UNSET people.tags[0], people.age, people.home WHERE "
            "people.id = '2' RETURNING VALUE [people.tags, people.age, people.home]"),
      "[[null,\"c\"]]\n");
  EXPECT_EQ(query("UPDATE people p UNSET p.age.k, p.age[0], p.tags[9], p.tags.k WHERE p.id = '1' "
                  "RETURNING p.age, p.city"),
            "{\"age\":30,\"city\":\"Kyiv\"}\n");
  EXPECT_THAT(query("UPDATE people p SET p.age.k = 1 WHERE p.id = '1'"), HasSubstr("'k' cannot be set"));
  auto statement = database_->prepare("UPDATE people p SET p.seen = true");
  ASSERT_TRUE(succeeds(statement));
  EXPECT_EQ(rows(*statement), "");
  EXPECT_EQ(statement->stats().items_changed, 3u);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM people p WHERE p.seen"), "3\n");
}

// Each assignment sees what those before it made, and leaves alone what shares a value with it.
TEST_F(ChangeTest, AssignmentsIntoOneArrayOrObjectFollowEachOther) {
  EXPECT_EQ(query("UPDATE people p SET p.l[0] = {n: 1}, p.l[1] = 2, p.l[0].m = 3, p.l[2] = 4, p.l[1] = "
                  "undefined, p.l[1].k = 5 WHERE p.id = '3'"),
            "run_time: 'k' cannot be set: what it would stand in is not an object");
  EXPECT_THAT(query("UPDATE people p SET p.l[0] = {n: 1}, p.l[1] = 2, p.l[0].m = 3, p.l[2] = 4, p.l[0] = "
                    "undefined, p.l[2] = 5 WHERE p.id = '3' RETURNING VALUE p.l"),
              "[2,4,5]\n");
  EXPECT_EQ(query("UPDATE people p SET p.a = p.tags, p.b = p.tags, p.a[0] = 'x', p.b[2] = 'y', p.a[0] = 'z' "
                  "WHERE p.id = '2' RETURNING p.tags, p.a, p.b"),
            R"({"tags":["a","b"],"a":["z","b"],"b":["a","b","y"]})"
            "\n");
  EXPECT_EQ(query("UPDATE people p SET p.e = [], p.f = [], p.e[0] = 1, p.e[0] = undefined, p.f[0] = 2, "
                  "p.e[0] = 3, p.o.x = 1, p.o.y = 2 UNSET p.o.x, p.o.y, p.o.z WHERE p.id = '1' "
                  "RETURNING p.e, p.f, p.o"),
            R"({"e":[3],"f":[2],"o":{}})"
            "\n");
}

// A copy of the array for each of them would need 50 times as much.
TEST_F(ChangeTest, ManyAssignmentsIntoOneLongArrayCopyItOnce) {
  EXPECT_EQ(query("UPDATE people p SET p.l = ARRAY(SELECT VALUE n FROM n IN (SELECT VALUE "
                  "STRINGSPLIT(REPLICATE('a,', 4999), ','))) WHERE p.id = '1'"),
            "");
  std::string assignments = "p.o.n = 0";
  for (int i = 0; i < 50; ++i) assignments += fmt::format(", p.l[{}] = {}", 100 * i, i);
  EXPECT_EQ(query("PRAGMA statement_memory = 1000000"), "1000000\n");
  EXPECT_EQ(query("UPDATE people p SET " + assignments +
                  " WHERE p.id = '1' RETURNING VALUE [p.l[0], p.l[1], p.l[4900], p.l[4999], p.o]"),
            "[0,\"a\",49,\"\",{\"n\":0}]\n");
}

TEST_F(ChangeTest, UpdateRefusesWhatMustStay) {
  EXPECT_THAT(query("UPDATE people p SET p.id = 'x'"), HasSubstr("/id is the item's id"));
  EXPECT_THAT(query("UPDATE people p SET p.city.name = 'x'"),
              HasSubstr("/city is part of the partition key"));
  EXPECT_THAT(query("UPDATE people p UNSET p._ts"), HasSubstr("_ts is set by the database alone"));
  EXPECT_THAT(query("UPDATE people p SET age = 1"), HasSubstr("as in p.name"));
  EXPECT_THAT(query("UPDATE people p SET q.age = 1"), HasSubstr("write p.q"));
  EXPECT_THAT(query("UPDATE people p SET p[p.x] = 1"), HasSubstr("constant steps"));
  EXPECT_THAT(query("UPDATE people p SET p.age = COUNT(1)"), HasSubstr("COUNT"));
  EXPECT_THAT(query("UPDATE people p SET p.age.years = 1"), HasSubstr("'years' cannot be set"));
  EXPECT_THAT(query("UPDATE people p SET p.tags[7] = 1"), HasSubstr("[7]"));
  EXPECT_THAT(query("UPDATE peple p SET p.age = 1"), HasSubstr("'people'"));
  EXPECT_EQ(query("SELECT VALUE SUM(p.age) FROM people p"), "71\n");
}

TEST_F(ChangeTest, DeleteReturnsWhatWasThere) {
  EXPECT_EQ(
      query("DELETE FROM people p WHERE p.city = 'Lviv' AND p.age > 1 RETURNING p.id, p.age, p._ts > 0 AS t"),
      "{\"id\":\"2\",\"age\":41,\"t\":true}\n");
  EXPECT_EQ(ids(), "\"1\"\n\"3\"\n");
  EXPECT_EQ(query("DELETE FROM people"), "");
  EXPECT_EQ(ids(), "");
}

// The target of RETURNING are the changed items, what its subqueries name the containers as they are now.
TEST_F(ChangeTest, SubqueriesOfReturningReadTheWholeContainer) {
  const std::string update =
      "UPDATE people p SET p.age = 50 WHERE p.id = '1' RETURNING VALUE "
      "[(SELECT VALUE COUNT(1) FROM people), (SELECT VALUE COUNT(1) FROM people q WHERE q.city = 'Lviv'), "
      "(SELECT VALUE COUNT(1) FROM people q WHERE q.city = 'Lviv' AND q.id = '2'), "
      "ARRAY(SELECT VALUE q.id FROM people q WHERE q.age > 40 ORDER BY q.age DESC), "
      "ARRAY(SELECT VALUE q.age FROM people q WHERE q.city = p.city), (SELECT VALUE MAX(q.age) FROM people "
      "q)]";
  EXPECT_EQ(query(update), "[3,2,1,[\"1\",\"2\"],[50],50]\n");
  query("CREATE INDEX ages ON people (age)");
  EXPECT_EQ(query(update), "[3,2,1,[\"1\",\"2\"],[50],50]\n");
  EXPECT_EQ(query("UPDATE people p SET p.age = 20 WHERE p.id = '1' RETURNING VALUE MAX(p.age)"), "20\n");
  query("BEGIN");
  EXPECT_EQ(query(update), "[3,2,1,[\"1\",\"2\"],[50],50]\n");
  EXPECT_EQ(
      query("DELETE FROM people p WHERE p.age = 50 RETURNING VALUE [p.id, p.city, ARRAY(SELECT VALUE q.id "
            "FROM people q WHERE q.age > 0)]"),
      "[\"1\",\"Kyiv\",[\"2\"]]\n");
  query("ROLLBACK");
}

TEST_F(ChangeTest, OnAContainerTheTargetIsThatContainer) {
  Container people = std::move(database_->container("people").value());
  EXPECT_EQ(rows(people.prepare("UPDATE c SET c.n = 1 WHERE c.id = '1' RETURNING VALUE c.n")), "1\n");
  EXPECT_EQ(rows(people.prepare("DELETE FROM c WHERE c.n = 1")), "");
  EXPECT_EQ(ids(), "\"2\"\n\"3\"\n");
}

TEST_F(ChangeTest, AStatementRunsAgainAndSeesContainersMadeAnew) {
  auto statement = database_->prepare("INSERT INTO people VALUES {id: @id, city: 'Oslo'}");
  ASSERT_TRUE(succeeds(statement));
  for (const char* id : {"a", "b"}) {
    ASSERT_TRUE(succeeds(statement->bind("id", id)));
    EXPECT_EQ(rows(*statement), "");
    statement->reset();
  }
  EXPECT_EQ(query("DROP CONTAINER people"), "");
  EXPECT_EQ(query("CREATE CONTAINER people PARTITION KEY (/city)"), "");
  ASSERT_TRUE(succeeds(statement->bind("id", "c")));
  EXPECT_EQ(rows(*statement), "");
  EXPECT_EQ(ids(), "\"c\"\n");
}

TEST_F(ChangeTest, NamesThatAreNoPlainWordsStandInQuotes) {
  EXPECT_EQ(query("CREATE CONTAINER 'order-items' PARTITION KEY ('/order')"), "");
  EXPECT_EQ(query("INSERT INTO \"order-items\" VALUES {id: '1', \"order\": 7}, {id: '2', \"order\": 7}"), "");
  EXPECT_EQ(query("UPDATE 'order-items' i SET i.n = 1 WHERE i.id = '1' RETURNING VALUE i.n"), "1\n");
  EXPECT_EQ(query("PATCH 'order-items' AS i WITH [{op: 'incr', path: '/n', \"value\": 2}] WHERE i.n = 1"),
            "");
  EXPECT_EQ(query("ALTER CONTAINER 'order-items' WITH {defaultTtl: -1}"), "");
  EXPECT_EQ(query("DELETE FROM 'order-items' i WHERE i.id = '2' RETURNING VALUE i.id"), "\"2\"\n");
  EXPECT_EQ(query("SELECT VALUE i.n FROM 'order-items' i"), "3\n");
  EXPECT_EQ(query("DROP CONTAINER 'order-items'"), "");
}

TEST_F(ChangeTest, TheItemLimitOfAContainerGoesUpAndBackToTheDefault) {
  EXPECT_EQ(query("CREATE CONTAINER c WITH {itemLimit: 1000}"), "");
  EXPECT_THAT(query("INSERT INTO c VALUES {id: '1', text: REPLICATE('x', 2000)}"), HasSubstr("too_large"));
  EXPECT_EQ(query("ALTER CONTAINER c WITH {itemLimit: 4000}"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '1', text: REPLICATE('x', 2000)}"), "");
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: 5}"), "");
  EXPECT_THAT(database_->containers().value(), HasSubstr(R"("itemLimit":4000,"defaultTtl":5)"));
  EXPECT_EQ(query("ALTER CONTAINER c WITH {itemLimit: null}"), "");
  EXPECT_THAT(database_->containers().value(), Not(HasSubstr("itemLimit")));
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '2', text: REPLICATE('x', 5000)}"), "");
}

TEST_F(ChangeTest, ContainersAreMadeChangedAndDropped) {
  EXPECT_EQ(query("CREATE CONTAINER c PARTITION KEY (/a/b, '/c d') WITH {defaultTtl: 60, uniqueKeyPolicy: "
                  "{uniqueKeys: [{paths: ['/x']}]}}"),
            "");
  EXPECT_THAT(query("CREATE CONTAINER c"), HasSubstr("container_exists"));
  EXPECT_EQ(query("CREATE CONTAINER IF NOT EXISTS c"), "");
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: 5}"), "");
  EXPECT_THAT(
      database_->containers().value(),
      HasSubstr(R"({"id":"c","partitionKey":{"paths":["/a/b","/c d"],"kind":"MultiHash","version":2},)"
                R"("defaultTtl":5,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/x"]}]})"));
  EXPECT_THAT(query("ALTER CONTAINER c WITH {partitionKey: {paths: ['/z']}}"),
              HasSubstr("cannot be changed"));
  EXPECT_THAT(query("CREATE CONTAINER d WITH {a: undefined}"), HasSubstr("JSON constants"));
  EXPECT_THAT(query("CREATE CONTAINER d WITH 1"), HasSubstr("WITH takes an object"));
  EXPECT_THAT(query("CREATE CONTAINER d PARTITION KEY (/a) WITH {partitionKey: {paths: ['/a']}}"),
              HasSubstr("given twice"));
  EXPECT_EQ(query("DROP CONTAINER c"), "");
  EXPECT_THAT(query("DROP CONTAINER c"), HasSubstr("container_not_found"));
  EXPECT_EQ(query("DROP CONTAINER IF EXISTS c"), "");
}

TEST_F(ChangeTest, AQueryWithinATransactionGivesItsRowsAsOneOutside) {
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("SELECT VALUE [p.id, p.tags ?? {a: p.age}] FROM people p ORDER BY p.id"),
            "[\"1\",{\"a\":30}]\n[\"2\",[\"a\",\"b\"]]\n[\"3\",{}]\n");
  auto statement = database_->prepare("SELECT VALUE x / 0 FROM x IN (SELECT VALUE [1, 0])");
  ASSERT_TRUE(succeeds(statement));
  size_t count = 0;
  for (const Value row : statement->rows()) {
    EXPECT_FALSE(std::isfinite(row.as_real()));
    EXPECT_FALSE(row.to_json().has_value());
    ++count;
  }
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(query("ROLLBACK"), "");
}

// On a container its name may be anything, but not another container's.
TEST_F(ChangeTest, AStatementOnAContainerDoesNotTakeAnotherOnesName) {
  make("other", "/p");
  Container people = *database_->container("people");
  const std::string before = query("SELECT * FROM people");
  for (const char* const sql :
       {"DELETE FROM other", "UPDATE other o SET o.x = 1", "INSERT INTO other VALUES {id: 'x'}",
        "UPSERT INTO other SELECT * FROM people"}) {
    const auto refused = people.prepare(sql);
    ASSERT_FALSE(refused) << sql;
    EXPECT_THAT(refused.error().message, HasSubstr("'other' is another container than 'people'"));
  }
  EXPECT_EQ(query("SELECT * FROM people"), before);
  EXPECT_TRUE(people.prepare("UPDATE c SET c.x = 1 WHERE false"));
  EXPECT_TRUE(people.prepare("DELETE FROM people WHERE false"));
}

TEST_F(ChangeTest, ExplainShowsWhatAChangeReadsAndChangesNothing) {
  EXPECT_EQ(query("EXPLAIN UPDATE people p SET p.age = 1, p.x = 2 WHERE p.city = 'Lviv' AND p.age > 3"),
            "\"update container people\"\n"
            "\"  value p.age = 1, p.x = 2\"\n"
            "\"    filter p.age > 3\"\n"
            "\"      partition scan of container people (partition key = 'Lviv')\"\n");
  EXPECT_THAT(query("EXPLAIN DELETE FROM people WHERE people.age = (SELECT VALUE MAX(x.age) FROM people x)"),
              testing::HasSubstr("people is the item of the query around it"));
  EXPECT_EQ(query("EXPLAIN DELETE FROM people p WHERE p.id = '1' AND p.city = 'Kyiv' RETURNING p.id"),
            "\"delete from container people\"\n"
            "\"  value p\"\n"
            "\"    point read of container people (partition key = 'Kyiv', id = '1')\"\n");
  EXPECT_EQ(query("EXPLAIN INSERT INTO people VALUES {id: '9'}, {id: '8'}"),
            "\"insert into container people\"\n"
            "\"  value item\"\n"
            "\"    rows of a subquery as item\"\n"
            "\"      subquery\"\n"
            "\"        value {id: '9'}, {id: '8'}\"\n"
            "\"          one row\"\n"
            "\"      one row\"\n");
  EXPECT_EQ(query("EXPLAIN UPSERT INTO people SELECT p.id, 'Rome' AS city FROM people p"),
            "\"insert into container people, or take the place of\"\n"
            "\"  value p.id, 'Rome' AS city\"\n"
            "\"    scan of container people\"\n");
  EXPECT_EQ(
      query("EXPLAIN (JSON) DELETE FROM people"),
      R"({"operation":"delete from container people","inputs":[{"operation":"value people","estimatedRows":3,"inputs":[)"
      R"({"operation":"scan of container people","estimatedRows":3,"inputs":[]}]}]})"
      "\n");
  EXPECT_EQ(query("EXPLAIN (AST) DELETE FROM people WHERE people.id = '1'"),
            R"("DELETE FROM people WHERE people.id = \"1\"")"
            "\n");
  EXPECT_THAT(query("EXPLAIN ANALYZE DELETE FROM people"), HasSubstr("leave ANALYZE out"));
  EXPECT_EQ(ids(), "\"1\"\n\"2\"\n\"3\"\n");
}

TEST_F(ChangeTest, ATransactionSpansStatementsAndContainers) {
  make("pets", "/owner");
  EXPECT_EQ(query("BEGIN TRANSACTION"), "");
  EXPECT_EQ(query("INSERT INTO pets SELECT 'p' AS id, x.id AS owner FROM people x WHERE x.id = '1'"), "");
  EXPECT_EQ(query("DELETE FROM people p WHERE p.city = 'Lviv'"), "");
  EXPECT_EQ(query("SELECT VALUE t.owner FROM pets t"), "\"1\"\n");
  EXPECT_EQ(ids(), "\"1\"\n");
  // A statement that fails undoes itself alone; writes of the API take part.
  EXPECT_THAT(query("INSERT INTO people VALUES {id: '8', city: 'Kyiv'}, {id: '1', city: 'Kyiv'}"),
              HasSubstr("conflict"));
  Container people = std::move(database_->container("people").value());
  EXPECT_TRUE(succeeds(people.create(R"({"id":"9","city":"Kyiv"})")));
  EXPECT_EQ(ids(), "\"1\"\n\"9\"\n");
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(ids(), "\"1\"\n\"2\"\n\"3\"\n");
  EXPECT_EQ(query("SELECT VALUE t.owner FROM pets t"), "");

  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("UPDATE people p SET p.n = 1 WHERE p.id = '1'"), "");
  EXPECT_EQ(query("INSERT INTO pets VALUES {id: 'q', owner: '2'}"), "");
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(query("SELECT p.n, t.id FROM people p LEFT JOIN pets t ON t.owner = p.id WHERE p.age > 0 "
                  "ORDER BY p.id"),
            "{\"n\":1}\n{\"id\":\"q\"}\n");
}

// One that reads what it has just written, to change it once more, would else lose the change.
TEST_F(ChangeTest, AnItemIsReadAsTheTransactionOfItsThreadSeesIt) {
  Container people = database_->container("people").value();
  ASSERT_TRUE(succeeds(people.upsert(R"({"id":"7","city":"Kyiv","n":1})")));
  EXPECT_EQ(query("BEGIN"), "");
  ASSERT_TRUE(succeeds(people.upsert(R"({"id":"7","city":"Kyiv","n":2})")));
  EXPECT_EQ(people.read_json("Kyiv", "7", false).value(), R"({"id":"7","city":"Kyiv","n":2})");
  EXPECT_EQ(people.read_json("Kyiv", "7").value(), people.read("Kyiv", "7")->json);
  ASSERT_TRUE(succeeds(people.remove("Kyiv", "7")));
  EXPECT_TRUE(fails_with(people.read_json("Kyiv", "7"), QUIRE_NOT_FOUND));
  std::thread([&] {
    EXPECT_EQ(people.read_json("Kyiv", "7", false).value(), R"({"id":"7","city":"Kyiv","n":1})");
  }).join();
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(people.read_json("Kyiv", "7", false).value(), R"({"id":"7","city":"Kyiv","n":1})");
}

TEST_F(ChangeTest, WhatCannotStandWithinATransactionSaysSo) {
  EXPECT_THAT(query("COMMIT"), HasSubstr("misuse: no transaction is open"));
  EXPECT_THAT(query("ROLLBACK"), HasSubstr("misuse: no transaction is open"));
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_THAT(query("BEGIN"), HasSubstr("open already"));
  EXPECT_THAT(query("CREATE CONTAINER c"), HasSubstr("within BEGIN"));
  EXPECT_TRUE(fails_with(database_->create_container(R"({"id":"c"})"), QUIRE_MISUSE, "within BEGIN"));
  EXPECT_TRUE(fails_with(database_->drop_container("people"), QUIRE_MISUSE, "within BEGIN"));
  std::thread([&] { EXPECT_THAT(query("COMMIT"), HasSubstr("misuse")); }).join();
  EXPECT_EQ(query("DELETE FROM people"), "");
  // What was not committed ends with the database.
  const std::string before = ids();
  EXPECT_EQ(before, "");
}

TEST_F(ChangeTest, AnOpenTransactionEndsWithTheDatabase) {
  const std::string path = file("a.quire");
  reopen(path);
  make("c");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '1'}"), "");
  reopen(path);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c"), "0\n");
}

// Systems give the id of a thread that has ended to the next one.
TEST_F(ChangeTest, AnOpenTransactionIsNoOtherThreads) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the database's end lets go of a mutex of LMDB's that the ended thread has locked";
#endif
  std::thread([&] {
    EXPECT_EQ(query("BEGIN"), "");
    EXPECT_EQ(query("INSERT INTO people VALUES {id: 'open', city: 'Kyiv'}"), "");
  }).join();
  for (int i = 0; i < 10; ++i)
    std::thread([&] {
      EXPECT_EQ(query("SELECT VALUE p.id FROM people p WHERE p.id = 'open'"), "");
      EXPECT_THAT(query("COMMIT"), HasSubstr("misuse: no transaction is open"));
    }).join();
}

TEST_F(ChangeTest, PragmasTellAndChangeSettings) {
  EXPECT_EQ(query("PRAGMA strict"), "false\n");
  EXPECT_EQ(query("PRAGMA strict = on"), "true\n");
  EXPECT_THAT(query("DELETE FROM people"), HasSubstr("not_in_strict_mode"));
  EXPECT_EQ(query("PRAGMA strict = 'off'"), "false\n");
  EXPECT_EQ(query("PRAGMA statement_memory = 20000"), "20000\n");
  EXPECT_THAT(
      query("SELECT VALUE REPLICATE('x', 9000) || REPLICATE('y', 9000) || p.id FROM people p ORDER BY p.id"),
      HasSubstr("memory limit"));
  EXPECT_THAT(query("PRAGMA durability = much"), HasSubstr("full, relaxed or none"));
  EXPECT_THAT(query("PRAGMA strict = 7"), HasSubstr("on or off"));
  EXPECT_THAT(query("PRAGMA statement_memory = 0"), HasSubstr("above 0"));
  EXPECT_THAT(query("PRAGMA statement_time = -5"),
              HasSubstr("invalid_argument: PRAGMA statement_time takes"));
  EXPECT_THAT(query("PRAGMA strickt"), HasSubstr("'strict'"));
  reopen(file("a.quire"), {.durability = Durability::relaxed});
  EXPECT_EQ(query("PRAGMA durability"), "\"relaxed\"\n");
  EXPECT_THAT(query("PRAGMA durability = none"), HasSubstr("can only grow"));
  EXPECT_EQ(query("PRAGMA durability = full"), "\"full\"\n");
}

TEST_F(ChangeTest, StrictModeAndReadOnlyFilesRefuse) {
  const std::string path = file("a.quire");
  reopen(path);
  make("c");
  reopen(path, {.read_only = true});
  EXPECT_THAT(query("INSERT INTO c VALUES {id: '1'}"), HasSubstr("read_only"));
  reopen(path, {.strict = true});
  EXPECT_THAT(query("DELETE FROM c"), HasSubstr("not_in_strict_mode"));
}

}  // namespace
}  // namespace quire::tests
