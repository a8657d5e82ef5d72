// Writing: groups, nesting, growth, threads, processes, crashes.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/file/environment.h"
#include "tests/engine/file/one_table.h"

namespace quire::engine {
namespace {

using namespace std::chrono_literals;

using Write = OneTable;

TEST_F(Write, AFailedTransactionChangesNothing) {
  open();
  const auto outcome = environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(transaction.put(table_, "a", "1"));
    return fail(ErrorCode::conflict, "no");
  });
  EXPECT_TRUE(fails_with(outcome, ErrorCode::conflict, "no"));
  EXPECT_EQ(get("a"), std::nullopt);
}

TEST_F(Write, AnExceptionOfTheWorkIsItsError) {
  open();
  const auto outcome =
      environment_->write([&](WriteTransaction&) -> Result<void> { throw std::bad_alloc(); });
  EXPECT_TRUE(fails_with(outcome, ErrorCode::out_of_memory));
}

TEST_F(Write, PutNewAndAppendTellWhetherTheyFound) {
  open();
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    EXPECT_TRUE(value_of(transaction.put_new(table_, "b", "1")));
    EXPECT_FALSE(value_of(transaction.put_new(table_, "b", "2")));
    EXPECT_FALSE(value_of(transaction.append(table_, "a", "3")));
    EXPECT_FALSE(value_of(transaction.append(table_, "b", "3")));
    EXPECT_TRUE(value_of(transaction.append(table_, "c", "4")));
    EXPECT_TRUE(value_of(transaction.erase(table_, "c")));
    EXPECT_FALSE(value_of(transaction.erase(table_, "c")));
    return {};
  })));
  EXPECT_EQ(get("b"), "1");
}

TEST_F(Write, ACursorWalksInOrderOfKeys) {
  open();
  for (const char* key : {"b", "a", "d"}) ASSERT_TRUE(succeeds(put(key, "x")));
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  FileCursor cursor = value_of(FileCursor::open(snapshot, table_));
  std::string keys;
  while (value_of(cursor.next())) keys += cursor.key();
  EXPECT_EQ(keys, "abd");
  EXPECT_TRUE(value_of(cursor.seek("c")));
  EXPECT_EQ(cursor.key(), "d");
  EXPECT_FALSE(value_of(cursor.seek("e")));
}

TEST_F(Write, ASnapshotStaysAndRenewMovesIt) {
  open();
  ASSERT_TRUE(succeeds(put("a", "1")));
  ReadTransaction snapshot = value_of(environment_->begin_read());
  ASSERT_TRUE(succeeds(put("a", "2")));
  EXPECT_EQ(value_of(snapshot.get(table_, "a")), "1");
  ASSERT_TRUE(succeeds(snapshot.renew()));
  EXPECT_EQ(value_of(snapshot.get(table_, "a")), "2");
}

TEST_F(Write, NestedWorkRollsBackAlone) {
  open();
  std::vector<std::string> undone;
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    undone.clear();
    QUIRE_TRY(transaction.put(table_, "outer", "1"));
    const auto inner = transaction.nested([&](WriteTransaction& nested) -> Result<void> {
      nested.on_rollback([&] { undone.push_back("first"); });
      nested.on_rollback([&] { undone.push_back("second"); });
      QUIRE_TRY(nested.put(table_, "inner", "1"));
      return fail(ErrorCode::conflict, "no");
    });
    EXPECT_FALSE(inner);
    return transaction.nested([&](WriteTransaction& nested) { return nested.put(table_, "kept", "1"); });
  })));
  EXPECT_EQ(get("outer"), "1");
  EXPECT_EQ(get("inner"), std::nullopt);
  EXPECT_EQ(get("kept"), "1");
  EXPECT_THAT(undone, testing::ElementsAre("second", "first"));
}

TEST_F(Write, AWriteWithinAWriteIsRefused) {
  open();
  Result<void> inner{};
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction&) -> Result<void> {
    inner = put("a", "1");
    return {};
  })));
  EXPECT_TRUE(fails_with(inner, ErrorCode::misuse));
}

TEST_F(Write, AnExplicitTransactionHoldsUntilItsCommit) {
  open({.busy_timeout_ms = 50});
  {
    auto write = value_of(environment_->begin_write());
    ASSERT_TRUE(succeeds(write->transaction().put(table_, "a", "1")));
    EXPECT_EQ(get("a"), std::nullopt);
    EXPECT_TRUE(fails_with(put("b", "1"), ErrorCode::misuse));
    std::thread([&] { EXPECT_TRUE(fails_with(put("b", "1"), ErrorCode::busy)); }).join();
    ASSERT_TRUE(succeeds(write->commit()));
    EXPECT_EQ(get("a"), "1");
    EXPECT_TRUE(succeeds(put("b", "1")));
    EXPECT_TRUE(fails_with(write->commit(), ErrorCode::misuse));
    EXPECT_TRUE(fails_with(write->transaction().put(table_, "c", "1"), ErrorCode::misuse));
  }
  {
    auto write = value_of(environment_->begin_write());
    ASSERT_TRUE(succeeds(write->transaction().put(table_, "a", "2")));
  }
  EXPECT_EQ(get("a"), "1");
}

TEST_F(Write, OfEightThreadsOneFailsAlone) {
  open({.durability = Durability::none});
  constexpr int kThreads = 8, kWrites = 100;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kWrites; ++i) {
        const std::string key = std::to_string(thread) + "/" + std::to_string(i);
        const auto outcome = environment_->write([&](WriteTransaction& transaction) -> Result<void> {
          QUIRE_TRY(transaction.put(table_, key, "x"));
          if (thread == 3) return fail(ErrorCode::conflict, "always");
          return {};
        });
        if (!outcome) ++failed;
        EXPECT_EQ(outcome.has_value(), thread != 3);
        EXPECT_EQ(get(key).has_value(), thread != 3);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, kWrites);
  EXPECT_EQ(count(), (kThreads - 1) * kWrites);
}

TEST_F(Write, WaitingWritersShareACommit) {
  open();
  const uint64_t before = value_of(environment_->facts()).commit_number;
  std::vector<std::thread> threads;
  {
    auto held = value_of(environment_->begin_write());
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] { EXPECT_TRUE(succeeds(put(std::to_string(i), "x"))); });
    std::this_thread::sleep_for(100ms);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count(), 8);
  EXPECT_LT(value_of(environment_->facts()).commit_number - before, 8);
}

TEST_F(Write, ThreadsReadWhileOthersWrite) {
  open({.durability = Durability::none});
  ASSERT_TRUE(succeeds(put("a", "0")));
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      int last = 0;
      while (!stop) {
        const int seen = std::stoi(*get("a"));
        EXPECT_GE(seen, last);
        last = seen;
      }
    });
  for (int i = 1; i <= 300; ++i) ASSERT_TRUE(succeeds(put("a", std::to_string(i))));
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(Write, TheMapGrowsUnseenAlsoUnderReaders) {
  open({.durability = Durability::none, .map_size = 1 << 20});
  ASSERT_TRUE(succeeds(put("0", std::string(1000, 'x'))));
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      while (!stop) EXPECT_EQ(get("0"), std::string(1000, 'x'));
    });
  for (int i = 1; i <= 40; ++i)
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      for (int j = 0; j < 500; ++j)
        QUIRE_TRY(
            transaction.put(table_, std::to_string(i) + "/" + std::to_string(j), std::string(1000, 'x')));
      return {};
    })));
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(count(), 20'001);
  EXPECT_GT(value_of(environment_->facts()).map_bytes, 20 << 20);
}

TEST_F(Write, GrowthWaitsForSnapshotsAndThenSaysBusy) {
  open({.durability = Durability::none, .map_size = 1 << 20, .busy_timeout_ms = 300});
  {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    EXPECT_TRUE(fails_with(put("big", std::string(2 << 20, 'x')), ErrorCode::busy, "snapshots"));
  }
  EXPECT_TRUE(succeeds(put("big", std::string(2 << 20, 'x'))));
}

TEST_F(Write, AnExplicitTransactionThatOutgrowsTheMapSucceedsWhenRunAgain) {
  open({.durability = Durability::none, .map_size = 1 << 20});
  int attempts = 0;
  for (bool done = false; !done && attempts < 20; ++attempts) {
    auto write = value_of(environment_->begin_write());
    const auto put_big = write->transaction().put(table_, "big", std::string(10 << 20, 'x'));
    const auto outcome = write->commit();
    EXPECT_TRUE(outcome || outcome.error().code == ErrorCode::busy);
    EXPECT_EQ(put_big.has_value(), outcome.has_value());
    done = outcome.has_value();
  }
  EXPECT_LT(attempts, 10);
  EXPECT_EQ(get("big")->size(), 10 << 20);
}

TEST_F(Write, ADroppedTableIsGoneForNewSnapshotsOnly) {
  open();
  ASSERT_TRUE(succeeds(put("a", "1")));
  const ReadTransaction old = value_of(environment_->begin_read());
  ASSERT_TRUE(succeeds(
      environment_->write([](WriteTransaction& transaction) { return transaction.drop_table("t"); })));
  EXPECT_EQ(value_of(old.get(table_, "a")), "1");
  EXPECT_EQ(get("a"), std::nullopt);
  // The removal waits for the old snapshot.
  ASSERT_TRUE(succeeds(make_table(*environment_, "u")));
  EXPECT_EQ(value_of(old.get(table_, "a")), "1");
}

TEST_F(Write, TablesComeAndGoManyTimes) {
  open({.durability = Durability::none});
  const Table first = table_;
  for (int i = 0; i < 5000; ++i)
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(transaction.drop_table(i == 0 ? "t" : "t" + std::to_string(i)));
      QUIRE_ASSIGN(table_, transaction.create_table("t" + std::to_string(i + 1)));
      return transaction.put(table_, "a", "1");
    })));
  EXPECT_EQ(count(), 1);
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  EXPECT_TRUE(fails_with(snapshot.get(first, "a"), ErrorCode::container_not_found));
}

TEST_F(Write, ATableMadeByAFailedTransactionIsNotThere) {
  open();
  Table lost;
  (void)environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    lost = value_of(transaction.create_table("u"));
    return fail(ErrorCode::conflict, "no");
  });
  EXPECT_EQ(value_of(environment_->open_table("u")), std::nullopt);
  const Table made = value_of(make_table(*environment_, "u"));
  EXPECT_NE(lost, made);
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  EXPECT_TRUE(fails_with(snapshot.get(lost, "a"), ErrorCode::container_not_found));
  EXPECT_TRUE(succeeds(snapshot.get(made, "a")));
}

TEST_F(Write, TablesAreMadeAndOpenedByManyThreads) {
  open({.durability = Durability::none});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 25; ++i) {
        const std::string name = std::to_string(thread) + "/" + std::to_string(i);
        ASSERT_TRUE(succeeds(make_table(*environment_, name)));
        ASSERT_TRUE(value_of(environment_->open_table(name)).has_value());
        ASSERT_TRUE(succeeds(put(name, "x")));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count(), 100);
}

// ---- Processes

// Runs `child` in another process, before this one has opened the file.
pid_t fork_child(const std::function<int()>& child) {
  const pid_t process = fork();
  if (process == 0) _exit(child());
  return process;
}

int wait_for(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

TEST_F(Write, TwoProcessesWriteTheSameFile) {
  constexpr int kWrites = 200;
  const auto write_many = [&](const std::string& prefix) {
    open({.durability = Durability::none, .map_size = 1 << 20});
    for (int i = 0; i < kWrites; ++i)
      if (!put(prefix + std::to_string(i), std::string(10'000, 'x'))) return 1;
    return 0;
  };
  {
    open();
    environment_.reset();
  }
  const pid_t child = fork_child([&] { return write_many("child"); });
  EXPECT_EQ(write_many("parent"), 0);
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(count(), 2 * kWrites);
}

TEST_F(Write, AnotherProcessesGroupIsWaitedForAndThenBusy) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork_child([&] {
    open();
    auto held = value_of(environment_->begin_write());
    (void)!::write(ready[1], "x", 1);
    pause();
    return 0;
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  environment_ = value_of(Environment::open(path_, {.busy_timeout_ms = 100}));
  table_ = value_of(environment_->open_table("t")).value();
  EXPECT_TRUE(fails_with(put("a", "1"), ErrorCode::busy, "another process"));
  kill(child, SIGKILL);
  wait_for(child);
  EXPECT_TRUE(succeeds(put("a", "1")));
}

// Who waits for his turn first and for the other process then waits for one timeout, not for two.
TEST_F(Write, TheBusyTimeoutHoldsForAllThatAWriteWaitsFor) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork_child([&] {
    open();
    auto held = value_of(environment_->begin_write());
    (void)!::write(ready[1], "x", 1);
    pause();
    return 0;
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  constexpr std::chrono::milliseconds kTimeout{400};
  environment_ = value_of(Environment::open(path_, {.busy_timeout_ms = kTimeout.count()}));
  table_ = value_of(environment_->open_table("t")).value();
  std::thread leader([&] { EXPECT_TRUE(fails_with(put("a", "1"), ErrorCode::busy, "another process")); });
  std::this_thread::sleep_for(kTimeout / 8);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(fails_with(put("b", "1"), ErrorCode::busy));
  EXPECT_LT(std::chrono::steady_clock::now() - start, kTimeout * 3 / 2);
  leader.join();
  kill(child, SIGKILL);
  wait_for(child);
  EXPECT_TRUE(succeeds(put("b", "1")));
}

TEST_F(Write, AProcessKilledInMidTransactionLeavesNothingOfIt) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork_child([&] {
    open();
    (void)put("before", "1");
    // The second member of a group: the first has succeeded.
    auto held = value_of(environment_->begin_write());
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    (void)held->transaction().nested(
        [&](WriteTransaction& nested) { return nested.put(table_, "half", "1"); });
    return held->transaction()
                   .nested([&](WriteTransaction& nested) -> Result<void> {
                     for (int i = 0; i < 1000; ++i)
                       QUIRE_TRY(nested.put(table_, std::to_string(i), std::string(1000, 'x')));
                     (void)!::write(ready[1], "x", 1);
                     pause();
                     return {};
                   })
                   .has_value()
               ? 0
               : 1;
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  wait_for(child);
  open();
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(get("before"), "1");
  EXPECT_TRUE(succeeds(put("after", "1")));
  EXPECT_EQ(value_of(environment_->facts()).readers, 0u);
}

TEST_F(Write, ADeadProcessesSnapshotsAreCleared) {
  open();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  environment_.reset();
  const pid_t child = fork_child([&] {
    open();
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    (void)!::write(ready[1], "x", 1);
    pause();
    return 0;
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  open();
  EXPECT_EQ(value_of(environment_->facts()).readers, 1u);
  kill(child, SIGKILL);
  wait_for(child);
  EXPECT_EQ(value_of(environment_->clear_stale_readers()), 1u);
  EXPECT_EQ(value_of(environment_->facts()).readers, 0u);
}

TEST_F(Write, WhoseLockFileWasDeletedIsNotJoinedByAnother) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork_child([&] {
    open();
    (void)put("a", "1");
    (void)!::write(ready[1], "x", 1);
    // Alone it goes on, lock file or not.
    for (int i = 0;; ++i) (void)put("a", std::to_string(i));
    return 0;
  });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(unlink((path_ + "-lock").c_str()), 0);
  EXPECT_TRUE(fails_with(Environment::open(path_), ErrorCode::busy, "lock file"));
  EXPECT_TRUE(fails_with(Environment::open(path_, {.read_only = true}), ErrorCode::busy, "lock file"));
  kill(child, SIGKILL);
  wait_for(child);
  open();
  EXPECT_TRUE(succeeds(put("b", "1")));
  EXPECT_TRUE(get("a").has_value());
}

TEST_F(Write, ATableDroppedByAProcessThatDiedIsRemovedAtTheNextOpen) {
  const pid_t child = fork_child([&] {
    open();
    (void)environment_->write([](WriteTransaction& transaction) { return transaction.drop_table("t"); });
    return 0;
  });
  wait_for(child);
  environment_ = value_of(Environment::open(path_));
  EXPECT_EQ(value_of(environment_->open_table("t")), std::nullopt);
}

TEST_F(Write, AFullDiskIsNoSpaceAndChangesNothing) {
  const pid_t child = fork_child([&] {
    open();
    (void)put("a", "1");
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto outcome = put("big", std::string(4 << 20, 'x'));
    if (!fails_with(outcome, ErrorCode::no_space)) return 1;
    if (get("a") != "1" || get("big")) return 2;
    return put("b", "2") ? 0 : 3;
  });
  EXPECT_EQ(wait_for(child), 0);
  open();
  EXPECT_EQ(get("b"), "2");
}

}  // namespace
}  // namespace quire::engine
