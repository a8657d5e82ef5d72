// Larger transactions in a row: the log that is made for them.
#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "engine/file/commit_log.h"
#include "tests/engine/file/small_commits_fixture.h"

namespace quire::engine {
namespace {

constexpr size_t kRecord = size_t{10} << 10, kRecords = 70;  // more than a quarter of a short log

class LongLogTest : public SmallCommitsTest {
 protected:
  static Result<void> write_large(Environment& environment, int number, size_t records = kRecords) {
    const Table table = table_of(environment);
    return environment.write([&](WriteTransaction& transaction) -> Result<void> {
      for (size_t i = 0; i < records; ++i)
        QUIRE_TRY(transaction.put(table, fmt::format("l{:03}-{:02}", number, i), std::string(kRecord, 'l')));
      return {};
    });
  }
  static size_t log_bytes(const Environment& environment) {
    const auto log = value_of(value_of(environment.begin_read()).get(environment.meta(), log_layout::kRow));
    return log ? log->size() : 0;
  }
  void expect_large(const Contents& found, int count, size_t records = kRecords) const {
    for (int number = 0; number < count; ++number)
      for (size_t i = 0; i < records; ++i)
        ASSERT_TRUE(found.contains(fmt::format("l{:03}-{:02}", number, i))) << number << ' ' << i;
  }
};

TEST_P(LongLogTest, TakesThemWhereTheFileIsLargeBesideIt) {
  constexpr int kCount = 60;
  in_process_that_dies([&] {
    Environment& environment = *open().release();
    uint64_t in_log = 0;
    for (int number = 0; number < kCount; ++number) {
      const uint64_t before = commits_of_tree(environment);
      EXPECT_TRUE(write_large(environment, number));
      if (commits_of_tree(environment) == before) ++in_log;
      EXPECT_TRUE(number != 2 || log_bytes(environment) <= CommitLog::kLeastBytes)
          << "it is no longer than the file was";
    }
    EXPECT_GT(in_log, 10u);
    EXPECT_GE(log_bytes(environment), 4 * CommitLog::kLeastBytes);
    put(environment, "small");
  });
  const Contents found = contents(*open());
  expect_large(found, kCount);
  EXPECT_TRUE(found.contains("small"));
}

TEST_P(LongLogTest, ReplacesAShortOneThatIsInUse) {
  constexpr int kCount = 40;
  in_process_that_dies([&] {
    Environment& environment = *open().release();
    until_small(environment);
    for (int number = 0; number < kCount; ++number) {
      put(environment, fmt::format("s{}", number));
      EXPECT_TRUE(write_large(environment, number));
      put(environment, fmt::format("t{}", number));
    }
    EXPECT_GE(log_bytes(environment), CommitLog::kLeastBytes);
  });
  const Contents found = contents(*open());
  expect_large(found, kCount);
  for (int number = 0; number < kCount; ++number) {
    EXPECT_TRUE(found.contains(fmt::format("s{}", number)));
    EXPECT_TRUE(found.contains(fmt::format("t{}", number)));
  }
}

// A short one was enough for the file as it was.
TEST_P(LongLogTest, GrowsWithTheFileWhileCommitsGoToIt) {
  constexpr int kCount = 200;
  constexpr size_t kFew = 5;
  in_process_that_dies([&] {
    Environment& environment = *open().release();
    until_small(environment);
    EXPECT_EQ(log_bytes(environment), CommitLog::kLeastBytes);
    const uint64_t before = commits_of_tree(environment);
    for (int number = 0; number < kCount; ++number) EXPECT_TRUE(write_large(environment, number, kFew));
    EXPECT_GE(log_bytes(environment), 2 * CommitLog::kLeastBytes);
    EXPECT_LT(commits_of_tree(environment) - before, kCount / 4) << "they still go to the log";
  });
  const Contents found = contents(*open());
  expect_large(found, kCount, kFew);
  EXPECT_TRUE(found.contains("until"));
}

// Another process knew where the short one lay.
TEST_P(LongLogTest, IsFoundByWhoHasUsedAShortOne) {
  constexpr int kCount = 30, kTurns = 3;
  int to_user[2], to_others[2];
  ASSERT_EQ(pipe(to_user), 0);
  ASSERT_EQ(pipe(to_others), 0);
  const auto tell = [](const int(&ends)[2]) { ASSERT_EQ(write(ends[1], "x", 1), 1); };
  const auto wait = [](const int(&ends)[2]) {
    char byte;
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
  };
  const pid_t user = in_child([&] {
    const auto environment = open();
    for (int turn = 0; turn < kTurns; ++turn) {
      for (int i = 0; i < 40; ++i) put(*environment, fmt::format("s{}-{}", turn, i), std::string(1000, 's'));
      tell(to_others);
      wait(to_user);
    }
  });
  for (int turn = 0; turn < kTurns; ++turn) {
    wait(to_others);
    in_process_that_dies([&] {
      Environment& environment = *open().release();
      for (int i = 0; i < kCount; ++i) EXPECT_TRUE(write_large(environment, turn * kCount + i));
    });
    tell(to_user);
  }
  int status = 0;
  waitpid(user, &status, 0);
  EXPECT_EQ(status, 0);
  const auto environment = open();
  const Contents found = contents(*environment);
  EXPECT_GE(log_bytes(*environment), 4 * CommitLog::kLeastBytes);
  expect_large(found, kTurns * kCount);
  for (int turn = 0; turn < kTurns; ++turn)
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(found.contains(fmt::format("s{}-{}", turn, i)));
  EXPECT_TRUE(value_of(environment->check_pages(10, nullptr)).empty());
}

INSTANTIATE_TEST_SUITE_P(Durabilities, LongLogTest, testing::Values(Durability::full, Durability::relaxed),
                         [](const auto& test) {
                           return std::string(test.param == Durability::full ? "full" : "relaxed");
                         });

}  // namespace
}  // namespace quire::engine
