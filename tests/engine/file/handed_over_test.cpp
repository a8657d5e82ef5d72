// What is pending while a thread applies it and the writer goes on: who sees it, and what a crash leaves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "engine/file/commit_log.h"
#include "engine/file/log_records.h"
#include "engine/file/pending_view.h"
#include "tests/engine/file/handed_over_fixture.h"

namespace quire::engine {
namespace {

using namespace std::chrono_literals;

TEST_P(HandedOverTest, AreSeenAllTheWhile) {
  auto [environment, table, map, held_up] = begin();
  const ReadTransaction before = value_of(environment->begin_read());
  const Contents then = map;
  until_handed_over(*environment, map);
  EXPECT_EQ(contents(*environment), map);
  const ReadTransaction between = value_of(environment->begin_read());
  const Contents later = map;
  RandomChanges random(3);
  for (int i = 0; i < 50; ++i) {
    const auto write = value_of(environment->begin_write());
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(succeeds(random.change(write->transaction(), table, map)));
    EXPECT_EQ(contents(write->transaction(), table), map);
    ASSERT_TRUE(succeeds(write->commit()));
  }
  EXPECT_TRUE(is_handed_over(*environment));
  const auto beside = ReadTransaction::beside(value_of(environment->begin_read()));
  ASSERT_TRUE(beside);
  EXPECT_EQ(contents(*beside, table), map);
  held_up->release();
  until_applied(*environment);
  EXPECT_EQ(contents(*environment), map) << "one of the lists is in the tree, too";
  put(*environment, "large", std::string(size_t{1} << 20, 'x'));
  map["large"] = std::string(size_t{1} << 20, 'x');
  EXPECT_EQ(contents(*environment), map) << "all of it is in the tree";
  EXPECT_EQ(contents(before, table), then);
  EXPECT_EQ(contents(between, table), later) << "snapshots stay as they were";
}

// With the tree that they are applied to, and with that of before.
TEST_P(HandedOverTest, AreLeftByAProcessThatDies) {
  for (const bool is_applied : {false, true}) {
    std::filesystem::remove(path_);
    const std::string expected = folder_.path("expected");
    in_process_that_dies([&] {
      Environment& environment = *open().release();
      until_small(environment);
      Contents map = contents(environment);
      auto* const held_up = new HeldUp(environment);
      until_handed_over(environment, map);
      if (is_applied) {
        held_up->release();
        until_applied(environment);
        for (int i = 0; i < 3; ++i) write(environment, map, 50 + i, "after");
      }
      std::ofstream file(expected);
      for (const auto& [key, record] : map) file << key << ' ' << record << '\n';
    });
    Contents map;
    std::ifstream file(expected);
    for (std::string key, record; file >> key >> record;) map[key] = record;
    EXPECT_GT(map.size(), 5u);
    const auto environment = open();
    EXPECT_EQ(contents(*environment), map) << is_applied;
    EXPECT_TRUE(value_of(environment->check_pages(10, nullptr)).empty());
  }
}

// One that has begun as a small one waits for LMDB; cursors of it go on where they stand.
TEST_P(HandedOverTest, AreWaitedForByWhatGrows) {
  auto [environment, table, map, held_up] = begin();
  until_handed_over(*environment, map);
  {
    const auto write = value_of(environment->begin_write());
    WriteTransaction& transaction = write->transaction();
    auto cursor = std::make_unique<FileCursor>(value_of(FileCursor::open(transaction, table)));
    ASSERT_TRUE(value_of(cursor->next()));
    EXPECT_EQ(cursor->key(), map.begin()->first);
    ASSERT_TRUE(succeeds(transaction.put(table, "own", "small")));
    std::jthread later([&held_up = *held_up] {
      std::this_thread::sleep_for(50ms);
      held_up.release();
    });
    map["own"] = "small";
    map["own too"] = std::string(size_t{1} << 20, 'x');
    ASSERT_TRUE(succeeds(transaction.put(table, "own too", map["own too"])));
    ASSERT_TRUE(value_of(cursor->next()));
    EXPECT_EQ(cursor->key(), std::next(map.begin())->first);
    ASSERT_TRUE(succeeds(transaction.erase(*cursor)));
    map.erase(std::next(map.begin()));
    cursor.reset();  // before its transaction ends
    EXPECT_EQ(contents(transaction, table), map);
    ASSERT_TRUE(succeeds(write->commit()));
  }
  EXPECT_EQ(contents(*environment), map);
  until_small(*environment);
  map["until"] = "x";
  EXPECT_EQ(contents(*environment), map);
}

TEST_P(HandedOverTest, AreInACopy) {
  auto [environment, table, map, held_up] = begin();
  until_handed_over(*environment, map);
  ASSERT_TRUE(succeeds(environment->copy_to(folder_.path("copy.quire"))));
  EXPECT_EQ(contents(*value_of(Environment::open(folder_.path("copy.quire")))), map);
}

// A small commit needs one, as long as there is any.
TEST_P(HandedOverTest, GoOnWhereAllPlacesForSnapshotsAreTaken) {
  const auto environment = open();
  const Table table = table_of(*environment);
  until_small(*environment);
  std::vector<ReadTransaction> snapshots;
  for (auto snapshot = environment->begin_read(); snapshot; snapshot = environment->begin_read())
    snapshots.push_back(std::move(*snapshot));
  EXPECT_GT(snapshots.size(), 900u);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(succeeds(environment->write(
        [&](WriteTransaction& transaction) { return transaction.put(table, std::to_string(i), "x"); })));
  snapshots.clear();
  EXPECT_EQ(contents(*environment).size(), 21u);
}

// What the thread cannot do, for the map is full, the next writer does.
TEST_P(HandedOverTest, GoOnWhereTheMapIsFull) {
  const std::string record(60'000, 'r');
  constexpr int kCount = 300;
  in_process_that_dies([&] {
    Environment& environment = *open({.map_size = size_t{1} << 20}).release();
    for (int i = 0; i < kCount; ++i) put(environment, fmt::format("k{:03}", i), record + std::to_string(i));
  });
  const auto environment = open();
  const Contents found = contents(*environment);
  ASSERT_EQ(found.size(), static_cast<size_t>(kCount));
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(found.at(fmt::format("k{:03}", i)), record + std::to_string(i));
}

// LMDB's map goes from its place for a moment where it grows; the thread's anchor begins a snapshot of it.
TEST_P(HandedOverTest, KeepTheMapInItsPlaceUntilTheAnchorIsSet) {
  const auto environment = open();
  until_small(*environment);
  Contents map = contents(*environment);
  FileState& state = value_of(environment->begin_read()).state();
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      (void)state.readers().adopt_map_size(Clock::now() + 1s);
      std::this_thread::sleep_for(20us);
    }
  });
  const std::string record(kHalf / 32, 'r');
  for (int i = 0; i < 1000; ++i) write(*environment, map, i % 80, record);
  other.request_stop();
  other.join();
  EXPECT_EQ(contents(*environment), map);
}

INSTANTIATE_TEST_SUITE_P(Durabilities, HandedOverTest, testing::Values(Durability::full, Durability::relaxed),
                         [](const auto& test) {
                           return std::string(test.param == Durability::full ? "full" : "relaxed");
                         });

// ---- The two lists as one

TEST(PendingViewTest, IsWalkedAsAMapWouldBe) {
  constexpr uint32_t kSlot = 3;
  std::mt19937 random(5);
  const auto draw = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  const auto make = [&](uint32_t changes, std::map<std::string, std::string>& map) {
    auto list = std::make_shared<PendingCommits>(1, 4096);
    for (uint32_t i = 0; i < changes; ++i) {
      const std::string key = fmt::format("k{:02}", draw(30)), record = std::to_string(draw(1000));
      if (draw(3) == 0) {
        list->erase(kSlot, key);
        map[key] = "-";
      } else {
        std::memcpy(list->put(kSlot, key, record.size()).data(), record.data(), record.size());
        map[key] = record;
      }
      if (draw(4) == 0) list->publish();
    }
    list->publish();
    return list;
  };
  for (int round = 0; round < 300; ++round) {
    std::map<std::string, std::string> map;
    const auto applying = make(draw(20), map);
    const PendingView view(make(draw(20), map), applying);
    PendingView::Walk walk(view, kSlot, view.last());
    const auto here = [&] {
      const auto change = walk.change();
      return std::pair(std::string(change.key), change.is_erased ? "-" : std::string(change.record));
    };
    std::map<std::string, std::string> walked;
    for (bool more = walk.seek({}); more; more = walk.next()) walked.insert(here());
    ASSERT_EQ(walked, map);
    walked.clear();
    for (bool more = walk.last(); more; more = walk.seek_before(std::string(walk.change().key)))
      walked.insert(here());
    ASSERT_EQ(walked, map);
    for (int i = 0; i < 30; ++i) {
      const std::string key = fmt::format("k{:02}", draw(32));
      const auto at = map.lower_bound(key);
      ASSERT_EQ(walk.seek(key), at != map.end());
      if (at != map.end()) {
        EXPECT_EQ(here(), std::pair(at->first, at->second));
      }
      const auto found = view.find(kSlot, key, view.last());
      ASSERT_EQ(found.has_value(), map.contains(key));
      if (found) {
        EXPECT_EQ(found->is_erased ? "-" : std::string(found->record), map.at(key));
      }
    }
  }
}

// ---- The log's records

uint64_t add_record(std::string& log, size_t at, uint64_t commit, uint64_t seed, std::string_view key) {
  std::string changes("\1\1\0\1\0\0\0t", 8);
  changes.append(key).append("r");
  log_layout::RecordHeader header{commit, static_cast<uint32_t>(changes.size()), 0, 0};
  header.sum = log_layout::sum_of(header, changes, seed);
  std::memcpy(log.data() + at, &header, sizeof header);
  changes.copy(log.data() + at + sizeof header, changes.size());
  return header.sum;
}
std::string keys_of(const std::string& log, const LogStart& start) {
  const auto records = LogRecords::find(log, start);
  if (!records) return "none";
  std::string keys;
  EXPECT_TRUE(value_of(records->for_each_change([&](const LoggedChange& change) -> Result<void> {
    EXPECT_EQ(change.record, "r");
    keys += change.key;
    return {};
  })));
  return keys;
}

TEST(LogRecordsTest, GoOnInTheHalfThatWasBegunForTheNextAnchor) {
  std::string log(CommitLog::kLeastBytes, '\0');
  const auto begin = [&](uint64_t sequence, uint64_t commit, std::string_view key, uint64_t follows) {
    const size_t at = log_layout::half_at(sequence, log.size());
    const log_layout::Header header{sequence | log_layout::kOfHalf, 77 + sequence, commit, follows};
    std::memcpy(log.data() + at, &header, sizeof header);
    return add_record(log, at + log_layout::kRecordsAt, commit + 1, header.random, key);
  };
  const uint64_t first = begin(6, 40, "a", 0);
  EXPECT_EQ(keys_of(log, {6, 40}), "a");
  EXPECT_EQ(keys_of(log, {6, 41}), "none") << "another commit's";
  EXPECT_EQ(keys_of(log, {8, 40}), "none");
  for (const uint64_t follows : {uint64_t{0}, first + 1}) {
    begin(7, 41, "b", follows);
    EXPECT_EQ(keys_of(log, {6, 40}), "a") << "another one has come before it";
  }
  const uint64_t second = begin(7, 41, "b", first);
  EXPECT_EQ(keys_of(log, {6, 40}), "ab");
  EXPECT_EQ(keys_of(log, {7, 41}), "b");
  begin(8, 43, "c", second);
  EXPECT_EQ(keys_of(log, {7, 41}), "bc");
  EXPECT_EQ(keys_of(log, {8, 43}), "c") << "what is behind it is older";
}

// As crashes have left them that came before there were halves.
TEST(LogRecordsTest, AreFoundInALogWithoutHalves) {
  for (const uint64_t sequence : {uint64_t{6}, uint64_t{7}, log_layout::kBehindCommit | 41}) {
    std::string log(CommitLog::kLeastBytes, '\0');
    const bool is_second = sequence == 7;
    const uint64_t header[] = {sequence, 99};
    std::memcpy(log.data() + (is_second ? 16 : 0), header, sizeof header);
    add_record(log, 32, 42, 99, "a");
    EXPECT_EQ(keys_of(log, {sequence, 41}), "a") << sequence;
    EXPECT_EQ(keys_of(log, {sequence + 2, 41}), "none") << sequence;
  }
}

}  // namespace
}  // namespace quire::engine
