// Commits that go to the log alone: who sees them, when they come into LMDB's tree, and what a crash leaves.
#include "engine/file/small_commits.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <thread>
#include <vector>

#include "engine/file/anchor.h"
#include "engine/file/commit_log.h"
#include "engine/file/compact_file.h"
#include "engine/file/file_state.h"
#include "engine/file/sole_use.h"
#include "tests/engine/file/small_commits_fixture.h"

namespace quire::engine {
namespace {

using namespace std::chrono_literals;

// A map beside it, through commits, rollbacks, nested work, and snapshots of older commits.
TEST_P(SmallCommitsTest, ReadAsAMapWould) {
  const auto environment = open();
  const Table table = table_of(*environment);
  for (int i = 0; i < 40; ++i) put(*environment, fmt::format("k{:02}", i * 2), "first");
  until_small(*environment);
  RandomChanges random(5);
  const auto draw = [&](uint32_t below) { return random.draw(below); };
  const auto change = [&](WriteTransaction& transaction, Contents& map) {
    return random.change(transaction, table, map);
  };
  Contents expected = contents(*environment);
  std::vector<std::pair<ReadTransaction, Contents>> snapshots;
  const uint64_t before = commits_of_tree(*environment);
  uint64_t commits = 0;
  for (int commit = 0; commit < 200; ++commit) {
    const bool is_kept = draw(5) != 0;
    Contents next;
    const auto seed = random.draw(UINT32_MAX);
    const auto written = environment->write([&](WriteTransaction& transaction) -> Result<void> {
      random.begin_anew(seed);  // it may run again
      next = expected;
      for (uint32_t count = draw(6); count-- > 0;) QUIRE_TRY(change(transaction, next));
      Contents inner = next;
      const auto nested = transaction.nested([&](WriteTransaction& part) -> Result<void> {
        for (uint32_t count = draw(4); count-- > 0;) QUIRE_TRY(change(part, inner));
        EXPECT_EQ(contents(part, table), inner);
        return draw(2) == 0 ? Result<void>() : fail(ErrorCode::conflict, "undone");
      });
      if (nested) next = inner;
      EXPECT_EQ(contents(transaction, table), next);
      return is_kept ? Result<void>() : fail(ErrorCode::conflict, "undone");
    });
    EXPECT_EQ(written.has_value(), is_kept);
    if (is_kept) {
      expected = next;
      ++commits;
    }
    if (commit % 20 == 0) snapshots.emplace_back(value_of(environment->begin_read()), expected);
    EXPECT_EQ(contents(*environment), expected);
  }
  for (const auto& [snapshot, then] : snapshots) EXPECT_EQ(contents(snapshot, table), then);
  EXPECT_LT(commits_of_tree(*environment) - before, commits);
}

TEST_P(SmallCommitsTest, BeginBehindTheCommitThatMakesTheLog) {
  constexpr auto kInARow = 200ms;  // they count where they come one after the other
  const auto environment = open();
  const auto has_log = [&] {
    const ReadTransaction snapshot = value_of(environment->begin_read());
    return value_of(snapshot.get(environment->meta(), log_layout::kRow)).has_value();
  };
  auto begun = std::chrono::steady_clock::now();
  for (const auto deadline = begun + 60s; !has_log() && begun < deadline;) {
    begun = std::chrono::steady_clock::now();
    put(*environment, "until");
  }
  const uint64_t before = commits_of_tree(*environment);
  put(*environment, "small");
  const bool is_in_a_row = std::chrono::steady_clock::now() - begun < kInARow;
  EXPECT_TRUE(commits_of_tree(*environment) == before || !is_in_a_row);
}

// A longer log means fewer pages that are written twice, and to make it anew as the file grows is a stall.
TEST_P(SmallCommitsTest, GetALogOfTheUsualLengthOnceTheFileIsTwiceAsLong) {
  constexpr size_t kMiB = size_t{1} << 20;
  const auto environment = open();
  put(*environment, "large", std::string(9 * kMiB, 'x'));
  const auto log_bytes = [&] {
    const ReadTransaction snapshot = value_of(environment->begin_read());
    return value_of(snapshot.get(environment->meta(), log_layout::kRow)).value_or(Bytes()).size();
  };
  for (const auto deadline = std::chrono::steady_clock::now() + 60s;
       log_bytes() == 0 && std::chrono::steady_clock::now() < deadline;)
    put(*environment, "until");
  EXPECT_EQ(log_bytes(), 4 * kMiB);
}

TEST_P(SmallCommitsTest, GoOnWhileADroppedTableHasToWaitForASnapshot) {
  const auto environment = open();
  put(*environment, "first");
  const auto drop = [](WriteTransaction& transaction) { return transaction.drop_table("u"); };
  ASSERT_TRUE(succeeds(environment->write([](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(transaction.create_table("u"));
    return {};
  })));
  {
    const ReadTransaction snapshot = value_of(environment->begin_read());
    ASSERT_TRUE(succeeds(environment->write(drop)));
    until_small(*environment);
    EXPECT_TRUE(snapshot.state().tables().has_dropped());
  }
  // The next one removes it, unless a thread that looks at the file is at work just then.
  const auto is_removed = [&] {
    put(*environment, "removes it");
    return !value_of(environment->begin_read()).state().tables().has_dropped();
  };
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!is_removed() && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(value_of(environment->open_table("u")), std::nullopt);
  until_small(*environment);
}

TEST_P(SmallCommitsTest, AreNotSeenByAHintFromTheTree) {
  const auto environment = open();
  const Table table = table_of(*environment);
  put(*environment, "b");
  put(*environment, "d");
  until_small(*environment);
  put(*environment, "a");
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const bool was_there, transaction.erase(table, "d"));
    EXPECT_TRUE(was_there);
    const auto at = [&](Bytes key) { return std::string(transaction.seek_tree(table, key).value_or("-")); };
    if (transaction.snapshot() != nullptr) {
      EXPECT_EQ(at("a"), "b");
      EXPECT_EQ(at("c"), "d");
    }
    EXPECT_EQ(at("z"), "-");
    return {};
  })));
}

// Over many entries at once, where a few of them are pending, as over each.
TEST_P(SmallCommitsTest, LetAWalkGoOnOverWhatLiesBetween) {
  constexpr int kRows = 3'000;
  const auto key_of = [](int row) { return fmt::format("r{:06}", row); };
  const auto environment = open();
  const Table table = table_of(*environment);
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    for (int row = 0; row < kRows; ++row) QUIRE_TRY(transaction.put(table, key_of(2 * row), "tree"));
    return {};
  })));
  until_small(*environment);
  for (const int row : {0, 7, 1'000, 1'001, 1'003, 2'400, 2 * kRows + 1})
    put(*environment, key_of(row), "pending");
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    for (const int row : {4, 6, 1'002, 3'000, 2 * kRows - 2}) {
      QUIRE_ASSIGN(const bool was_there, transaction.erase(table, key_of(row)));
      EXPECT_TRUE(was_there);
    }
    return {};
  })));
  const ReadTransaction snapshot = value_of(environment->begin_read());
  const Contents all = contents(snapshot, table);
  for (const int begin : {0, 1, 5, 990, 1'001, 2'398, 2 * kRows - 9})
    for (const int end : {begin + 2, begin + 40, begin + 2'500, 3 * kRows}) {
      FileCursor walk = value_of(FileCursor::open(snapshot, table));
      ASSERT_TRUE(value_of(walk.seek(key_of(begin))));
      auto expected = all.lower_bound(key_of(begin));
      size_t at_once = 0;
      std::array<TreeEntry, 16> entries;
      for (bool more = true; more && walk.key() < key_of(end); more = value_of(walk.next()), ++expected) {
        ASSERT_EQ(walk.key(), expected->first);
        ASSERT_EQ(walk.record(), expected->second);
        const bool reads = at_once % 2 == 0;
        const size_t count = reads ? value_of(walk.read_before(key_of(end), entries))
                                   : value_of(walk.skip_before(key_of(end), 100));
        for (size_t i = 0; i < count; ++i) {
          ++expected;
          EXPECT_TRUE(!reads || entries[i].key == expected->first);
        }
        ASSERT_EQ(walk.key(), expected->first) << "it stands on the last of them";
        ASSERT_EQ(walk.record(), expected->second);
        at_once += count;
      }
      EXPECT_EQ(expected, all.lower_bound(key_of(end)));
      EXPECT_TRUE(end < begin + 2'500 || begin > kRows || at_once > 1'000) << at_once;
    }
}

TEST_P(SmallCommitsTest, AreLeftByAProcessThatDies) {
  in_process_that_dies([&] {
    Environment& environment = *open().release();
    until_small(environment);
    for (int i = 0; i < 50; ++i) put(environment, fmt::format("k{:02}", i), "then");
    const Table table = table_of(environment);
    ASSERT_TRUE(succeeds(environment.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(transaction.erase(table, "k07"));
      return {};
    })));
  });
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  const bool was_closed =
      !value_of(read_anchor(file.number(), static_cast<uint32_t>(sysconf(_SC_PAGESIZE)))).is_set;
  const auto refused = Environment::open(path_, {.read_only = true});
  EXPECT_TRUE(was_closed || fails_with(refused, ErrorCode::cannot_open, "open it once for writing"));
  const auto environment = open();
  const Contents found = contents(*environment);
  EXPECT_EQ(found.size(), 50u) << "50 of k, less one, and one more";
  EXPECT_FALSE(found.contains("k07"));
  EXPECT_TRUE(value_of(environment->check_pages(10, nullptr)).empty());
}

TEST_P(SmallCommitsTest, GoOnWhereTheLogIsFull) {
  const std::string record(4000, 'r');
  in_process_that_dies([&] {
    Environment& environment = *open().release();
    until_small(environment);
    for (size_t i = 0; i < 3 * CommitLog::kLeastBytes / record.size(); ++i)
      put(environment, fmt::format("k{:04}", i % 500), record + std::to_string(i));
  });
  const auto environment = open();
  const Contents found = contents(*environment);
  EXPECT_EQ(found.size(), 501u);
  for (const auto& [key, value] : found) {
    if (key == "until") continue;
    const size_t last = 3 * CommitLog::kLeastBytes / record.size() - 1, number = std::stoul(key.substr(1));
    EXPECT_EQ(value, record + std::to_string(number + (last - number) / 500 * 500)) << key;
  }
}

TEST_P(SmallCommitsTest, ComeBeforeWhatIsNotSmall) {
  const auto environment = open();
  until_small(*environment);
  put(*environment, "a", "small");
  const uint64_t before = commits_of_tree(*environment);
  int runs = 0;
  const Table table = table_of(*environment);
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    ++runs;
    EXPECT_EQ(value_of(transaction.get(table, "a")), "small");
    return transaction.put(table, "b", std::string(size_t{1} << 20, 'b'));
  })));
  EXPECT_LE(runs, 2) << "it is taken for small once at most";
  EXPECT_GT(commits_of_tree(*environment), before);
  until_small(*environment);
  put(*environment, "c", "small");
  {
    const auto write = value_of(environment->begin_write());
    EXPECT_EQ(value_of(write->transaction().get(table, "c")), "small");
    ASSERT_TRUE(succeeds(write->transaction().put(table, "c", "large")));
    write->rollback();
  }
  EXPECT_EQ(contents(*environment).at("c"), "small");
}

TEST_P(SmallCommitsTest, WhatIsTakenBackAgainAndAgainTakesNoMoreAndMoreMemory) {
  const auto environment = open();
  const Table table = table_of(*environment);
  until_small(*environment);
  put(*environment, "a", "kept");
  const uint64_t before = commits_of_tree(*environment);
  for (int i = 0; i < 200; ++i) {
    const auto undone = environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(transaction.put(table, "a", std::string(200'000, 'x')));
      return fail(ErrorCode::conflict, "undone");
    });
    EXPECT_TRUE(fails_with(undone, ErrorCode::conflict));
  }
  EXPECT_TRUE(is_applied_behind(*environment, before));
  EXPECT_EQ(contents(*environment).at("a"), "kept");
}

TEST_P(SmallCommitsTest, WhatIsTakenBackAgainAndAgainIsNotPassedOverForEver) {
  const auto environment = open();
  const Table table = table_of(*environment);
  until_small(*environment);
  put(*environment, "a", "kept");
  const uint64_t before = commits_of_tree(*environment);
  for (int i = 0; i < 1500; ++i) {
    const auto undone = environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(transaction.put(table, "a", "undone"));
      return fail(ErrorCode::conflict, "undone");
    });
    EXPECT_TRUE(fails_with(undone, ErrorCode::conflict));
  }
  EXPECT_TRUE(is_applied_behind(*environment, before));
  EXPECT_EQ(contents(*environment).at("a"), "kept");
}

// Which counts its commits anew: none of them may come to be that behind which the log of the first stands.
TEST_P(SmallCommitsTest, AreInACopyButNotInItsLog) {
  Contents expected;
  {
    const auto environment = open();
    until_small(*environment);
    put(*environment, "a", "1");
    expected = contents(*environment);
    ASSERT_TRUE(succeeds(environment->copy_to(folder_.path("copy.quire"))));
  }
  ASSERT_TRUE(succeeds(compact_file(path_)));
  for (const std::string& path : {path_, folder_.path("copy.quire")}) {
    const auto copy = value_of(Environment::open(path));
    EXPECT_EQ(contents(*copy), expected);
    const ReadTransaction snapshot = value_of(copy->begin_read());
    const auto log = value_of(snapshot.get(copy->meta(), log_layout::kRow));
    ASSERT_TRUE(log);
    for (const uint64_t half : {0u, 1u})
      EXPECT_EQ(log->substr(log_layout::half_at(half, log->size()), log_layout::kHeaderBytes),
                std::string(log_layout::kHeaderBytes, '\0'));
  }
}

TEST_P(SmallCommitsTest, AreSeenByWhoOpensTheFileLater) {
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = in_child([&] {
    const auto environment = open();
    until_small(*environment);
    for (int i = 0; i < 20; ++i) put(*environment, fmt::format("k{:02}", i));
    char byte = 0;
    EXPECT_EQ(write(go[1], &byte, 1), 1);
    // Goes on while the other one comes in, and then with it.
    for (int i = 0; i < 300; ++i) {
      put(*environment, "more", std::to_string(i));
      std::this_thread::sleep_for(1ms);
    }
  });
  char byte = 0;
  ASSERT_EQ(read(go[0], &byte, 1), 1);
  {
    const auto environment = open();
    const Contents found = contents(*environment);
    EXPECT_GE(found.size(), 21u);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(found.contains(fmt::format("k{:02}", i)));
    put(*environment, "ours");
    EXPECT_TRUE(contents(*environment).contains("ours"));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto environment = open();
  EXPECT_EQ(contents(*environment).at("more"), "299");
  EXPECT_TRUE(contents(*environment).contains("ours"));
}

TEST_P(SmallCommitsTest, AreSeenByThreadsAsTheyAreTold) {
  const auto environment = open();
  const Table table = table_of(*environment);
  until_small(*environment);
  put(*environment, "told", "0");
  std::atomic<int> told = 0;
  std::jthread reader([&] {
    ReadTransaction snapshot = value_of(environment->begin_read());
    for (int before = 0; before < 2000;) {
      before = told;
      ASSERT_TRUE(succeeds(snapshot.renew()));
      const auto record = value_of(snapshot.get(table, "told"));
      ASSERT_TRUE(record);
      EXPECT_GE(std::stoi(std::string(*record)), before);
    }
  });
  for (int i = 1; i <= 2000; ++i) {
    put(*environment, "told", std::to_string(i));
    told = i;
    if (i % 100 == 0)  // what is not small has them applied
      put(*environment, "large", std::string(size_t{300} << 10, 'x'));
  }
}

// The one who waits finds the log of the one who died.
TEST_P(SmallCommitsTest, AreThereForWhoWaitedForAProcessThatDies) {
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = in_child([&] {
    Environment& environment = *open().release();
    until_small(environment);
    put(environment, "last");
    char byte = 0;
    EXPECT_EQ(write(go[1], &byte, 1), 1);
    raise(SIGSTOP);
  });
  char byte = 0;
  ASSERT_EQ(read(go[0], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_TRUE(fails_with(Environment::open(path_, {.busy_timeout_ms = 50}), ErrorCode::busy,
                         "did not let others in"));
  std::jthread killer([&] {
    std::this_thread::sleep_for(50ms);
    kill(child, SIGKILL);
  });
  EXPECT_TRUE(contents(*open()).contains("last"));
  waitpid(child, &status, 0);
}

// One of them makes the log's commits again; LMDB must not go on from where its lock file stood at the kill.
TEST_P(SmallCommitsTest, ManyWhoComeAtOnceAfterAKillSeeThem) {
  for (int round = 0; round < 20; ++round) {
    const std::string key = fmt::format("of round {}", round);
    in_process_that_dies([&] {
      Environment& environment = *open().release();
      until_small(environment);
      put(environment, key);
    });
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(in_child([&] {
        const auto environment = open();
        EXPECT_TRUE(contents(*environment).contains(key));
        put(*environment, fmt::format("by {}", getpid()));
      }));
    }
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_EQ(status, 0) << "round " << round;
    }
    ASSERT_TRUE(contents(*open()).contains(key));
  }
}

TEST_P(SmallCommitsTest, WhoOpensWaitsForHisTurn) {
  put(*open(), "k");
  const Descriptor other(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  const auto soon = [] { return Clock::now() + 20ms; };
  ASSERT_TRUE(succeeds(take_turn(other.number(), path_, false, soon())));
  for (const bool read_only : {false, true})
    EXPECT_TRUE(fails_with(Environment::open(path_, {.read_only = read_only, .busy_timeout_ms = 20}),
                           ErrorCode::busy, "is being opened or compacted"));
  EXPECT_TRUE(fails_with(compact_file(path_), ErrorCode::busy, "is being opened or compacted"));
  end_turn(other.number());

  // Readers take no turns among each other.
  ASSERT_TRUE(succeeds(take_turn(other.number(), path_, true, soon())));
  EXPECT_TRUE(succeeds(Environment::open(path_, {.read_only = true, .busy_timeout_ms = 20})));
  EXPECT_TRUE(fails_with(Environment::open(path_, {.busy_timeout_ms = 20}), ErrorCode::busy));
  end_turn(other.number());
  EXPECT_TRUE(contents(*open()).contains("k"));
}

// A log that stands behind a commit which a power cut has taken must not be made again behind another one
// that comes to have its number.
TEST(SmallCommitsAfterAPowerCutTest, AreNotMadeAgainBehindAnotherCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.quire");
  const FileOptions relaxed{.durability = Durability::relaxed};
  const auto in_process_that_dies = [](const std::function<void()>& act) {
    const pid_t child = fork();
    if (child == 0) {
      act();
      kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
  };
  const auto put = [&](Environment& environment, std::string_view key) {
    return environment.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(std::optional<Table> table, transaction.open_table("t"));
      if (!table) {
        QUIRE_ASSIGN(table, transaction.create_table("t"));
      }
      return transaction.put(*table, key, "x");
    });
  };
  const auto has = [&](Environment& environment, std::string_view key) {
    const auto table = value_of(environment.open_table("t"));
    return table && value_of(value_of(environment.begin_read()).get(*table, key)).has_value();
  };
  uint64_t base = 0;
  {  // The log is there before the anchor is.
    const auto environment = value_of(Environment::open(path, relaxed));
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(succeeds(put(*environment, "before")));
    base = value_of(environment->facts()).commit_number;
  }
  in_process_that_dies([&] {
    Environment& environment = *value_of(Environment::open(path, relaxed)).release();
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(put(environment, "lost"));
  });
  const auto page_bytes = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  {
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    AnchorRecord record = value_of(read_anchor(file.number(), page_bytes));
    ASSERT_TRUE(record.is_set);
    record.boot.fill('x');
    ASSERT_TRUE(succeeds(write_anchor(file.number(), page_bytes, record)));
  }
  EXPECT_FALSE(has(*value_of(Environment::open(path, relaxed)), "lost"));
  for (int i = 0; i < 60; ++i) {
    in_process_that_dies(
        [&] { EXPECT_TRUE(put(*value_of(Environment::open(path, relaxed)).release(), "new")); });
    const auto environment = value_of(Environment::open(path, relaxed));
    ASSERT_FALSE(has(*environment, "lost"))
        << "behind commit " << value_of(environment->facts()).commit_number;
  }
  EXPECT_GT(value_of(value_of(Environment::open(path))->facts()).commit_number, base + 50);
}

INSTANTIATE_TEST_SUITE_P(Durabilities, SmallCommitsTest,
                         testing::Values(Durability::full, Durability::relaxed), [](const auto& test) {
                           return std::string(test.param == Durability::full ? "full" : "relaxed");
                         });

}  // namespace
}  // namespace quire::engine
