// CHECK finds what is damaged on purpose, names it, and says nothing of what is sound.
#include "engine/maintenance/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/container/container.h"
#include "engine/container/index_build.h"
#include "engine/file/file_cursor.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckTest : public testing::Test {
 protected:
  void SetUp() override {
    environment_ = value_of(Environment::open(Environment::kInMemory));
    make(R"({"id":"c","partitionKey":{"paths":["/p"]},
             "indexes":[{"name":"n","paths":[{"path":"/n"}]},
                        {"name":"tags","paths":[{"path":"/tags/[]"}]},
                        {"name":"u","unique":true,"paths":[{"path":"/s"}]}],
             "indexingPolicy":{"includedPaths":[{"path":"/*"}]}})");
    for (int i = 0; i < 50; ++i)
      create(R"({"id":")" + std::to_string(i) + R"(","p":")" + std::to_string(i % 7) + R"(","n":)" +
             std::to_string(i % 10) + R"(,"s":"text )" + std::to_string(i) + R"(","tags":["a",)" +
             std::to_string(i) + R"(]})");
    create(R"({"id":"long","p":"x","n":")" + std::string(2000, 'n') + R"(","s":"y"})");
  }

  void make(std::string_view json) {
    const ContainerDefinition definition = value_of(ContainerDefinition::from_json(json));
    write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction, definition));
      return {};
    });
  }
  void create(const std::string& json) {
    write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(store_->create(transaction, json));
      return {};
    });
  }
  template <typename Work>
  void write(const Work& work) {
    ASSERT_TRUE(succeeds(environment_->write(work)));
  }

  std::string faults(std::string_view container = {}) {
    std::string text;
    const CheckReport report = value_of(check_database(*environment_, container));
    for (const CheckFinding& finding : report.findings()) text += finding.where + ": " + finding.what + '\n';
    return text;
  }

  // The key and the record of the first row at or behind `from`, of the items or of the entries.
  std::pair<std::string, std::string> row(Table table, std::string_view from) {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    FileCursor cursor = value_of(FileCursor::open(snapshot, table));
    EXPECT_TRUE(value_of(cursor.seek(from)));
    return {std::string(cursor.key()), std::string(cursor.record())};
  }
  std::string number_of(std::string_view index) {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    const IndexSet set = value_of(load_index_set(snapshot, index_table()));
    for (const Index& found : set.indexes) {
      if (found.name != index) continue;
      std::string key;
      append_index_number(found.number, key);
      return key;
    }
    return "?";
  }
  Table items_table() const { return store_->items_table(); }
  Table index_table() const { return store_->indexes().table(); }

  std::unique_ptr<Environment> environment_;
  std::shared_ptr<ContainerStore> store_;
};

TEST_F(CheckTest, AFileThatIsSoundHasNoFaults) {
  const CheckReport report = value_of(check_database(*environment_));
  EXPECT_THAT(report.findings(), IsEmpty());
  EXPECT_EQ(report.items, 51U);
  EXPECT_GT(report.entries, 51U * 5);
  EXPECT_THAT(report.rows().back(), AllOf(HasSubstr(R"("ok":true)"), HasSubstr(R"("items":51)")));
}

TEST_F(CheckTest, OneContainerCanBeCheckedAlone) {
  make(R"({"id":"other"})");
  EXPECT_EQ(value_of(check_database(*environment_, "other")).items, 0U);
  EXPECT_EQ(value_of(check_database(*environment_)).containers, 2U);
  EXPECT_TRUE(fails_with(check_database(*environment_, "othre"), ErrorCode::container_not_found, "'other'"));
}

TEST_F(CheckTest, AnEntryThatIsMissingIsNamed) {
  const auto [key, record] = row(index_table(), number_of("n"));
  write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(transaction.erase(index_table(), key));
    return {};
  });
  EXPECT_THAT(faults(),
              AllOf(HasSubstr("index 'n', item '"), HasSubstr("the item's entry is missing"),
                    HasSubstr("index 'n': its counters say 51 entries, 1 of them cut; there are 50 and 1")));
}

TEST_F(CheckTest, AnEntryTooManyIsNamed) {
  auto [key, record] = row(index_table(), number_of("n"));
  key.back() = '!';  // the id's last byte
  write([&, key = key](WriteTransaction& transaction) { return transaction.put(index_table(), key, ""); });
  EXPECT_THAT(faults(), AllOf(HasSubstr("!'"), HasSubstr("leads to the item, which is not there")));
}

TEST_F(CheckTest, AnEntryForAValueThatTheItemDoesNotHaveIsNamed) {
  auto [key, record] = row(index_table(), number_of("n"));
  key[5] = static_cast<char>(key[5] ^ 1);  // within the number
  write([&, key = key](WriteTransaction& transaction) { return transaction.put(index_table(), key, ""); });
  EXPECT_THAT(faults(), HasSubstr("an entry for a value that the item does not have"));
}

TEST_F(CheckTest, DamagedEntriesAreNamed) {
  const std::string number = number_of("n");
  write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(transaction.put(index_table(), number, ""));
    QUIRE_TRY(transaction.put(index_table(), number + "\x77junk", "\x01"));
    return transaction.put(index_table(), "\x7F\x01", "");
  });
  EXPECT_THAT(faults(), AllOf(HasSubstr("the entry is damaged"), HasSubstr("there is no such index")));
}

TEST_F(CheckTest, AFlippedByteOfARecordIsFound) {
  const auto [key, record] = row(items_table(), "");
  for (size_t at = 0; at < record.size(); ++at) {
    std::string damaged = record;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write([&, key = key](WriteTransaction& transaction) {
      return transaction.put(items_table(), key, damaged);
    });
    EXPECT_THAT(faults(), HasSubstr("item '")) << "byte " << at;
  }
  write([&, key = key, record = record](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(transaction.put(items_table(), key, record.substr(0, 20)));
    return {};
  });
  EXPECT_THAT(faults(), HasSubstr("cut off"));
}

TEST_F(CheckTest, AnItemUnderAnothersKeyIsFound) {
  auto [key, record] = row(items_table(), "");
  write([&, key = key, record = record](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(transaction.erase(items_table(), key));
    return transaction.put(items_table(), key + "x", record);
  });
  EXPECT_THAT(faults(), AllOf(HasSubstr("a key that is not that of its id"),
                              HasSubstr("leads to the item, which is not there")));
}

TEST_F(CheckTest, WrongCountersAreFound) {
  ContainerStatistics statistics;
  Table table;
  write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(statistics, store_->statistics(transaction));
    QUIRE_ASSIGN(const auto found, transaction.open_table(table_name(store_->number(), kStatisticsTable)));
    table = *found;
    statistics.items += 2;
    statistics.last_rid = 3;
    return write_statistics(transaction, table, statistics);
  });
  EXPECT_THAT(faults(), AllOf(HasSubstr("the counters: they say 53 items; there are 51"),
                              HasSubstr("newer than the last write")));
  write([&](WriteTransaction& transaction) { return transaction.put(table, "counters", "?"); });
  EXPECT_THAT(faults(), HasSubstr("the counters of a container are damaged"));
}

TEST_F(CheckTest, AChangeFeedThatLacksAnItemOrIsDamagedIsFound) {
  const Table feed = value_of(environment_->open_table(table_name(store_->number(), kFeedTable))).value();
  const auto [key, record] = row(feed, "");
  write([&, &key = key](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(transaction.erase(feed, key));
    return {};
  });
  EXPECT_EQ(faults(), "the change feed: it tells of 50 items; there are 51\n");
  write([&, &key = key](WriteTransaction& transaction) { return transaction.put(feed, key, "?"); });
  EXPECT_THAT(faults(), HasSubstr("the change feed: the change feed of container 'c' is damaged"));
}

TEST_F(CheckTest, TwoItemsWithOneUniqueValueAreFound) {
  auto [key, record] = row(index_table(), number_of("u"));
  // Behind the values stands the item's key.
  const auto entry = parse_index_entry(key, record, {0, {false}});
  ASSERT_TRUE(entry);
  std::string second = key.substr(0, key.size() - entry->item_key.size());
  second += row(items_table(), std::string(entry->item_key) + "\x01").first;
  write([&](WriteTransaction& transaction) { return transaction.put(index_table(), second, ""); });
  EXPECT_THAT(faults(), HasSubstr("another item has its values of u"));
}

TEST_F(CheckTest, DamagedNamesAreFound) {
  Table table;
  write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const auto found, transaction.open_table(table_name(store_->number(), kKeysTable)));
    table = *found;
    return transaction.put(table, std::string("\x00\x02", 2), "another");
  });
  EXPECT_THAT(faults(), HasSubstr("the property name of number 2: its row is damaged"));
}

TEST_F(CheckTest, APathThatThePolicyCoversAndNoIndexHasIsFound) {
  const std::string number = number_of("/tags/[]");
  write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(IndexSet* const set, store_->indexes().writable_set(transaction));
    const IndexNumber wanted = index_number_of(number);
    QUIRE_TRY(erase_index(transaction, index_table(), wanted));
    std::erase_if(set->indexes, [&](const Index& index) { return index.number == wanted; });
    return store_->indexes().set_changed(transaction);
  });
  EXPECT_THAT(faults(), HasSubstr("index '/tags/[]': items have values there"));
}

// What was changed in memory beside the file goes with it: later items have entries in all indexes.
TEST_F(CheckTest, AChangeOfTheIndexesThatIsUndoneIsForgotten) {
  const auto drop_all = [&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(IndexSet* const set, store_->indexes().writable_set(transaction));
    for (const Index& index : set->indexes) QUIRE_TRY(erase_index(transaction, index_table(), index.number));
    set->indexes.clear();
    set->policy.reset();
    return {};
  };
  EXPECT_FALSE(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(drop_all(transaction));
    return fail(ErrorCode::interrupted, "before it was made known");
  }));
  create(R"({"id":"behind it","p":"1","n":1,"s":"one more"})");
  write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(store_->create(transaction, R"({"id":"before a part","p":"1","n":2,"s":"two more"})"));
    EXPECT_FALSE(transaction.nested([&](WriteTransaction& part) -> Result<void> {
      QUIRE_TRY(drop_all(part));
      QUIRE_TRY(store_->indexes().set_changed(part));
      QUIRE_TRY(store_->create(part, R"({"id":"in a part","p":"1","n":3})"));
      return fail(ErrorCode::interrupted, "behind it");
    }));
    QUIRE_TRY(store_->create(transaction, R"({"id":"behind a part","p":"1","n":4,"s":"four more"})"));
    return {};
  });
  EXPECT_EQ(faults(), "");
}

TEST_F(CheckTest, ManyFaultsAreCountedAndTheFirstThousandKept) {
  write([&](WriteTransaction& transaction) -> Result<void> {
    const std::string number = number_of("n");
    for (int i = 0; i < 1500; ++i)
      QUIRE_TRY(
          transaction.put(index_table(), number + '\x10' + std::string(16, 'e') + std::to_string(i), ""));
    return {};
  });
  const CheckReport report = value_of(check_database(*environment_));
  EXPECT_EQ(report.findings().size(), CheckReport::kMostFindings);
  EXPECT_GE(report.finding_count(), 1500U);
}

TEST_F(CheckTest, ACheckTellsHowFarItIsAndCanBeEnded) {
  for (int i = 0; i < 3000; ++i) create(R"({"id":"more )" + std::to_string(i) + R"("})");
  std::atomic<uint64_t> interrupts = 0;
  EXPECT_TRUE(succeeds(check_database(*environment_, {}, {nullptr, &interrupts})));
  uint64_t last = 0;
  const WorkOptions options{[&](uint64_t done, uint64_t all) {
                              last = done;
                              EXPECT_LE(done, all);
                              return true;
                            },
                            &interrupts};
  EXPECT_TRUE(succeeds(check_database(*environment_, {}, options)));
  LongWork work(options, "ended");
  work.expect(10'000);
  ++interrupts;
  EXPECT_TRUE(fails_with(work.advance(5000), ErrorCode::interrupted, "ended"));
}

}  // namespace
}  // namespace quire::engine
