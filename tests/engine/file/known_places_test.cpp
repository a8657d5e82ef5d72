// Places where entries were found once: a snapshot must see what it would see without them, whatever was
// committed since they were noted.
#include "engine/file/known_places.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/file/batch_get.h"
#include "engine/file/environment.h"
#include "engine/file/file_cursor.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

constexpr uint64_t kManyPages = 100'000;
constexpr int kMoreThanEnoughReads = 2000;

TreePlaces settled(KnownPlaces& places, uint64_t commit, uint64_t root) {
  for (int i = 0; i < kMoreThanEnoughReads; ++i) (void)places.of(commit, root, kManyPages);
  return places.of(commit, root, kManyPages);
}

TEST(KnownPlaces, FindsWhatWasNotedOfThatTreeAndCommit) {
  KnownPlaces places;
  const TreePlaces tree = settled(places, 7, 40);
  ASSERT_TRUE(tree);
  const uint64_t hashed = tree.hash("a key");
  EXPECT_FALSE(tree.find(hashed));
  tree.note(hashed, {.page = 0xFFF'FFFF, .offset = 32766, .number = 4095});
  const auto place = tree.find(hashed);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->page, 0xFFF'FFFF);
  EXPECT_EQ(place->offset, 32766U);
  EXPECT_EQ(place->number, 4095U);
  EXPECT_FALSE(places.of(7, 41, kManyPages).find(hashed));
  const TreePlaces next = settled(places, 8, 40);
  ASSERT_TRUE(next);
  EXPECT_FALSE(next.find(hashed));
}

TEST(KnownPlaces, KeepsWhatALookUpLedToBesideItsPlace) {
  KnownPlaces places;
  const TreePlaces tree = settled(places, 7, 40);
  const uint64_t hashed = tree.hash("a key");
  const auto page_of = [&](const TreePlaces& known) {
    const auto place = known.find(hashed);
    return place ? place->page : 0;
  };
  tree.note(hashed, {.page = 5, .offset = 16, .number = 1});
  EXPECT_EQ(page_of(tree.leads()), 0U);
  tree.leads().note(hashed, {.page = 6, .offset = 16, .number = 1});
  EXPECT_EQ(page_of(tree), 5U);
  EXPECT_EQ(page_of(tree.leads()), 6U);
}

TEST(KnownPlaces, NotesNothingBeforeMuchIsReadOfACommit) {
  KnownPlaces places;
  for (uint64_t commit = 1; commit < kMoreThanEnoughReads; ++commit)
    EXPECT_FALSE(places.of(commit, 40, kManyPages));
}

TEST(KnownPlaces, LeavesSmallFilesAndLargeNumbersAlone) {
  KnownPlaces places;
  for (int i = 0; i < kMoreThanEnoughReads; ++i) {
    EXPECT_FALSE(places.of(7, 40, 100));
    EXPECT_FALSE(places.of(uint64_t{1} << 32, 40, kManyPages));
  }
  EXPECT_FALSE(settled(places, 7, uint64_t{1} << 32));
  const TreePlaces tree = settled(places, 8, 40);
  ASSERT_TRUE(tree);
  tree.note(1, {.page = uint64_t{1} << 28, .offset = 16, .number = 0});
  tree.note(1, {.page = 5, .offset = 16, .number = 4096});
  EXPECT_FALSE(tree.find(1));
}

// There are fewer places for them than keys.
TEST(KnownPlaces, GivesTheRoomOfOldOnesToNewOnes) {
  KnownPlaces places;
  const TreePlaces tree = settled(places, 7, 40);
  constexpr uint32_t kKeys = 1'000'000;
  for (uint32_t i = 0; i < kKeys; ++i)
    tree.note(tree.hash(std::to_string(i)), {.page = i, .offset = 16, .number = 1});
  size_t known = 0;
  for (uint32_t i = 0; i < kKeys; ++i) {
    const auto place = tree.find(tree.hash(std::to_string(i)));
    known += place && place->page == i ? 1 : 0;
  }
  EXPECT_GT(known, KnownPlaces::kMostBytes / 16 / 2);
  const TreePlaces next = settled(places, 8, 40);
  for (uint32_t i = 0; i < 1000; ++i)
    next.note(next.hash(std::to_string(i)), {.page = i, .offset = 16, .number = 1});
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_TRUE(next.find(next.hash(std::to_string(i)))) << i;
}

using Model = std::map<std::string, std::string>;

// A table that is changed in large and small commits, and what each snapshot has to see of it.
class KnownPlacesOfTable : public testing::Test {
 protected:
  static constexpr int kKeys = 4000;

  void SetUp() override {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table_, transaction.create_table("t"));
      return {};
    })));
    change(3 * kKeys);
  }
  std::string any_key() { return fmt::format("key {:06}", random_() % kKeys); }
  void change(size_t changes) {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      for (size_t i = 0; i < changes; ++i) {
        const std::string key = any_key();
        if (random_() % 4 == 0) {
          QUIRE_TRY(transaction.erase(table_, key));
          model_.erase(key);
        } else {
          const std::string record =
              fmt::format("{} {}{}", key, random_(), std::string(random_() % 2500, 'r'));
          QUIRE_TRY(transaction.put(table_, key, record));
          model_[key] = record;
        }
      }
      return {};
    })));
  }
  void expect_seek(FileCursor& cursor, const Model& model) {
    const std::string key = any_key();
    auto entry = model.lower_bound(key);
    ASSERT_EQ(value_of(cursor.seek(key)), entry != model.end());
    if (entry == model.end()) return;
    for (size_t steps = random_() % 8; steps > 0 && entry != model.begin(); --steps) {
      ASSERT_TRUE(value_of(cursor.previous()));
      --entry;
    }
    // Beyond the leaf at hand, too.
    for (size_t steps = random_() % 16; steps > 0 && std::next(entry) != model.end(); --steps) {
      ASSERT_TRUE(value_of(cursor.next()));
      ++entry;
    }
    ASSERT_EQ(cursor.key(), entry->first);
    ASSERT_EQ(cursor.record(), entry->second);
    const auto end = model.lower_bound(any_key());
    if (end == model.end() || end->first <= entry->first) return;
    const uint64_t skipped = value_of(cursor.skip_before(end->first, random_() % 40));
    ASSERT_EQ(cursor.key(), std::next(entry, static_cast<std::ptrdiff_t>(skipped))->first);
  }
  void expect_batch(BatchGet& batch, const Model& model) {
    std::vector<std::string> texts(1 + random_() % BatchGet::kMost);
    for (std::string& text : texts) text = any_key();
    if (random_() % 2 == 0) std::ranges::sort(texts);
    const std::vector<Bytes> keys(texts.begin(), texts.end());
    std::array<Bytes, BatchGet::kMost> records;
    batch.find(keys, std::span(records).first(keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto entry = model.find(texts[i]);
      ASSERT_EQ(records[i].data() != nullptr, entry != model.end()) << texts[i];
      if (entry != model.end()) {
        ASSERT_EQ(records[i], entry->second);
      }
    }
  }
  void expect_read(const Transaction& snapshot, const Model& model) {
    FileCursor cursor = value_of(FileCursor::open(snapshot, table_));
    BatchGet batch(snapshot, table_);
    for (int i = 0; i < kMoreThanEnoughReads; ++i) {
      const std::string key = any_key();
      const auto entry = model.find(key);
      const auto record = value_of(snapshot.get(table_, key));
      ASSERT_EQ(record.has_value(), entry != model.end()) << key;
      if (record) {
        ASSERT_EQ(*record, entry->second);
      }
      ASSERT_NO_FATAL_FAILURE(expect_seek(cursor, model));
      ASSERT_NO_FATAL_FAILURE(expect_batch(batch, model));
    }
  }

  std::mt19937_64 random_{20261130};
  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  Table table_;
  Model model_;
};

TEST_F(KnownPlacesOfTable, EachSnapshotSeesItsOwnCommit) {
  for (int round = 0; round < 6; ++round) {
    const ReadTransaction before = value_of(environment_->begin_read());
    const Model was = model_;
    ASSERT_NO_FATAL_FAILURE(expect_read(before, was));
    change(round % 2 == 0 ? 2000 : 3);
    const ReadTransaction after = value_of(environment_->begin_read());
    ASSERT_NO_FATAL_FAILURE(expect_read(after, model_));
    ASSERT_NO_FATAL_FAILURE(expect_read(before, was));
    ASSERT_NO_FATAL_FAILURE(expect_read(after, model_));
  }
}

// A cursor that was to seek in one snapshot, and is made one of another.
TEST_F(KnownPlacesOfTable, ACursorSeesTheSnapshotThatItWasGivenLast) {
  const ReadTransaction before = value_of(environment_->begin_read());
  ASSERT_NO_FATAL_FAILURE(expect_read(before, model_));
  change(2 * kKeys);
  const ReadTransaction after = value_of(environment_->begin_read());
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = any_key();
    const auto entry = model_.find(key);
    FileCursor cursor = value_of(FileCursor::open(before, table_));
    cursor.expect_seek(key);
    cursor = value_of(FileCursor::open(after, table_));
    ASSERT_EQ(value_of(cursor.seek(key)), model_.lower_bound(key) != model_.end());
    if (entry == model_.end()) continue;
    ASSERT_EQ(cursor.key(), key);
    ASSERT_EQ(cursor.record(), entry->second);
  }
}

// As an index leads to items: what is behind an entry changes with each commit.
TEST_F(KnownPlacesOfTable, LeadsToWhatEachSnapshotHasThere) {
  Table names;
  std::vector<ReadTransaction> snapshots;
  const auto key_of = [&](int name, int version) {
    return fmt::format("key {:06}", (name * 7 + version * 13) % kKeys);
  };
  for (int version = 0; version < 4; ++version) {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      if (version == 0) {
        QUIRE_ASSIGN(names, transaction.create_table("names"));
      }
      for (int name = 0; name < kKeys; ++name) {
        QUIRE_TRY(transaction.put(names, fmt::format("name {}", name), key_of(name, version)));
        QUIRE_TRY(transaction.put(table_, key_of(name, version), fmt::format("{} {}", version, name)));
      }
      return {};
    })));
    snapshots.push_back(value_of(environment_->begin_read()));
    size_t leads = 0, of = 0;
    for (int i = 0; i < 8 * kKeys; ++i) {
      // Places are kept of a commit that is read often in a row.
      if (i % kMoreThanEnoughReads == 0) of = random_() % snapshots.size();
      const int name = static_cast<int>(random_() % kKeys);
      FileCursor cursor = value_of(FileCursor::open(snapshots[of], names));
      if (random_() % 2 == 0) cursor.expect_seek(fmt::format("name {}", name));
      ASSERT_TRUE(value_of(cursor.seek(fmt::format("name {}", name))));
      ASSERT_EQ(cursor.record(), key_of(name, static_cast<int>(of)));
      const Lead lead = cursor.lead();
      leads += lead.place ? 1 : 0;
      const auto record = value_of(snapshots[of].get(table_, cursor.record(), lead));
      ASSERT_TRUE(record);
      ASSERT_EQ(*record, fmt::format("{} {}", of, name));
    }
    EXPECT_GT(leads, size_t{kKeys} / 4);
  }
}

TEST_F(KnownPlacesOfTable, IsForReadersBesideAWriter) {
  constexpr int kVersions = 40, kRows = 1500;
  const auto key_of = [](int row) { return fmt::format("row {:06}", row); };
  const auto write = [&](int version) {
    return environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      for (int row = 0; row < kRows; ++row)
        QUIRE_TRY(transaction.put(table_, key_of(row),
                                  fmt::format("{:05}{:05}", version, row) +
                                      std::string(static_cast<size_t>(version % 7) * 300, 'r')));
      return {};
    });
  };
  ASSERT_TRUE(succeeds(write(0)));
  std::atomic<bool> has_ended = false;
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 2; ++reader)
    readers.emplace_back([&, reader] {
      std::mt19937_64 random(static_cast<uint64_t>(reader));
      while (!has_ended) {
        const ReadTransaction snapshot = value_of(environment_->begin_read());
        const std::string version(value_of(snapshot.get(table_, key_of(0)))->substr(0, 5));
        for (int i = 0; i < kMoreThanEnoughReads; ++i) {
          const int row = static_cast<int>(random() % kRows);
          const auto record = value_of(snapshot.get(table_, key_of(row)));
          ASSERT_TRUE(record && record->starts_with(fmt::format("{}{:05}", version, row)));
        }
      }
    });
  for (int version = 1; version < kVersions; ++version) EXPECT_TRUE(succeeds(write(version)));
  has_ended = true;
}

}  // namespace
}  // namespace quire::engine
