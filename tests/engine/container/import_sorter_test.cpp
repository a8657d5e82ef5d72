// Items come out in the order of their keys, from memory or from many runs.
#include "engine/container/import_merge.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

struct Added {
  std::string key;
  uint64_t number;
  std::string document;
  auto operator<=>(const Added&) const = default;
};

constexpr size_t kLanes = 3;

class ImportSorterTest : public testing::TestWithParam<size_t> {
 protected:
  std::vector<Added> fill(ImportSorter& sorter, size_t count) {
    std::mt19937_64 random(1);
    std::vector<Added> added;
    for (size_t i = 0; i < count; ++i) {
      const std::string key = std::to_string(random() % (count / 2)) + std::string(random() % 20, 'k');
      added.push_back({key, i, std::string(random() % 300, static_cast<char>('a' + i % 26))});
      const SortedItem item{key, added.back().document, i, static_cast<uint32_t>(i + 1)};
      EXPECT_TRUE(succeeds(sorter.lane(i % kLanes).add(item)));
    }
    std::ranges::sort(added);
    return added;
  }
  TemporaryFolder folder_;
};
// All in memory; some runs; runs of a few items; each item a run.
INSTANTIATE_TEST_SUITE_P(Memory, ImportSorterTest, testing::Values(size_t{64} << 20, 256 << 10, 4 << 10, 1));

TEST_P(ImportSorterTest, GivesAllItemsInOrderAndTheEarlierOfEqualKeysFirst) {
  ImportSorter sorter(folder_.path("."), GetParam(), kLanes);
  const std::vector<Added> added = fill(sorter, 3000);
  ASSERT_TRUE(succeeds(sorter.finish()));
  for (int pass = 0; pass < 2; ++pass) {
    ImportMerge items(sorter);
    for (const Added& expected : added) {
      const SortedItem* item = items.next();
      ASSERT_NE(item, nullptr);
      ASSERT_EQ(item->key, expected.key);
      ASSERT_EQ(item->number, expected.number);
      ASSERT_EQ(item->line, expected.number + 1);
      ASSERT_EQ(item->document, expected.document);
    }
    EXPECT_EQ(items.next(), nullptr);
  }
}

// Of keys that differ in the bytes that parts are told apart by, and begin with few different ones.
TEST_P(ImportSorterTest, PartsAreTheWholeAndEqualKeysAreInOne) {
  ImportSorter sorter(folder_.path("."), GetParam(), kLanes);
  std::mt19937_64 random(2);
  for (uint64_t i = 0; i < 6000; ++i) {
    std::string key;
    for (int byte = 0; byte < 4; ++byte)
      key.push_back(static_cast<char>(byte == 0 ? random() % 64 : random() % 3 * 100));
    if (i % 3 == 0) key += "more";
    ASSERT_TRUE(succeeds(sorter.lane(i % kLanes).add({key, key, i, 1})));
  }
  ASSERT_TRUE(succeeds(sorter.finish()));
  for (const uint32_t parts : {1U, 2U, 3U, 8U}) {
    ImportMerge all(sorter);
    std::string last;
    for (uint32_t part = 0; part < parts; ++part) {
      ImportMerge items(sorter, part, parts);
      for (bool is_first = true; const SortedItem* item = items.next(); is_first = false) {
        const SortedItem* const expected = all.next();
        ASSERT_NE(expected, nullptr);
        ASSERT_EQ(item->number, expected->number);
        ASSERT_EQ(item->key, item->document);
        if (is_first) {
          EXPECT_NE(item->key, last);
        }
        last = item->key;
      }
    }
    EXPECT_EQ(all.next(), nullptr);
  }
}

TEST_P(ImportSorterTest, WithoutItemsGivesNone) {
  ImportSorter sorter(folder_.path("."), GetParam(), kLanes);
  ASSERT_TRUE(succeeds(sorter.finish()));
  EXPECT_EQ(ImportMerge(sorter).next(), nullptr);
}

TEST(ImportSorter, LeavesNoFileBehind) {
  TemporaryFolder folder;
  ImportSorter sorter(folder.path("."), 1000, 1);
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(succeeds(sorter.lane(0).add({std::to_string(i), std::string(100, 'x'), 0, 0})));
  ASSERT_TRUE(succeeds(sorter.finish()));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path(".")));
}

// What the file without a name in that folder takes of the disk.
uint64_t spilled_bytes(const TemporaryFolder& folder) {
  const std::string path = std::filesystem::canonical(folder.path(".")).string();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    struct stat file{};
    if (std::filesystem::read_symlink(entry.path(), gone).string().starts_with(path) &&
        stat(entry.path().c_str(), &file) == 0)
      return static_cast<uint64_t>(file.st_blocks) * 512;
  }
  return 0;
}

// There are the more runs the longer an import is, and a commit takes a little from each.
TEST(ImportSorter, GivesPagesOfARunBackManyAtATime) {
  constexpr size_t kItems = 12'000, kDocumentBytes = 2000, kItemsOfCommit = 100;
  TemporaryFolder folder;
  ImportSorter sorter(folder.path("."), 4 << 20, 1);
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < kItems; ++i)
    ASSERT_TRUE(
        succeeds(sorter.lane(0).add({std::to_string(random()), std::string(kDocumentBytes, 'x'), i, 0})));
  ASSERT_TRUE(succeeds(sorter.finish()));
  const uint64_t before = spilled_bytes(folder);
  ASSERT_GT(before, kItems * kDocumentBytes / 2);
  ImportMerge items(sorter);
  uint64_t left = before, times = 0;
  for (size_t i = 0; items.next() != nullptr; ++i) {
    if (i % kItemsOfCommit != 0) continue;
    items.give_back(items.progress());
    times += std::exchange(left, spilled_bytes(folder)) != left;
  }
  // To give back is best effort (SpillFile::give_back): there is nothing to count where it cannot be done.
  if (left == before) GTEST_SKIP() << "a file system that gives nothing back";
  EXPECT_LT(left, before / 2);
  EXPECT_LE(times, before >> 20);
}

TEST(ImportSorter, SaysWhereItsFileCannotBeMade) {
  ImportSorter sorter("/no/such/folder", 1, 1);
  Result<void> added{};
  for (int i = 0; i < 3 && added; ++i) added = sorter.lane(0).add({"key", "document", 0, 0});
  EXPECT_TRUE(fails_with(added, ErrorCode::io, "temporary file"));
}

// What ends an import is told in the order of the input, so that more may come to a lane until then.
TEST(ImportSorter, TakesItemsAlsoWhereOnesBeforeCouldNotBeWritten) {
  constexpr int kItems = 1000, kMemory = 4096;
  ImportSorter sorter("/no/such/folder", kMemory, 1);
  int failures = 0;
  for (int i = 0; i < kItems; ++i) {
    const std::string key = std::to_string(i * 7919 % kItems);
    const auto added = sorter.lane(0).add({key, std::string(i % 300, 'x'), static_cast<uint64_t>(i), 0});
    if (added) continue;
    EXPECT_TRUE(fails_with(added, ErrorCode::io, "temporary file"));
    ++failures;
  }
  EXPECT_GT(failures, 1);
}

}  // namespace
}  // namespace quire::engine
