// Lists of pending commits that are used again once nobody sees them.
#include "engine/file/pending_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>

namespace quire::engine {
namespace {

constexpr uint32_t kSlot = 3;
constexpr size_t kBytes = 4096;

void put(PendingCommits& commits, Bytes key, Bytes record) {
  std::memcpy(commits.put(kSlot, key, record.size()).data(), record.data(), record.size());
}

TEST(PendingPoolTest, AListThatSomebodySeesIsLeftAlone) {
  PendingPool pool;
  auto first = pool.take(1, kBytes);
  put(*first, "a", "1");
  first->publish();
  const std::shared_ptr<const PendingCommits> reader = first;
  const PendingCommits* const place = first.get();
  first.reset();
  const auto second = pool.take(2, kBytes);
  EXPECT_NE(second.get(), place);
  EXPECT_EQ(reader->find(kSlot, "a", 1)->record, "1");
}

TEST(PendingPoolTest, AListThatNobodySeesIsBegunAnew) {
  PendingPool pool;
  std::set<const PendingCommits*> seen;
  for (uint64_t base = 1; base < 6; ++base) {
    const auto list = pool.take(base, kBytes);
    seen.insert(list.get());
    EXPECT_EQ(list->base(), base);
    EXPECT_EQ(list->last(), 0u);
    EXPECT_FALSE(list->find(kSlot, "a", 1));
    put(*list, "a", "1");
    list->publish();
  }
  EXPECT_EQ(seen.size(), 1u);
}

TEST(PendingPoolTest, AListMayOutliveIt) {
  std::shared_ptr<PendingCommits> list;
  {
    PendingPool pool;
    list = pool.take(1, kBytes);
    pool.take(2, kBytes).reset();
    pool.clear();
  }
  put(*list, "a", "1");
  EXPECT_EQ(list->find(kSlot, "a", 1)->record, "1");
}

}  // namespace
}  // namespace quire::engine
