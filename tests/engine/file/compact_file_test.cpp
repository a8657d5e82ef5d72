// Who comes while a file is compacted: he finds the copy or the file, and all that was written to either.
#include "engine/file/compact_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "engine/file/sole_use.h"
#include "tests/engine/file/one_table.h"
#include "tests/engine/file/other_process.h"

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

}  // namespace
}  // namespace quire::engine
