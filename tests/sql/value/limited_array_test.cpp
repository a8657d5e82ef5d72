#include "sql/value/limited_array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "sql/value/arena.h"

namespace quire::sql {
namespace {

std::vector<uint64_t> contents(const LimitedArray<uint64_t>& array) {
  return {array.begin(), array.end()};
}

TEST(LimitedArrayTest, HoldsWhatAVectorWould) {
  MemoryBudget budget(SIZE_MAX);
  LimitedArray<uint64_t> array(&budget);
  std::vector<uint64_t> expected;
  for (uint64_t i = 0; i < 1000; ++i) {
    array.push_back(i);
    expected.push_back(i);
  }
  array.append(std::vector<uint64_t>{7, 8, 9});
  expected.insert(expected.end(), {7, 8, 9});
  EXPECT_EQ(contents(array), expected);
  array.resize(2);
  array.resize(4);
  EXPECT_EQ(contents(array), (std::vector<uint64_t>{0, 1, 0, 0}));
  array.assign(3, 5);
  EXPECT_EQ(contents(array), (std::vector<uint64_t>{5, 5, 5}));
  const LimitedArray<uint64_t> moved = std::move(array);
  EXPECT_EQ(contents(moved), (std::vector<uint64_t>{5, 5, 5}));
  EXPECT_EQ(moved.size(), 3U);
}

TEST(LimitedArrayTest, FillsTheBudgetToItsLastElement) {
  constexpr size_t kMost = 1000;
  MemoryBudget budget(kMost * sizeof(uint64_t));
  {
    LimitedArray<uint64_t> array(&budget);
    for (uint64_t i = 0; i < kMost; ++i) array.push_back(i);
    EXPECT_EQ(budget.left(), 0U);
    EXPECT_THROW(array.push_back(0), MemoryLimitExceeded);
    EXPECT_EQ(array.size(), kMost);
    EXPECT_EQ(array[kMost - 1], kMost - 1);
    array.clear();
    EXPECT_THROW(array.assign(kMost + 1, 0), MemoryLimitExceeded);
    array.assign(kMost, 1);
  }
  EXPECT_EQ(budget.left(), budget.limit());
}

TEST(LimitedArrayTest, OthersOfABudgetAreCountedTogether) {
  MemoryBudget budget(10'000);
  Arena arena(&budget);
  LimitedArray<uint64_t> some(&budget), others(&budget);
  (void)arena.allocate(4000);
  some.assign(500, 0);
  EXPECT_THROW(others.assign(500, 0), MemoryLimitExceeded);
  EXPECT_THROW((void)arena.allocate(4000), MemoryLimitExceeded);
  {
    const LimitedArray<uint64_t> gone = std::move(some);
  }
  others.assign(500, 0);
}

TEST(LimitedArrayTest, SizesThatNoMemoryHasAreRefused) {
  MemoryBudget budget(SIZE_MAX);
  LimitedArray<uint64_t> array(&budget);
  EXPECT_THROW(array.reserve(SIZE_MAX / 2), MemoryLimitExceeded);
  EXPECT_THROW((void)Arena(&budget).allocate(SIZE_MAX), MemoryLimitExceeded);
  array.push_back(1);
  EXPECT_EQ(array.size(), 1U);
}

}  // namespace
}  // namespace quire::sql
