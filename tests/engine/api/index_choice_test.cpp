// Which way to the items a plan takes: two indexes together, the order of one instead of a sort, hops over
// equal values; and that the rows are those that no index gives, in the same order.
#include <fmt/format.h>

#include "tests/engine/api/index_choice_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(IndexChoiceTest, TwoIndexesTogetherLeadToFewItems) {
  const std::string both = "SELECT VALUE c.id FROM c WHERE c.a = 7 AND c.b = 49";
  EXPECT_THAT(plan(both), HasSubstr(" and by "));
  EXPECT_EQ(query(both), scanned(both));
  EXPECT_NE(query(both), "");
  const std::string none = "SELECT VALUE c.id FROM c WHERE c.a = 7 AND c.b = 'no number'";
  EXPECT_EQ(query(none), "");
  auto statement = database_->prepare("SELECT VALUE c.id FROM c WHERE c.a = @a AND c.b = @b");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("a", int64_t{7})));
  ASSERT_TRUE(succeeds(statement->bind("b", Json{"null"})));
  EXPECT_EQ(rows(*statement), "");
}

TEST_F(IndexChoiceTest, ARangeInItsOwnOrderNeedsNoSort) {
  const std::string range =
      "SELECT VALUE c.id FROM c WHERE c.text >= '000100' AND c.text < '000200' ORDER BY c.text";
  EXPECT_THAT(plan(range), HasSubstr("by text"));
  EXPECT_THAT(plan(range), Not(HasSubstr("sort by")));
  EXPECT_EQ(query(range), scanned(range));
  const std::string all = "SELECT VALUE c.id FROM c ORDER BY c.text";
  EXPECT_THAT(plan(all), HasSubstr("sort by"));
  const std::string covered = "SELECT VALUE c.text FROM c ORDER BY c.text DESC";
  EXPECT_THAT(plan(covered), HasSubstr("index-only scan"));
  EXPECT_EQ(query(covered), scanned(covered));
  const std::string listed = "SELECT c.text, {of: c.text} AS object FROM c ORDER BY c.text";
  EXPECT_THAT(plan(listed), HasSubstr("index-only scan"));
  EXPECT_EQ(query(listed), scanned(listed));
}

// A common element, too, is cheaper to count by the entries that its items have than to look for.
TEST_F(IndexChoiceTest, ItemsWithAnElementAreCountedByTheirEntries) {
  make("e", "/p");
  std::string lines;
  for (int i = 0; i < 3'000; ++i)
    lines += fmt::format(R"({{"id":"{}","p":"p","n":{},"tags":[{},"{}","{}"]}})", i, i, i % 3,
                         i % 10 < 8 ? "x" : "y", i % 2 == 0 ? "x" : "z") +
             "\n";
  std::istringstream input(lines);
  ASSERT_TRUE(succeeds(database_->container("e")->import(input)));
  const auto counted = [&](std::string_view condition, bool is_covered) {
    const std::string sql = fmt::format("SELECT VALUE COUNT(1) FROM e WHERE {}", condition);
    const std::string as_scan =
        query(fmt::format("SELECT VALUE COUNT(1) FROM e WHERE IIF({}, true, false)", condition));
    EXPECT_EQ(query(sql), as_scan) << condition;
    EXPECT_EQ(plan(sql).find("index-only scan") != std::string::npos, is_covered) << plan(sql);
  };
  ASSERT_EQ(query("CREATE INDEX tags ON e (tags[])"), "");
  ASSERT_EQ(query("ANALYZE e").find("error"), std::string::npos);
  counted("ARRAY_CONTAINS(e.tags, 'x')", true);
  counted("ARRAY_CONTAINS(e.tags, 2)", true);
  counted("ARRAY_CONTAINS(e.tags, 'x') AND e.n > 7", false);
  counted("ARRAY_CONTAINS(e.tags, 'x') AND ARRAY_CONTAINS(e.tags, 'z')", false);
  counted("ARRAY_CONTAINS_ANY(e.tags, ['x', 'y', 'z'])", false);
}

// Of several elements any is looked up as those of IN are, and all by the first of them.
TEST_F(IndexChoiceTest, ItemsWithSomeOfSeveralElementsAreFound) {
  for (const char* name : {"e", "f"}) {
    make(name, "/p");
    std::string lines;
    for (int i = 0; i < 2'000; ++i)
      lines += fmt::format(R"({{"id":"{}","p":"p{}","tags":[{},"t{}",[{}],null]}})", i, i % 3, i % 50, i % 70,
                           i % 90) +
               "\n";
    lines += R"({"id":"none","p":"p"})"
             "\n"
             R"({"id":"text","p":"p","tags":"t1"})"
             "\n";
    std::istringstream input(lines);
    ASSERT_TRUE(succeeds(database_->container(name)->import(input)));
  }
  ASSERT_EQ(query("CREATE INDEX tags ON e (tags[])"), "");
  for (const char* condition :
       {"ARRAY_CONTAINS_ANY(c.tags, 't1', 't2')", "ARRAY_CONTAINS_ANY(c.tags, 't1', 1, 't1', [7], 'no')",
        "ARRAY_CONTAINS_ANY(c.tags, 't1', undefined)", "ARRAY_CONTAINS_ANY(c.tags, undefined)",
        "ARRAY_CONTAINS_ANY(c.tags, ['t1', 't2'])", "ARRAY_CONTAINS_ALL(c.tags, 't1', 1)",
        "ARRAY_CONTAINS_ALL(c.tags, 't1', [1], null)", "ARRAY_CONTAINS_ALL(c.tags, 't1', undefined)",
        "ARRAY_CONTAINS_ALL(c.tags, undefined, 't1')", "ARRAY_CONTAINS_ALL(c.tags, 't3')",
        "ARRAY_CONTAINS_ANY(c.tags, 't1', 't2') AND c.id > '5'"})
    for (const char* value : {"c.id", "COUNT(1)"}) {
      const auto on = [&](const char* container) {
        return fmt::format("SELECT VALUE {} FROM {} c WHERE {}", value, container, condition);
      };
      EXPECT_THAT(plan(on("e")), HasSubstr("by tags")) << condition;
      EXPECT_EQ(query(on("e")), query(on("f"))) << condition;
    }
}

// ARRAY_CONTAINS(c.items, {k: 1}, true): objects and arrays match those that have more, so only a scalar
// leads to items.
TEST_F(IndexChoiceTest, ItemsWithAnElementThatMatchesInPartAreFound) {
  constexpr std::string_view kItems[] = {R"([{"k":1,"m":2},{"k":2}])",
                                         R"([{"k":1}])",
                                         R"([{"k":{"x":1,"y":2}}])",
                                         R"([{"k":[1,2]}])",
                                         R"("x")",
                                         R"([1,"k",{"m":2}])",
                                         R"({"k":1})",
                                         R"([{"k":null}])",
                                         R"([[{"k":1}]])",
                                         R"([{"k":1.0,"m":3}])"};
  for (const char* name : {"c", "d"})
    for (size_t i = 0; i < std::size(kItems); ++i)
      ASSERT_TRUE(succeeds(database_->container(name)->create(
          fmt::format(R"({{"id":"i{}","p":"items","items":{}}})", i, kItems[i]))));
  ASSERT_EQ(query("CREATE INDEX by_k ON c (items[].k)"), "");
  const auto contains = [](std::string_view wanted) {
    return fmt::format("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.items, {}, true)", wanted);
  };
  for (const char* wanted :
       {"{k: 1}", "{k: 1, m: 2}", "{m: 2, k: 1}", "{m: 3, k: 1}", "{k: null}", "{k: 'none'}"}) {
    EXPECT_THAT(plan(contains(wanted)), HasSubstr("by by_k")) << wanted;
    EXPECT_EQ(query(contains(wanted)), scanned(contains(wanted))) << wanted;
  }
  for (const char* wanted :
       {"{k: {x: 1}}", "{k: [1, 2]}", "{m: 2}", "{}", "1", "{k: c.a}", "{k: undefined}"}) {
    EXPECT_THAT(plan(contains(wanted)), Not(HasSubstr("by by_k"))) << wanted;
    EXPECT_EQ(query(contains(wanted)), scanned(contains(wanted))) << wanted;
  }
  for (const char* wanted : {"{k: 1, m: c.p}", "{k: 1, m: c.a}", "{m: LENGTH(c.p) - 3, k: 1}"}) {
    EXPECT_THAT(plan(contains(wanted)), HasSubstr("by by_k")) << wanted;
    EXPECT_EQ(query(contains(wanted)), scanned(contains(wanted))) << wanted;
  }
  EXPECT_NE(query(contains("{m: LENGTH(c.p) - 3, k: 1}")), "");
  auto mixed = database_->prepare(contains("{k: 1, m: @m}"));
  ASSERT_TRUE(succeeds(mixed));
  for (const auto& [m, found] :
       std::vector<std::pair<int64_t, std::string>>{{2, "\"i0\"\n"}, {3, "\"i9\"\n"}, {4, ""}}) {
    ASSERT_TRUE(succeeds(mixed->bind("m", m)));
    EXPECT_EQ(rows(*mixed), found) << m;
    mixed->reset();
  }
  auto statement = database_->prepare(contains("{k: @k}"));
  ASSERT_TRUE(succeeds(statement));
  for (const auto& [k, found] : std::vector<std::pair<std::string, std::string>>{
           {"1", "\"i0\"\n\"i1\"\n\"i9\"\n"}, {R"({"x":1})", "\"i2\"\n"}, {"[1,2]", "\"i3\"\n"}, {"3", ""}}) {
    ASSERT_TRUE(succeeds(statement->bind("k", Json{k})));
    EXPECT_EQ(rows(*statement), found) << k;
    statement->reset();
  }
}

TEST_F(IndexChoiceTest, ItemsWithoutAPathAreFound) {
  ASSERT_EQ(query("CREATE INDEX pair ON c (few, text)"), "");
  for (const char* name : {"c", "d"})
    ASSERT_EQ(
        query(fmt::format(
            R"(INSERT INTO {} VALUES {{"id":"x","p":"p","few":1}}, {{"id":"y","p":"q","text":null}})", name)),
        "");
  for (const char* sql : {"SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.text)",
                          "SELECT VALUE c.id FROM c WHERE c.few = 1 AND NOT IS_DEFINED(c.text)",
                          "SELECT VALUE COUNT(1) FROM c WHERE NOT IS_DEFINED(c.few)",
                          "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.few) OR c.text = '000001'"}) {
    EXPECT_THAT(plan(sql), HasSubstr("NOT IS_DEFINED")) << sql;
    EXPECT_THAT(plan(sql), HasSubstr("of container c by ")) << sql;
    EXPECT_EQ(query(sql), scanned(sql)) << sql;
    EXPECT_NE(query(sql), "") << sql;
  }
  // Of an index of the policy nothing tells of such items.
  ASSERT_EQ(query("CREATE CONTAINER every WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}"), "");
  ASSERT_EQ(query(R"(INSERT INTO every VALUES {"id":"x","a":1}, {"id":"y"})"), "");
  EXPECT_EQ(query("SELECT VALUE e.id FROM every e WHERE NOT IS_DEFINED(e.a)"), "\"y\"\n");
}

TEST_F(IndexChoiceTest, UnderALimitTheOrderIsWeighedAgainstTheConditions) {
  // Hardly any item passes: the index in order would be read nearly whole.
  const std::string rare = "SELECT TOP 5 VALUE c.id FROM c WHERE c.a = 7 AND c.b = 49 ORDER BY c.text";
  EXPECT_THAT(plan(rare), Not(HasSubstr("by text")));
  EXPECT_EQ(query(rare), scanned(rare));
  const std::string usual = "SELECT TOP 5 VALUE c.id FROM c WHERE c.few = 3 ORDER BY c.text";
  EXPECT_THAT(plan(usual), HasSubstr("by text, in order"));
  EXPECT_EQ(query(usual), scanned(usual));
}

// Without partition key the order of ids is the items' own: it is one more way, weighed against the others.
TEST_F(IndexChoiceTest, TheOrderOfIdsIsWeighedAgainstIndexes) {
  ASSERT_EQ(query("CREATE CONTAINER plain"), "");
  std::string lines;
  for (int i = 0; i < 5'000; ++i)
    lines += fmt::format(R"({{"id":"{:05}","many":{},"one":{}}})", i, i % 2, i) + "\n";
  std::istringstream input(lines);
  ASSERT_TRUE(succeeds(database_->container("plain")->import(input)));
  for (const char* path : {"many", "one", "id"})
    ASSERT_EQ(query(fmt::format("CREATE INDEX by_{0} ON plain ({0})", path)), "");
  const std::string few = "SELECT VALUE c.id FROM plain c WHERE c.one = 7 AND c.id > '0' ORDER BY c.id";
  EXPECT_THAT(plan(few), HasSubstr("by by_one"));
  EXPECT_EQ(query(few), "\"00007\"\n");
  const std::string page =
      "SELECT VALUE c.id FROM plain c WHERE c.many = 1 AND c.id > '04000' ORDER BY c.id OFFSET 1 LIMIT 2";
  EXPECT_THAT(plan(page), HasSubstr("ids within c.id > '04000', by id"));
  EXPECT_EQ(query(page), "\"04003\"\n\"04005\"\n");
}

// Also where a transaction has changed them, and where what is read is deleted.
TEST_F(IndexChoiceTest, ARangeOfIdsSeesTheTransaction) {
  const std::string page =
      "SELECT VALUE c.id FROM d c WHERE c.p = 'p3' AND c.id >= '1' AND c.id < '12' ORDER BY c.id DESC";
  const std::string before = query(page);
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query(R"(INSERT INTO d VALUES {"id":"11 and more","p":"p3"})"), "");
  EXPECT_EQ(query("DELETE FROM d c WHERE c.p = 'p3' AND c.id < '11' AND c.id >= '1'"), "");
  const std::string within = query(page);
  EXPECT_THAT(within, HasSubstr("\"11 and more\""));
  EXPECT_THAT(within, Not(HasSubstr("\"103\"")));
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(query(page), before);
  EXPECT_THAT(before, HasSubstr("\"103\""));
}

TEST_F(IndexChoiceTest, EqualValuesAreHoppedOver) {
  const std::string count = "SELECT VALUE COUNT(DISTINCT c.few) FROM c";
  EXPECT_EQ(query(count), "10\n");
  const std::string list = "SELECT DISTINCT VALUE c.few FROM c ORDER BY c.few DESC";
  EXPECT_EQ(query(list), "9\n8\n7\n6\n5\n4\n3\n2\n1\n0\n");
  for (const std::string& sql : {count, list}) {
    const std::string analyzed = query("EXPLAIN ANALYZE " + sql);
    EXPECT_THAT(analyzed, HasSubstr("index-only scan"));
    const size_t at = analyzed.find("entries read ");
    ASSERT_NE(at, std::string::npos) << analyzed;
    EXPECT_LT(std::stoi(analyzed.substr(at + 13)), 1'000) << analyzed;
  }
  EXPECT_EQ(query("SELECT VALUE COUNT(DISTINCT c.few) FROM c WHERE c.few > 3"), "6\n");
  EXPECT_EQ(query("SELECT COUNT(DISTINCT c.few) AS n, COUNT(1) AS all FROM c"), "{\"n\":10,\"all\":20000}\n");
}

// Entries that hold all that is asked for stand for their items, in the items' order.
TEST_F(IndexChoiceTest, WhatEntriesHoldIsNotReadFromItems) {
  ASSERT_EQ(query("CREATE INDEX pair ON c (few, a DESC)"), "");
  const std::vector<std::string> queries = {
      "SELECT c.few, c.a FROM c WHERE c.few IN (3, 4) AND c.a > 50",
      "SELECT VALUE c.a FROM c WHERE c.few >= 9",
      "SELECT TOP 7 VALUE c.a + c.few FROM c WHERE c.few IN (2, 9) AND c.a > 50",
      "SELECT VALUE c.a FROM c WHERE c.few IN (1, 3) AND c.a > 50 ORDER BY c.few DESC, c.a OFFSET 5 LIMIT 20",
      "SELECT c.a, COUNT(1) AS n FROM c WHERE c.few IN (1, 2) AND c.a > 50 GROUP BY c.a",
      "SELECT VALUE SUM(c.a / 7) FROM c WHERE c.few < 1",
      "SELECT VALUE 'row' FROM c WHERE c.few IN (1, 2) AND c.a > 7",
      "SELECT DISTINCT VALUE c.a FROM c WHERE c.few IN (1, 2) AND c.a < 50"};
  const auto check_all = [&] {
    for (const std::string& sql : queries) {
      EXPECT_THAT(plan(sql), HasSubstr("index-only scan of container c by pair")) << sql;
      EXPECT_THAT(query("EXPLAIN ANALYZE " + sql), HasSubstr("items read 0,")) << sql;
      EXPECT_EQ(query(sql), scanned(sql)) << sql;
    }
  };
  check_all();
  ASSERT_EQ(query("BEGIN"), "");
  for (const char* name : {"c", "d"}) {
    EXPECT_EQ(query(fmt::format("DELETE FROM {} c WHERE c.few < 4 AND c.b < 50", name)), "");
    EXPECT_EQ(query(fmt::format("UPDATE {} c SET c.few = 3 WHERE c.a IN (1, 55)", name)), "");
  }
  check_all();
  ASSERT_EQ(query("ROLLBACK"), "");
}

// Arrays, objects and long strings are no whole part of an entry: they come from its item. So they do where a
// long id has taken their place.
TEST_F(IndexChoiceTest, WhatEntriesDoNotHoldIsReadFromItems) {
  ASSERT_EQ(query("CREATE INDEX pair ON c (few, a DESC)"), "");
  for (const char* name : {"c", "d"}) {
    for (const char* value : {"[1, 2]", R"({"x": [null]})", "null", "1e300", "true"})
      ASSERT_EQ(query(fmt::format(R"(INSERT INTO {} VALUES {{"id": "any {}", "p": "q", "few": 3, "a": {}}})",
                                  name, std::hash<std::string_view>()(value), value)),
                "");
    ASSERT_EQ(query(fmt::format(R"(INSERT INTO {} VALUES {{"id": "none", "p": "q", "few": 3}})", name)), "");
    const std::string text(400, 'x'), id(480, 'i');
    ASSERT_EQ(query(fmt::format(R"(INSERT INTO {0} VALUES {{"id": "{1}1", "p": "q", "few": 3, "a": "{2}1"}},
                                  {{"id": "{1}2", "p": "q", "few": 3, "a": "{2}2"}},
                                  {{"id": "{1}3", "p": "q", "few": 3, "a": 3}})",
                                name, id, text)),
              "");
  }
  for (const char* sql : {"SELECT c.few, c.a FROM c WHERE c.few IN (3, 'none')",
                          "SELECT DISTINCT VALUE c.a FROM c WHERE c.few IN (3, 'none')",
                          "SELECT VALUE c.a FROM c WHERE c.few IN (3, 'none') ORDER BY c.few"}) {
    EXPECT_THAT(plan(sql), HasSubstr("index-only scan of container c by pair")) << sql;
    EXPECT_EQ(query(sql), scanned(sql)) << sql;
  }
}

// DISTINCT without an order: the rows are those of a scan, and come as a scan would give them.
TEST_F(IndexChoiceTest, DistinctReadsAnItemOfEachValue) {
  ASSERT_EQ(query(R"(INSERT INTO c VALUES {"id":"none","p":"p1"}, {"id":"array","p":"p2","few":[1]},
                     {"id":"real","p":"p3","few":3.0}, {"id":"text","p":"p4","few":"3"})"),
            "");
  ASSERT_EQ(query("INSERT INTO d SELECT VALUE c FROM c WHERE c.id IN ('none', 'array', 'real', 'text')"), "");
  for (const char* sql :
       {"SELECT DISTINCT VALUE c.few FROM c", "SELECT DISTINCT c.few FROM c",
        "SELECT DISTINCT VALUE c.few % 3 FROM c", "SELECT DISTINCT VALUE c.few FROM c WHERE c.few != 4",
        "SELECT DISTINCT VALUE c.few FROM c WHERE c.few > 7",
        "SELECT DISTINCT VALUE c.few FROM c WHERE c.few IN (1, 7, '3', [1])",
        "SELECT DISTINCT TOP 50 VALUE c.few FROM c", "SELECT DISTINCT VALUE c.few FROM c OFFSET 3 LIMIT 50",
        "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.few FROM c)",
        "SELECT VALUE ARRAY(SELECT DISTINCT VALUE c.few FROM c)"}) {
    EXPECT_THAT(plan(sql), HasSubstr("index-only scan of container c by few")) << sql;
    EXPECT_THAT(plan(sql), HasSubstr("an item of each value")) << sql;
    EXPECT_EQ(query(sql), scanned(sql)) << sql;
    EXPECT_THAT(query(fmt::format("EXPLAIN ANALYZE {}", sql)), Not(HasSubstr("items read 20"))) << sql;
  }
}

TEST_F(IndexChoiceTest, DistinctReadsAllWhereAnItemOfEachValueWouldNotDo) {
  for (const char* sql : {"SELECT DISTINCT VALUE c.text FROM c",         // nearly all are different
                          "SELECT DISTINCT TOP 2 VALUE c.few FROM c",    // a scan finds them at once
                          "SELECT DISTINCT VALUE [c.few, c.id] FROM c",  // the index does not tell
                          "SELECT DISTINCT VALUE c.few FROM c WHERE c.p = 'p1'",
                          "SELECT c.few, COUNT(1) AS n FROM c GROUP BY c.few", "SELECT VALUE c.few FROM c"}) {
    EXPECT_THAT(plan(sql), Not(HasSubstr("an item of each value"))) << sql;
    EXPECT_EQ(query(sql), scanned(sql)) << sql;
  }
  EXPECT_THAT(plan("SELECT DISTINCT c.few, RAND() AS r FROM c"), Not(HasSubstr("an item of each value")));
  EXPECT_THAT(plan("SELECT DISTINCT VALUE c.few FROM c WHERE RAND() < 0.5"),
              Not(HasSubstr("an item of each value")));
}

// An index of the policy has no entry for an item without the path, and nothing is known of its values
// before ANALYZE.
TEST_F(IndexChoiceTest, DistinctByAnIndexOfThePolicy) {
  ASSERT_EQ(query("CREATE CONTAINER every WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}"), "");
  ASSERT_EQ(query("INSERT INTO every SELECT VALUE {id: c.id, few: c.few, text: c.text, at: "
                  "TICKSTODATETIME(c.few)} FROM c"),
            "");
  const auto in_every = [&](std::string sql) {
    sql.replace(sql.find("FROM c"), 6, "FROM every c");
    return sql;
  };
  const std::string few = "SELECT DISTINCT c.few FROM c", text = "SELECT DISTINCT VALUE c.text FROM c";
  auto prepared = database_->prepare(in_every(few));
  ASSERT_TRUE(succeeds(prepared));
  EXPECT_THAT(query("EXPLAIN " + in_every(few)), HasSubstr("by /few, an item of each value, about 10"));
  EXPECT_THAT(query("EXPLAIN " + in_every(text)), Not(HasSubstr("an item of each value")));
  const auto sorted = [](std::string rows) {
    std::ranges::sort(rows);
    return rows;
  };
  EXPECT_EQ(sorted(rows(*prepared)), sorted(scanned(few)));
  EXPECT_EQ(query(in_every("SELECT MAX(c.few) AS most, MIN(c.few) AS least FROM c")),
            "{\"most\":9,\"least\":0}\n");
  EXPECT_THAT(query("EXPLAIN " + in_every("SELECT MAX(c.few) AS most FROM c")), HasSubstr("first and last"));
  // From now on one row more.
  ASSERT_EQ(query("INSERT INTO every VALUES {\"id\":\"none\"}"), "");
  prepared->reset();
  EXPECT_THAT(rows(*prepared), HasSubstr("{}"));
  EXPECT_THAT(query("EXPLAIN " + in_every(few)), Not(HasSubstr("an item of each value")));
}

// Of the entries that a condition leaves, too, MIN and MAX read the first and the last one.
TEST_F(IndexChoiceTest, ExtremesOfARangeAreItsEnds) {
  ASSERT_EQ(query("CREATE INDEX pair ON c (few, text)"), "");
  for (const char* where : {"c.text < '000100'", "c.text >= '000100' AND c.text <= '015000'", "c.few = 7",
                            "c.few = 7 AND c.text > '010000'", "STARTSWITH(c.text, '0012')"}) {
    const std::string extremes =
        fmt::format("SELECT MIN(c.text) AS least, MAX(c.text) AS most FROM c WHERE {}", where);
    EXPECT_THAT(plan(extremes), HasSubstr("first and last")) << where;
    EXPECT_EQ(query(extremes), scanned(extremes)) << where;
  }
  for (const char* where : {"c.few IN (1, 2) AND c.text > '010000'", "c.few = 7 AND c.a > 50", "c.b = 7"}) {
    const std::string extremes = fmt::format("SELECT VALUE MAX(c.text) FROM c WHERE {}", where);
    EXPECT_THAT(plan(extremes), Not(HasSubstr("first and last"))) << where;
    EXPECT_EQ(query(extremes), scanned(extremes)) << where;
  }
  // An array among them leaves no extreme.
  ASSERT_EQ(query("INSERT INTO c VALUES {id: 'of array', p: 'p1', few: 7, text: ['z']}"), "");
  EXPECT_EQ(query("SELECT MAX(c.text) AS most FROM c WHERE c.few = 7"), "{}\n");
  EXPECT_EQ(query("SELECT VALUE MIN(c.text) FROM c WHERE c.few = 7 AND c.text > '0'"),
            query("SELECT VALUE MIN(c.text) FROM d c WHERE c.few = 7"));
}

// What an index of scalars cannot serve is read from the items, though the plan was to read entries.
TEST_F(IndexChoiceTest, WhatEntriesOfScalarsDoNotTellIsReadFromAllItems) {
  ASSERT_EQ(query("CREATE CONTAINER every WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}"), "");
  ASSERT_EQ(query("INSERT INTO every SELECT TOP 2000 VALUE {id: c.id, n: c.a} FROM c"), "");
  ASSERT_EQ(query("INSERT INTO every VALUES {id: 'x', n: [1]}, {id: 'y', n: [1]}, {id: 'z', n: {a: 1}}, {id: "
                  "'none'}"),
            "");
  for (const char* sql : {"SELECT e.n, IS_ARRAY(e.n) AS list FROM every e WHERE e.n = @n",
                          "SELECT VALUE COUNT(1) FROM every e WHERE e.n = @n",
                          "SELECT DISTINCT VALUE e.n FROM every e WHERE e.n = @n",
                          "SELECT e.n FROM every e WHERE e.n IN (@n, 3) ORDER BY e.n"}) {
    EXPECT_THAT(query("EXPLAIN " + std::string(sql)), HasSubstr("index-only scan of container every by /n"))
        << sql;
    auto statement = database_->prepare(sql);
    // The same without an index.
    auto scanned = database_->prepare(std::string(sql).replace(std::string_view(sql).find("every e"), 7,
                                                               "(SELECT VALUE v FROM every v) e"));
    ASSERT_TRUE(succeeds(statement));
    ASSERT_TRUE(succeeds(scanned));
    for (const char* value : {"[1]", "7", "{\"a\":1}", "[]", "null"}) {
      ASSERT_TRUE(succeeds(statement->bind("n", Json{value})));
      ASSERT_TRUE(succeeds(scanned->bind("n", Json{value})));
      EXPECT_EQ(rows(*statement), rows(*scanned)) << sql << value;
      statement->reset();
      scanned->reset();
    }
  }
}

TEST_F(IndexChoiceTest, DistinctTellsLongValuesApart) {
  const std::string begin(3'000, 'x');
  for (const char* name : {"c", "d"})
    for (int i = 0; i < 30; ++i)
      ASSERT_EQ(query(fmt::format(R"(INSERT INTO {} VALUES {{"id":"long {}","p":"p","few":"{}{}"}})", name, i,
                                  begin, i % 3)),
                "");
  const std::string sql = "SELECT DISTINCT VALUE [LENGTH(c.few), RIGHT(c.few, 1)] FROM c";
  EXPECT_THAT(plan(sql), HasSubstr("an item of each value"));
  EXPECT_EQ(query(sql), scanned(sql));
}

// The first item of a value may be one that a transaction has just written, or taken away.
TEST_F(IndexChoiceTest, DistinctSeesTheTransaction) {
  const std::string sql = "SELECT DISTINCT VALUE c.few FROM c";
  ASSERT_EQ(query("BEGIN"), "");
  for (const char* name : {"c", "d"}) {
    EXPECT_EQ(query(fmt::format("DELETE FROM {} c WHERE c.few = 4", name)), "");
    EXPECT_EQ(query(fmt::format("UPDATE {} c SET c.few = 77 WHERE c.a IN (1, 55)", name)), "");
    EXPECT_EQ(query(fmt::format("DELETE FROM {} c WHERE c.few < 4 AND c.b < 50", name)), "");
  }
  EXPECT_THAT(plan(sql), HasSubstr("an item of each value"));
  EXPECT_EQ(query(sql), scanned(sql));
  EXPECT_THAT(query(sql), HasSubstr("77"));
  EXPECT_EQ(query("ROLLBACK"), "");
}

// How many items there are is known, also within a transaction.
TEST_F(IndexChoiceTest, ItemsThatNobodyReadsAreCountedAlone) {
  const std::string count = "SELECT VALUE COUNT(1) FROM d";
  EXPECT_THAT(plan(count), HasSubstr("count of the items of container d"));
  EXPECT_THAT(query("EXPLAIN ANALYZE " + count), HasSubstr("items read 0,"));
  EXPECT_EQ(query(count), "20000\n");
  EXPECT_EQ(query("SELECT TOP 2 VALUE 'row' FROM d"), "\"row\"\n\"row\"\n");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM d a JOIN (SELECT VALUE 1 FROM d) b WHERE a.id IN ('1', '2')"),
            "40000\n");
  EXPECT_EQ(query("SELECT COUNT(1) AS n, COUNT(d.few) AS few FROM d"), "{\"n\":20000,\"few\":20000}\n");
  EXPECT_EQ(query("SELECT VALUE (SELECT VALUE COUNT(1) FROM d) FROM c WHERE c.id = '1'"), "20000\n");
  auto prepared = database_->prepare(count);
  ASSERT_TRUE(succeeds(prepared));
  EXPECT_EQ(rows(*prepared), "20000\n");
  ASSERT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("DELETE FROM d WHERE d.few = 3"), "");
  EXPECT_EQ(query(R"(INSERT INTO d VALUES {"id":"new","p":"p"})"), "");
  EXPECT_EQ(query(count), "18001\n");
  ASSERT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(query(count), "20000\n");
  EXPECT_EQ(query(R"(INSERT INTO d VALUES {"id":"new","p":"p"})"), "");
  prepared->reset();
  EXPECT_EQ(rows(*prepared), "20001\n");
  EXPECT_EQ(query("DELETE FROM d"), "");
  EXPECT_EQ(query(count), "0\n");
}

TEST_F(IndexChoiceTest, TheIndexThatWouldHelpIsNamed) {
  const auto advice = [&](const std::string& sql) {
    const std::string text = plan(sql);
    const size_t at = text.find("an index would help: ");
    return at == std::string::npos ? "" : text.substr(at + 21, text.find(", about") - at - 21);
  };
  EXPECT_EQ(advice("SELECT TOP 3 c.id FROM d c ORDER BY c.text"), "CREATE INDEX ON d (text)");
  EXPECT_EQ(advice("SELECT TOP 3 c.id FROM d c ORDER BY c.text DESC"), "CREATE INDEX ON d (text)");
  EXPECT_EQ(advice("SELECT c.id FROM d c ORDER BY c.a DESC, c.text OFFSET 2 LIMIT 3"),
            "CREATE INDEX ON d (a, text DESC)");
  EXPECT_EQ(advice("SELECT TOP 3 c.id FROM d c WHERE c.few = 3 ORDER BY c.text"),
            "CREATE INDEX ON d (few, text)");
  EXPECT_EQ(advice("SELECT VALUE MAX(c.text) FROM d c"), "CREATE INDEX ON d (text)");
  EXPECT_EQ(advice("SELECT VALUE c.id FROM d c WHERE c.few = 3 AND c.a > 5 AND c.b > 6"),
            "CREATE INDEX ON d (few, a)");
  EXPECT_EQ(advice("SELECT c.id FROM d c ORDER BY c.text"), "");
  EXPECT_EQ(advice("SELECT TOP 3 c.id FROM d c ORDER BY LOWER(c.text)"), "");
  // What is named is used.
  for (const char* index : {"CREATE INDEX ON d (few, text)", "CREATE INDEX ON d (a, text DESC)"})
    ASSERT_EQ(query(index), "");
  EXPECT_THAT(plan("SELECT TOP 3 c.id FROM d c WHERE c.few = 3 ORDER BY c.text"), HasSubstr("in order"));
  EXPECT_THAT(plan("SELECT c.id FROM d c ORDER BY c.a DESC, c.text OFFSET 2 LIMIT 3"),
              HasSubstr("backwards, in order"));
}

TEST_F(IndexChoiceTest, AJoinReadsOfEitherSideWhatTheOtherAsksFor) {
  make("few", "");
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(query(fmt::format("INSERT INTO few VALUES {{id: '{}', a: '{:0>6}', n: {}}}", i, i * 100, i)),
              "");
  const std::string partners = "SELECT VALUE [c.id, f.n] FROM c JOIN few f ON f.a = c.text";
  EXPECT_THAT(plan(partners), HasSubstr("index scan of container c by text, what has a key of the join"));
  EXPECT_EQ(query(partners), scanned(partners));
  // The keys are handed on: f leads to y, and y to x, though x is written first.
  const std::string chain =
      "SELECT VALUE [x.id, y.id, f.n] FROM c x JOIN d y ON y.text = x.text JOIN few f ON f.a = y.text WHERE "
      "f.n < 3";
  const std::string expected = query(chain);
  EXPECT_EQ(query("CREATE INDEX text ON d (text)"), "");
  EXPECT_THAT(query("EXPLAIN ANALYZE " + chain), HasSubstr("items read 11,"));
  EXPECT_EQ(query(chain), expected);
  // No partner at all, and undefined keys.
  EXPECT_EQ(query("SELECT VALUE c.id FROM c JOIN few f ON f.missing = c.text"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c JOIN few f ON f.n = c.text"), "");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c LEFT JOIN few f ON f.a = c.text"), "20000\n");
}

// Two paths that are the leading parts of an index, in whichever order the join names them.
TEST_F(IndexChoiceTest, AJoinLooksUpSeveralPartsOfAnIndexTogether) {
  make("few", "");
  EXPECT_EQ(
      query("INSERT INTO few VALUES {id: '1', x: 7, y: 49}, {id: '2', x: 8, y: 56}, {id: '3', x: 8, y: 49}, "
            "{id: '4', y: 49}, {id: '5', x: 7}, {id: '6', x: null, y: 1}, {id: '7', x: 'none', y: 49}"),
      "");
  EXPECT_EQ(query("CREATE INDEX both ON c (a, b DESC, id)"), "");
  const std::initializer_list<std::string> joins = {
      "SELECT VALUE [c.id, f] FROM c JOIN few f ON f.y = c.b AND f.x = c.a",
      "SELECT VALUE [c.id, f] FROM few f JOIN c ON c.a = f.x AND c.b = f.y",
      "SELECT VALUE [c.id, f] FROM few f LEFT JOIN c ON c.b = f.y AND c.a = f.x",
  };
  for (const std::string& join : joins) {
    std::string whole = join;
    const size_t at = whole.find(" c ");
    ASSERT_NE(at, std::string::npos);
    whole.replace(at, 3, " d c ");
    EXPECT_THAT(plan(join), HasSubstr("by both"));
    EXPECT_THAT(query("EXPLAIN ANALYZE " + join), HasSubstr("items read 6,")) << join;
    EXPECT_EQ(query(join), query(whole)) << join;
  }
  // What is said of the item itself bounds the parts that are no keys.
  for (const char* const index : {"both ON d (a, b DESC)", "some ON d (few, a, b)"})
    EXPECT_EQ(query(fmt::format("CREATE INDEX {}", index)), "");
  for (const std::string condition :
       {"f.x = c.a WHERE c.b >= 49 AND c.b < 51", "f.x = c.a AND c.b IN (49, 56)",
        "f.x = c.a AND f.y = c.b AND c.few IN (6, 7, 8, 9, 1, 2)",
        "f.x = c.a AND c.few IN (6, 7, 8, 9, 1, 2) AND c.b > 49"}) {
    const std::string join = "SELECT VALUE [c.id, f] FROM c JOIN few f ON " + condition;
    const std::string expected = query(join);
    auto statement = database_->prepare("SELECT VALUE [c.id, f] FROM d c JOIN few f ON " + condition);
    ASSERT_TRUE(succeeds(statement));
    EXPECT_EQ(rows(*statement), expected) << condition;
    EXPECT_LT(statement->stats().items_read, 250U) << condition;
  }
  // Lists of any length beside the keys: past so many ranges all items are read.
  EXPECT_EQ(query("CREATE INDEX lists ON d (id, text, a, b)"), "");
  std::string list = "[null";
  for (int i = 0; i < 20'000; ++i) list += fmt::format(R"(,"{}","{:0>6}")", i, i);
  list += "]";
  const std::string by_lists =
      "SELECT VALUE [c.id, f] FROM d c JOIN few f ON f.x = c.a AND f.y = c.b AND ARRAY_CONTAINS(@list, c.id) "
      "AND "
      "ARRAY_CONTAINS(@list, c.text)";
  EXPECT_THAT(plan(by_lists), HasSubstr("by lists"));
  auto statement = database_->prepare(by_lists);
  ASSERT_TRUE(succeeds(statement) && succeeds(statement->bind("list", Json{list})));
  EXPECT_EQ(rows(*statement), query("SELECT VALUE [c.id, f] FROM d c JOIN few f ON f.x = c.a AND f.y = c.b"));
  // The index has no entries for arrays: all items are read.
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'array', p: 'p', a: [1], b: 2}"), "");
  EXPECT_EQ(query("INSERT INTO few VALUES {id: 'array', x: [1], y: 2}"), "");
  for (const std::string& join : joins) EXPECT_THAT(query(join), HasSubstr("[\"array\",{\"id\":\"array\""));
}

TEST_F(IndexChoiceTest, WithoutMemoryForKeysAllItemsAreRead) {
  EXPECT_EQ(query("PRAGMA statement_memory = 2000000"), "2000000\n");
  EXPECT_EQ(query("SELECT VALUE COUNT(c.p) FROM c WHERE c.few IN (1, 2, 3) AND c.a < 30"),
            query("SELECT VALUE COUNT(c.p) FROM d c WHERE c.few IN (1, 2, 3) AND c.a < 30"));
  const std::string covered = "SELECT c.a, c.a + 1 AS next FROM c WHERE c.a < 18";
  EXPECT_THAT(plan(covered), HasSubstr("index-only scan"));
  EXPECT_EQ(query("PRAGMA statement_memory = 150000"), "150000\n");
  EXPECT_THAT(query("EXPLAIN ANALYZE " + covered), Not(HasSubstr("items read 0,")));
  EXPECT_EQ(query(covered), scanned(covered));
}

// Indexes that were there before the items: nobody has looked at all of their entries.
TEST_F(DatabaseTest, EntriesThatNobodyHasCountedAreLookedAtWhereAPlanNeedsIt) {
  make("c", "/p");
  ASSERT_EQ(query("CREATE INDEX one ON c (k)"), "");
  ASSERT_EQ(query("CREATE INDEX some ON c (g)"), "");
  ASSERT_EQ(query("CREATE INDEX own ON c (n, g)"), "");
  Container container = std::move(database_->container("c").value());
  Transaction transaction = std::move(database_->begin_transaction().value());
  for (int i = 0; i < 20'000; ++i)
    ASSERT_TRUE(
        succeeds(container.create(fmt::format(R"({{"id":"{0}","p":"p","n":{0},"g":{1},"k":1}})", i, i % 10),
                                  {.transaction = &transaction})));
  ASSERT_TRUE(succeeds(transaction.commit()));
  const std::string plan = query("EXPLAIN SELECT * FROM c WHERE c.n = @n AND c.k = @k");
  EXPECT_THAT(plan, HasSubstr("by own (c.n = @n), about"));
  EXPECT_THAT(plan, Not(HasSubstr("and by")));
  EXPECT_THAT(query("EXPLAIN SELECT * FROM c WHERE c.k = @k"), HasSubstr("    scan of container c\""));
  EXPECT_THAT(query("EXPLAIN SELECT VALUE COUNT(1) FROM c WHERE c.g = @g"),
              HasSubstr("by some (c.g = @g), about 2000 entries"));
}

}  // namespace
}  // namespace quire::tests
