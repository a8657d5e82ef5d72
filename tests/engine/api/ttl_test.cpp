// Time to live: expired items are gone at once for every way of reading, whatever indexes there are, and are
// erased in bounded steps.
#include <fmt/format.h>

#include <sstream>

#include "tests/engine/api/database_fixture.h"
#include "tests/engine/api/test_clock.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;

constexpr uint32_t kStart = 1'700'000'000;

class TtlTest : public DatabaseTest {
 protected:
  TtlTest() { at(0); }
  void at(uint32_t seconds) { set_time(database_->c_handle(), kStart + seconds); }
  Container make_with(std::string_view name, std::string_view properties) {
    EXPECT_EQ(query("CREATE CONTAINER " + std::string(name) + " PARTITION KEY ('/k') WITH " +
                    std::string(properties)),
              "");
    return std::move(database_->container(name).value());
  }
  std::string listed(std::string_view sql) {
    std::string text = query(sql);
    for (char& c : text)
      if (c == '\n') c = ' ';
    return text;
  }
};

TEST_F(TtlTest, TheContainersDefaultAndTheItemsOwnDecide) {
  Container c = make_with("c", "{defaultTtl: 10}");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'a', k: 1}, {id: 'b', k: 1, ttl: 3}, {id: 'c', k: 1, ttl: -1}, "
                  "{id: 'd', k: 1, ttl: 20}, {id: 'e', k: 2, ttl: null}"),
            "");
  const auto seen = [&] { return listed("SELECT VALUE c.id FROM c ORDER BY c.id"); };
  at(2);
  EXPECT_EQ(seen(), R"("a" "b" "c" "d" "e" )");
  at(3);
  EXPECT_EQ(seen(), R"("a" "c" "d" "e" )");
  EXPECT_TRUE(fails_with(c.read_json(1, "b"), QUIRE_NOT_FOUND));
  at(10);
  EXPECT_EQ(seen(), R"("c" "d" )");
  at(4'000'000);
  EXPECT_EQ(seen(), R"("c" )");
}

TEST_F(TtlTest, ADefaultOfMinusOneExpiresNothingByItself) {
  Container c = make_with("c", "{defaultTtl: -1}");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'a', k: 1}, {id: 'b', k: 1, ttl: 3}"), "");
  at(1'000'000);
  EXPECT_EQ(query("SELECT VALUE c.id FROM c"), "\"a\"\n");
}

TEST_F(TtlTest, WithoutADefaultTheItemsTtlMeansNothing) {
  Container c = make("c", "/k");
  for (const char* ttl : {"1", "0", "\"soon\"", "-5", "1.5"})
    EXPECT_TRUE(succeeds(c.upsert(R"({"id":"a","k":1,"ttl":)" + std::string(ttl) + "}"))) << ttl;
  at(100);
  EXPECT_EQ(query("SELECT VALUE c.ttl FROM c"), "1.5\n");
}

TEST_F(TtlTest, WrongTimesAreRefused) {
  for (const char* ttl : {"0", "-2", "1.5", "'1'", "2147483648", "[]", "true"})
    EXPECT_THAT(query("CREATE CONTAINER x WITH {defaultTtl: " + std::string(ttl) + "}"),
                HasSubstr("invalid_definition: \"defaultTtl\" must be -1"))
        << ttl;
  Container c = make_with("c", "{defaultTtl: 2147483647}");
  for (const char* ttl : {"0", "-2", "1.5", "\"1\"", "2147483648", "[]", "true", "{}"})
    EXPECT_TRUE(fails_with(c.create(R"({"id":"a","k":1,"ttl":)" + std::string(ttl) + "}"),
                           QUIRE_INVALID_ARGUMENT, "the item's \"ttl\" is"))
        << ttl;
  EXPECT_TRUE(succeeds(c.create(R"({"id":"a","k":1,"ttl":2147483647})")));
  EXPECT_THAT(query("ALTER CONTAINER c WITH {defaultTtl: 0}"), HasSubstr("invalid_definition"));
}

TEST_F(TtlTest, AWriteResetsTheClock) {
  Container c = make_with("c", "{defaultTtl: 10}");
  ASSERT_TRUE(succeeds(c.create(R"({"id":"a","k":1})")));
  ASSERT_TRUE(succeeds(c.create(R"({"id":"b","k":1})")));
  at(9);
  ASSERT_TRUE(succeeds(c.patch(1, "a", R"([{"op":"set","path":"/n","value":1}])")));
  at(18);
  EXPECT_EQ(query("SELECT VALUE c.id FROM c"), "\"a\"\n");
  ASSERT_TRUE(succeeds(c.patch(1, "a", R"([{"op":"set","path":"/ttl","value":100}])")));
  at(117);
  EXPECT_EQ(query("SELECT VALUE c.id FROM c"), "\"a\"\n");
  at(118);
  EXPECT_EQ(query("SELECT VALUE c.id FROM c"), "");
}

TEST_F(TtlTest, WritesTakeAnExpiredItemForNone) {
  Container c = make_with("c", "{defaultTtl: 10}");
  const auto first = c.create(R"({"id":"a","k":1,"n":1})");
  ASSERT_TRUE(succeeds(first));
  at(10);
  EXPECT_TRUE(fails_with(c.replace(R"({"id":"a","k":1})"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(fails_with(c.patch(1, "a", R"([{"op":"set","path":"/n","value":1}])"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(fails_with(c.remove(1, "a"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(
      fails_with(c.upsert(R"({"id":"a","k":1})", {.if_match = first->etag()}), QUIRE_PRECONDITION_FAILED));
  const auto second = c.create(R"({"id":"a","k":1,"n":2})");
  ASSERT_TRUE(succeeds(second));
  EXPECT_TRUE(second->was_created());
  EXPECT_NE(first->etag(), second->etag());
  EXPECT_EQ(query("SELECT VALUE c.n FROM c"), "2\n");
  at(20);
  EXPECT_TRUE(c.upsert(R"({"id":"a","k":1,"n":3})")->was_created());
}

TEST_F(TtlTest, AChangedDefaultHoldsForWhatIsThere) {
  Container c = make("c", "/k");
  EXPECT_EQ(
      query("INSERT INTO c VALUES {id: 'a', k: 1}, {id: 'b', k: 1, ttl: 30}, {id: 'c', k: 1, ttl: 'x'}"), "");
  Container handle = std::move(database_->container("c").value());
  auto statement = database_->prepare("SELECT VALUE c.id FROM c ORDER BY c.id");
  auto snapshot = database_->begin_snapshot();
  at(100);
  EXPECT_EQ(rows(*statement), "\"a\"\n\"b\"\n\"c\"\n");
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: 150}"), "");
  EXPECT_EQ(rows(*statement), "\"a\"\n\"c\"\n");
  EXPECT_TRUE(fails_with(handle.read_json(1, "b"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(succeeds(snapshot->read(handle, 1, "b"))) << "a snapshot stays with what it has";
  at(150);
  EXPECT_EQ(rows(*statement), "");
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: 1000}"), "");
  EXPECT_EQ(rows(*statement), "") << "what has expired does not come back";
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'd', k: 1}"), "");
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: -1}"), "");
  at(5000);
  EXPECT_EQ(rows(*statement), "\"d\"\n");
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: 10}"), "");
  EXPECT_EQ(rows(*statement), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'e', k: 1, ttl: 1}"), "");
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: null}"), "");
  at(6000);
  EXPECT_EQ(rows(*statement), "\"e\"\n");
}

// The same items with and without indexes, and every way to read them.
TEST_F(TtlTest, NoAccessPathSeesExpiredItems) {
  const std::string properties = "{defaultTtl: 10}";
  Container plain = make_with("plain", properties);
  Container indexed = make_with("indexed", properties);
  for (const char* statement :
       {"CREATE INDEX by_n ON indexed (n)", "CREATE INDEX by_s_n ON indexed (s, n DESC)",
        "CREATE INDEX by_tags ON indexed (tags[])", "CREATE UNIQUE INDEX by_u ON indexed (u)"})
    EXPECT_EQ(query(statement), "");
  for (int i = 0; i < 60; ++i) {
    const std::string item = R"({"id":"i)" + std::to_string(i) + R"(","k":)" + std::to_string(i % 3) +
                             R"(,"n":)" + std::to_string(i % 7) + R"(,"s":"s)" + std::to_string(i % 5) +
                             R"(","u":)" + std::to_string(i) + R"(,"tags":[)" + std::to_string(i % 4) + "," +
                             std::to_string(i % 6) +
                             (i % 2 == 0   ? R"(],"ttl":1})"
                              : i % 5 == 0 ? R"(],"ttl":-1})"
                                           : "]}");
    ASSERT_TRUE(succeeds(plain.create(item)));
    ASSERT_TRUE(succeeds(indexed.create(item)));
  }
  const std::vector<std::string> queries = {
      "SELECT VALUE COUNT(1) FROM % c",
      "SELECT VALUE COUNT(1) FROM % c WHERE c.n = 3",
      "SELECT VALUE COUNT(1) FROM % c WHERE c.n > 2 AND c.k = 1",
      "SELECT VALUE MIN(c.n) FROM % c",
      "SELECT VALUE MAX(c.u) FROM % c",
      "SELECT VALUE MIN(c.u) FROM % c",
      "SELECT VALUE SUM(c.n) FROM % c WHERE c.n >= 1",
      "SELECT DISTINCT VALUE c.n FROM % c",
      "SELECT DISTINCT VALUE c.s FROM % c ORDER BY c.s",
      "SELECT DISTINCT VALUE c.n FROM % c WHERE c.s = 's1' AND c.n > 2",
      "SELECT VALUE c.n FROM % c WHERE c.n > 1 ORDER BY c.n",
      "SELECT VALUE c.id FROM % c WHERE c.n > 1 ORDER BY c.n",
      "SELECT c.s, c.n FROM % c WHERE c.s > 's2' AND c.n > 2",
      "SELECT VALUE c.id FROM % c WHERE c.s = 's1' ORDER BY c.n DESC",
      "SELECT TOP 3 VALUE c.u FROM % c ORDER BY c.u DESC",
      "SELECT VALUE c.id FROM % c WHERE c.u = 30",
      "SELECT VALUE c.id FROM % c WHERE c.u IN (1, 2, 3, 30)",
      "SELECT VALUE c.id FROM % c WHERE c.n = 2 OR c.u = 4",
      "SELECT VALUE c.id FROM % c WHERE c.n = 2 AND c.s = 's2'",
      "SELECT VALUE c.id FROM % c WHERE ARRAY_CONTAINS(c.tags, 3)",
      "SELECT VALUE c.id FROM % c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 5)",
      "SELECT VALUE c.id FROM % c WHERE c.k = 1",
      "SELECT VALUE c.id FROM % c WHERE c.k = 1 AND c.id = 'i4'",
      "SELECT VALUE c.id FROM % c WHERE c.k IN (0, 2) AND c.n = 1",
      "SELECT c.n, COUNT(1) AS many FROM % c GROUP BY c.n",
      "SELECT VALUE [a.id, b.id] FROM % a JOIN % b ON b.u = a.n WHERE a.k = 1",
  };
  for (const uint32_t second : {0u, 1u, 9u, 10u, 11u}) {
    at(second);
    for (const std::string& sql : queries) {
      const auto on = [&](std::string_view container) {
        std::string text = sql;
        for (size_t i = text.find('%'); i != std::string::npos; i = text.find('%'))
          text.replace(i, 1, container);
        return query(text);
      };
      EXPECT_EQ(on("plain"), on("indexed")) << sql << " at " << second;
    }
  }
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM indexed c"), "6\n");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM indexed c WHERE c.n >= 0"), "6\n");
}

TEST_F(TtlTest, UniqueKeysOfExpiredItemsAreFree) {
  Container c = make_with("c", "{defaultTtl: 10, uniqueKeyPolicy: {uniqueKeys: [{paths: ['/mail']}]}}");
  EXPECT_EQ(query("CREATE UNIQUE INDEX by_phone ON c (phone)"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'a', k: 1, mail: 'x', phone: 1}, {id: 'keep', k: 1, mail: 'y', "
                  "phone: 2, ttl: -1}"),
            "");
  EXPECT_THAT(query("INSERT INTO c VALUES {id: 'b', k: 1, mail: 'x', phone: 3}"), HasSubstr("conflict"));
  EXPECT_THAT(query("INSERT INTO c VALUES {id: 'b', k: 2, mail: 'x', phone: 1}"), HasSubstr("conflict"));
  at(10);
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(c.create(R"({"id":"b","k":1,"mail":"x","phone":1})", &*transaction)));
  EXPECT_TRUE(
      fails_with(c.create(R"({"id":"d","k":1,"mail":"x","phone":9})", &*transaction), QUIRE_CONFLICT));
  ASSERT_TRUE(succeeds(transaction->commit()));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c ORDER BY c.id"), "\"b\"\n\"keep\"\n");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.phone = 1"), "\"b\"\n");
}

// CHECK finds no fault, also where expired items hold what others have taken.
TEST_F(TtlTest, ExpiredItemsAreNoFault) {
  Container c = make_with("c", "{defaultTtl: 10, uniqueKeyPolicy: {uniqueKeys: [{paths: ['/mail']}]}}");
  EXPECT_EQ(query("CREATE INDEX by_n ON c (n)"), "");
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(succeeds(c.create(R"({"id":"i)" + std::to_string(i) + R"(","k":1,"n":1,"mail":)" +
                                  std::to_string(i) + (i % 2 == 0 ? R"(,"ttl":-1})" : "}"))));
  at(10);
  ASSERT_TRUE(succeeds(c.create(R"({"id":"new","k":1,"mail":19})")));
  EXPECT_THAT(query("CHECK c"), HasSubstr(R"("ok":true)"));
  EXPECT_EQ(query("PRAGMA erase_expired = 3"), "3\n");
  EXPECT_THAT(query("CHECK c"), HasSubstr(R"("ok":true)"));
}

// The erasing of others is a write, which ends the bytes of the item that is patched.
TEST_F(TtlTest, APatchBesideExpiredItemsKeepsTheItem) {
  Container c = make_with("c", "{defaultTtl: 10}");
  const std::string text(3000, 'x');
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(
        succeeds(c.create(R"({"id":"old)" + std::to_string(i) + R"(","k":1,"text":")" + text + "\"}")));
  ASSERT_TRUE(succeeds(c.create(R"({"id":"new","k":1,"ttl":-1,"n":0,"text":")" + text + "\"}")));
  at(10);
  auto transaction = database_->begin_transaction();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(succeeds(
        c.patch(1, "new", R"([{"op":"incr","path":"/n","value":1}])", {.transaction = &*transaction})));
  ASSERT_TRUE(succeeds(transaction->commit()));
  EXPECT_EQ(c.read_json(1, "new", false).value(),
            R"({"id":"new","k":1,"ttl":-1,"n":10,"text":")" + text + "\"}");
}

TEST_F(TtlTest, ExpiredItemsAreErasedInSteps) {
  Container c = make_with("c", "{defaultTtl: 10}");
  const auto listed = [&] {
    const std::string all = database_->containers().value();
    return std::stoi(all.substr(all.find("\"itemCount\":") + 12));
  };
  for (int i = 0; i < 1000; ++i)
    ASSERT_TRUE(succeeds(c.create(R"({"id":")" + std::to_string(i) + R"(","k":1})")));
  EXPECT_EQ(query("PRAGMA erase_expired"), "0\n");
  at(10);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c"), "0\n");
  EXPECT_EQ(listed(), 0);
  ASSERT_TRUE(succeeds(c.create(R"({"id":"new","k":1})")));
  EXPECT_EQ(listed(), 1);
  EXPECT_EQ(query("PRAGMA erase_expired = 100"), "100\n");
  EXPECT_EQ(listed(), 1);
  EXPECT_EQ(database_->erase_expired(8).value(), 8u);
  EXPECT_EQ(database_->erase_expired().value(), 890u) << "the write has erased two";
  EXPECT_EQ(listed(), 1);
  EXPECT_EQ(query("SELECT VALUE c.id FROM c"), "\"new\"\n");
  EXPECT_THAT(query("PRAGMA erase_expired = 0"), HasSubstr("a number of items above 0"));
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_THAT(query("PRAGMA erase_expired"), HasSubstr("misuse"));
  EXPECT_EQ(query("ROLLBACK"), "");
}

TEST_F(TtlTest, AnImportTakesExpiredItemsForNone) {
  Container c = make_with("c", "{defaultTtl: 10}");
  std::istringstream lines(
      "{\"id\":\"a\",\"k\":1}\n{\"id\":\"b\",\"k\":1,\"ttl\":-1}\n{\"id\":\"c\",\"k\":1,\"ttl\":50}\n");
  ASSERT_TRUE(succeeds(c.import(lines)));
  at(10);
  EXPECT_EQ(query("SELECT VALUE c.id FROM c ORDER BY c.id"), "\"b\"\n\"c\"\n");
  std::istringstream again("{\"id\":\"a\",\"k\":1,\"n\":2}\n{\"id\":\"x\",\"k\":1}\n");
  ASSERT_TRUE(succeeds(c.import(again)));
  std::istringstream conflict("{\"id\":\"a\",\"k\":1,\"n\":3}\n");
  EXPECT_TRUE(fails_with(c.import(conflict), QUIRE_CONFLICT));
  EXPECT_EQ(query("SELECT VALUE c.n FROM c"), "2\n");
  at(20);
  EXPECT_EQ(query("SELECT VALUE c.id FROM c ORDER BY c.id"), "\"b\"\n\"c\"\n");
}

TEST_F(TtlTest, AnImportTellsWrongTimesBeforeItWrites) {
  Container c = make_with("c", "{defaultTtl: 10}");
  const std::string text =
      "{\"id\":\"a\",\"k\":1}\n{\"id\":\"b\",\"k\":1,\"ttl\":0}\n{\"id\":\"c\",\"k\":1,\"ttl\":5}\n";
  std::istringstream lines(text);
  const auto refused = c.import(lines);
  EXPECT_TRUE(fails_with(refused, QUIRE_INVALID_ARGUMENT, "the item's \"ttl\" is 0"));
  EXPECT_EQ(refused.error().line, 2u);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c"), "0\n");
  std::istringstream again(text);
  uint64_t line = 0;
  ImportOptions options{.skip_errors = true};
  options.skipped = [&](uint64_t skipped, std::string_view) { line = skipped; };
  const auto done = c.import(again, options);
  ASSERT_TRUE(succeeds(done));
  EXPECT_EQ(done->items, 2u);
  EXPECT_EQ(done->skipped, 1u);
  EXPECT_EQ(line, 2u);
  std::istringstream elsewhere(text);
  EXPECT_TRUE(succeeds(make_with("d", "{}").import(elsewhere)))
      << "where nothing expires, ttl is any property";
}

TEST_F(TtlTest, ExpiryOutlivesTheProcessAndIsSeenByOthers) {
  const std::string path = file("ttl.quire");
  reopen(path);
  at(0);
  EXPECT_EQ(query("CREATE CONTAINER c PARTITION KEY ('/k') WITH {defaultTtl: 10}"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'a', k: 1}, {id: 'b', k: 1, ttl: 100}"), "");
  reopen(path);
  at(50);
  EXPECT_EQ(query("SELECT VALUE c.id FROM c"), "\"b\"\n");
  auto other = Database::open(path);
  ASSERT_TRUE(succeeds(other));
  Container c = std::move(other->container("c").value());
  EXPECT_TRUE(succeeds(c.read_json(1, "b")));
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: null}"), "");
  at(500);
  EXPECT_TRUE(succeeds(c.read_json(1, "b")));
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: -1}"), "");
  EXPECT_TRUE(fails_with(c.read_json(1, "b"), QUIRE_NOT_FOUND));
}

TEST_F(TtlTest, AnAlterThatIsInterruptedChangesNothing) {
  make_with("c", "{indexingPolicy: {includedPaths: [{path: '/n/?'}], excludedPaths: [{path: '/*'}]}}");
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += fmt::format("{{\"id\":\"{}\",\"k\":1,\"n\":{}}}\n", i, i % 10);
  std::istringstream input(lines);
  ASSERT_TRUE(succeeds(database_->container("c")->import(input)));
  database_->set_progress([](uint64_t, uint64_t) { return false; });
  EXPECT_THAT(
      query("ALTER CONTAINER c WITH {defaultTtl: 1, indexingPolicy: {includedPaths: [{path: '/m/?'}], "
            "excludedPaths: [{path: '/*'}]}}"),
      HasSubstr("interrupted; container 'c' is as it was"));
  database_->set_progress(nullptr);
  at(100);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c"), "10000\n");
  EXPECT_EQ(database_->erase_expired().value(), 0U);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.n = 3"), "1000\n");
  EXPECT_THAT(query("CHECK c"), HasSubstr(R"("ok":true)"));
  EXPECT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: 1}"), "");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c"), "0\n");
}

}  // namespace
}  // namespace quire::tests
