// What is pending beside LMDB's tree: what each number of commits sees of it.
#include "engine/file/pending_commits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/file/pending_pool.h"
#include "engine/file/pending_view.h"

namespace quire::engine {
namespace {

constexpr uint32_t kSlot = 3;
constexpr size_t kBytes = 4096;

void put(PendingCommits& commits, Bytes key, Bytes record, uint32_t slot = kSlot) {
  std::memcpy(commits.put(slot, key, record.size()).data(), record.data(), record.size());
}
// "-": erased, "?": left alone.
std::string find(const PendingCommits& commits, Bytes key, uint32_t upto, uint32_t slot = kSlot) {
  const auto change = commits.find(slot, key, upto);
  return !change ? "?" : change->is_erased ? "-" : std::string(change->record);
}

TEST(PendingCommitsTest, EachCommitSeesItselfAndThoseBefore) {
  PendingCommits commits(7, kBytes);
  put(commits, "a", "1");
  put(commits, "b", "1");
  EXPECT_EQ(commits.last(), 0u);
  EXPECT_EQ(find(commits, "a", 0), "?");
  EXPECT_EQ(find(commits, "a", 1), "1") << "who writes it looks for it";
  commits.publish();
  EXPECT_EQ(commits.last(), 1u);
  put(commits, "a", "2");
  commits.erase(kSlot, "b");
  commits.publish();
  EXPECT_EQ(find(commits, "a", 1) + find(commits, "b", 1), "11");
  EXPECT_EQ(find(commits, "a", 2) + find(commits, "b", 2), "2-");
  EXPECT_EQ(find(commits, "c", 2), "?");
  EXPECT_EQ(find(commits, "a", 2, kSlot + 1), "?") << "another table's";
  EXPECT_EQ(commits.base(), 7u);
}

TEST(PendingCommitsTest, WhatIsTakenBackWasNeverThere) {
  PendingCommits commits(1, kBytes);
  put(commits, "a", "1");
  commits.publish();
  put(commits, "a", "2");
  const size_t changes = commits.make_savepoint();
  put(commits, "a", "3");
  put(commits, "b", "3");
  commits.erase(kSlot, "a");
  EXPECT_EQ(find(commits, "a", 2), "-");
  commits.return_to(changes);
  EXPECT_EQ(find(commits, "a", 2) + find(commits, "b", 2), "2?");
  put(commits, "b", "4");
  commits.return_to(0);
  EXPECT_EQ(find(commits, "a", 2) + find(commits, "b", 2), "1?");
  put(commits, "b", "5");
  commits.publish();
  EXPECT_EQ(find(commits, "a", 2) + find(commits, "b", 2), "15");
}

TEST(PendingCommitsTest, TheCommitAtHandHasEachKeyOnce) {
  PendingCommits commits(1, kBytes);
  put(commits, "b", "1");
  put(commits, "a", "1");
  put(commits, "b", "2");
  commits.erase(kSlot, "a");
  std::string seen;
  commits.for_each_at_hand([&](uint32_t, const PendingCommits::Change& change) {
    seen += std::string(change.key) + (change.is_erased ? "-" : std::string(change.record));
    return true;
  });
  EXPECT_EQ(seen, "b2a-");
}

TEST(PendingCommitsTest, WhatIsChangedAgainAndAgainIsTakenBackAsAnythingElse) {
  PendingCommits commits(1, kBytes);
  const auto count = [&](int from, int to) {
    for (int i = from; i <= to; ++i) put(commits, "count", std::to_string(i));
  };
  count(11, 15);
  commits.publish();
  EXPECT_EQ(find(commits, "count", 1), "15");
  EXPECT_EQ(commits.find_at_hand(kSlot, "count")->record, "15");
  count(21, 25);
  EXPECT_EQ(find(commits, "count", 1), "15") << "who sees the first commit";
  EXPECT_EQ(commits.find_at_hand(kSlot, "count")->record, "25");
  EXPECT_FALSE(commits.find_at_hand(kSlot + 1, "count"));
  const size_t outer = commits.make_savepoint();
  count(31, 35);
  const size_t inner = commits.make_savepoint();
  count(41, 45);
  put(commits, "count", "of another length");
  commits.erase(kSlot, "count");
  commits.return_to(inner);
  commits.release(inner, outer);
  EXPECT_EQ(commits.find_at_hand(kSlot, "count")->record, "35");
  count(51, 55);
  commits.return_to(outer);
  commits.release(outer, 0);
  EXPECT_EQ(commits.find_at_hand(kSlot, "count")->record, "25");
  commits.return_to(0);
  EXPECT_EQ(commits.find_at_hand(kSlot, "count")->record, "15");
  count(61, 65);
  commits.publish();
  EXPECT_EQ(find(commits, "count", 1) + find(commits, "count", 2), "1565");
}

// Against a map for each number of commits.
void expect_to_walk_as_a_map_would(PendingCommits& commits, std::mt19937& random) {
  const auto draw = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  using State = std::map<std::string, std::optional<std::string>>;
  std::vector<State> states(1);
  for (int commit = 0; commit < 60; ++commit) {
    State state = states.back();
    const bool is_kept = draw(4) != 0;
    for (uint32_t change = draw(12); change-- > 0;) {
      const std::string key = "k" + std::to_string(draw(40)), record = std::to_string(random());
      put(commits, "other", record, kSlot + draw(2) * 2 - 1);
      if (draw(3) == 0) {
        commits.erase(kSlot, key);
        state[key] = std::nullopt;
      } else {
        put(commits, key, record);
        state[key] = record;
      }
    }
    if (is_kept) {
      commits.publish();
      states.push_back(state);
    } else {
      commits.return_to(0);
    }
  }
  for (uint32_t upto = 0; upto < states.size(); ++upto) {
    const State& state = states[upto];
    PendingCommits::Walk walk(commits, kSlot, upto);
    bool is_there = walk.seek({});
    for (const auto& [key, record] : state) {
      ASSERT_TRUE(is_there);
      EXPECT_EQ(walk.change().key, key);
      EXPECT_EQ(walk.change().is_erased, !record);
      EXPECT_EQ(walk.change().record, record.value_or(""));
      EXPECT_EQ(find(commits, key, upto), record.value_or("-"));
      is_there = walk.next();
    }
    EXPECT_FALSE(is_there);
    is_there = walk.last();
    for (auto at = state.rbegin(); at != state.rend(); ++at) {
      ASSERT_TRUE(is_there);
      EXPECT_EQ(walk.change().key, at->first);
      is_there = walk.seek_before(std::string(walk.change().key));
    }
    EXPECT_FALSE(is_there);
  }
}

TEST(PendingCommitsTest, WalksBothWaysAsAMapWould) {
  std::mt19937 random(11);
  PendingCommits commits(1, kBytes);
  expect_to_walk_as_a_map_would(commits, random);
}

// Whether somebody has walked the list before, or not.
TEST(PendingCommitsTest, WhoAppliesThemSeesEachKeyOnceInOrder) {
  std::mt19937 random(5);
  const auto any_key = [&] {
    std::string key = random() % 2 == 0 ? "the front of most keys " : "";
    for (size_t more = random() % 4; more > 0; --more) key += "\x00\x01\x7f\xff"[random() % 4];
    return key + std::to_string(random() % 200);
  };
  PendingCommits commits(1, kBytes);
  std::map<std::pair<uint32_t, std::string>, std::string> expected;
  for (int commit = 0; commit < 40; ++commit) {
    for (int i = 0; i < 100; ++i) {
      const uint32_t slot = random() % 2 == 0 ? kSlot : 256 + static_cast<uint32_t>(random() % 3);
      const std::string key = any_key(), record = std::to_string(i);
      const bool is_erased = random() % 8 == 0;
      if (random() % 16 == 0) {
        const size_t changes = commits.make_savepoint();
        put(commits, any_key(), "taken back", slot);
        commits.return_to(changes);
      }
      is_erased ? commits.erase(slot, key) : put(commits, key, record, slot);
      expected[{slot, key}] = is_erased ? "-" : record;
    }
    commits.publish();
    const auto applied = [&] {
      std::vector<std::pair<std::pair<uint32_t, std::string>, std::string>> seen;
      commits.apply_each([&](uint32_t slot, const PendingCommits::Change& change) {
        seen.push_back(
            {{slot, std::string(change.key)}, change.is_erased ? "-" : std::string(change.record)});
        return true;
      });
      return seen;
    };
    const std::vector<std::pair<std::pair<uint32_t, std::string>, std::string>> all(expected.begin(),
                                                                                    expected.end());
    ASSERT_EQ(applied(), all);
    if (commit == 20) PendingCommits::Walk(commits, kSlot, commits.last());
  }
}

TEST(PendingCommitsTest, WhatIsBegunAnewIsAsIfItWereMade) {
  std::mt19937 random(12);
  PendingCommits commits(1, kBytes);
  for (uint64_t base = 2; base < 6; ++base) {
    expect_to_walk_as_a_map_would(commits, random);
    put(commits, "k1", "never committed");
    commits.make_savepoint();
    put(commits, "k1", "nor this");
    const size_t memory = commits.memory();
    commits.begin_anew(base, base % 2 == 0 ? kBytes : 10 * kBytes);
    EXPECT_EQ(commits.base(), base);
    EXPECT_EQ(commits.last() + commits.changes() + commits.bytes() + commits.taken_back(), 0u);
    EXPECT_LE(commits.memory(), memory);
    EXPECT_EQ(find(commits, "k1", 1), "?");
  }
}

TEST(PendingCommitsTest, RemembersWhatTheListBeforeHasAppended) {
  PendingCommits before(1, kBytes), commits(2, kBytes);
  commits.remember_appended(before);
  EXPECT_FALSE(commits.is_behind_appended(kSlot, "a")) << "nothing was appended";
  before.append(kSlot, "b", 1);
  commits.remember_appended(before);
  EXPECT_TRUE(commits.is_behind_appended(kSlot, "c"));
  EXPECT_FALSE(commits.is_behind_appended(kSlot, "b"));
  EXPECT_FALSE(commits.is_behind_appended(kSlot + 1, "c")) << "another table's";
  put(commits, "d", "1");
  EXPECT_FALSE(commits.is_behind_appended(kSlot, "c")) << "there is one behind it that was not appended";
}

// What is linked in between, and taken back afterwards, makes no difference.
TEST(PendingCommitsTest, TheWriterWalksAmongItsOwnChanges) {
  std::mt19937 random(5);
  auto commits = std::make_shared<PendingCommits>(1, kBytes);
  const PendingView view(commits, nullptr);
  std::map<std::string, std::string> published;
  for (int commit = 0; commit < 40; ++commit) {
    std::map<std::string, std::string> own = published;
    const size_t kept = random() % 30, all = kept + random() % 10;
    PendingView::Walk walk(view, kSlot, commits->last() + 1);
    for (size_t i = 0; i < all; ++i) {
      if (i == kept) commits->make_savepoint();
      const std::string key = "k" + std::to_string(random() % 500), record = std::to_string(random());
      // Each key is new: what is taken back is none of those before.
      if (own.contains(key)) continue;
      put(*commits, key, record);
      if (i < kept) own[key] = record;
      if (random() % 8 != 0) continue;
      ASSERT_TRUE(walk.seek(key));
      EXPECT_EQ(walk.change().record, record);
    }
    commits->return_to(own.size() - published.size());
    commits->release(own.size() - published.size(), 0);
    std::map<std::string, std::string> seen;
    for (bool more = walk.seek({}); more; more = walk.next())
      seen.emplace(walk.change().key, walk.change().record);
    EXPECT_EQ(seen, own);
    if (random() % 4 == 0) {
      commits->return_to(0);
      continue;
    }
    commits->publish();
    published = own;
    for (const auto& [key, record] : published) ASSERT_EQ(find(*commits, key, commits->last()), record);
  }
}

// The writer walks a table of which nothing was published, when there are two changes of a key of another
// one.
TEST(PendingCommitsTest, OfOneKeyTheNewestIsSeenWhateverIsWalkedFirst) {
  auto commits = std::make_shared<PendingCommits>(1, kBytes);
  const PendingView view(commits, nullptr);
  put(*commits, "a", "1");
  commits->publish();
  put(*commits, "a", "2");
  PendingView::Walk own(view, kSlot + 1, 2);
  put(*commits, "b", "2", kSlot + 1);
  ASSERT_TRUE(own.seek({}));
  commits->publish();
  for (uint32_t upto = 1; upto <= 2; ++upto) {
    PendingView::Walk walk(view, kSlot, upto);
    ASSERT_TRUE(walk.seek({}));
    EXPECT_EQ(walk.change().record, std::to_string(upto));
    EXPECT_FALSE(walk.next());
    EXPECT_EQ(find(*commits, "a", upto), std::to_string(upto));
  }
}

TEST(PendingCommitsTest, ReadersSeeWholeCommitsWhileOneWrites) {
  constexpr int kCommits = 3000;
  PendingCommits commits(1, kBytes);
  std::atomic<bool> is_done = false;
  std::jthread reader([&] {
    while (!is_done) {
      const uint32_t upto = commits.last();
      const std::string a = find(commits, "a", upto), z = find(commits, "z", upto);
      if (upto != 0) {
        EXPECT_EQ(a, std::to_string(upto));
        EXPECT_EQ(z, a);
      }
      uint32_t keys = 0;
      PendingCommits::Walk walk(commits, kSlot, upto);
      for (bool more = walk.seek({}); more; more = walk.next()) ++keys;
      EXPECT_EQ(keys, upto == 0 ? 0 : 2 + (upto + 1) / 2);
    }
  });
  for (int commit = 1; commit <= kCommits; ++commit) {
    if (commit % 2 == 1) put(commits, "m" + std::to_string(commit), "");
    put(commits, "a", "taken back");
    put(commits, "never", "");
    commits.return_to(commit % 2 == 1 ? 1 : 0);
    put(commits, "a", std::to_string(commit));
    put(commits, "z", std::to_string(commit));
    commits.publish();
  }
  is_done = true;
}

// ---- Lists that are used again

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
