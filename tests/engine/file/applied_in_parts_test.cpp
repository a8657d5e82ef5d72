// What is pending, where it is so many keys that a thread applies it by several commits of LMDB's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include "engine/file/file_state.h"
#include "engine/file/pending_view.h"
#include "tests/engine/file/handed_over_fixture.h"

namespace quire::engine {
namespace {

using namespace std::chrono_literals;

constexpr int kKeysOfCommit = 250;

std::string part_key(int commit, int i) {
  return fmt::format("p{:06}", commit * kKeysOfCommit + i);
}

// Few are written until a list is handed over: a second later it would be applied by somebody else.
std::string record_of(int commit) {
  return std::string(70, static_cast<char>('a' + commit % 26));
}

class AppliedInPartsTest : public HandedOverTest {
 protected:
  static void write_many(Environment& environment, int commit, Contents& map) {
    const Table table = table_of(environment);
    const std::string record = record_of(commit);
    ASSERT_TRUE(succeeds(environment.write([&](WriteTransaction& transaction) -> Result<void> {
      for (int i = 0; i < kKeysOfCommit; ++i) QUIRE_TRY(transaction.put(table, part_key(commit, i), record));
      return {};
    })));
    for (int i = 0; i < kKeysOfCommit; ++i) map[part_key(commit, i)] = record;
  }
  // Keys that are erased in the commit that puts them, and one behind them that fills the log.
  static void come_and_go(Environment& environment, int commit) {
    const Table table = table_of(environment);
    ASSERT_TRUE(succeeds(environment.write([&](WriteTransaction& transaction) -> Result<void> {
      for (int i = 0; i < kKeysOfCommit; ++i) QUIRE_TRY(transaction.put(table, part_key(commit, i), "x"));
      for (int i = 0; i < kKeysOfCommit; ++i) QUIRE_TRY(transaction.erase(table, part_key(commit, i)));
      return transaction.put(table, "z", std::string(kHalf / 32, 'z'));
    })));
  }
  // How many commits of LMDB's the list comes to that is on its way to the tree.
  static uint64_t parts(const Environment& environment) {
    const auto pending = small_of(environment).newest();
    return pending->base() - pending->applying()->base();
  }
  void until_many_handed_over(Environment& environment, const std::function<void(int)>& commit) const {
    for (int i = 0; i < 200 && !is_handed_over(environment); ++i) commit(i);
    ASSERT_TRUE(is_handed_over(environment));
    if (GetParam() == Durability::full)
      EXPECT_GE(parts(environment), 2u);
    else
      EXPECT_EQ(parts(environment), 1u);
  }
};

TEST_P(AppliedInPartsTest, IsSeenAllTheWhile) {
  auto [environment, table, map, held_up] = begin();
  until_many_handed_over(*environment, [&](int commit) { write_many(*environment, commit, map); });
  std::optional<ReadTransaction> before = value_of(environment->begin_read());
  const Contents then = map;
  const uint64_t base = small_of(*environment).newest()->base();
  const auto deadline = Clock::now() + 60s;
  held_up->release();
  for (int round = 0; commits_of_tree(*environment) < base && Clock::now() < deadline; ++round) {
    write(*environment, map, round % 50, std::to_string(round));
    const ReadTransaction snapshot = value_of(environment->begin_read());
    for (auto at = map.begin(); at != map.end(); ++at) {
      ASSERT_EQ(value_of(snapshot.get(table, at->first)), at->second);
      for (int i = 0; i < 500 && std::next(at) != map.end(); ++i) ++at;
    }
  }
  EXPECT_EQ(commits_of_tree(*environment), base);
  EXPECT_EQ(contents(*environment), map);
  EXPECT_EQ(contents(*before, table), then);
  before.reset();  // snapshots end first
  held_up.reset();
  environment.reset();
  EXPECT_EQ(contents(*open()), map);
}

TEST_P(AppliedInPartsTest, IsLeftByAProcessThatDiesBetweenThem) {
  const std::string expected = folder_.path("expected");
  in_process_that_dies([&] {
    Environment& environment = *open().release();
    until_small(environment);
    Contents map = contents(environment);
    auto* const held_up = new HeldUp(environment);
    until_many_handed_over(environment, [&](int commit) { write_many(environment, commit, map); });
    for (int i = 0; i < 3; ++i) write(environment, map, i, "later");
    std::ofstream file(expected);
    for (const auto& [key, record] : map) file << key << ' ' << record << '\n';
    file.close();
    const uint64_t before = commits_of_tree(environment);
    held_up->release();
    const auto deadline = Clock::now() + 60s;
    while (commits_of_tree(environment) == before && Clock::now() < deadline) std::this_thread::yield();
    EXPECT_NE(commits_of_tree(environment), before);
  });
  Contents map;
  std::ifstream file(expected);
  for (std::string key, record; file >> key >> record;) map[key] = record;
  EXPECT_GT(map.size(), 4'000u);
  const auto environment = open();
  EXPECT_EQ(contents(*environment), map);
  EXPECT_TRUE(value_of(environment->check_pages(10, nullptr)).empty());
}

// LMDB makes no commit of what changes nothing, but the anchor's number is told before.
TEST_P(AppliedInPartsTest, MayHaveNothingToWrite) {
  auto [environment, table, map, held_up] = begin();
  until_many_handed_over(*environment, [&](int commit) { come_and_go(*environment, commit); });
  map["z"] = std::string(kHalf / 32, 'z');
  held_up->release();
  until_applied(*environment);
  EXPECT_EQ(contents(*environment), map);
  for (int commit = 0; commit < 100; ++commit) write_many(*environment, commit, map);
  EXPECT_EQ(contents(*environment), map);
  held_up.reset();
  environment.reset();
  EXPECT_EQ(contents(*open()), map);
}

// The thread has made some of them when the map is full; the next writer makes the others.
TEST_P(AppliedInPartsTest, GoesOnWhereTheMapIsFull) {
  constexpr int kCommits = 150;
  in_process_that_dies([&] {
    Contents map;
    Environment& environment = *open({.map_size = size_t{1} << 20}).release();
    for (int commit = 0; commit < kCommits; ++commit) write_many(environment, commit, map);
    EXPECT_EQ(contents(environment), map);
  });
  const auto environment = open();
  const Contents found = contents(*environment);
  ASSERT_EQ(found.size(), size_t{kCommits} * kKeysOfCommit);
  EXPECT_EQ(found.at(part_key(kCommits - 1, kKeysOfCommit - 1)), record_of(kCommits - 1));
}

INSTANTIATE_TEST_SUITE_P(Durabilities, AppliedInPartsTest,
                         testing::Values(Durability::full, Durability::relaxed), [](const auto& test) {
                           return std::string(test.param == Durability::full ? "full" : "relaxed");
                         });

}  // namespace
}  // namespace quire::engine
