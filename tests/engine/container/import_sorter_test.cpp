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

class ImportSorterTest : public testing::TestWithParam<size_t> {
 protected:
  std::vector<Added> fill(ImportSorter& sorter, size_t count) {
    std::mt19937_64 random(1);
    std::vector<Added> added;
    for (size_t i = 0; i < count; ++i) {
      const std::string key = std::to_string(random() % (count / 2)) + std::string(random() % 20, 'k');
      added.push_back({key, i, std::string(random() % 300, static_cast<char>('a' + i % 26))});
      EXPECT_TRUE(succeeds(sorter.add(key, added.back().document, static_cast<uint32_t>(i + 1))));
    }
    std::ranges::sort(added);
    return added;
  }
  TemporaryFolder folder_;
};
// All in memory; some runs; runs of a few items; each item a run.
INSTANTIATE_TEST_SUITE_P(Memory, ImportSorterTest, testing::Values(size_t{64} << 20, 256 << 10, 4 << 10, 1));

TEST_P(ImportSorterTest, GivesAllItemsInOrderAndTheEarlierOfEqualKeysFirst) {
  ImportSorter sorter(folder_.path("."), GetParam());
  const std::vector<Added> added = fill(sorter, 3000);
  EXPECT_EQ(sorter.items(), added.size());
  for (const auto pass : {ImportSorter::Pass::keys, ImportSorter::Pass::items, ImportSorter::Pass::items}) {
    ASSERT_TRUE(succeeds(sorter.begin(pass)));
    for (const Added& expected : added) {
      const SortedItem* item = value_of(sorter.next());
      ASSERT_NE(item, nullptr);
      ASSERT_EQ(item->key, expected.key);
      ASSERT_EQ(item->number, expected.number);
      ASSERT_EQ(item->line, expected.number + 1);
      ASSERT_EQ(value_of(sorter.document(item->place)), expected.document);
      ASSERT_EQ(item->document, pass == ImportSorter::Pass::items ? expected.document : "");
    }
    EXPECT_EQ(value_of(sorter.next()), nullptr);
  }
}

TEST_P(ImportSorterTest, WithoutItemsGivesNone) {
  ImportSorter sorter(folder_.path("."), GetParam());
  ASSERT_TRUE(succeeds(sorter.begin(ImportSorter::Pass::items)));
  EXPECT_EQ(value_of(sorter.next()), nullptr);
}

TEST(ImportSorter, LeavesNoFileBehind) {
  TemporaryFolder folder;
  ImportSorter sorter(folder.path("."), 1000);
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(succeeds(sorter.add(std::to_string(i), std::string(100, 'x'), 1)));
  ASSERT_TRUE(succeeds(sorter.begin(ImportSorter::Pass::items)));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path(".")));
}

TEST(ImportSorter, SaysWhereItsFileCannotBeMade) {
  ImportSorter sorter("/no/such/folder", 1);
  Result<void> added{};
  for (int i = 0; i < 3 && added; ++i) added = sorter.add("key", "document", 1);
  EXPECT_TRUE(fails_with(added, ErrorCode::io, "temporary file"));
}

}  // namespace
}  // namespace quire::engine
