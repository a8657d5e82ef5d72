// Who collects which list, and whose turn it is.
#include "engine/container/build_schedule.h"

#include <gtest/gtest.h>

#include <future>
#include <utility>
#include <vector>

namespace quire::engine {
namespace {

using Piece = BuildSchedule::Piece;

void give(BuildSchedule& schedule, Piece piece, bool is_last) {
  piece.position += '.';
  piece.is_last = is_last;
  schedule.give(std::move(piece));
}

TEST(BuildScheduleTest, ListsAreTakenInTheOrderOfTheIndexes) {
  BuildSchedule schedule(2);
  auto first = schedule.begin(), second = schedule.begin();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->index, 0U);
  EXPECT_EQ(second->index, 1U);
  EXPECT_FALSE(schedule.begin());
  give(schedule, std::move(*second), true);
  EXPECT_FALSE(schedule.take());  // it is not its turn
  give(schedule, std::move(*first), true);
  EXPECT_EQ(schedule.take()->index, 0U);
  EXPECT_FALSE(schedule.is_over());
  EXPECT_EQ(schedule.take()->index, 1U);
  EXPECT_TRUE(schedule.is_over());
  EXPECT_FALSE(schedule.wait_to_begin());
}

TEST(BuildScheduleTest, AnIndexOfSeveralListsGoesOnWhereItWasBeforeOthersAreBegun) {
  BuildSchedule schedule(2);
  give(schedule, *schedule.begin(), false);
  auto rest = schedule.begin();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->index, 0U);
  EXPECT_EQ(rest->position, ".");
  auto other = schedule.begin();
  ASSERT_TRUE(other);
  EXPECT_EQ(other->index, 1U);
  give(schedule, std::move(*other), true);
  EXPECT_EQ(schedule.take()->position, ".");
  EXPECT_FALSE(schedule.take());
  give(schedule, std::move(*rest), true);
  EXPECT_EQ(schedule.take()->position, "..");
  EXPECT_EQ(schedule.take()->index, 1U);
  EXPECT_TRUE(schedule.is_over());
}

// However far others are ahead, the list whose turn it is gets the memory that becomes free.
TEST(BuildScheduleTest, TheListWhoseTurnItIsCanAlwaysBeBegun) {
  BuildSchedule schedule(100);
  Piece first = *schedule.begin();
  size_t in_use = 1;
  while (auto ahead = schedule.begin()) {
    give(schedule, std::move(*ahead), true);
    ++in_use;
    ASSERT_LT(in_use, 100U);
  }
  give(schedule, std::move(first), false);
  EXPECT_FALSE(schedule.begin());
  auto taken = schedule.take();
  ASSERT_TRUE(taken);
  EXPECT_FALSE(schedule.begin());
  schedule.give_back(std::move(taken->collected));
  const auto rest = schedule.begin();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->index, 0U);
}

TEST(BuildScheduleTest, WhoIsClosedOutStops) {
  BuildSchedule schedule(3);
  auto waiting = std::async(std::launch::async, [&] {
    while (schedule.wait_to_begin()) {
    }
    return true;
  });
  schedule.close();
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(schedule.is_over());
  EXPECT_FALSE(schedule.begin());
}

TEST(BuildScheduleTest, ThreadsShareAllLists) {
  constexpr size_t kIndexes = 50, kLists = 3;
  BuildSchedule schedule(kIndexes);
  const auto collect = [&](Piece piece) {
    const bool is_last = piece.position.size() + 1 == kLists;
    give(schedule, std::move(piece), is_last);
  };
  auto other = std::async(std::launch::async, [&] {
    while (auto piece = schedule.wait_to_begin()) collect(std::move(*piece));
  });
  std::vector<std::pair<size_t, size_t>> inserted, expected;
  for (size_t index = 0; index < kIndexes; ++index)
    for (size_t list = 1; list <= kLists; ++list) expected.emplace_back(index, list);
  while (!schedule.is_over()) {
    if (auto ready = schedule.take()) {
      inserted.emplace_back(ready->index, ready->position.size());
      schedule.give_back(std::move(ready->collected));
    } else if (auto piece = schedule.begin()) {
      collect(std::move(*piece));
    } else {
      schedule.wait(std::chrono::milliseconds(50));
    }
  }
  other.get();
  EXPECT_EQ(inserted, expected);
}

}  // namespace
}  // namespace quire::engine
