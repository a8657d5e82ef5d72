// One database, many threads; meant to be run under ThreadSanitizer too.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <semaphore>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

class ThreadsTest : public DatabaseTest {
 protected:
  static constexpr int kThreads = 4;

  // Runs `work` with each thread's number, at once.
  static void in_threads(const auto& work) {
    std::vector<std::jthread> threads;
    for (int number = 0; number < kThreads; ++number) threads.emplace_back([&work, number] { work(number); });
  }
};

TEST_F(ThreadsTest, WriteReadAndQueryOneContainer) {
  auto things = make("things", "/thread");
  constexpr int kItems = 40;
  in_threads([&](int thread) {
    auto statement = things.prepare("SELECT VALUE COUNT(1) FROM c WHERE c.thread = @thread");
    ASSERT_TRUE(succeeds(statement));
    ASSERT_TRUE(succeeds(statement->bind("thread", thread)));
    for (int i = 0; i < kItems; ++i) {
      const std::string id = std::to_string(i);
      // Each item brings a name of its own, so that the dictionary grows under the readers.
      const std::string name = "name_" + std::to_string(thread) + "_" + id;
      ASSERT_TRUE(succeeds(things.create(R"({"id":")" + id + R"(","thread":)" + std::to_string(thread) +
                                         ",\"" + name + "\":true}")));
      auto snapshot = database_->begin_snapshot();
      ASSERT_TRUE(succeeds(snapshot));
      const auto item = snapshot->read(things, thread, id);
      ASSERT_TRUE(succeeds(item));
      EXPECT_TRUE((*item)[name].as_boolean());
      EXPECT_THAT(things.read_json(thread, id).value(), testing::HasSubstr(name));
      EXPECT_EQ(rows(*statement), std::to_string(i + 1) + "\n");
    }
  });
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM things t"), std::to_string(kThreads * kItems) + "\n");
}

TEST_F(ThreadsTest, MakeOpenQueryAndDropContainers) {
  in_threads([&](int thread) {
    const std::string name = "container" + std::to_string(thread);
    for (int i = 0; i < 8; ++i) {
      ASSERT_TRUE(succeeds(database_->create_container(R"({"id":")" + name + "\"}")));
      auto container = database_->container(name);
      ASSERT_TRUE(succeeds(container));
      ASSERT_TRUE(succeeds(container->create(R"({"id":"a","n":1})")));
      ASSERT_EQ(query("SELECT VALUE c.n FROM " + name + " c"), "1\n");
      ASSERT_TRUE(succeeds(database_->containers()));
      ASSERT_TRUE(succeeds(database_->drop_container(name)));
    }
  });
  EXPECT_EQ(database_->containers().value(), "[]");
}

TEST_F(ThreadsTest, QueryAContainerThatIsDroppedAndMadeAnew) {
  std::atomic<bool> is_done = false;
  std::jthread maker([&] {
    for (int i = 0; i < 20; ++i) {
      {
        auto fresh = make("things");
      }
      EXPECT_TRUE(succeeds(database_->drop_container("things")));
    }
    is_done = true;
  });
  in_threads([&](int) {
    while (!is_done) {
      auto statement = database_->prepare("SELECT VALUE COUNT(1) FROM things t");
      const std::string seen = statement ? rows(*statement) : statement.error().name();
      EXPECT_TRUE(seen == "0\n" || seen.starts_with("container_not_found") || seen.starts_with("busy"))
          << seen;
    }
  });
}

// A container that is dropped between being opened and being looked at is passed over.
TEST_F(ThreadsTest, EraseExpiredItemsWhileContainersComeAndGo) {
  constexpr int kRounds = 100;
  std::atomic<bool> is_done = false;
  std::jthread maker([&] {
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_TRUE(succeeds(database_->create_container(R"({"id":"things","defaultTtl":1})")));
      EXPECT_TRUE(succeeds(database_->drop_container("things")));
    }
    is_done = true;
  });
  while (!is_done) EXPECT_TRUE(succeeds(database_->erase_expired()));
}

TEST_F(ThreadsTest, TransactionsWaitForEachOther) {
  auto counters = make("counters");
  ASSERT_TRUE(succeeds(counters.create(R"({"id":"n","count":0})")));
  in_threads([&](int) {
    for (int i = 0; i < 10; ++i) {
      auto transaction = database_->begin_transaction();
      ASSERT_TRUE(succeeds(transaction));
      auto snapshot = database_->begin_snapshot();
      const int64_t value = (*snapshot->read(counters, {}, "n"))["count"].as_integer();
      const std::string json = R"({"id":"n","count":)" + std::to_string(value + 1) + "}";
      ASSERT_TRUE(succeeds(counters.replace(json, {.transaction = &*transaction})));
      ASSERT_TRUE(succeeds(transaction->commit()));
    }
  });
  EXPECT_EQ(query("SELECT VALUE c.count FROM counters c"), std::to_string(kThreads * 10) + "\n");
}

TEST_F(ThreadsTest, WaitingWritersHaveADeadline) {
  reopen(":memory:", {.busy_timeout_ms = 100});
  Container items = make("items", "/k");
  auto held = database_->begin_transaction();
  ASSERT_TRUE(succeeds(held));
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 16; ++i)
      writers.emplace_back(
          [&] { EXPECT_TRUE(fails_with(items.upsert(R"({"k":1,"id":"a"})"), QUIRE_BUSY, "busy timeout")); });
  }
  const auto waited = std::chrono::steady_clock::now() - start;
  EXPECT_GE(waited, std::chrono::milliseconds(100));
  EXPECT_LT(waited, std::chrono::seconds(20)) << "not much longer, even on a busy machine";
  held->rollback();
  EXPECT_TRUE(succeeds(items.upsert(R"({"k":1,"id":"a"})")));
}

// Its rows are read in a moment, and then written.
TEST_F(ThreadsTest, AnInterruptEndsALongUpdate) {
  auto container = make("c", "/k");
  std::string items;
  for (int i = 0; i < 60'000; ++i) items += fmt::format("{{\"id\":\"{}\",\"k\":{}}}\n", i, i % 100);
  std::istringstream input(items);
  ASSERT_TRUE(succeeds(container.import(input)));
  for (const std::string_view sql : {"UPDATE c SET c.n = 1 WHERE true", "DELETE FROM c"}) {
    EXPECT_EQ(query("PRAGMA statement_time = 30"), "30\n");
    EXPECT_THAT(query(sql), testing::StartsWith("timeout"));
    EXPECT_EQ(query("PRAGMA statement_time = 0"), "0\n");
    std::jthread interrupter([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        database_->interrupt();
      }
    });
    EXPECT_THAT(query(sql), testing::StartsWith("interrupted"));
  }
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE NOT IS_DEFINED(c.n)"), "60000\n");
}

TEST_F(ThreadsTest, AnInterruptEndsALongStatement) {
  auto things = make("things");
  ASSERT_TRUE(succeeds(things.create(R"({"id":"a","n":[0,1,2,3,4,5,6,7,8,9]})")));
  std::string sql = "SELECT VALUE COUNT(1) FROM things t";
  for (int i = 0; i < 12; ++i) sql += " JOIN n" + std::to_string(i) + " IN t.n";
  std::atomic<bool> is_done = false;
  std::jthread interrupter([&] {
    while (!is_done) {
      database_->interrupt();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_THAT(query(sql), testing::StartsWith("interrupted"));
  is_done = true;
}

TEST_F(ThreadsTest, AFunctionToldOfProgressLivesAsLongAsItIsCalled) {
  Container things = make("things");
  std::stringstream lines;
  for (int i = 0; i < 5000; ++i) lines << R"({"id":")" << i << "\"}\n";
  ASSERT_TRUE(succeeds(things.import(lines)));
  std::binary_semaphore is_called(0), is_replaced(0);
  auto owned = std::make_shared<bool>(false);
  const std::weak_ptr<bool> watched = owned;
  database_->set_progress([&, owned = std::move(owned)](uint64_t, uint64_t) {
    if (std::exchange(*owned, true)) return true;
    is_called.release();
    is_replaced.acquire();
    EXPECT_FALSE(watched.expired());
    return true;
  });
  std::jthread checking([&] { EXPECT_TRUE(succeeds(database_->check())); });
  is_called.acquire();
  database_->set_progress(nullptr);
  is_replaced.release();
  checking.join();
  EXPECT_TRUE(watched.expired()) << "but no longer";
}

}  // namespace
}  // namespace quire::tests
