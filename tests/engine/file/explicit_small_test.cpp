// Transactions held over several calls that are small, and those that turn out not to be: what was pending
// and what they have changed by then moves to LMDB's tree, and they go on there.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/file/commit_log.h"
#include "tests/engine/file/small_commits_fixture.h"

namespace quire::engine {
namespace {

class ExplicitSmallTest : public SmallCommitsTest {
 protected:
  // The file, with a table of some keys, where commits are small.
  std::unique_ptr<Environment> open_small() const {
    auto environment = open();
    for (int i = 0; i < 40; ++i) put(*environment, fmt::format("k{:02}", i * 2), "first");
    until_small(*environment);
    put(*environment, "pending");
    return environment;
  }
  // A change that is not small any more.
  static Result<void> grow(WriteTransaction& transaction, Table table, Contents& map) {
    map["large"] = std::string(size_t{300} << 10, 'x');
    return transaction.put(table, "large", map["large"]);
  }
};

TEST_P(ExplicitSmallTest, AreCommitsOfTheLogAlone) {
  const auto environment = open_small();
  const Table table = table_of(*environment);
  const uint64_t before = commits_of_tree(*environment);
  for (int i = 0; i < 20; ++i) {
    const auto write = value_of(environment->begin_write());
    ASSERT_TRUE(succeeds(write->transaction().put(table, fmt::format("e{:02}", i), "x")));
    EXPECT_FALSE(contents(*environment).contains(fmt::format("e{:02}", i))) << "before it commits";
    if (i % 4 == 3) {
      write->rollback();
    } else {
      ASSERT_TRUE(succeeds(write->commit()));
    }
    EXPECT_EQ(contents(*environment).contains(fmt::format("e{:02}", i)), i % 4 != 3);
  }
  EXPECT_LE(commits_of_tree(*environment) - before, 2u) << "some may have been applied meanwhile";
}

// Look-ups in two steps, in a tree of many pages and beside it, with changes between the steps.
TEST_P(ExplicitSmallTest, FindWhatTheyHaveAskedFor) {
  const auto environment = open_small();
  const Table table = table_of(*environment);
  const auto key = [](uint32_t number) { return fmt::format("key{:06}", number); };
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    for (uint32_t i = 0; i < 60'000; i += 2)
      QUIRE_TRY(transaction.put(table, key(i), std::string(20 + i % 50, 't')));
    return {};
  })));
  until_small(*environment);
  const auto write = value_of(environment->begin_write());
  WriteTransaction& transaction = write->transaction();
  RandomChanges random(5);
  for (uint32_t step = 0; step < 4000; ++step) {
    const std::string wanted = key(random.draw(60'100));
    const auto asked = transaction.ask_for_entry(table, wanted);
    if (step == 3000) {
      EXPECT_TRUE(succeeds(transaction.put(table, "large", std::string(300 << 10, 'x'))));
    }
    if (random.draw(3) == 0) {
      EXPECT_TRUE(succeeds(transaction.put(table, wanted, key(step))));
    }
    if (random.draw(3) == 0) {
      EXPECT_TRUE(succeeds(transaction.erase(table, wanted)));
    }
    ASSERT_EQ(value_of(transaction.get_asked(table, wanted, asked)),
              value_of(transaction.get(table, wanted)));
  }
  EXPECT_TRUE(succeeds(write->commit()));
}

// A map beside it: calls, nested calls within them, and growth at any depth.
TEST_P(ExplicitSmallTest, ReadAsAMapWouldWhateverTheyBecome) {
  const auto environment = open_small();
  const Table table = table_of(*environment);
  RandomChanges random(9);
  Contents expected = contents(*environment);
  const std::function<Result<void>(WriteTransaction&, Contents&, int)> work =
      [&](WriteTransaction& transaction, Contents& map, int depth) -> Result<void> {
    for (uint32_t count = random.draw(5); count-- > 0;) {
      QUIRE_TRY(random.change(transaction, table, map));
      if (random.draw(12) == 0) QUIRE_TRY(grow(transaction, table, map));
      if (depth == 3 || random.draw(3) != 0) continue;
      Contents inner = map;
      const auto nested = transaction.nested([&](WriteTransaction& part) -> Result<void> {
        QUIRE_TRY(work(part, inner, depth + 1));
        return random.draw(3) == 0 ? fail(ErrorCode::conflict, "undone") : Result<void>();
      });
      EXPECT_TRUE(nested || nested.error().code == ErrorCode::conflict);
      if (nested) map = inner;
      EXPECT_EQ(contents(transaction, table), map);
    }
    EXPECT_EQ(contents(transaction, table), map);
    return {};
  };
  for (int commit = 0; commit < 150; ++commit) {
    const auto write = value_of(environment->begin_write());
    Contents next = expected;
    ASSERT_TRUE(succeeds(work(write->transaction(), next, 0)));
    EXPECT_EQ(contents(*environment), expected);
    if (random.draw(4) == 0) {
      write->rollback();
    } else {
      ASSERT_TRUE(succeeds(write->commit()));
      expected = next;
    }
    ASSERT_EQ(contents(*environment), expected);
    put(*environment, "pending", std::to_string(commit));
    expected["pending"] = std::to_string(commit);
  }
}

// The keys that a cursor meets, while the transaction grows in the midst of its walk: by what it erases
// there, or by what it does elsewhere.
std::vector<std::string> walk_and_grow(WriteTransaction& transaction, Table table, bool is_forward,
                                       bool is_erasing) {
  FileCursor cursor = value_of(FileCursor::open(transaction, table));
  FileCursor fresh = value_of(FileCursor::open(transaction, table));
  const auto step = [&] { return value_of(is_forward ? cursor.next() : cursor.previous()); };
  std::vector<std::string> met;
  while (met.size() < 6 && step()) met.emplace_back(cursor.key());
  EXPECT_TRUE(succeeds(transaction.put(table, "zz", std::string(size_t{255} << 10, 'x'))));
  while (is_erasing && met.size() < 40 && step()) {
    met.emplace_back(cursor.key());
    EXPECT_TRUE(succeeds(transaction.erase(cursor)));
    EXPECT_TRUE(succeeds(transaction.put(table, "zz", std::string(size_t{255} << 10, 'y'))));
  }
  EXPECT_TRUE(is_erasing || succeeds(transaction.create_table("other")));
  while (step()) met.emplace_back(cursor.key());
  EXPECT_TRUE(value_of(fresh.next()));
  return met;
}

TEST_P(ExplicitSmallTest, CursorsGoOnWhereTheyStand) {
  for (const bool is_erasing : {false, true}) {
    for (const bool is_forward : {true, false}) {
      const auto environment = open_small();
      const Table table = table_of(*environment);
      const Contents before = contents(*environment);
      const auto write = value_of(environment->begin_write());
      ASSERT_TRUE(succeeds(write->transaction().put(table, "k11", "own")));
      ASSERT_TRUE(succeeds(write->transaction().erase(table, "k12")));
      std::vector<std::string> expected{"k11"};
      for (const auto& [key, record] : before)
        if (key != "k12") expected.push_back(key);
      if (is_forward) expected.emplace_back("zz");
      std::ranges::sort(expected);
      if (!is_forward) std::ranges::reverse(expected);
      EXPECT_EQ(walk_and_grow(write->transaction(), table, is_forward, is_erasing), expected)
          << is_erasing << is_forward;
      write->rollback();
      EXPECT_EQ(contents(*environment), before);
    }
  }
}

// What was pending, what was told of as done, and nothing else, is there after a kill.
TEST_P(ExplicitSmallTest, AreLeftByAProcessThatDies) {
  for (const bool is_large : {false, true}) {
    for (const bool is_committed : {true, false}) {
      std::filesystem::remove(path_);
      in_process_that_dies([&] {
        Environment& environment = *open_small().release();
        const Table table = table_of(environment);
        ExplicitWrite& write = *value_of(environment.begin_write()).release();
        Contents map;
        EXPECT_TRUE(write.transaction().put(table, "small", "x"));
        EXPECT_TRUE(!is_large || succeeds(grow(write.transaction(), table, map)));
        EXPECT_TRUE(!is_committed || succeeds(write.commit()));
        for (int i = 0; is_committed && i < 20; ++i) put(environment, fmt::format("later{}", i));
      });
      const Contents found = contents(*open());
      EXPECT_TRUE(found.contains("pending"));
      EXPECT_EQ(found.contains("small"), is_committed);
      EXPECT_EQ(found.contains("large"), is_committed && is_large);
      EXPECT_EQ(found.contains("later19"), is_committed);
    }
  }
}

TEST_P(ExplicitSmallTest, GoOnWhereTheLogIsFull) {
  constexpr int kLogs = 3;
  constexpr size_t kRecord = 5'000;
  constexpr int kCount = static_cast<int>(kLogs * CommitLog::kLeastBytes / kRecord);
  uint64_t commits = 0;
  in_process_that_dies([&] {
    Environment& environment = *open_small().release();
    const Table table = table_of(environment);
    const uint64_t before = commits_of_tree(environment);
    for (int i = 0; i < kCount; ++i) {
      const auto write = value_of(environment.begin_write());
      ASSERT_TRUE(
          succeeds(write->transaction().put(table, fmt::format("e{}", i), std::string(kRecord, 'e'))));
      ASSERT_TRUE(succeeds(write->commit()));
    }
    commits = commits_of_tree(environment) - before;
    EXPECT_LT(commits, static_cast<uint64_t>(kCount) / 4);
  });
  const Contents found = contents(*open());
  for (int i = 0; i < kCount; ++i) EXPECT_TRUE(found.contains(fmt::format("e{}", i))) << i;
}

// Just short of what is small, so that the room in the log is gone now and then.
TEST_P(ExplicitSmallTest, FindNoRoomInTheLog) {
  Contents expected;
  constexpr int kCount = 24;
  in_process_that_dies([&] {
    Environment& environment = *open_small().release();
    const Table table = table_of(environment);
    for (int i = 0; i < kCount; ++i) {
      const auto write = value_of(environment.begin_write());
      const size_t size = i % 3 == 2 ? 250'000 : 90'000;
      ASSERT_TRUE(succeeds(write->transaction().put(table, fmt::format("e{}", i), std::string(size, 'e'))));
      ASSERT_TRUE(succeeds(write->commit()));
      put(environment, fmt::format("s{}", i));
    }
  });
  const Contents found = contents(*open());
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(found.contains(fmt::format("e{}", i)), true) << i;
    EXPECT_EQ(found.contains(fmt::format("s{}", i)), true) << i;
  }
}

// By the thread that holds the transaction, and by another.
TEST_P(ExplicitSmallTest, AreNotInACopyAndDoNotHoldItUp) {
  const auto environment = open_small();
  const Table table = table_of(*environment);
  const Contents before = contents(*environment);
  const auto write = value_of(environment->begin_write());
  ASSERT_TRUE(succeeds(write->transaction().put(table, "mine", "x")));
  const std::string own = folder_.path("own.quire"), others = folder_.path("others.quire");
  ASSERT_TRUE(succeeds(environment->copy_to(own)));
  std::thread([&] { ASSERT_TRUE(succeeds(environment->copy_to(others))); }).join();
  ASSERT_TRUE(succeeds(write->commit()));
  for (const std::string& path : {own, others})
    EXPECT_EQ(contents(*value_of(Environment::open(path))), before);
  EXPECT_TRUE(contents(*environment).contains("mine"));
}

// One that is held goes on after another, for longer than who waits for its end would wait at once.
TEST_P(ExplicitSmallTest, LetOthersInBetweenThem) {
  int is_open[2], is_done[2];
  ASSERT_EQ(pipe(is_open), 0);
  ASSERT_EQ(pipe2(is_done, O_NONBLOCK), 0);
  const pid_t child = in_child([&] {
    const auto environment = open_small();
    const Table table = table_of(*environment);
    char byte = 0;
    for (int i = 0; read(is_done[0], &byte, 1) != 1; ++i) {
      const auto transaction = value_of(environment->begin_write());
      EXPECT_TRUE(succeeds(transaction->transaction().put(table, "last", std::to_string(i))));
      EXPECT_TRUE(i != 3 || write(is_open[1], "x", 1) == 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      EXPECT_TRUE(succeeds(transaction->commit()));
    }
  });
  char byte = 0;
  ASSERT_EQ(read(is_open[0], &byte, 1), 1);
  {
    const auto environment = open();
    EXPECT_GE(std::stoi(contents(*environment).at("last")), 2);
  }
  EXPECT_EQ(write(is_done[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Durabilities, ExplicitSmallTest,
                         testing::Values(Durability::full, Durability::relaxed), [](const auto& test) {
                           return std::string(test.param == Durability::full ? "full" : "relaxed");
                         });

}  // namespace
}  // namespace quire::engine
