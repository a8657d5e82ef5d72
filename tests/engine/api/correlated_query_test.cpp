// Subqueries that read the row around them: where they want rows by equality with it, and no index has these,
// they are looked up all the same, and give what comparing each row gives.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class CorrelatedQueryTest : public DatabaseTest {
 protected:
  CorrelatedQueryTest() {
    make("c", "/p");
    make("d", "/p");
    for (const char* const name : {"c", "d"}) {
      std::string items;
      for (int i = 0; i < 600; ++i)
        items += fmt::format(R"({{"id":"{}","p":"p{}"{},"n":{},"m":{}}})"
                             "\n",
                             i, i % 5, key(name[0] == 'c' ? i : i * 7), i % 11, i * 13 % 17);
      std::istringstream input(items);
      EXPECT_TRUE(succeeds(database_->container(name)->import(input)));
    }
  }

  // A container of items with lists, most of which are arrays.
  void make_lists() {
    make("e", "/p");
    std::string items;
    for (int i = 0; i < 600; ++i) {
      std::string list;
      for (int j = 0; j < i % 5; ++j)
        list += fmt::format(R"({}{{"n":{}{}}})", j == 0 ? "" : ",", (i + j) % 11, key(i * 5 + j * 3));
      items += fmt::format(R"({{"id":"{0}","p":"p{1}"{2},"n":{3},"m":{4},"one":{{"k":[{3},{4}]}},"list":)", i,
                           i % 7, key(i * 3), i * 5 % 13, i * 7 % 17);
      items += i % 19 == 0 ? "7}\n" : i % 23 == 0 ? "[3,4,null,[5]]}\n" : "[" + list + "]}\n";
    }
    std::istringstream input(items);
    EXPECT_TRUE(succeeds(database_->container("e")->import(input)));
  }

  // Of every type, or none.
  static std::string key(int i) {
    constexpr const char* kKeys[] = {
        "null", "true",  "1",     "1.5",  R"("1")",          R"("x")", "[1]",
        "[]",   "{}",    "-0",    "0",    R"({"a":1})",      "2e300",  "9007199254740992",
        "-7",   R"("")", "false", "[[]]", "9007199254740993"};
    constexpr size_t kCount = std::size(kKeys) + 1;
    const size_t number = static_cast<size_t>(i) % kCount;
    return number == 0 ? "" : fmt::format(R"(,"k":{})", kKeys[number - 1]);
  }

  // `sql` with conditions in which a = b stands as EQUAL(a, b).
  static std::string with_equality(std::string sql, std::string_view form) {
    for (size_t at = sql.find("EQUAL("); at != std::string::npos; at = sql.find("EQUAL(", at)) {
      const size_t comma = sql.find(',', at), end = sql.find(')', at);
      sql.replace(at, end + 1 - at,
                  fmt::format(fmt::runtime(form), sql.substr(at + 6, comma - at - 6),
                              sql.substr(comma + 2, end - comma - 2)));
    }
    return sql;
  }
  void expect_rows_of_comparing(const std::string& sql, std::string_view plan = "rows by key") {
    const std::string by_key = with_equality(sql, "{} = {}");
    const std::string compared = with_equality(sql, "ARRAY_CONTAINS([{0}], {1})");
    EXPECT_THAT(query("EXPLAIN " + by_key), HasSubstr(plan)) << by_key;
    EXPECT_THAT(query("EXPLAIN " + compared), Not(HasSubstr(plan))) << compared;
    const std::string rows = query(by_key);
    EXPECT_THAT(rows, HasSubstr("\n")) << by_key;
    EXPECT_EQ(rows, query(compared)) << by_key;
  }
};

const std::initializer_list<const char*> kCorrelated = {
    "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE EQUAL(d.k, c.k))",
    "SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT 1 FROM d WHERE EQUAL(d.k, c.k) AND d.m > 14)",
    "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE EQUAL(d.k, c.k) AND EQUAL(d.n, c.m))",
    "SELECT c.id, (SELECT VALUE COUNT(1) FROM d WHERE EQUAL(d.k, c.k) AND d.m < c.m) AS n FROM c",
    "SELECT c.id, (SELECT MAX(d.m) AS m, COUNT(d.k) AS k FROM d WHERE EQUAL(d.n, c.n)) AS o FROM c",
    "SELECT c.id, ARRAY(SELECT d.id, d.k FROM d WHERE EQUAL(d.n, c.m) AND d.m > 3) AS a FROM c",
    "SELECT c.id, ARRAY(SELECT TOP 2 VALUE d.id FROM d WHERE EQUAL(d.k, c.k) ORDER BY d.m DESC) AS a FROM c",
    "SELECT c.id, ARRAY(SELECT DISTINCT d.m FROM d WHERE EQUAL(d.n, c.m) ORDER BY d.m) AS a FROM c",
    "SELECT c.id, ARRAY(SELECT d.m, COUNT(1) AS n FROM d WHERE EQUAL(d.n, c.m) GROUP BY d.m) AS a FROM c",
    "SELECT VALUE c.id FROM c WHERE c.m IN (SELECT VALUE d.m FROM d WHERE EQUAL(d.k, c.k))",
    "SELECT c.id, x FROM c JOIN (SELECT VALUE d.id FROM d WHERE EQUAL(d.k, c.k) AND d.m = 3) x",
    "SELECT c.id, x FROM c LEFT JOIN (SELECT VALUE d.id FROM d WHERE EQUAL(d.k, c.k) AND d.m = 3) x ON true",
    "SELECT c.id, ARRAY(SELECT VALUE d.id FROM d WHERE d.p = 'p3' AND EQUAL(d.k, c.k)) AS a FROM c",
    "SELECT c.id, ARRAY(SELECT VALUE [d.id, t] FROM d JOIN t IN (SELECT VALUE [d.m, d.n]) WHERE EQUAL(d.k, "
    "c.k) AND t > 9) AS a FROM c",
    "SELECT c.id, ARRAY(SELECT VALUE x.m FROM (SELECT d.k, MAX(d.m) AS m FROM d GROUP BY d.k) x WHERE "
    "EQUAL(x.k, c.k)) AS a FROM c",
    "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE EQUAL(d.k, c.k) AND EXISTS(SELECT 1 FROM c "
    "x "
    "WHERE EQUAL(x.n, d.m) AND x.m = c.m))",
    "SELECT c.id, ARRAY(SELECT VALUE d.id FROM d WHERE EQUAL(d.k, c.k) UNION ALL SELECT VALUE d.m FROM d "
    "WHERE EQUAL(d.n, c.m)) AS a FROM c WHERE c.m < 4",
    "SELECT c.id, ARRAY(SELECT VALUE d.id FROM d WHERE EQUAL(d.p || '!', c.p || '!') AND d.m < "
    "c.m) AS a FROM c",
};

TEST_F(CorrelatedQueryTest, LooksItsRowsUp) {
  for (const char* const sql : kCorrelated) expect_rows_of_comparing(sql);
}

// Of the elements of items' arrays, and of rows that subqueries make of items.
TEST_F(CorrelatedQueryTest, LooksUpWhatItemsComeTo) {
  make_lists();
  for (const char* const sql :
       {"SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM e JOIN t IN e.list WHERE EQUAL(t.k, c.k))",
        "SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT 1 FROM t IN e.list WHERE EQUAL(t.k, c.k) AND "
        "t.n > 8)",
        "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM e JOIN t IN e.list JOIN u IN e.list WHERE "
        "EQUAL(t.k, c.k) AND EQUAL(u.n, c.m) AND e.n < 3)",
        "SELECT c.id, ARRAY(SELECT VALUE [e.id, t] FROM e JOIN t IN e.list WHERE EQUAL(t.k, c.k) AND "
        "t.n < c.m) AS a FROM c",
        "SELECT c.id, ARRAY(SELECT TOP 3 e.id, t.n FROM e JOIN t IN e.list WHERE EQUAL(t.k, c.k) AND e.n = 4 "
        "ORDER BY t.n DESC) AS a FROM c",
        "SELECT c.id, (SELECT VALUE SUM(t.n) FROM e JOIN t IN e.list WHERE EQUAL(t.k, c.k)) AS n FROM c",
        "SELECT c.id, ARRAY(SELECT VALUE t FROM t IN e.list WHERE EQUAL(t, c.m)) AS a FROM c",
        "SELECT VALUE c.id FROM c WHERE c.m IN (SELECT VALUE t.n FROM e JOIN t IN e.list WHERE "
        "EQUAL(t.k, c.k))",
        "SELECT c.id, x FROM c JOIN (SELECT VALUE t.n FROM e JOIN t IN e.list WHERE EQUAL(t.k, c.k)) x "
        "WHERE c.n = 1",
        "SELECT c.id, ARRAY(SELECT VALUE k FROM e JOIN k IN e.list[1].k WHERE EQUAL(k, c.m)) AS a FROM c",
        "SELECT c.id, ARRAY(SELECT VALUE v FROM v IN e.one.k WHERE EQUAL(v, c.n)) AS a FROM c",
        "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM e.one v WHERE EQUAL(v.k[1], c.k))",
        "SELECT c.id, ARRAY(SELECT VALUE s.m FROM e JOIN (SELECT MAX(t.n) AS m, COUNT(1) AS n FROM "
        "t IN e.list) s WHERE EQUAL(s.m, c.m) AND s.n > 2) AS a FROM c",
        "SELECT c.id, ARRAY(SELECT VALUE t.n FROM (SELECT VALUE e.list FROM e WHERE e.n = 1) s JOIN t IN s "
        "WHERE EQUAL(t.k, c.k)) AS a FROM c",
        "SELECT c.id, (SELECT VALUE SUM(t.n) FROM d JOIN e ON e.n = d.m JOIN t IN e.list WHERE "
        "EQUAL(t.k, c.k) AND d.n = 5) AS n FROM c"})
    expect_rows_of_comparing(sql);
  const std::string analyzed = query(
      "EXPLAIN ANALYZE SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT 1 FROM e JOIN t IN e.list WHERE "
      "t.k = CONCAT(c.id, 'x'))");
  EXPECT_THAT(analyzed, HasSubstr("scan of container e  [items read 1800, rows 1800,"));
}

// Of an OR, or a list of values, each row once and in order.
TEST_F(CorrelatedQueryTest, LooksUpByAnyKey) {
  make_lists();
  for (const char* const condition :
       {"EQUAL(e.k, c.k) OR EQUAL(e.n, c.m)", "EQUAL(e.k, c.k) OR EQUAL(e.k, c.m) OR EQUAL(e.m, c.none)",
        "(EQUAL(e.k, c.k) OR EQUAL(e.n, c.m)) AND e.m > 3 AND e.n != c.n",
        "(EQUAL(e.k, c.k) AND e.m > c.m) OR ((EQUAL(e.n, c.n) OR e.n < c.m) AND EQUAL(e.m, c.n))",
        "(EQUAL(e.k, c.k) AND e.m > c.m) OR (e.n < 4 AND (EQUAL(e.m, c.m) OR EQUAL(e.n, c.n)))",
        "EQUAL(e.k, c.k) OR EQUAL(e.m, 3)", "EQUAL(c.m, e.m) OR EQUAL(e.n, c.m)"})
    for (const char* const form : {"SELECT c.id, ARRAY(SELECT VALUE e.id FROM e WHERE {}) AS a FROM c",
                                   "SELECT c.id, ARRAY(SELECT VALUE [e.id, t.n] FROM e JOIN t IN e.list "
                                   "WHERE (t.n != 0) AND ({})) AS a FROM c",
                                   "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM e WHERE {})",
                                   "SELECT c.id, (SELECT VALUE COUNT(1) FROM e WHERE {}) AS n FROM c"})
      expect_rows_of_comparing(fmt::format(fmt::runtime(form), condition));
  for (const auto& [list, contained] :
       {std::pair("e.k IN (c.k, c.m)", "ARRAY_CONTAINS([c.k, c.m], e.k)"),
        std::pair("c.m IN (e.n, e.m, e.k)", "ARRAY_CONTAINS([e.n, e.m, e.k], c.m)")}) {
    const auto rows_of = [&](std::string_view condition) {
      return query(
          fmt::format("SELECT c.id, ARRAY(SELECT VALUE e.id FROM e WHERE {}) AS a FROM c", condition));
    };
    EXPECT_EQ(rows_of(list), rows_of(contained));
    EXPECT_THAT(query(fmt::format("EXPLAIN SELECT EXISTS(SELECT 1 FROM e WHERE {}) FROM c", list)),
                HasSubstr("rows by key " + std::string(list)));
  }
  // Not by what an arm asks of no row around, or of none by equality, nor by many.
  for (const char* const condition : {"e.k NOT IN (c.k, c.m)", "e.k = c.k OR e.m IN (0, 1, 2, 3, 4, 5, 6, 7)",
                                      "e.k = c.k OR e.m > c.m", "e.k = c.k OR (e.m = 3 AND e.n > 4)"})
    EXPECT_THAT(query(fmt::format("EXPLAIN SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM e WHERE {})",
                                  condition)),
                Not(HasSubstr("rows by key")));
}

// An index leads to the same rows for all rows around, and its entries are read three times rather than for
// each of these.
TEST_F(CorrelatedQueryTest, KeepsWhatAnIndexLeadsTo) {
  EXPECT_EQ(query("CREATE INDEX by_m ON d (m, id)"), "");
  const std::initializer_list<const char*> queries = {
      "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.m = 3 AND EQUAL(d.k, c.k))",
      "SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT 1 FROM d WHERE d.m = 3 AND EQUAL(d.k, c.k))",
      "SELECT c.id, ARRAY(SELECT VALUE d.id FROM d WHERE d.m IN (3, 4) AND EQUAL(d.k, c.k)) AS a FROM c",
      "SELECT c.id, ARRAY(SELECT VALUE [d.id, d.m] FROM d WHERE d.m = 3 AND EQUAL(d.id || '', c.id)) AS a "
      "FROM "
      "c",
      "SELECT c.id, ARRAY(SELECT TOP 2 VALUE d.id FROM d WHERE d.m = 3 AND EQUAL(d.k, c.k) ORDER BY d.n) AS "
      "a FROM c",
  };
  for (const char* const sql : queries) {
    expect_rows_of_comparing(sql);
    EXPECT_THAT(query("EXPLAIN " + with_equality(sql, "{} = {}")), HasSubstr("by by_m")) << sql;
  }
  EXPECT_THAT(query("EXPLAIN ANALYZE SELECT c.id FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.m = 3 AND "
                    "CONCAT(d.id, 'x') = c.id)"),
              HasSubstr("[entries read 105,"));
}

// An index, or the partition key, leads to the items of each row around, until all are read instead.
TEST_F(CorrelatedQueryTest, ReadsAllOnceLookUpsCostMore) {
  std::vector<std::string> queries;
  for (const char* const sql : kCorrelated) queries.push_back(with_equality(sql, "{} = {}"));
  for (const char* const condition :
       {"d.p = c.p AND d.m > c.m", "d.p = c.p AND d.k = c.k", "d.n = c.n AND d.m > c.m AND d.k != c.k",
        "d.n = c.n AND d.m = c.m", "d.k = c.k AND d.m = 3", "d.p = c.p AND d.n = 3 AND d.k >= c.k",
        "d.p = 'p1' AND d.n = c.n AND d.k = 'x'"})
    queries.push_back(
        fmt::format("SELECT c.id, ARRAY(SELECT VALUE [d.id, d.k] FROM d WHERE {}) AS a FROM c", condition));
  std::vector<std::string> expected;
  for (const std::string& sql : queries) expected.push_back(query(sql));
  for (const char* const index : {"by_k ON d (k)", "by_n ON d (n, m DESC)", "by_m ON d (m)"})
    EXPECT_EQ(query(fmt::format("CREATE INDEX {}", index)), "");
  for (size_t i = 0; i < queries.size(); ++i) EXPECT_EQ(query(queries[i]), expected[i]) << queries[i];
  const auto items_read = [&](const std::string& sql) {
    auto statement = database_->prepare(sql);
    EXPECT_TRUE(succeeds(statement));
    (void)rows(*statement);
    return statement->stats().items_read;
  };
  for (const char* const key : {"d.n = c.n", "d.p = c.p"}) {
    const auto counting = [&](std::string_view first) {
      return fmt::format(
          "SELECT VALUE COUNT(1) FROM c WHERE {}EXISTS(SELECT 1 FROM d WHERE {} AND (d.k ?? 0) = 99)", first,
          key);
    };
    EXPECT_THAT(query("EXPLAIN " + counting("")), HasSubstr("rows by key"));
    EXPECT_LT(items_read(counting("")), 4'000U) << key;  // not 54 or 120 for each of the 600
    EXPECT_LE(items_read(counting("c.p = 'p2' AND c.id = '7' AND ")), 121U) << key;
  }
}

// So little memory that the rows cannot be kept.
TEST_F(CorrelatedQueryTest, ComparesWhereMemoryDoesNotReach) {
  EXPECT_EQ(query("PRAGMA statement_memory = 150000"), "150000\n");
  const std::string sql = with_equality(*kCorrelated.begin(), "{} = {}");
  EXPECT_EQ(query(sql), query(with_equality(*kCorrelated.begin(), "ARRAY_CONTAINS([{0}], {1})")));
  EXPECT_THAT(
      query("EXPLAIN ANALYZE SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE d FROM d WHERE d.id = "
            "CONCAT(c.id, 'x') AND CONCAT(d.id, d.p) != c.p)"),
      HasSubstr("items read 600"));
}

TEST_F(CorrelatedQueryTest, GoesOnLookingUpWhereMemoryDoesNotReach) {
  const std::string sql =
      "SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.n = c.n AND d.k = c.k)";
  const std::string count = query(sql);
  EXPECT_EQ(query("CREATE INDEX by_n ON d (n)"), "");
  EXPECT_EQ(query("PRAGMA statement_memory = 120000"), "120000\n");
  EXPECT_EQ(query(sql), count);
}

TEST_F(CorrelatedQueryTest, ComparesElementsAndArmsWhereMemoryDoesNotReach) {
  make_lists();
  for (const char* const condition :
       {"FROM e JOIN t IN e.list WHERE t.k = c.k", "FROM e WHERE e.k = c.k OR e.m = c.n"}) {
    const std::string sql =
        fmt::format("SELECT c.id, (SELECT VALUE MAX(e.id) {}) AS last FROM c WHERE c.n = 3", condition);
    EXPECT_EQ(query("PRAGMA statement_memory = 100000000"), "100000000\n");
    const std::string rows = query(sql);
    EXPECT_EQ(query("PRAGMA statement_memory = 100000"), "100000\n");
    EXPECT_EQ(query(sql), rows) << sql;
  }
}

// To keep all elements may be far more work than to find what is wanted among the first ones.
TEST_F(CorrelatedQueryTest, KeepsNoMoreElementsThanItHasCompared) {
  make("long", "/p");
  std::string item = R"({"id":"1","p":"p","list":[{"n":1})";
  for (int i = 0; i < 20'000; ++i) item += R"(,{"n":0})";
  std::istringstream input(item + "]}");
  ASSERT_TRUE(succeeds(database_->container("long")->import(input)));
  const std::string analyzed = query(
      "EXPLAIN ANALYZE SELECT VALUE COUNT(1) FROM c WHERE c.m = 3 AND c.n = 1 AND "
      "EXISTS(SELECT 1 FROM t IN long.list WHERE t.n = LENGTH(c.id) - LENGTH(c.id) + 1)");
  EXPECT_THAT(analyzed, HasSubstr("rows by key"));
  EXPECT_THAT(analyzed, HasSubstr("elements of long.list as t  [rows 384,"));  // not 20,001
}

// Once rows that were compared are twice as many as there are; before that a reader may have seen enough.
TEST_F(CorrelatedQueryTest, ReadsItsRowsOnceMore) {
  const auto analyzed = [&](const std::string& sql) { return query("EXPLAIN ANALYZE " + sql); };
  EXPECT_THAT(
      analyzed("SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.id = CONCAT(c.id, 'x'))"),
      HasSubstr("scan of container d  [items read 1800, rows 1800,"));
  EXPECT_THAT(
      analyzed("SELECT TOP 1 VALUE c.id FROM c WHERE c.p = 'p1' AND c.id = '6' AND NOT EXISTS(SELECT 1 "
               "FROM d WHERE d.k = c.none)"),
      HasSubstr("scan of container d  [items read 600,"));
}

// The right side of a join within the subquery is read once.
TEST_F(CorrelatedQueryTest, KeepsTheRightSideOfAJoin) {
  const std::string sql =
      "SELECT c.id, ARRAY(SELECT VALUE [x, d.id] FROM x IN (SELECT VALUE [c.m, c.n]) JOIN d ON d.n = x AND "
      "d.m "
      "> 14) AS a FROM c";
  EXPECT_THAT(query("EXPLAIN ANALYZE " + sql), HasSubstr("scan of container d  [items read 600,"));
  EXPECT_EQ(
      query(sql),
      query("SELECT c.id, ARRAY(SELECT VALUE [x, d.id] FROM x IN (SELECT VALUE [c.m, c.n]) JOIN d ON d.n = "
            "x AND d.m > 14 AND (d.none ?? c.id) = c.id) AS a FROM c"));
  // What the row around decides is read for each.
  const std::string by_row =
      "SELECT c.id, ARRAY(SELECT VALUE [x, d.id] FROM x IN (SELECT VALUE [c.m]) JOIN d ON d.n = x AND d.m > "
      "c.n) AS a FROM c WHERE c.n > 8";
  EXPECT_EQ(
      query(by_row),
      query("SELECT c.id, ARRAY(SELECT VALUE [c.m, d.id] FROM d WHERE d.n = c.m AND d.m > c.n) AS a FROM c "
            "WHERE c.n > 8"));
}

// A join begins with the side that the row around says something of; where that is both, each keeps its rows.
TEST_F(CorrelatedQueryTest, LooksUpWhatItJoins) {
  for (const char* const condition :
       {"FROM d y JOIN d z ON z.n = y.m WHERE EQUAL(z.k, c.k) AND y.n < 3",
        "FROM d y LEFT JOIN d z ON z.n = y.m WHERE EQUAL(z.k, c.k) AND y.n < 3",
        "FROM d y JOIN d z ON z.n = y.m AND EQUAL(z.k, c.k) WHERE EQUAL(y.n, c.m)",
        "FROM d y LEFT JOIN d z ON z.n = y.m AND EQUAL(z.k, c.k) WHERE EQUAL(y.n, c.m)",
        "FROM d y LEFT JOIN d z ON z.n = y.m AND EQUAL(z.k, c.k) AND z.m != y.m WHERE y.id > '57'",
        "FROM d y JOIN d x ON x.n = y.n JOIN d z ON z.n = x.m WHERE EQUAL(z.k, c.k) AND y.n < 2 AND x.m < 2",
        "FROM d y JOIN d z ON z.id = y.id AND z.p = y.p WHERE EQUAL(z.m, c.n)"})
    for (const char* const kind : {"EXISTS", "0 < "})
      expect_rows_of_comparing(
          fmt::format("SELECT VALUE c.id FROM c WHERE c.m < 5 AND {}(SELECT VALUE {} {})", kind,
                      *kind == 'E' ? "1" : "COUNT(1)", condition));
  const std::string analyzed = query(
      "EXPLAIN ANALYZE SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT 1 FROM d y JOIN d z ON z.n = y.m "
      "WHERE z.k = CONCAT(c.id, 'x'))");
  EXPECT_THAT(analyzed, HasSubstr("scan of container d  [items read 1800, rows 1800,"));
  EXPECT_THAT(analyzed, HasSubstr("items read 2400, rows returned 1"));  // nothing is joined
  // An index over y.id may have the order.
  EXPECT_THAT(query("EXPLAIN SELECT (SELECT TOP 1 VALUE y.id FROM d y JOIN d z ON z.n = y.m WHERE z.k = c.k "
                    "ORDER BY y.id) FROM c"),
              HasSubstr("hash join on y.m = z.n"));
}

// Of the join below, whose items the join above asks for by the keys that it finds for each row around.
TEST_F(CorrelatedQueryTest, KeepsNoRightSideThatIsAskedForOtherKeys) {
  make("links", "/p");
  std::string items;
  for (int i = 0; i < 3000; ++i)
    items += fmt::format(R"({{"id":"{}","p":"p","from":"{}","to":{}}})"
                         "\n",
                         i, i % 600, i % 1000);
  std::istringstream input(items);
  ASSERT_TRUE(succeeds(database_->container("links")->import(input)));
  EXPECT_EQ(query("CREATE INDEX by_to ON links (to)"), "");
  constexpr std::string_view kCounts =
      R"(SELECT VALUE (SELECT VALUE COUNT(1) FROM c a JOIN links l ON l["from"] = a.id JOIN d ON {} = d.m + d.n * 17
           AND d.p = o.p AND d.id = CONCAT(o.id, '') WHERE a.n % 2 = o.n % 2) FROM c o WHERE o.n < 3)";
  const std::string by_keys = fmt::format(kCounts, "l.to"), whole = fmt::format(kCounts, "l.to + 0");
  EXPECT_THAT(query("EXPLAIN " + by_keys), HasSubstr("by by_to, what has a key of the join"));
  EXPECT_THAT(query(whole), HasSubstr("3\n3\n3\n"));
  EXPECT_EQ(query(by_keys), query(whole));
}

// A statement that is run again sees what is there then.
TEST_F(CorrelatedQueryTest, KeepsNothingForTheNextRun) {
  auto statement = database_->prepare(
      "SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT 1 FROM d WHERE d.id = CONCAT(c.id, @end))");
  ASSERT_TRUE(succeeds(statement));
  const auto count = [&](std::string_view end) {
    statement->reset();
    EXPECT_TRUE(succeeds(statement->bind("end", end)));
    return rows(*statement);
  };
  EXPECT_EQ(count(""), "600\n");
  EXPECT_EQ(count("x"), "0\n");
  EXPECT_EQ(query("DELETE FROM d WHERE d.m = 3"), "");
  EXPECT_THAT(count(""), Not(HasSubstr("600")));
  EXPECT_EQ(query("INSERT INTO d VALUES {id: '7x', p: 'p'}"), "");
  EXPECT_EQ(count("x"), "1\n");
}

}  // namespace
}  // namespace quire::tests
