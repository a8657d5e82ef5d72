// Who comes while a file is compacted: he finds the copy or the file, and all that was written to either.
#include "engine/file/compact_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "engine/file/sole_use.h"
#include "tests/engine/file/one_table.h"
#include "tests/engine/file/other_process.h"
#include "tests/engine/file/small_commits_fixture.h"

namespace quire::engine {
namespace {

using namespace std::chrono_literals;

class CompactFileTest : public OneTable {
 protected:
  // The copy has the file's name, and its process the lock file still, as the file before it left that.
  bool end_a_compaction(int step) {
    constexpr char kNoMagic[4] = {};
    if (step == 0) {
      auto locked = lock_for_sole_use(path_);
      if (locked) lock_ = std::move(*locked);
      return lock_ && pwrite(lock_->number(), kNoMagic, sizeof kNoMagic, 0) == sizeof kNoMagic;
    }
    lock_.reset();
    return true;
  }

  std::optional<Descriptor> lock_;
};

TEST_F(CompactFileTest, WhoFindsTheCopyWaitsUntilTheLockFileIsGivenBack) {
  OtherProcess compacting([&](int step) { return end_a_compaction(step); });
  open();
  ASSERT_TRUE(succeeds(put("a", "1")));
  environment_.reset();
  ASSERT_TRUE(compacting.step());
  std::thread end([&] {
    std::this_thread::sleep_for(50ms);
    EXPECT_TRUE(compacting.step());
  });
  const auto opened = Environment::open(path_);
  end.join();
  ASSERT_TRUE(succeeds(opened));
}

TEST_F(CompactFileTest, WhoFindsTheCopyWaitsUntilTheBusyTimeout) {
  OtherProcess compacting([&](int step) { return end_a_compaction(step); });
  open();
  environment_.reset();
  ASSERT_TRUE(compacting.step());
  for (const bool read_only : {false, true})
    EXPECT_TRUE(fails_with(Environment::open(path_, {.read_only = read_only, .busy_timeout_ms = 20}),
                           ErrorCode::busy, "is being opened or compacted"));
}

// It waits for a turn at a file that another compaction replaces meanwhile. Of the new one the last commits
// are in the log, as its process was killed.
class CompactedTwiceTest : public SmallCommitsTest {};

TEST_P(CompactedTwiceTest, TheSecondTimeNoCommitIsLost) {
  put(*open(), "k");
  const std::string copy = folder_.path("copy"), original = path_;
  std::filesystem::copy_file(original, copy);
  path_ = copy;
  in_process_that_dies([&] {
    Environment& environment = *open().release();
    until_small(environment);
    put(environment, "last");
  });
  path_ = original;

  const Descriptor first(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(succeeds(take_turn(first.number(), path_, false, Clock::now() + 1s)));
  std::thread second([&] {
    auto done = compact_file(path_);
    while (!done && done.error().code == ErrorCode::busy) done = compact_file(path_);
    EXPECT_TRUE(succeeds(done));
  });
  std::this_thread::sleep_for(30ms);
  std::filesystem::rename(copy, path_);
  end_turn(first.number());
  second.join();
  EXPECT_TRUE(contents(*open()).contains("last"));
}

INSTANTIATE_TEST_SUITE_P(Durabilities, CompactedTwiceTest,
                         testing::Values(Durability::full, Durability::relaxed));

}  // namespace
}  // namespace quire::engine
