#include "engine/file/map_advice.h"

#include <filesystem>
#include <fstream>

#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class MemoryLimit : public testing::Test {
 protected:
  void set(const std::string& file, const std::string& limit) {
    const std::filesystem::path path = folder_.path(file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << limit << "\n";
  }
  uint64_t limit(const std::string& membership) const { return memory_limit(membership, folder_.path("")); }

  TemporaryFolder folder_;
};

TEST_F(MemoryLimit, IsTheLeastOfTheGroupsAroundTheProcess) {
  set("memory.max", "max");
  set("work/memory.max", "1000");
  set("work/inner/memory.max", "3000");
  EXPECT_EQ(limit("0::/work/inner\n"), 1000U);
  EXPECT_EQ(limit("0::/\n"), UINT64_MAX);
}

TEST_F(MemoryLimit, IsThatOfVersionOneWhereMemoryIsUnderIt) {
  set("memory/memory.limit_in_bytes", "9223372036854771712");
  set("memory/docker/a/memory.limit_in_bytes", "5000");
  EXPECT_EQ(limit("5:devices:/docker/a\n4:memory:/docker/a\n0::/\n"), 5000U);
  EXPECT_EQ(limit("4:hugetlb,memory:/docker/a\n"), 5000U);
  EXPECT_EQ(limit("4:memory_pressure:/docker/a\n"), UINT64_MAX);
}

// Within a container its own group is mounted where the host's root is outside.
TEST_F(MemoryLimit, OfAPathThatIsNotMountedIsThatOfWhatIs) {
  set("memory/memory.limit_in_bytes", "7000");
  EXPECT_EQ(limit("4:memory:/docker/a\n"), 7000U);
}

TEST_F(MemoryLimit, IsNoneWhereNothingTells) {
  EXPECT_EQ(limit(""), UINT64_MAX);
  EXPECT_EQ(limit("nonsense\n::\n0::/a\n"), UINT64_MAX);
  EXPECT_GT(half_of_memory(), 0U);
}

}  // namespace
}  // namespace quire::engine
