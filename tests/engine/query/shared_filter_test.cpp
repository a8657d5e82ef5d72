// Queries whose filter several threads share: the same rows in the same order as one thread gives.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "engine/container/import.h"
#include "engine/query/open_containers.h"
#include "engine/query/prepared_statement.h"
#include "sql/value/json.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class SharedFilterTest : public testing::Test {
 protected:
  static constexpr int kItems = 30'000;

  void SetUp() override {
    environment_ = value_of(Environment::open(Environment::kInMemory));
    containers_ = std::make_unique<OpenContainers>(*environment_);
    make("c", {"/k"});
  }

  void make(std::string_view name, const std::vector<std::string>& partition_key) {
    const auto store =
        value_of(containers_->create(value_of(ContainerDefinition::make(name, partition_key))));
    std::string text;
    for (int i = 0; i < kItems; ++i)
      text +=
          fmt::format("{{\"id\":\"{}\",\"k\":\"p{}\",\"n\":{},\"s\":\"text {}\"}}\n", i, i % 501, i, i % 7);
    const auto reader = [&, done = size_t{0}](char* buffer, size_t capacity) mutable {
      const size_t count = std::min(capacity, text.size() - done);
      std::copy_n(text.data() + done, count, buffer);
      done += count;
      return static_cast<int64_t>(count);
    };
    ASSERT_EQ(value_of(import_items(*environment_, *store, reader, {})).items, uint64_t{kItems});
  }

  std::unique_ptr<PreparedStatement> prepare(std::string_view sql, size_t threads) {
    return value_of(PreparedStatement::prepare(*containers_, sql,
                                               {.strict = false,
                                                .scope = nullptr,
                                                .memory_limit = size_t{1} << 30,
                                                .threads = threads,
                                                .workers = &workers_,
                                                .session = nullptr,
                                                .interrupts = &interrupts_}));
  }
  static std::vector<std::string> rows_of(PreparedStatement& statement) {
    std::vector<std::string> rows;
    while (const auto row = value_of(statement.step())) sql::write_json(*row, rows.emplace_back());
    return rows;
  }
  std::vector<std::string> rows_of(std::string_view sql, size_t threads) {
    return rows_of(*prepare(sql, threads));
  }

  std::atomic<uint64_t> interrupts_ = 0;
  sql::WorkerPool workers_;
  std::unique_ptr<Environment> environment_;
  std::unique_ptr<OpenContainers> containers_;
};

TEST_F(SharedFilterTest, GivesTheRowsOfOneThreadInTheirOrder) {
  for (const std::string_view sql :
       {"SELECT VALUE c.n FROM c WHERE c.n % 3 = 1 AND c.s LIKE '%2'", "SELECT * FROM c WHERE c.n < 40",
        "SELECT c.s, COUNT(1) AS items, SUM(c.n / 7) AS total FROM c WHERE c.n > 100 GROUP BY c.s",
        "SELECT VALUE c.n FROM c WHERE c.n > 29990 ORDER BY c.s DESC, c.n",
        "SELECT TOP 7 VALUE c.n FROM c WHERE c.n % 3 = 1 ORDER BY c.s DESC, c.n",
        "SELECT TOP 2 c.s, COUNT(1) AS items FROM c WHERE c.n > 100 GROUP BY c.s",
        "SELECT TOP 7 VALUE c.n FROM c WHERE c.n % 3 = 1", "SELECT VALUE 1 FROM c WHERE c.n < 0",
        "SELECT DISTINCT VALUE c.s FROM c WHERE c.n > 5"}) {
    const auto expected = rows_of(sql, 1);
    for (const size_t threads : {2, 3, 8}) EXPECT_TRUE(rows_of(sql, threads) == expected) << sql;
  }
}

TEST_F(SharedFilterTest, ReadsEachItemOnce) {
  const auto statement = prepare("SELECT VALUE COUNT(1) FROM c WHERE c.n >= @least", 4);
  for (const int64_t least : {0, 29'000}) {
    ASSERT_TRUE(succeeds(statement->bind("least", sql::Value::integer(least))));
    EXPECT_EQ(rows_of(*statement), std::vector{std::to_string(kItems - least)});
    EXPECT_EQ(statement->stats().items_read, uint64_t{kItems});
    statement->reset();
  }
}

// All of whose items have one hash of the partition key, as in a container without one.
TEST_F(SharedFilterTest, SharesWhatLiesInOnePartition) {
  make("one", {"/missing"});
  make("none", {});
  for (const std::string_view name : {"one", "none"})
    for (const std::string_view condition :
         {"c.n % 3 = 1 AND c.s LIKE '%2'", "c.n < 40", "c.n >= 0", "c.n < 0"}) {
      const std::string sql = fmt::format("SELECT * FROM {} c WHERE {}", name, condition);
      EXPECT_THAT(rows_of("EXPLAIN " + sql, 2), testing::Contains(testing::HasSubstr("shared out"))) << sql;
      const auto expected = rows_of(sql, 1);
      for (const size_t threads : {2, 3, 8}) EXPECT_TRUE(rows_of(sql, threads) == expected) << sql;
    }
  const auto statement = prepare("SELECT TOP 4 VALUE c.n FROM none c ORDER BY c.n DESC", 3);
  EXPECT_EQ(rows_of(*statement), (std::vector<std::string>{"29999", "29998", "29997", "29996"}));
  EXPECT_EQ(statement->stats().items_read, uint64_t{kItems});
}

// A range of ids, or their order, is read by one.
TEST_F(SharedFilterTest, LeavesRangesOfIdsToOneThread) {
  make("none", {});
  for (const std::string_view rest : {"WHERE c.id >= '29' AND c.n % 2 = 1", "WHERE c.id < '2' AND c.n > 5",
                                      "WHERE c.n % 9 = 1 ORDER BY c.id DESC"}) {
    const std::string sql = fmt::format("SELECT VALUE c.id FROM none c {}", rest);
    EXPECT_TRUE(rows_of(sql, 3) == rows_of(sql, 1)) << sql;
  }
}

// A sort takes all rows before it gives one, whatever the limit above it.
TEST_F(SharedFilterTest, IsSharedBelowASortUnderALimit) {
  const auto is_shared = [&](std::string_view sql) {
    const auto lines = rows_of(fmt::format("EXPLAIN {}", sql), 4);
    return std::ranges::any_of(lines, [](std::string_view line) { return line.contains("shared out"); });
  };
  EXPECT_TRUE(is_shared("SELECT TOP 7 VALUE c.n FROM c WHERE c.n % 3 = 1 ORDER BY c.s"));
  EXPECT_TRUE(is_shared("SELECT TOP 7 c.s, COUNT(1) FROM c WHERE c.n % 3 = 1 GROUP BY c.s"));
  EXPECT_FALSE(is_shared("SELECT TOP 7 VALUE c.n FROM c WHERE c.n % 3 = 1"));
}

TEST_F(SharedFilterTest, ALimitReadsFewItems) {
  const auto statement = prepare("SELECT TOP 1 VALUE c.n FROM c WHERE c.n >= 0", 1);
  EXPECT_EQ(rows_of(*statement).size(), 1U);
  EXPECT_LT(statement->stats().items_read, 50U);
}

TEST_F(SharedFilterTest, MayBeLeftOrInterruptedAtAnyRow) {
  const auto statement = prepare("SELECT VALUE c.n FROM c WHERE c.n >= 0", 4);
  for (int rows = 0; rows < 20'000; rows = rows * 2 + 1) {
    for (int i = 0; i < rows; ++i) ASSERT_TRUE(value_of(statement->step()).has_value());
    statement->reset();
  }
  ASSERT_TRUE(value_of(statement->step()).has_value());
  ++interrupts_;
  Result<std::optional<sql::Value>> row;
  while ((row = statement->step()) && *row) {
  }
  EXPECT_TRUE(fails_with(row, ErrorCode::interrupted));
}

TEST_F(SharedFilterTest, ReadsTheSameSnapshotBesideWriters) {
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    for (int i = 0; !ends; ++i) {
      const auto statement =
          prepare(fmt::format("INSERT INTO c VALUES {{'id': 'w{}', 'k': 'w', 'n': -1}}", i), 1);
      rows_of(*statement);
    }
  });
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(rows_of("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 0", 3), std::vector{std::to_string(kItems)});
  ends = true;
  writer.join();
}

}  // namespace
}  // namespace quire::engine
