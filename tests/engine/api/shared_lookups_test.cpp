// Queries for whose items several threads look: the same rows in the same order as one thread gives.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/engine/api/database_fixture.h"
#include "tests/engine/api/test_clock.h"

namespace quire::tests {
namespace {

class SharedLookupsTest : public DatabaseTest {
 protected:
  static constexpr int kItems = 12'000;

  SharedLookupsTest() {
    make("c", "/k");
    std::string items;
    for (int i = 0; i < kItems; ++i)
      items +=
          fmt::format("{{\"id\":\"{}\",\"k\":\"p{}\",\"n\":{},\"s\":\"text {}\"}}\n", i, i % 501, i, i % 7);
    std::istringstream input(items);
    EXPECT_TRUE(succeeds(database_->container("c")->import(input)));
    EXPECT_EQ(query("CREATE INDEX by_n ON c (n)"), "");
    EXPECT_EQ(query("CREATE INDEX by_s ON c (s)"), "");
  }

  std::string by_threads(int threads, std::string_view sql) {
    EXPECT_EQ(query(fmt::format("PRAGMA threads = {}", threads)), fmt::format("{}\n", threads));
    return query(sql);
  }
  void expect_rows_of_one_thread(std::string_view sql) {
    EXPECT_THAT(query(fmt::format("EXPLAIN {}", sql)), testing::HasSubstr("index scan")) << sql;
    const std::string expected = by_threads(1, sql);
    EXPECT_FALSE(expected.empty()) << sql;
    for (const int threads : {2, 3, 8}) EXPECT_TRUE(by_threads(threads, sql) == expected) << sql;
  }
  static int64_t count(std::string_view rows) { return std::ranges::count(rows, '\n'); }
};

// A range, one value, an order forwards and backwards, several indexes; rows that a limit or an aggregate
// ends.
TEST_F(SharedLookupsTest, GiveTheRowsOfOneThreadInTheirOrder) {
  for (const std::string_view sql :
       {"SELECT * FROM c WHERE c.n >= 100 AND c.n < 1200", "SELECT VALUE c.id FROM c WHERE c.s = 'text 3'",
        "SELECT VALUE c.id FROM c WHERE c.n >= 100 AND c.n < 350",
        "SELECT VALUE c.id FROM c WHERE c.n < 500 OR c.n BETWEEN 700 AND 1100",
        "SELECT VALUE c.id FROM c WHERE c.n < 1500 AND c.s = 'text 5'",
        "SELECT * FROM c WHERE c.n < 1000 ORDER BY c.n DESC", "SELECT * FROM c WHERE c.n < 1000 ORDER BY c.n",
        "SELECT * FROM c ORDER BY c.n OFFSET 300 LIMIT 600", "SELECT TOP 500 * FROM c WHERE c.n < 1000",
        "SELECT VALUE SUM(LENGTH(c.id)) FROM c WHERE c.n < 1000 AND c.id != '17'"})
    expect_rows_of_one_thread(sql);
}

TEST_F(SharedLookupsTest, ReadEachItemOnceInEachRun) {
  EXPECT_EQ(query("PRAGMA threads = 3"), "3\n");
  auto statement = database_->prepare("SELECT VALUE c.id FROM c WHERE c.n >= @from AND c.n < @to");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("to", int64_t{9'000})));
  for (const int64_t from : {8'900, 7'500, 0, 8'999}) {
    ASSERT_TRUE(succeeds(statement->bind("from", from)));
    EXPECT_EQ(count(rows(*statement)), 9'000 - from);
    // To look up three quarters of the items by their entries is more work than to read all.
    EXPECT_EQ(statement->stats().items_read, static_cast<uint64_t>(from == 0 ? kItems : 9'000 - from));
    statement->reset();
  }
}

// Rows that are read as JSON are written ahead: short ones and long ones, with system properties and without.
TEST_F(SharedLookupsTest, GiveTheJsonOfOneThread) {
  ASSERT_EQ(query(fmt::format("UPDATE c SET c.note = '{}' WHERE c.n % 90 = 5 AND c.n < 1000",
                              std::string(300'000, 'x'))),
            "");
  const auto texts = [&](int threads, bool omits) {
    EXPECT_EQ(query(fmt::format("PRAGMA threads = {}", threads)), fmt::format("{}\n", threads));
    auto statement = database_->prepare("SELECT * FROM c WHERE c.n < 1000");
    EXPECT_TRUE(succeeds(statement));
    if (omits) statement->omit_system_properties();
    std::vector<std::string> texts;
    while (statement->step().value()) {
      if (texts.size() % 7 == 3) {
        EXPECT_EQ(statement->row()["s"].as_string().substr(0, 5), "text ");
      }
      const std::string_view text = statement->row_json().value();
      EXPECT_EQ(text.data()[text.size()], '\0');
      texts.emplace_back(text);
    }
    return texts;
  };
  for (const bool omits : {false, true}) {
    const auto expected = texts(1, omits);
    EXPECT_EQ(expected.size(), 1000U);
    EXPECT_EQ(expected[0].contains("_etag"), !omits);
    for (const int threads : {2, 5}) EXPECT_TRUE(texts(threads, omits) == expected) << threads;
  }
}

// A thread is begun once it pays: not for what a limit ends soon, nor for a short list.
TEST_F(SharedLookupsTest, BeginNoThreadForFewItems) {
  EXPECT_EQ(query("PRAGMA threads = 3"), "3\n");
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  auto before = threads();
  const auto begun_by = [&](std::string_view sql, int rows) {
    auto statement = database_->prepare(sql);
    EXPECT_TRUE(succeeds(statement));
    for (int row = 0; row < rows; ++row) EXPECT_TRUE(statement->step().value()) << sql;
    return threads() - std::exchange(before, threads());
  };
  EXPECT_EQ(begun_by("SELECT * FROM c WHERE c.n < 300", 300), 0);
  EXPECT_EQ(begun_by("SELECT * FROM c ORDER BY c.n DESC OFFSET 0 LIMIT 100", 100), 0);
  EXPECT_EQ(begun_by("SELECT TOP 300 * FROM c ORDER BY c.n", 300), 0);
  EXPECT_EQ(begun_by("SELECT TOP 2000 * FROM c ORDER BY c.n DESC", 500), 1);
  // It is kept for the next query; a second one is worth it for some more.
  EXPECT_EQ(begun_by("SELECT * FROM c WHERE c.n < 1000", 500), 0);
  EXPECT_EQ(begun_by("SELECT * FROM c WHERE c.n < 1400", 500), 1);
}

TEST_F(SharedLookupsTest, MayBeLeftOrInterruptedAtAnyRow) {
  EXPECT_EQ(query("PRAGMA threads = 4"), "4\n");
  auto statement = database_->prepare("SELECT * FROM c ORDER BY c.n");
  ASSERT_TRUE(succeeds(statement));
  for (int most = 1; most < kItems; most = most * 2 + 1) {
    for (int i = 0; i < most; ++i) ASSERT_TRUE(statement->step().value());
    statement->reset();
  }
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(statement->step().value());
  database_->interrupt();
  Result<bool> step = true;
  while (step && *step) step = statement->step();
  EXPECT_TRUE(fails_with(step, QUIRE_INTERRUPTED));
}

TEST_F(SharedLookupsTest, LeaveOutWhatHasExpired) {
  set_time(database_->c_handle(), 1'000'000);
  ASSERT_EQ(query("ALTER CONTAINER c WITH {defaultTtl: -1}"), "");
  ASSERT_EQ(query("UPDATE c SET c.ttl = 60 WHERE c.n % 3 = 0 AND c.n < 6000"), "");
  set_time(database_->c_handle(), 1'000'061);
  for (const std::string_view sql :
       {"SELECT VALUE c.id FROM c WHERE c.n < 900", "SELECT * FROM c WHERE c.n < 900 ORDER BY c.n"}) {
    expect_rows_of_one_thread(sql);
    EXPECT_EQ(count(query(sql)), 600);
  }
}

// Nobody else sees what a transaction has not committed: it looks for its items by itself.
TEST_F(SharedLookupsTest, SeeWhatTheirTransactionHasChanged) {
  ASSERT_EQ(query("PRAGMA threads = 3"), "3\n");
  ASSERT_EQ(query("BEGIN"), "");
  ASSERT_EQ(query("UPDATE c SET c.n = -1 WHERE c.n < 1000"), "");
  EXPECT_EQ(count(query("SELECT * FROM c WHERE c.n < 3000 AND c.n >= 0")), 2000);
  EXPECT_EQ(count(query("SELECT * FROM c WHERE c.n = -1")), 1000);
  ASSERT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(count(query("SELECT * FROM c WHERE c.n < 3000 AND c.n >= 0")), 3000);
}

TEST_F(SharedLookupsTest, ReadOneSnapshotBesideWriters) {
  ASSERT_EQ(query("PRAGMA threads = 3"), "3\n");
  std::atomic<bool> ends = false;
  std::jthread writer([&] {
    auto container = database_->container("c");
    for (int i = 0; !ends; ++i)
      EXPECT_TRUE(succeeds(
          container->upsert(fmt::format(R"({{"id":"w{}","k":"w","n":{}}})", i % 700, 20'000 + i % 500))));
  });
  // An item has one value in a snapshot, and is found once.
  for (int i = 0; i < 40; ++i) {
    auto statement = database_->prepare("SELECT VALUE c.id FROM c WHERE c.n >= 11400 ORDER BY c.n");
    ASSERT_TRUE(succeeds(statement));
    std::vector<std::string> ids;
    for (const Value id : statement->rows()) ids.emplace_back(id.as_string());
    EXPECT_FALSE(statement->error());
    EXPECT_GE(ids.size(), size_t{600});
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  }
  ends = true;
}

}  // namespace
}  // namespace quire::tests
