// Joins whose keys are the partition key and the id of items: the partners are read one by one where that is
// less work than reading all, and the rows are those of a join that knows no better way.
#include <fmt/format.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class KeyJoinTest : public DatabaseTest {
 protected:
  KeyJoinTest() {
    make("plain");
    make("own", "/id");
    make("parted", "/k");
    EXPECT_TRUE(succeeds(database_->create_container(
        R"({"id":"deep","partitionKey":{"paths":["/k","/o/n"],"kind":"MultiHash","version":2}})")));
    for (const std::string name : {"own", "parted", "deep", "plain"}) {
      // Items of several partitions share an id.
      const int of_one_id = name == "parted" || name == "deep" ? 2 : 1;
      std::string items;
      for (int i = 0; i < 400; ++i)
        items += fmt::format(R"({{"id":"{}","k":{},"o":{{"n":{}}},"v":{}}})"
                             "\n",
                             i / of_one_id, key(i), i % 3, i);
      std::istringstream input(items);
      EXPECT_TRUE(succeeds(database_->container(name)->import(input)));
    }
    make("few");
    for (int i = 0; i < 12; ++i) add_reference(i, fmt::format(R"("{}")", i * 17), key(i * 34), i % 3);
    add_reference(20, "17", "null", 1);
    add_reference(21, R"("17")", "[1]", 1);
    add_reference(22, R"("no such item")", R"("p1")", 1);
    add_reference(23, R"("")", R"("p1")", 1);
    add_reference(24, fmt::format(R"("{:x>3000}")", ""), fmt::format(R"("{:x>3000}")", ""), 1);
    add_reference(25, "{}", "{}", 1);
    add_reference(26, R"("17")", "9007199254740993", 1);
    EXPECT_EQ(query("INSERT INTO few VALUES {id: 'none'}"), "");
  }

  // Of every type that a partition key may be; numbers that share a double.
  static std::string key(int i) {
    constexpr const char* kKeys[] = {
        "null", "9007199254740992", "1", "1.5", R"("1")", R"("p1")", "-7", "0", "true", R"("")",
        "-0",   "9007199254740993"};
    return kKeys[static_cast<size_t>(i) % std::size(kKeys)];
  }
  void add_reference(int number, std::string_view id, std::string_view key, int n) {
    EXPECT_EQ(query(fmt::format("INSERT INTO few VALUES {{id: 'f{}', item: {}, k: {}, n: {}}}", number, id,
                                key, n)),
              "");
  }
  std::string plan(const std::string& sql) { return query("EXPLAIN " + sql); }

  // The conditions on x, and the same in words that lead to no key.
  void expect_rows_of_a_hash_join(const std::string& container, const std::string& on,
                                  const std::string& in_other_words, std::string_view way,
                                  const std::string& where = "true") {
    for (const char* const from :
         {"few f JOIN {} x ON ", "few f LEFT JOIN {} x ON ", "{} x JOIN few f ON "}) {
      const std::string select = "SELECT f.id AS f, x.id, x.k, x.v FROM ";
      const std::string start = select + fmt::format(fmt::runtime(from), container);
      const std::string fast = start + on + " WHERE " + where;
      const std::string slow = start + in_other_words + " WHERE " + where;
      EXPECT_THAT(plan(fast), HasSubstr(way)) << fast;
      EXPECT_THAT(plan(slow), Not(HasSubstr(way))) << slow;
      EXPECT_EQ(query(fast), query(slow)) << fast;
    }
  }
};

constexpr const char* kPoints = "point reads of container";
constexpr const char* kPartitions = "scan of several partitions of container";

TEST_F(KeyJoinTest, ReadsThePartnersByTheirKeys) {
  expect_rows_of_a_hash_join("plain", "x.id = f.item", "(x.id ?? 0) = f.item", kPoints);
  expect_rows_of_a_hash_join("own", "f.item = x.id", "f.item = (x.id ?? 0)", kPoints);
  expect_rows_of_a_hash_join("parted", "x.id = f.item AND x.k = f.k", "(x.id ?? 0) = f.item AND x.k = f.k",
                             kPoints);
  expect_rows_of_a_hash_join("deep", "x.k = f.k AND x.o.n = f.n AND x.id = f.item",
                             "x.k = f.k AND x.o.n = f.n AND (x.id ?? 0) = f.item", kPoints);
  expect_rows_of_a_hash_join("parted", "x.id = f.item AND x.k = f.k AND x.v > 100",
                             "(x.id ?? 0) = f.item AND x.k = f.k AND x.v > 100", kPoints);
}

// What WHERE says of the partition, the keys need not.
TEST_F(KeyJoinTest, ReadsThePartnersOfOnePartition) {
  const std::string here = "x.k = 'p1' AND f.id != 'f3'";
  for (int i = 1000; i < 1400; ++i)
    EXPECT_EQ(query(fmt::format("INSERT INTO parted VALUES {{id: '{}', k: 'p1', v: {}}}", i, i)), "");
  for (int i = 1000; i < 1010; ++i)
    EXPECT_EQ(query(fmt::format("INSERT INTO few VALUES {{id: 'g{0}', item: '{0}'}}", i)), "");
  const auto select = [&](std::string_view from, std::string_view on) {
    return fmt::format("SELECT f.id AS f, x.v FROM {} ON {} WHERE {}", from, on, here);
  };
  for (const char* const from : {"few f JOIN parted x", "parted x JOIN few f"})
    EXPECT_EQ(query(select(from, "x.id = f.item")), query(select(from, "(x.id ?? 0) = f.item"))) << from;
}

TEST_F(KeyJoinTest, ReadsThePartitionsOfThePartners) {
  expect_rows_of_a_hash_join("parted", "x.k = f.k", "(x.k ?? x.none) = f.k", kPartitions,
                             "f.id IN ('f1', 'f5', 'f20', 'f26')");
}

// An OR, or a list, says of each row which items these are.
TEST_F(KeyJoinTest, ReadsSeveralItemsByTheirKeysForEachRow) {
  constexpr std::pair<const char*, const char*> kConditions[] = {
      {"plain", "{0} = f.item OR {0} = f.k"},
      {"plain", "{0} IN (f.item, f.k, '3', f.item, f.none)"},
      {"plain", "({0} = f.item AND x.v > 60) OR {0} = '7' OR ({0} = f.k AND f.n = 1)"},
      {"own", "{0} IN (f.item, f.k)"},
      {"own", "{0} = f.item OR f.k = {0}"},
      {"parted", "({0} = f.item AND x.k = f.k) OR ({0} = '17' AND x.k = f.item)"},
      {"parted", "({0} = f.item AND x.k = f.k AND f.n > 0) OR ({0} = '9' AND x.k = 'p1')"},
      {"deep", "({0} = f.item AND x.k = f.k AND x.o.n = f.n) OR ({0} = '2' AND x.k = f.item AND x.o.n = 1)"}};
  for (const auto& [container, on] : kConditions) {
    for (const char* const join : {"JOIN", "LEFT JOIN"}) {
      const auto sql = [&](std::string_view id) {
        return fmt::format("SELECT f.id AS f, x.id, x.k, x.v FROM few f {} {} x ON {}", join, container,
                           fmt::format(fmt::runtime(on), id));
      };
      EXPECT_THAT(plan(sql("x.id")), HasSubstr(kPoints)) << sql("x.id");
      EXPECT_THAT(plan(sql("(x.id ?? 0)")), Not(HasSubstr(kPoints)));
      EXPECT_EQ(query(sql("x.id")), query(sql("(x.id ?? 0)"))) << sql("x.id");
    }
  }
}

// Beside an index over another path, where the id alone is a key.
TEST_F(KeyJoinTest, ReadsWhatIdsAndAnIndexLeadTo) {
  for (const char* const container : {"plain", "own", "parted"})
    EXPECT_EQ(query(fmt::format("CREATE INDEX ON {} (v)", container)), "");
  for (const char* const container : {"plain", "own"}) {
    for (const char* const on :
         {"{0} = f.item OR x.v = f.n", "x.v IN (f.n, 17) OR {0} IN (f.item, f.k, '3', f.none)",
          "{0} = '7' AND f.n > 0 OR x.v = f.n + 5 OR {0} = f.item AND x.v != 34"}) {
      for (const char* const from :
           {"SELECT f.id AS f, x.id, x.v FROM few f JOIN {} x ON {}",
            "SELECT f.id AS f, x.id, x.v FROM few f LEFT JOIN {} x ON {}",
            "SELECT VALUE f.id FROM few f WHERE EXISTS(SELECT 1 FROM {} x WHERE {})",
            "SELECT f.id, ARRAY(SELECT VALUE x.id FROM {} x WHERE {}) AS ids FROM few f"}) {
        const auto sql = [&](std::string_view id) {
          return fmt::format(fmt::runtime(from), container, fmt::format(fmt::runtime(on), id));
        };
        EXPECT_THAT(plan(sql("x.id")), HasSubstr("by id (")) << sql("x.id");
        EXPECT_THAT(plan(sql("(x.id ?? 0)")), HasSubstr("scan of container " + std::string(container)));
        EXPECT_EQ(query(sql("x.id")), query(sql("(x.id ?? 0)"))) << sql("x.id");
      }
    }
  }
  EXPECT_THAT(plan("SELECT * FROM parted x WHERE x.id = '7' OR x.v = 9"), Not(HasSubstr("by id (")));
}

// In the order of keys, each item once; also what a transaction has not yet committed.
TEST_F(KeyJoinTest, FindsItemsByTheirIdsBesideAnIndex) {
  EXPECT_EQ(query("CREATE INDEX ON plain (v)"), "");
  const std::string sql =
      "SELECT VALUE x.id FROM plain x WHERE x.v = 9 OR x.id = '7' OR x.id IN ('9', '8', 'new', '', 3)";
  EXPECT_THAT(plan(sql), HasSubstr("by id ("));
  EXPECT_EQ(query(sql), "\"7\"\n\"8\"\n\"9\"\n");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO plain VALUES {id: 'new', v: 9}, {id: 'newer', v: 9}"), "");
  EXPECT_EQ(query("DELETE FROM plain WHERE plain.id = '8'"), "");
  EXPECT_EQ(query(sql), "\"7\"\n\"9\"\n\"new\"\n\"newer\"\n");
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(query(sql), "\"7\"\n\"8\"\n\"9\"\n");
}

// The id alone says which item it is only where there is no partition key.
TEST_F(KeyJoinTest, ReadsNoItemsByTheirIdsAlone) {
  const std::string or_of_ids = "SELECT VALUE x.v FROM few f JOIN parted x ON x.id = f.item OR x.id = f.k";
  EXPECT_THAT(plan(or_of_ids), Not(HasSubstr(kPoints)));
  EXPECT_EQ(query(or_of_ids),
            query("SELECT VALUE x.v FROM few f JOIN parted x ON (x.id ?? 0) IN (f.item, f.k)"));
}

// Where all items cost less, or a limit ends the rows early.
TEST_F(KeyJoinTest, ReadsAllItemsWhereThatIsLess) {
  const std::string own = "SELECT y.v FROM own x JOIN own y ON y.id = x.id";
  EXPECT_THAT(plan(own), Not(HasSubstr(kPoints)));
  EXPECT_THAT(plan("SELECT TOP 3 y.v FROM own x JOIN own y ON y.id = x.id"), HasSubstr("lookup join"));
  EXPECT_THAT(plan("SELECT TOP 3 y.v FROM own x JOIN own y ON y.id = x.id ORDER BY x.v"),
              Not(HasSubstr("lookup join")));
  EXPECT_THAT(plan("SELECT TOP 3 y.v FROM own x JOIN own y ON y.id = x.id WHERE y.v > x.v"),
              Not(HasSubstr("lookup join")));
  EXPECT_EQ(query("SELECT TOP 3 VALUE y.v FROM own x JOIN own y ON y.id = x.id"),
            query("SELECT TOP 3 VALUE x.v FROM own x"));
}

// A statement that is run again looks up what is there then, also what a transaction has not yet committed.
TEST_F(KeyJoinTest, SeesWhatIsThereWhenItRuns) {
  auto statement = database_->prepare(
      "SELECT VALUE x.v FROM few f JOIN parted x ON x.id = f.item AND x.k = f.k WHERE f.id = 'f22'");
  ASSERT_TRUE(succeeds(statement));
  EXPECT_EQ(rows(*statement), "");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO parted VALUES {id: 'no such item', k: 'p1', v: 'new'}"), "");
  statement->reset();
  EXPECT_EQ(rows(*statement), "\"new\"\n");
  EXPECT_EQ(query("UPDATE few SET few.k = 7 WHERE few.id = 'f22'"), "");
  statement->reset();
  EXPECT_EQ(rows(*statement), "");
  EXPECT_EQ(query("ROLLBACK"), "");
  statement->reset();
  EXPECT_EQ(rows(*statement), "");
}

// Three of them in a chain, written against the order in which they lead to each other.
TEST_F(KeyJoinTest, HandsTheKeysOn) {
  EXPECT_EQ(query("UPDATE own SET own.next = ToString(own.v / 2 - 1) WHERE own.v > 100"), "");
  const std::string chain =
      "SELECT VALUE [x.id, y.id, f.id] FROM own x JOIN own y ON x.next = y.id JOIN few f ON f.item = x.id "
      "WHERE f.n = 1";
  const std::string in_other_words =
      "SELECT VALUE [x.id, y.id, f.id] FROM own x JOIN own y ON x.next = (y.id ?? 0) JOIN few f ON f.item = "
      "(x.id ?? 0) WHERE f.n = 1";
  EXPECT_THAT(plan(chain), HasSubstr(kPoints));
  EXPECT_EQ(query(chain), query(in_other_words));
}

}  // namespace
}  // namespace quire::tests
