// Items come out in the order of their keys, from memory or from many runs.
#include "engine/container/import_sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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
      const SortedItem item{key, added.back().document, i * 3, i, static_cast<uint32_t>(i + 1)};
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
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(succeeds(sorter.begin()));
    for (const Added& expected : added) {
      const SortedItem* item = sorter.next();
      ASSERT_NE(item, nullptr);
      ASSERT_EQ(item->key, expected.key);
      ASSERT_EQ(item->number, expected.number);
      ASSERT_EQ(item->line, expected.number + 1);
      ASSERT_EQ(item->document, expected.document);
      ASSERT_EQ(item->hash, expected.number * 3);
    }
    EXPECT_EQ(sorter.next(), nullptr);
  }
}

TEST_P(ImportSorterTest, WithoutItemsGivesNone) {
  ImportSorter sorter(folder_.path("."), GetParam(), kLanes);
  ASSERT_TRUE(succeeds(sorter.begin()));
  EXPECT_EQ(sorter.next(), nullptr);
}

TEST(ImportSorter, LeavesNoFileBehind) {
  TemporaryFolder folder;
  ImportSorter sorter(folder.path("."), 1000, 1);
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(succeeds(sorter.lane(0).add({std::to_string(i), std::string(100, 'x'), 0, 0, 0})));
  ASSERT_TRUE(succeeds(sorter.begin()));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path(".")));
}

TEST(ImportSorter, SaysWhereItsFileCannotBeMade) {
  ImportSorter sorter("/no/such/folder", 1, 1);
  Result<void> added{};
  for (int i = 0; i < 3 && added; ++i) added = sorter.lane(0).add({"key", "document", 0, 0, 0});
  EXPECT_TRUE(fails_with(added, ErrorCode::io, "temporary file"));
}

}  // namespace
}  // namespace quire::engine
