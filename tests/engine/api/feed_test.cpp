// The change feed through the public API: tokens that survive reopening, waiting across threads and
// processes, whole transactions only.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/engine/api/database_fixture.h"
#include "tests/engine/api/test_clock.h"

namespace quire::tests {
namespace {

using std::chrono::milliseconds;

class FeedApiTest : public DatabaseTest {
 protected:
  static std::vector<std::string> ids(Feed& feed, milliseconds patience = milliseconds(0)) {
    std::vector<std::string> found;
    for (;;) {
      auto change = feed.next(patience);
      EXPECT_TRUE(succeeds(change));
      if (!change || !*change) return found;
      found.emplace_back((*change)->current()["id"].as_string());
    }
  }
};

using Ids = std::vector<std::string>;

TEST_F(FeedApiTest, GoesOnFromATokenInAReopenedFile) {
  const std::string path = file("feed.quire");
  reopen(path);
  std::string token;
  {
    Container items = make("items", "/k");
    for (const char* id : {"a", "b", "c"})
      ASSERT_TRUE(succeeds(items.create(std::string(R"({"k":1,"id":")") + id + "\"}")));
    Feed feed = items.feed().value();
    ASSERT_TRUE(succeeds(feed.next()));
    ASSERT_TRUE(succeeds(feed.next()));
    EXPECT_THAT(feed.json().value(), testing::MatchesRegex(R"(\{"k":1,"id":"b","_rid".*,"_lsn":2\})"));
    token = feed.token().value();
  }
  reopen(path);
  Container items = database_->container("items").value();
  Feed feed = items.feed({.start = FeedStart::token(token)}).value();
  EXPECT_EQ(ids(feed), Ids{"c"});
}

// Such an item comes of a row of another feed.
TEST_F(FeedApiTest, AnItemsOwnLsnGivesWayToTheRows) {
  Container items = make("items", "/k");
  ASSERT_TRUE(succeeds(items.create(R"({"k":1,"_lsn":17,"id":"a","n":1.5})")));
  Feed feed = items.feed().value();
  ASSERT_TRUE(succeeds(feed.next()));
  const std::string row = feed.json().value();
  EXPECT_TRUE(row.starts_with(R"({"k":1,"id":"a","n":1.5,"_rid":)")) << row;
  EXPECT_EQ(row.find("_lsn"), row.size() - std::string_view("_lsn\":1}").size()) << row;
}

// Before it is where the token was, and behind that.
TEST_F(FeedApiTest, ATokenOfChangesThatABackupDoesNotHaveIsRefused) {
  const std::string path = file("feed.quire"), backup = file("backup.quire");
  reopen(path);
  const auto put = [&](const char* id) {
    return database_->container("items")->upsert(std::string(R"({"k":1,"id":")") + id + "\"}");
  };
  const auto token = [&] {
    Feed feed = database_->container("items")->feed().value();
    while (feed.next(milliseconds(0)).value()) continue;
    return feed.token().value();
  };
  const auto follow = [&](const std::string& from) {
    return database_->container("items")->feed({.start = FeedStart::token(from)});
  };
  make("items", "/k");
  ASSERT_TRUE(succeeds(put("a")));
  const std::string before = token();
  ASSERT_TRUE(succeeds(database_->backup(backup)));
  ASSERT_TRUE(succeeds(put("b")));
  ASSERT_TRUE(succeeds(put("a")));
  const std::string behind = token();
  EXPECT_TRUE(succeeds(follow(behind)));
  reopen(backup);
  EXPECT_TRUE(fails_with(follow(behind), QUIRE_INVALID_ARGUMENT, "from a later state"));
  for (const char* const id : {"c", "d", "e"}) ASSERT_TRUE(succeeds(put(id)));
  EXPECT_TRUE(fails_with(follow(behind), QUIRE_INVALID_ARGUMENT, "of changes that the file has not seen"));
  Feed from_before = follow(before).value(), from_now = follow(token()).value();
  EXPECT_EQ(ids(from_before), (Ids{"c", "d", "e"}));
  EXPECT_EQ(ids(from_now), Ids{});
}

TEST_F(FeedApiTest, OfOnePartition) {
  Container items = make("items", "/k");
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(
        succeeds(items.create("{\"k\":" + std::to_string(i % 3) + ",\"id\":\"" + std::to_string(i) + "\"}")));
  Feed feed = items.feed({.partition_key = PartitionKey{1}}).value();
  EXPECT_EQ(ids(feed), (Ids{"1", "4", "7"}));
}

TEST_F(FeedApiTest, SaysWhatIsWrongWithARequest) {
  Container items = make("items", "/k");
  EXPECT_TRUE(
      fails_with(items.feed({.start = FeedStart::token("nonsense")}), QUIRE_INVALID_ARGUMENT, "token"));
  EXPECT_TRUE(fails_with(items.feed({.start = FeedStart::time(-1)}), QUIRE_INVALID_ARGUMENT, "time"));
  EXPECT_TRUE(
      fails_with(items.feed({.mode = FeedMode::all_versions}), QUIRE_INVALID_ARGUMENT, "changeFeedPolicy"));
  Feed feed = items.feed().value();
  EXPECT_TRUE(fails_with(feed.json(), QUIRE_MISUSE, "quire_feed_next"));
  quire_feed_options options{};
  quire_feed* opened = nullptr;
  EXPECT_EQ(quire_feed_open(items.c_handle(), &options, &opened, nullptr), QUIRE_MISUSE) << "no struct_size";
  options.struct_size = sizeof options;
  options.mode = static_cast<quire_feed_mode>(7);
  EXPECT_EQ(quire_feed_open(items.c_handle(), &options, &opened, nullptr), QUIRE_INVALID_ARGUMENT);
  options.mode = QUIRE_LATEST_VERSION;
  options.components = 1;
  EXPECT_EQ(quire_feed_open(items.c_handle(), &options, &opened, nullptr), QUIRE_MISUSE);
  EXPECT_EQ(quire_feed_open(nullptr, nullptr, &opened, nullptr), QUIRE_MISUSE);
  EXPECT_EQ(quire_feed_next(nullptr, 0, nullptr, nullptr), QUIRE_MISUSE);
  EXPECT_EQ(quire_feed_json(nullptr, nullptr, nullptr), QUIRE_MISUSE);
  EXPECT_EQ(quire_feed_token(feed.c_handle(), nullptr, nullptr), QUIRE_MISUSE);
  quire_feed_close(nullptr);
}

TEST_F(FeedApiTest, OfADroppedContainerFails) {
  Container items = make("items", "/k");
  Feed feed = items.feed().value();
  ASSERT_TRUE(succeeds(database_->drop_container("items")));
  EXPECT_TRUE(fails_with(feed.next(), QUIRE_CONTAINER_NOT_FOUND) || !feed.next().value());
  EXPECT_TRUE(fails_with(feed.next(), QUIRE_CONTAINER_NOT_FOUND));
}

TEST_F(FeedApiTest, WaitsForAnotherThreadsWrite) {
  Container items = make("items", "/k");
  std::jthread writer([&] {
    std::this_thread::sleep_for(milliseconds(30));
    EXPECT_TRUE(succeeds(items.create(R"({"k":1,"id":"late"})")));
  });
  Feed feed = items.feed().value();
  auto change = feed.next(milliseconds(10'000));
  ASSERT_TRUE(succeeds(change));
  ASSERT_TRUE(change->has_value());
  EXPECT_EQ((*change)->current()["id"].as_string(), "late");
}

TEST_F(FeedApiTest, WaitsNoLongerThanItIsTold) {
  Container items = make("items", "/k");
  Container others = make("others", "/k");
  Feed feed = items.feed({.partition_key = PartitionKey{1}}).value();
  const auto start = std::chrono::steady_clock::now();
  std::jthread writer([&] {
    for (int i = 0; i < 20; ++i) {
      (void)others.upsert(R"({"k":1,"id":"x"})");
      (void)items.upsert(R"({"k":2,"id":"x"})");
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
  auto change = feed.next(milliseconds(60));
  ASSERT_TRUE(succeeds(change));
  EXPECT_FALSE(change->has_value());
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(60));
}

TEST_F(FeedApiTest, AnInterruptEndsAWait) {
  Container items = make("items", "/k");
  Feed feed = items.feed().value();
  std::jthread other([&] {
    std::this_thread::sleep_for(milliseconds(30));
    database_->interrupt();
  });
  EXPECT_TRUE(fails_with(feed.next(milliseconds(-1)), QUIRE_INTERRUPTED));
  EXPECT_TRUE(succeeds(feed.next())) << "and the feed goes on";
}

TEST_F(FeedApiTest, AllVersionsThroughAlterContainer) {
  Container before = make("items", "/k");
  EXPECT_EQ(query("ALTER CONTAINER items WITH {changeFeedPolicy: {retentionDuration: 10}}"), "");
  EXPECT_TRUE(succeeds(before.create(R"({"k":1,"id":"a","n":1})"))) << "the handle from before";
  EXPECT_EQ(query("UPDATE items SET items.n = 2"), "");
  EXPECT_EQ(query("DELETE FROM items"), "");
  Container items = database_->container("items").value();
  Feed feed = items.feed({.mode = FeedMode::all_versions}).value();
  std::vector<Operation> operations;
  std::vector<int64_t> previous;
  for (;;) {
    auto change = feed.next();
    ASSERT_TRUE(succeeds(change));
    if (!*change) break;
    operations.push_back((*change)->operation());
    previous.push_back((*change)->previous()["n"].as_integer());
    EXPECT_EQ((*change)->lsn(), operations.size());
  }
  EXPECT_EQ(operations, (std::vector{Operation::created, Operation::replaced, Operation::deleted}));
  EXPECT_EQ(previous, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_THAT(query("ALTER CONTAINER items WITH {changeFeedPolicy: {retentionDuration: -1}}"),
              testing::HasSubstr("retentionDuration"));
}

TEST_F(FeedApiTest, ItemsThatExpireLeaveTheFeedAndTheirEndIsTold) {
  set_time(database_->c_handle(), 1'000'000);
  EXPECT_EQ(query("CREATE CONTAINER items PARTITION KEY (/k) WITH {defaultTtl: 60, changeFeedPolicy: "
                  "{retentionDuration: 10}}"),
            "");
  Container items = database_->container("items").value();
  ASSERT_TRUE(succeeds(items.create(R"({"k":1,"id":"a"})")));
  ASSERT_TRUE(succeeds(items.create(R"({"k":1,"id":"b"})")));
  Feed versions = items.feed({.mode = FeedMode::all_versions}).value();
  EXPECT_EQ(ids(versions), (Ids{"a", "b"}));
  set_time(database_->c_handle(), 1'000'100);
  Feed latest = items.feed().value();
  EXPECT_EQ(ids(latest), Ids());
  ASSERT_TRUE(succeeds(items.upsert(R"({"k":1,"id":"b","n":2})")));
  EXPECT_EQ(ids(latest), Ids{"b"});
  std::vector<std::string> told;
  for (auto change = versions.next(); change && *change; change = versions.next())
    told.push_back(std::to_string(static_cast<int>((*change)->operation())) +
                   ((*change)->expired() ? "x" : ""));
  std::ranges::sort(told);
  EXPECT_EQ(told, (std::vector<std::string>{"1", "3x", "3x"})) << "two ends and a creation";
}

// Changes keep their order, which their times then do not have.
TEST_F(FeedApiTest, AClockThatStepsBackLosesNothing) {
  set_time(database_->c_handle(), 1'000'000);
  EXPECT_EQ(query("CREATE CONTAINER items PARTITION KEY (/k) WITH {defaultTtl: 3600, changeFeedPolicy: "
                  "{retentionDuration: 10}}"),
            "");
  Container items = database_->container("items").value();
  ASSERT_TRUE(succeeds(items.create(R"({"k":1,"id":"a"})")));
  set_time(database_->c_handle(), 990'000);
  ASSERT_TRUE(succeeds(items.create(R"({"k":1,"id":"b"})")));
  const auto replaced = items.upsert(R"({"k":1,"id":"a","n":2})");
  ASSERT_TRUE(succeeds(replaced));
  EXPECT_EQ(replaced->timestamp(), 990'000);
  Feed versions = items.feed({.mode = FeedMode::all_versions}).value();
  uint64_t last = 0;
  int changes = 0;
  for (auto change = versions.next(); change && *change; change = versions.next(), ++changes) {
    EXPECT_GT((*change)->lsn(), last);
    last = (*change)->lsn();
  }
  EXPECT_EQ(changes, 3);
  Feed latest = items.feed().value();
  EXPECT_EQ(ids(latest), (Ids{"b", "a"}));
  EXPECT_EQ(database_->check().value(), "[]");
  // Back at its time what was written meanwhile has expired: 10,000 seconds have passed for it.
  set_time(database_->c_handle(), 1'000'001);
  EXPECT_EQ(database_->erase_expired().value(), 2U);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM items i"), "0\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

// Another process writes transactions of three items each, and is killed in the midst of it: the feed gives
// threes, across all of its waiting.
TEST_F(FeedApiTest, GivesWholeTransactionsOfAnotherProcessThatIsKilled) {
  const std::string path = file("feed.quire");
  reopen(path);
  make("items", "/k");
  database_.reset();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto database = Database::open(path);
    if (!database) _exit(1);
    auto items = database->container("items");
    if (!items) _exit(1);
    for (int i = 0;; ++i) {
      auto transaction = database->begin_transaction();
      if (!transaction) _exit(1);
      for (const char* part : {"x", "y", "z"})
        (void)items->create("{\"k\":1,\"id\":\"" + std::to_string(i) + part + "\"}",
                            {.transaction = &*transaction});
      (void)transaction->commit();
    }
  }
  reopen(path);
  Container items = database_->container("items").value();
  Feed feed = items.feed().value();
  std::vector<std::string> seen;
  while (seen.size() < 150) {
    auto change = feed.next(milliseconds(10'000));
    ASSERT_TRUE(succeeds(change));
    ASSERT_TRUE(change->has_value());
    seen.emplace_back((*change)->current()["id"].as_string());
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  // A commit that was written, but not yet shown to readers when the kill came, shows with the next one.
  EXPECT_TRUE(succeeds(items.create(R"({"k":1,"id":"after"})")));
  for (std::string& id : ids(feed)) seen.push_back(std::move(id));
  EXPECT_EQ(seen.back(), "after");
  seen.pop_back();
  ASSERT_EQ(seen.size() % 3, 0u);
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], std::to_string(i / 3) + "xyz"[i % 3]);
}

// As in Cosmos; the order is that of the writes all the same.
TEST_F(FeedApiTest, TheChangesOfATransactionShareTheirLsn) {
  EXPECT_EQ(
      query("CREATE CONTAINER items PARTITION KEY (/k) WITH {changeFeedPolicy: {retentionDuration: 10}}"),
      "");
  Container items = database_->container("items").value();
  const auto told = [&](FeedMode mode) {
    Feed feed = items.feed({.mode = mode}).value();
    std::string text;
    for (;;) {
      auto change = feed.next();
      EXPECT_TRUE(succeeds(change));
      if (!change || !*change) return text;
      const Value item =
          (*change)->operation() == Operation::deleted ? (*change)->previous() : (*change)->current();
      text += std::string(item["id"].as_string()) + std::to_string((*change)->lsn()) + " ";
    }
  };
  ASSERT_TRUE(succeeds(items.create(R"({"k":1,"id":"a"})")));                                    // 1
  EXPECT_EQ(query("INSERT INTO items VALUES {k: 1, id: 'b'}, {k: 2, id: 'c'}"), "");             // 2
  ASSERT_TRUE(items.execute(1, Batch().create(R"({"k":1,"id":"d"})").remove("a")).succeeded());  // 4
  {
    auto transaction = database_->begin_transaction();
    ASSERT_TRUE(succeeds(items.create(R"({"k":1,"id":"e"})", {.transaction = &*transaction})));  // 6
    EXPECT_FALSE(items.create(R"({"k":1,"id":"b"})", {.transaction = &*transaction}))
        << "what fails takes no LSN";
    ASSERT_TRUE(succeeds(items.replace(R"({"k":1,"id":"b","n":1})", {.transaction = &*transaction})));
    ASSERT_TRUE(succeeds(transaction->commit()));
  }
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO items VALUES {k: 1, id: 'never'}"), "");
  EXPECT_EQ(query("ROLLBACK"), "");
  ASSERT_TRUE(succeeds(items.create(R"({"k":1,"id":"f"})")));  // 8
  EXPECT_EQ(told(FeedMode::latest_version), "c2 d4 e6 b6 f8 ");
  EXPECT_EQ(told(FeedMode::all_versions), "a1 b2 c2 d4 a4 e6 b6 f8 ");
  Feed versions = items.feed({.mode = FeedMode::all_versions}).value();
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(succeeds(versions.next()));
  EXPECT_THAT(versions.json().value(), testing::HasSubstr(R"("lsn":6,)"));
  EXPECT_THAT(versions.json().value(), testing::HasSubstr(R"("previousImageLSN":2)"));
  // A place between two changes of one transaction is a place.
  Feed later =
      items.feed({.mode = FeedMode::all_versions, .start = FeedStart::token(versions.token().value())})
          .value();
  ASSERT_TRUE(succeeds(later.next()));
  EXPECT_THAT(later.json().value(), testing::HasSubstr(R"("id":"f")"));
  EXPECT_EQ(database_->check().value(), "[]");
}

}  // namespace
}  // namespace quire::tests
