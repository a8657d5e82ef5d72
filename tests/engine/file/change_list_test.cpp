#include "engine/file/change_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace quire::engine {
namespace {

using Key = std::pair<uint32_t, std::string>;

size_t count(const ChangeList& changes) {
  size_t found = 0;
  changes.for_each([&](uint32_t, Bytes) { return ++found > 0; });
  return found;
}

std::set<Key> keys(const ChangeList& changes) {
  std::set<Key> found;
  changes.for_each([&](uint32_t slot, Bytes key) {
    found.emplace(slot, key);
    return true;
  });
  return found;
}

TEST(ChangeListTest, ACounterThatChangesWithEachItemIsNotedOnce) {
  ChangeList changes;
  changes.start(true);
  for (int i = 0; i < 1'000; ++i) {
    changes.note(2, fmt::format("item {:04}", i), 100);
    changes.note(3, "counter", 40);
    changes.note(4, "counter", i == 500 ? 60 : 20);
  }
  EXPECT_EQ(keys(changes).size(), 1'002u);
  EXPECT_LT(count(changes), 1'200u) << "but for some that items have pushed out";
  EXPECT_LT(changes.weight(), 1'000u * 109 + 20'000);
  EXPECT_GE(changes.weight(), 1'000u * 109 + 2 * 7 + 40 + 60) << "the longest record counts";
}

TEST(ChangeListTest, WhatWasUndoneIsNotedAgain) {
  ChangeList changes;
  changes.start(true);
  changes.note(2, "before", 10);
  const size_t size = changes.size();
  for (int i = 0; i < 200; ++i) changes.note(2, fmt::format("undone {}", i), 10);
  changes.return_to(size);
  EXPECT_EQ(keys(changes), std::set<Key>({{2, "before"}}));
  changes.note(2, "undone 7", 10);
  changes.note(2, "undone 199", 10);
  changes.note(2, "before", 10);
  EXPECT_EQ(keys(changes), std::set<Key>({{2, "before"}, {2, "undone 199"}, {2, "undone 7"}}));
  changes.start(true);
  changes.note(2, "before", 10);
  EXPECT_EQ(keys(changes), std::set<Key>({{2, "before"}})) << "nor does the next transaction know of it";
}

// Keys are a user's: one may look like a change itself.
TEST(ChangeListTest, AKeyThatLooksLikeAChangeHidesNone) {
  ChangeList changes;
  changes.start(true);
  const size_t size = changes.size();
  changes.note(2, "a", 0);
  changes.note(2, "b", 0);
  const std::string head_and_key = [&] {
    std::string bytes(16, '\0');
    bytes[0] = 2;
    bytes[4] = 1;
    return bytes + "b";
  }();
  changes.return_to(size);
  changes.note(7, "x" + head_and_key, 0);
  changes.note(2, "b", 0);
  EXPECT_EQ(keys(changes), std::set<Key>({{2, "b"}, {7, "x" + head_and_key}}));
}

TEST(ChangeListTest, MoreThanItKeepsTrackOf) {
  ChangeList changes;
  changes.start(true);
  changes.note(2, "key", ChangeList::kMostBytes);
  EXPECT_FALSE(changes.is_whole());
  changes.start(true);
  changes.note(2, "key", 1);
  changes.note(2, "key", ChangeList::kMostBytes);
  EXPECT_FALSE(changes.is_whole()) << "where a record has grown";
}

}  // namespace
}  // namespace quire::engine
