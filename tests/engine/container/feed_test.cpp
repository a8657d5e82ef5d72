// The change feed beside a model: what was written, in which order, and what is read back, from the beginning
// or from a token, of all partitions or of one.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "engine/container/bulk_writer.h"
#include "engine/container/detached_encoder.h"
#include "engine/container/feed.h"
#include "engine/file/file_cursor.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using sql::Value;

std::string item_json(int key, const std::string& id, int version = 0) {
  return fmt::format(R"({{"id":"{}","k":{},"v":{}}})", id, key, version);
}

class FeedTest : public testing::Test {
 protected:
  void make(std::string_view more = "") {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      const auto definition = ContainerDefinition::from_json(
          fmt::format(R"({{"id":"c","partitionKey":{{"paths":["/k"]}}{}}})", more));
      if (!definition) return std::unexpected(definition.error());
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction, *definition));
      return {};
    })));
  }
  void upsert(int key, const std::string& id, int version = 0) {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(store_->upsert(transaction, item_json(key, id, version)));
      return {};
    })));
  }
  void erase(int key, const std::string& id) {
    const Value component = Value::integer(key);
    ASSERT_TRUE(succeeds(environment_->write(
        [&](WriteTransaction& transaction) { return store_->erase(transaction, {&component, 1}, id); })));
  }
  // Items (key, id) as an import writes them: sorted, in one transaction.
  std::vector<std::pair<int, std::string>> import(const std::vector<std::pair<int, std::string>>& ids,
                                                  int version = 0) {
    struct Encoded {
      std::string key, document;
      std::pair<int, std::string> id;
    };
    DetachedEncoder encoder = value_of(DetachedEncoder::create(*environment_, *store_));
    std::vector<Encoded> items;
    for (const auto& [key, id] : ids) {
      const EncodedItem& item = *value_of(encoder.encode(item_json(key, id, version), MissingId::refuse));
      items.push_back({std::string(item.key.bytes()), std::string(item.document), {key, id}});
    }
    std::ranges::sort(items, {}, &Encoded::key);
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(BulkWriter writer, BulkWriter::begin(transaction, *store_, BulkMode::upsert));
      for (const Encoded& item : items)
        QUIRE_TRY(writer.add(item.key, item.document, {document_hash(item.document)}, transaction.now()));
      return writer.finish();
    })));
    std::vector<std::pair<int, std::string>> order;
    for (const Encoded& item : items) order.push_back(item.id);
    return order;
  }
  std::unique_ptr<Feed> open(const FeedOptions& options = {}) {
    return value_of(Feed::open(*environment_, store_, options));
  }
  // "id:v" of the latest versions.
  static std::vector<std::string> read(Feed& feed, size_t most = SIZE_MAX) {
    std::vector<std::string> changes;
    while (changes.size() < most && value_of(feed.next({})))
      changes.push_back(fmt::format("{}:{}", feed.entry().current.member("id").as_string(),
                                    feed.entry().current.member("v").as_integer()));
    return changes;
  }
  static std::vector<std::string> jsons(Feed& feed) {
    std::vector<std::string> changes;
    while (value_of(feed.next({}))) {
      changes.emplace_back();
      feed.write_json(changes.back());
    }
    return changes;
  }
  uint64_t feed_rows() {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    return value_of(
        snapshot.count(value_of(environment_->open_table(table_name(store_->number(), "feed"))).value()));
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  std::shared_ptr<ContainerStore> store_;
};

using Strings = std::vector<std::string>;

TEST_F(FeedTest, GivesEachItemOnceAndMovesWhatIsUpdatedToTheEnd) {
  make();
  upsert(1, "a");
  upsert(2, "b");
  upsert(1, "c");
  upsert(1, "a", 1);
  erase(2, "b");
  const auto feed = open();
  EXPECT_EQ(read(*feed), (Strings{"c:0", "a:1"}));
  EXPECT_EQ(read(*feed), Strings());
  upsert(2, "b", 2);
  EXPECT_EQ(read(*feed), Strings{"b:2"});
  EXPECT_EQ(feed_rows(), 3u);
}

TEST_F(FeedTest, AnImportCostsARowForThousandsOfItems) {
  make();
  std::vector<std::pair<int, std::string>> ids;
  for (int i = 0; i < 10'000; ++i) ids.emplace_back(i % 7, std::to_string(i));
  const auto order = import(ids);
  EXPECT_EQ(feed_rows(), 10'000 / kMostInRange + 1);
  Strings expected;
  for (const auto& [key, id] : order) expected.push_back(id + ":0");
  EXPECT_EQ(read(*open()), expected);
  // Items that leave a range are not given with it; those that are put between its keys neither.
  upsert(3, "3", 1);
  erase(4, "4");
  upsert(5, "new");
  std::erase(expected, "3:0");
  std::erase(expected, "4:0");
  expected.insert(expected.end(), {"3:1", "new:0"});
  EXPECT_EQ(read(*open()), expected);
}

// Ranges that were found once are found by a look-up from then on, whatever became of them.
TEST_F(FeedTest, ItemsLeaveManyRangesInAnyOrder) {
  make();
  std::vector<std::pair<int, std::string>> ids;
  for (int i = 0; i < 10'000; ++i) ids.emplace_back(i % 7, std::to_string(i));
  import(ids);
  std::vector<int> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937(3));
  std::set<std::string> expected;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& [key, id] = ids[static_cast<size_t>(order[i])];
    if (i % 3 == 0) {
      erase(key, id);
      continue;
    }
    upsert(key, id, 1);
    if (i % 100 == 1) upsert(key, id, 2);
    expected.insert(id + (i % 100 == 1 ? ":2" : ":1"));
  }
  EXPECT_EQ(feed_rows(), expected.size()) << "each item has a row of its own, and the ranges are gone";
  const Strings found = read(*open());
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()), expected);
  EXPECT_EQ(found.size(), expected.size());
}

TEST_F(FeedTest, ARangeGoesWithTheLastOfItsItems) {
  make();
  import({{1, "a"}, {1, "b"}, {2, "c"}});
  EXPECT_EQ(feed_rows(), 1u);
  erase(1, "a");
  erase(2, "c");
  EXPECT_EQ(feed_rows(), 1u);
  erase(1, "b");
  EXPECT_EQ(feed_rows(), 0u);
  EXPECT_EQ(read(*open()), Strings());
}

TEST_F(FeedTest, ANewerPartOfTheFeedIsReadFromItsTime) {
  make();
  upsert(1, "a");
  EXPECT_EQ(read(*open({.start = FeedStart::time, .from_timestamp = 1'000'000})), Strings{"a:0"});
  EXPECT_EQ(read(*open({.start = FeedStart::time, .from_timestamp = UINT32_MAX - 1})), Strings());
  import({{1, "b"}, {1, "c"}});
  EXPECT_EQ(read(*open({.start = FeedStart::time, .from_timestamp = UINT32_MAX - 1})), Strings());
  EXPECT_EQ(read(*open({.start = FeedStart::now})), Strings());
}

TEST_F(FeedTest, MatchesAModelUnderRandomWrites) {
  make();
  std::mt19937 random(7);
  std::map<std::pair<int, std::string>, int> versions;  // what is there
  std::vector<std::pair<int, std::string>> order;       // oldest write first
  const auto written = [&](const std::pair<int, std::string>& id, int version) {
    std::erase(order, id);
    order.push_back(id);
    versions[id] = version;
  };
  const auto any_id = [&] {
    return std::pair<int, std::string>(random() % 5, std::to_string(random() % 60));
  };
  const auto expected = [&](int key) {
    Strings texts;
    for (const auto& id : order)
      if (key < 0 || id.first == key) texts.push_back(fmt::format("{}:{}", id.second, versions[id]));
    return texts;
  };
  for (int step = 1; step <= 600; ++step) {
    const auto id = any_id();
    if (random() % 3 == 0 && versions.contains(id)) {
      erase(id.first, id.second);
      std::erase(order, id);
      versions.erase(id);
    } else if (random() % 20 == 0) {
      std::map<std::pair<int, std::string>, int> batch;
      for (int i = 0; i < 40; ++i) batch[any_id()] = step;
      std::vector<std::pair<int, std::string>> ids;
      for (const auto& [item, version] : batch) ids.push_back(item);
      for (const auto& item : import(ids, step)) written(item, step);
    } else {
      upsert(id.first, id.second, step);
      written(id, step);
    }
    if (step % 10 != 0) continue;
    ASSERT_EQ(read(*open()), expected(-1)) << step;
    const int key = static_cast<int>(random() % 5);
    const Value component = Value::integer(key);
    ASSERT_EQ(read(*open({.partition_key = {&component, 1}})), expected(key)) << step;
    // A part, and the rest from a token.
    const auto first = open();
    Strings all = read(*first, order.empty() ? 0 : random() % order.size());
    const std::string token = first->token();
    const Strings rest = read(*open({.start = FeedStart::token, .token = token}));
    all.insert(all.end(), rest.begin(), rest.end());
    ASSERT_EQ(all, expected(-1)) << step;
  }
}

TEST_F(FeedTest, APartitionOfManyItemsIsReadInOrder) {
  make();
  std::vector<std::pair<int, std::string>> ids;
  for (int i = 0; i < 6000; ++i) ids.emplace_back(i % 2, std::to_string(i));
  import(ids);
  upsert(1, "1", 1);
  const Value component = Value::integer(1);
  const Strings changes = read(*open({.partition_key = {&component, 1}}));
  EXPECT_EQ(changes.size(), 3000u);
  EXPECT_EQ(changes.back(), "1:1");
}

// ---- Tokens

TEST_F(FeedTest, ATokenIsRefusedWhereItDoesNotFit) {
  make(R"(,"changeFeedPolicy":{"retentionDuration":60})");
  upsert(1, "a");
  const auto feed = open();
  read(*feed);
  const std::string token = feed->token();
  const auto with = [&](std::string_view text, FeedMode mode = FeedMode::latest_version,
                        std::span<const Value> key = {}) {
    return Feed::open(*environment_, store_,
                      {.mode = mode, .start = FeedStart::token, .token = text, .partition_key = key});
  };
  EXPECT_TRUE(succeeds(with(token)));
  for (const std::string_view bad : {"", "x", "00", "not a token at all"})
    EXPECT_TRUE(fails_with(with(bad), ErrorCode::invalid_argument, "112 hexadecimal digits"));
  for (size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == '0' ? '1' : '0';
    EXPECT_TRUE(fails_with(with(changed), ErrorCode::invalid_argument)) << i;
  }
  EXPECT_TRUE(fails_with(with(token, FeedMode::all_versions), ErrorCode::invalid_argument, "other mode"));
  const Value key = Value::integer(1);
  EXPECT_TRUE(fails_with(with(token, FeedMode::latest_version, {&key, 1}), ErrorCode::invalid_argument,
                         "another partition key"));
  const auto other = store_;
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction,
                                                value_of(ContainerDefinition::make("d", {"/k"}))));
    return {};
  })));
  EXPECT_TRUE(fails_with(with(token), ErrorCode::invalid_argument, "another container"));
}

// As version 1 had them.
TEST_F(FeedTest, ATokenWithoutAWitnessIsTaken) {
  make();
  upsert(1, "a");
  const auto feed = open();
  read(*feed);
  upsert(1, "b");
  std::string bytes;
  for (size_t i = 0; i < 64; i += 2)
    bytes += static_cast<char>(std::stoi(feed->token().substr(i, 2), nullptr, 16));
  bytes[0] = 1;
  const uint64_t checksum =
      XXH3_64bits_withSeed(bytes.data(), bytes.size(), store_->resource_names().etag_salt);
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  std::string token;
  for (const char c : bytes) token += fmt::format("{:02x}", static_cast<unsigned char>(c));
  EXPECT_EQ(read(*open({.start = FeedStart::token, .token = token})), Strings{"b:0"});
}

TEST_F(FeedTest, WrongPartitionKeysAreRefused) {
  make();
  const Value two[] = {Value::integer(1), Value::integer(2)};
  EXPECT_TRUE(fails_with(Feed::open(*environment_, store_, {.partition_key = two}),
                         ErrorCode::invalid_partition_key, "1 components; 2"));
}

// ---- All versions

TEST_F(FeedTest, AllVersionsTellWhatHappened) {
  make(R"(,"changeFeedPolicy":{"retentionDuration":60})");
  const auto feed = open({.mode = FeedMode::all_versions, .start = FeedStart::now});
  upsert(1, "a");
  upsert(1, "a", 1);
  erase(1, "a");
  import({{1, "b"}});
  const Strings changes = jsons(*feed);
  ASSERT_EQ(changes.size(), 4u);
  EXPECT_THAT(changes[0], testing::MatchesRegex(
                              R"(\{"current":\{"id":"a","k":1,"v":0,"_rid".*\},"metadata":\{"operationType":)"
                              R"("create","lsn":1,"crts":[0-9]+\}\})"));
  EXPECT_THAT(changes[1],
              testing::MatchesRegex(
                  R"(\{"current":\{"id":"a","k":1,"v":1,.*\},"previous":\{"id":"a","k":1,"v":0,.*)"
                  R"(\},"metadata":\{"operationType":"replace","lsn":2,.*"previousImageLSN":1\}\})"));
  EXPECT_THAT(changes[2],
              testing::MatchesRegex(R"(\{"current":\{\},"previous":\{"id":"a","k":1,"v":1,.*\},"metadata":)"
                                    R"(\{"operationType":"delete","lsn":3,.*"previousImageLSN":2,"id":"a",)"
                                    R"("partitionKey":\{"k":1\}\}\})"));
  EXPECT_THAT(changes[3], testing::HasSubstr(R"("operationType":"create","lsn":4)"));
  EXPECT_EQ(read(*open()), Strings{"b:0"});
}

TEST_F(FeedTest, AContainerThatKeepsNoVersionsSaysSo) {
  make();
  EXPECT_TRUE(fails_with(Feed::open(*environment_, store_, {.mode = FeedMode::all_versions}),
                         ErrorCode::invalid_argument, "changeFeedPolicy"));
}

class Retention : public FeedTest {
 protected:
  void trim(uint32_t now, uint64_t most) {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      const Table table =
          value_of(transaction.open_table(table_name(store_->number(), kStatisticsTable))).value();
      const Table feed = value_of(transaction.open_table(table_name(store_->number(), kFeedTable))).value();
      QUIRE_ASSIGN(ContainerStatistics statistics, read_statistics(transaction, table));
      QUIRE_TRY(ChangeFeed(feed).trim(transaction, statistics, now, most));
      return write_statistics(transaction, table, statistics);
    })));
  }
  uint32_t now_ = static_cast<uint32_t>(std::time(nullptr));
};

TEST_F(Retention, VersionsGoInBoundedStepsAndTheirReadersAreTold) {
  make(R"(,"changeFeedPolicy":{"retentionDuration":1})");
  const auto feed = open({.mode = FeedMode::all_versions});
  for (int i = 0; i < 20; ++i) upsert(1, std::to_string(i));
  EXPECT_EQ(read(*feed, 5).size(), 5u);
  const std::string token = feed->token();
  EXPECT_EQ(feed_rows(), 40u);
  trim(now_ + 30, 100);
  EXPECT_EQ(feed_rows(), 40u) << "within their time";
  trim(now_ + 100, 3);
  EXPECT_EQ(feed_rows(), 37u);
  EXPECT_EQ(read(*open({.mode = FeedMode::all_versions})).size(), 17u);
  EXPECT_EQ(read(*open({.mode = FeedMode::all_versions, .start = FeedStart::token, .token = token})).size(),
            15u);
  trim(now_ + 100, 6);
  EXPECT_TRUE(
      fails_with(Feed::open(*environment_, store_,
                            {.mode = FeedMode::all_versions, .start = FeedStart::token, .token = token}),
                 ErrorCode::invalid_argument, "1 minutes"));
  EXPECT_EQ(read(*open()).size(), 20u) << "latest versions stay";
}

TEST_F(Retention, APolicyThatEndsLetsItsVersionsGoAndOneThatBeginsHasNoOldOnes) {
  make(R"(,"changeFeedPolicy":{"retentionDuration":1})");
  upsert(1, "a");
  const auto set = [&](std::string_view more) {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      return store_->set_retention(
          transaction, value_of(ContainerDefinition::from_json(
                           fmt::format(R"({{"id":"c","partitionKey":{{"paths":["/k"]}}{}}})", more))));
    })));
  };
  set("");
  EXPECT_TRUE(fails_with(Feed::open(*environment_, store_, {.mode = FeedMode::all_versions}),
                         ErrorCode::invalid_argument));
  upsert(1, "b");
  EXPECT_EQ(feed_rows(), 2u) << "the version went with the next write";
  set(R"(,"changeFeedPolicy":{"retentionDuration":5})");
  upsert(1, "c");
  EXPECT_EQ(read(*open({.mode = FeedMode::all_versions})), Strings{"c:0"});
}

TEST(RetentionPolicy, IsANumberOfMinutes) {
  EXPECT_EQ(value_of(retention_minutes_from_json(R"({"retentionDuration":60})")), 60u);
  EXPECT_EQ(value_of(retention_minutes_from_json("null")), 0u);
  for (const std::string_view bad :
       {"1", "{}", "[]", R"({"retentionDuration":-1})", R"({"retentionDuration":1.5})",
        R"({"retentionDuration":10081})", R"({"retentionDuration":"1"})", R"({"retentionDuration":1,"x":2})"})
    EXPECT_TRUE(
        fails_with(retention_minutes_from_json(bad), ErrorCode::invalid_definition, "retentionDuration"))
        << bad;
}

// ---- Files of format 2

TEST_F(FeedTest, AFileWithoutFeedsGetsThemWhenItIsOpened) {
  const TemporaryFolder folder;
  const std::string path = folder.path("old.quire");
  environment_ = value_of(Environment::open(path));
  make();
  import({{1, "a"}, {2, "b"}, {3, "c"}});
  upsert(2, "b", 1);
  upsert(4, "d");
  const Strings before = read(*open());
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    const Table table =
        value_of(transaction.open_table(table_name(store_->number(), kStatisticsTable))).value();
    const std::string counters(value_of(transaction.get(table, "counters"))->substr(0, 32));
    QUIRE_TRY(transaction.put(table, "counters", counters));
    // As the upgrade finds it that makes the table.
    const Table feed = value_of(transaction.open_table(table_name(store_->number(), kFeedTable))).value();
    QUIRE_ASSIGN(FileCursor rows, FileCursor::open(transaction, feed));
    while (value_of(rows.first())) QUIRE_TRY(transaction.erase(rows));
    return transaction.put(environment_->meta(), "format", std::string("quire\0\0\0\2\0\0\0", 12));
  })));
  store_.reset();
  environment_.reset();
  environment_ = value_of(Environment::open(path));
  const auto found = value_of(Catalog(*environment_).find(value_of(environment_->begin_read()), "c"));
  store_ = value_of(ContainerStore::open(*environment_, found.value()));
  EXPECT_EQ(feed_rows(), 1u);
  const auto feed = open();
  EXPECT_EQ(read(*feed, 2), (Strings{before[0], before[1]}));
  upsert(1, "a", 5);
  erase(2, "b");
  EXPECT_EQ(read(*open({.start = FeedStart::token, .token = feed->token()})), (Strings{before[3], "a:5"}));
  erase(3, "c");
  erase(4, "d");
  EXPECT_EQ(feed_rows(), 1u) << "the old range went with its last item";
  EXPECT_EQ(read(*open()), Strings{"a:5"});
}

// ---- Damage

TEST_F(FeedTest, DamagedRowsAreReportedAndNothingElse) {
  make();
  upsert(1, "a");
  const Table table = value_of(environment_->open_table(table_name(store_->number(), "feed"))).value();
  const std::string_view bad_rows[] = {
      "",
      "\x01",
      "\x09zzzzzzzzz",
      std::string_view("\x02\0\0\0\0\1", 6),
      std::string_view("\x02\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\xFF\xFF", 23),
      std::string_view("\x01\0\0\0\0nothing there", 18)};
  for (const std::string_view row : bad_rows) {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) {
      return transaction.put(table, FeedKey::latest(Lsn{1}).bytes(), row);
    })));
    const auto feed = open();
    EXPECT_TRUE(fails_with(feed->next({}), ErrorCode::corrupt, "change feed"));
  }
}

}  // namespace
}  // namespace quire::engine
