// Keys that entries of indexes lead to: in order and each once, whatever they begin with.
#include "engine/query/key_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace quire::engine {
namespace {

IndexEntry entry_of(Bytes key) {
  IndexEntry entry;
  entry.item_key = key;
  return entry;
}

std::vector<Bytes> keys_of(const KeyList& list) {
  std::vector<Bytes> keys;
  for (size_t i = 0; i < list.size(); ++i) keys.push_back(list[i]);
  return keys;
}

TEST(KeyListTest, SortsKeysAndKeepsEachOnce) {
  std::mt19937_64 random(3);
  const std::vector<std::function<std::string()>> kinds{
      [&] { return fmt::format("{:016x} and an id", random()); },
      [&] { return fmt::format("reading-{:05}", random() % 100'000); },
      [&] { return std::string("the same partition key") + std::to_string(random() % 3'000); },
      [&] { return std::string(random() % 12, static_cast<char>(random() % 3)); },
      // Thousands that share a bucket, beside some that have one each.
      [&] {
        return random() % 3 != 0 ? fmt::format("crowded {:05}", random() % 50'000)
                                 : fmt::format("{:016x}", random());
      },
      [&] { return std::string("one"); }};
  KeyRooms rooms;
  for (const size_t count : {0, 1, 2, 3, 100, 5'000, 70'000}) {
    for (const auto& any_key : kinds) {
      std::vector<std::string> keys;
      for (size_t i = 0; i < count; ++i) keys.push_back(any_key());
      for (const bool are_lasting : {true, false}) {
        KeyList list(are_lasting, rooms, nullptr);
        for (const std::string& key : keys) list.add(entry_of(key));
        list.sort();
        const std::set<Bytes> expected(keys.begin(), keys.end());
        ASSERT_EQ(keys_of(list), std::vector<Bytes>(expected.begin(), expected.end())) << count;
      }
    }
  }
}

// Memory goes from list to list, and nothing that was in it.
TEST(KeyListTest, SeveralAreAtHandAtATime) {
  KeyRooms rooms;
  for (int round = 0; round < 3; ++round) {
    KeyList some(false, rooms, nullptr), others(true, rooms, nullptr);
    for (const Bytes key : {"c", "a", "b"}) some.add(entry_of(key));
    for (const Bytes key : {"d", "b", "c"}) others.add(entry_of(key));
    some.sort();
    others.sort();
    KeyList both(false, rooms, nullptr);
    both.add(some);
    both.intersect(others);
    EXPECT_EQ(keys_of(both), (std::vector<Bytes>{"b", "c"}));
    KeyList moved = std::move(some);
    moved.add(others);
    moved.sort();
    EXPECT_EQ(keys_of(moved), (std::vector<Bytes>{"a", "b", "c", "d"}));
  }
}

}  // namespace
}  // namespace quire::engine
