// ARRAY_CONTAINS(list, path), which is how a list that a query is given as a parameter is asked for, and path
// IN (SELECT ...): the rows are those that a scan gives, and each value is looked up where its path is the
// item's key or has an index.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class ListedValuesTest : public DatabaseTest {
 protected:
  ListedValuesTest() {
    make("c", "/k");
    make("own", "/id");
    EXPECT_TRUE(succeeds(database_->create_container(
        R"({"id":"h","partitionKey":{"paths":["/a","/k"],"kind":"MultiHash","version":2}})")));
    std::string items;
    for (int i = 0; i < 300; ++i)
      items += fmt::format(R"({{"id":"{}","k":"p{}","a":{},"n":{},"v":{}}})"
                           "\n",
                           i, i % 7, i % 3, i % 50, value(i));
    for (const std::string name : {"c", "own", "h"}) {
      std::istringstream input(items);
      EXPECT_TRUE(succeeds(database_->container(name)->import(input)));
      EXPECT_EQ(query("CREATE INDEX by_v ON " + name + " (v)"), "");
      EXPECT_EQ(query("CREATE INDEX by_n_v ON " + name + " (n, v)"), "");
    }
  }

  // Of every type.
  static std::string value(int i) {
    constexpr const char* kValues[] = {"null",   "true", "1",  "1.5", R"("1")",
                                       R"("x")", "[1]",  "[]", "{}",  R"({"a":1})"};
    return kValues[i % std::size(kValues)];
  }

  std::string rows_with(const std::string& sql, std::string_view list) {
    auto statement = database_->prepare(sql);
    EXPECT_TRUE(succeeds(statement)) << sql;
    EXPECT_TRUE(succeeds(statement->bind("list", Json{list}))) << list;
    return rows(*statement);
  }

  // With the list as a parameter, in the text, and as the rows of a query; beside a path that nothing but a
  // scan can serve.
  void expect_rows_of_a_scan(std::string_view from, std::string_view path, std::string_view list,
                             std::string_view and_also = "true") {
    const auto sql = [&](std::string_view array, std::string_view of) {
      return fmt::format("SELECT VALUE c.id FROM {} WHERE {} AND ARRAY_CONTAINS({}, {})", from, and_also,
                         array, of);
    };
    const std::string expected = rows_with(sql("@list", fmt::format("({} ?? c.none)", path)), list);
    EXPECT_EQ(rows_with(sql("@list", path), list), expected) << from << ' ' << path << ' ' << list;
    EXPECT_EQ(query(sql(list, path)), expected) << from << ' ' << path << ' ' << list;
    const std::string rows = fmt::format("IN (SELECT VALUE e FROM e IN (SELECT VALUE {}))", list);
    const auto among_rows = [&](std::string_view of) {
      return query(fmt::format("SELECT VALUE c.id FROM {} WHERE {} AND {} {}", from, and_also, of, rows));
    };
    EXPECT_EQ(among_rows(path), expected) << from << ' ' << path << ' ' << rows;
    EXPECT_EQ(among_rows(fmt::format("({} ?? c.none)", path)), expected)
        << from << ' ' << path << ' ' << rows;
  }
  std::string plan_of(std::string_view condition, std::string_view from = "c") {
    return query(fmt::format("EXPLAIN SELECT VALUE c.id FROM {} WHERE {}", from, condition));
  }
};

constexpr const char* kLists[] = {"[]",
                                  R"(["1"])",
                                  R"(["7","1","1","299","300","x",""])",
                                  R"([1,null,true,"p1","p3",["p1"],{"id":"1"}])",
                                  R"([[1],[],{},{"a":1},{"a":2},[[1]],1.0,false])",
                                  R"(["x",1.5])",
                                  R"("1")",
                                  "7",
                                  "null",
                                  R"({"0":"1"})"};

TEST_F(ListedValuesTest, GiveTheRowsOfAScan) {
  for (const char* const list : kLists) {
    expect_rows_of_a_scan("c", "c.v", list);
    expect_rows_of_a_scan("c", "c.v", list, "c.n = 11");
    expect_rows_of_a_scan("c", "c.n", list);
    expect_rows_of_a_scan("c", "c.k", list);
    expect_rows_of_a_scan("c", "c.id", list);
    expect_rows_of_a_scan("c", "c.id", list, "c.k = 'p1'");
    expect_rows_of_a_scan("c", "c.k", list, "c.id = '1'");
    expect_rows_of_a_scan("c", "c.k", list, "c.id IN ('1', '3')");
    expect_rows_of_a_scan("own c", "c.id", list);
    expect_rows_of_a_scan("own c", "c.id", list, "c.id IN ('1', '2')");
    expect_rows_of_a_scan("h c", "c.id", list, "c.a = 1 AND c.k = 'p1'");
    expect_rows_of_a_scan("h c", "c.k", list, "c.a = 1");
    expect_rows_of_a_scan("h c", "c.a", list, "c.k = 'p1' AND c.id = '1'");
  }
}

TEST_F(ListedValuesTest, AreLookedUp) {
  EXPECT_THAT(plan_of("c.k = 'p1' AND ARRAY_CONTAINS(@list, c.id)"),
              HasSubstr("point reads of container c (1 x each of @list keys)"));
  EXPECT_THAT(plan_of("c.k = 'p1' AND ARRAY_CONTAINS(['1', '2'], c.id)"), HasSubstr("(1 x 2 keys)"));
  EXPECT_THAT(plan_of("ARRAY_CONTAINS(['p1', 'p2'], c.k)"), HasSubstr("several partitions"));
  make("many");
  std::string items;
  for (int i = 0; i < 5'000; ++i) items += fmt::format("{{\"id\":\"{}\",\"n\":{},\"m\":{}}}\n", i, i % 9, i);
  std::istringstream input(items);
  EXPECT_TRUE(succeeds(database_->container("many")->import(input)));
  EXPECT_EQ(query("CREATE INDEX by_m ON many (m)"), "");
  EXPECT_EQ(query("CREATE INDEX by_n_m ON many (n, m)"), "");
  const auto plan = [&](std::string_view condition) { return plan_of(condition, "many c"); };
  EXPECT_THAT(plan("ARRAY_CONTAINS(@list, c.m)"), HasSubstr("index scan of container many by by_m"));
  EXPECT_THAT(plan("ARRAY_CONTAINS([4, 5], c.m)"), HasSubstr("about 2 entries"));
  // What the row decides is no list, nor are the elements that a third argument asks for in part.
  EXPECT_THAT(plan("ARRAY_CONTAINS([c.n, 1], c.m)"), Not(HasSubstr("index scan")));
  EXPECT_THAT(plan("ARRAY_CONTAINS(@list, c.m, true)"), Not(HasSubstr("index scan")));
  EXPECT_THAT(plan("NOT ARRAY_CONTAINS(@list, c.m)"), Not(HasSubstr("index scan")));
  EXPECT_THAT(plan("c.m IN (SELECT VALUE x.n FROM own x)"),
              HasSubstr("index scan of container many by by_m"));
  EXPECT_THAT(plan("c.m NOT IN (SELECT VALUE x.n FROM own x)"), Not(HasSubstr("index scan")));
  EXPECT_THAT(plan("c.m IN (SELECT VALUE x.n FROM own x WHERE x.a = c.n)"), Not(HasSubstr("index scan")));
  EXPECT_THAT(plan("c.id IN (SELECT VALUE x.k FROM own x)"), HasSubstr("point reads of container many"));
  EXPECT_EQ(query("DROP INDEX by_m ON many"), "");
  EXPECT_THAT(plan("c.n = 1 AND ARRAY_CONTAINS(@list, c.m)"), HasSubstr("by by_n_m (c.n = 1 AND ARRAY"));
}

// Where the partition key is the id, an item has one key, not one for each pair of ids.
TEST_F(ListedValuesTest, OfAKeyThatIsTheIdAreOneKeyEach) {
  EXPECT_THAT(plan_of("c.id IN ('1', '2', '3')", "own c"), HasSubstr("(3 keys)"));
  EXPECT_THAT(plan_of("ARRAY_CONTAINS(@list, c.id)", "own c"), HasSubstr("(each of @list keys)"));
  std::string list = "[", in;
  for (int i = 299; i >= 0; --i) {
    list += fmt::format("\"{}\",\"no {}\",", i, i);
    in += fmt::format("{}'{}'", in.empty() ? "" : ",", i);
  }
  list.back() = ']';
  EXPECT_EQ(query(fmt::format("SELECT VALUE COUNT(1) FROM own c WHERE c.id IN ({})", in)), "300\n");
  EXPECT_EQ(rows_with("SELECT VALUE COUNT(1) FROM own c WHERE ARRAY_CONTAINS(@list, c.id)", list), "300\n");
}

TEST_F(ListedValuesTest, AreThoseOfEachRun) {
  auto statement =
      database_->prepare("SELECT VALUE c.id FROM c WHERE c.k = 'p1' AND ARRAY_CONTAINS(@list, c.id)");
  ASSERT_TRUE(succeeds(statement));
  for (const auto& [list, expected] : {std::pair(R"(["1","8","2"])", "\"1\"\n\"8\"\n"), std::pair("[]", ""),
                                       std::pair(R"(["15"])", "\"15\"\n")}) {
    statement->reset();
    ASSERT_TRUE(succeeds(statement->bind("list", Json{list})));
    std::vector<std::string> found;
    for (const Value id : statement->rows()) found.push_back(id.to_json().value() + '\n');
    std::ranges::sort(found);
    std::string text;
    for (const std::string& id : found) text += id;
    EXPECT_EQ(text, expected);
  }
}

TEST_F(ListedValuesTest, MayBeChangedAndDeleted) {
  EXPECT_EQ(query("DELETE FROM c WHERE ARRAY_CONTAINS(['1', '8'], c.id) AND c.k = 'p1'"), "");
  EXPECT_EQ(query("UPDATE c SET c.v = 'changed' WHERE ARRAY_CONTAINS([1.5, 'x'], c.v)"), "");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(['changed'], c.v)"), "60\n");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c"), "298\n");
}

// So many values that to look them up would be more work than to read all items.
TEST_F(ListedValuesTest, MayBeMoreThanItems) {
  std::string items;
  for (int i = 0; i < 1'000; ++i) items += fmt::format("{{\"id\":\"{0}\",\"m\":{0}}}\n", i);
  for (const char* const name : {"many", "others"}) {
    make(name);
    std::istringstream input(items);
    EXPECT_TRUE(succeeds(database_->container(name)->import(input)));
  }
  EXPECT_EQ(query("CREATE INDEX by_m ON many (m)"), "");
  const auto among = [](std::string_view rows) {
    return fmt::format(
        "SELECT VALUE COUNT(c.id) FROM many c WHERE c.m IN (SELECT VALUE o.m FROM others o WHERE {})", rows);
  };
  EXPECT_EQ(query(among("o.m >= 990")), "10\n");
  EXPECT_EQ(query(among("o.m >= 100")), "900\n");
  EXPECT_THAT(query("EXPLAIN ANALYZE " + among("o.m >= 990")), HasSubstr("[entries read 10, items read 10,"));
  EXPECT_THAT(query("EXPLAIN ANALYZE " + among("o.m >= 100")), HasSubstr("[items read 1000,"));
}

// Lists for two parts of an index make each pair of them: too many, and all items are read.
TEST_F(ListedValuesTest, MayBeLong) {
  std::string numbers = "[", texts = "[";
  for (int i = 0; i < 400; ++i) {
    numbers += fmt::format("{},", i);
    texts += fmt::format("\"x{}\",", i == 7 ? "" : std::to_string(i));
  }
  numbers.back() = texts.back() = ']';
  auto statement = database_->prepare(
      "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(@numbers, c.n) AND ARRAY_CONTAINS(@texts, c.v)");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("numbers", Json{numbers})));
  ASSERT_TRUE(succeeds(statement->bind("texts", Json{texts})));
  EXPECT_EQ(rows(*statement), "30\n");
}

}  // namespace
}  // namespace quire::tests
