// Many items at once: encoded outside of transactions, written in order of their keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "engine/container/bulk_writer.h"
#include "engine/container/detached_encoder.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using sql::Value;

class Bulk : public testing::Test {
 protected:
  struct Encoded {
    std::string key, document;
    auto operator<=>(const Encoded&) const = default;
  };

  void SetUp() override {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction,
                                                  value_of(ContainerDefinition::make("c", {"/k"}))));
      return {};
    })));
  }
  Encoded encode(DetachedEncoder& encoder, const std::string& json) {
    const EncodedItem& item = *value_of(encoder.encode(json, MissingId::refuse));
    return {std::string(item.key.bytes()), std::string(item.document)};
  }
  Result<void> write(const std::vector<Encoded>& items, BulkMode mode) {
    return environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(BulkWriter writer, BulkWriter::begin(transaction, *store_, mode));
      for (const Encoded& item : items)
        QUIRE_TRY(writer.add(item.key, item.document, {document_hash(item.document)}, transaction.now()));
      EXPECT_EQ(writer.items(), items.size());
      return writer.finish();
    });
  }
  std::string read(int64_t key, std::string_view id) {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    const Value component = Value::integer(key);
    const auto item = value_of(store_->read(snapshot, {&component, 1}, id));
    std::string json;
    if (item) sql::write_json(item->root, json);
    return json;
  }
  ContainerStatistics statistics() {
    return value_of(store_->statistics(value_of(environment_->begin_read())));
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  std::shared_ptr<ContainerStore> store_;
};

std::string item_json(int key, const std::string& id, const std::string& rest = "") {
  return R"({"id":")" + id + R"(","k":)" + std::to_string(key) + rest + "}";
}

TEST_F(Bulk, WritesSortedItemsAndTheirStatistics) {
  DetachedEncoder encoder = value_of(DetachedEncoder::create(*environment_, *store_));
  std::vector<Encoded> items;
  for (int i = 0; i < 1000; ++i)
    items.push_back(encode(encoder, item_json(i % 17, std::to_string(i), R"(,"a":[1,2])")));
  std::ranges::sort(items);
  ASSERT_TRUE(succeeds(write(items, BulkMode::create)));
  size_t bytes = 0;
  for (const Encoded& item : items) bytes += item.document.size();
  EXPECT_EQ(statistics().items, 1000u);
  EXPECT_EQ(statistics().document_bytes, bytes);
  EXPECT_EQ(statistics().last_lsn, Lsn{1000});
  EXPECT_EQ(statistics().last_rid, 1000u);
  EXPECT_EQ(read(999 % 17, "999"), item_json(999 % 17, "999", R"(,"a":[1,2])"));
}

TEST_F(Bulk, InsertsBetweenItemsThatAreThere) {
  DetachedEncoder encoder = value_of(DetachedEncoder::create(*environment_, *store_));
  std::vector<Encoded> odd, even;
  for (int i = 0; i < 100; ++i) (i % 2 ? odd : even).push_back(encode(encoder, item_json(i, "x")));
  std::ranges::sort(odd);
  std::ranges::sort(even);
  ASSERT_TRUE(succeeds(write(odd, BulkMode::create)));
  ASSERT_TRUE(succeeds(write(even, BulkMode::create)));
  EXPECT_EQ(statistics().items, 100u);
}

TEST_F(Bulk, AConflictWritesNothing) {
  DetachedEncoder encoder = value_of(DetachedEncoder::create(*environment_, *store_));
  const Encoded a = encode(encoder, item_json(1, "a")), b = encode(encoder, item_json(1, "b"));
  ASSERT_TRUE(succeeds(write({a}, BulkMode::create)));
  EXPECT_TRUE(fails_with(write({a, b}, BulkMode::create), ErrorCode::conflict, "'a' with partition key [1]"));
  EXPECT_TRUE(fails_with(write({b, b}, BulkMode::create), ErrorCode::conflict, "'b'"));
  EXPECT_EQ(statistics().items, 1u);
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  EXPECT_TRUE(value_of(contains_key(snapshot, *store_, a.key)));
  EXPECT_FALSE(value_of(contains_key(snapshot, *store_, b.key)));
}

TEST_F(Bulk, UpsertReplacesAndKeepsRids) {
  DetachedEncoder encoder = value_of(DetachedEncoder::create(*environment_, *store_));
  ASSERT_TRUE(succeeds(write({encode(encoder, item_json(1, "a"))}, BulkMode::upsert)));
  const Encoded replaced = encode(encoder, item_json(1, "a", R"(,"n":2)"));
  ASSERT_TRUE(succeeds(write({replaced, encode(encoder, item_json(1, "b"))}, BulkMode::upsert)));
  EXPECT_EQ(read(1, "a"), item_json(1, "a", R"(,"n":2)"));
  EXPECT_EQ(statistics().items, 2u);
  EXPECT_EQ(statistics().last_rid, 2u);
}

TEST_F(Bulk, DetachedEncodersLearnNamesFromEachOtherAndFromWriters) {
  std::vector<std::thread> threads;
  std::vector<std::vector<Encoded>> encoded(3);
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      DetachedEncoder encoder = value_of(DetachedEncoder::create(*environment_, *store_));
      for (int i = 0; i < 60; ++i)
        encoded[thread].push_back(encode(
            encoder,
            item_json(thread, std::to_string(i), R"(,"name)" + std::to_string(thread + i) + R"(":1)")));
    });
  threads.emplace_back([&] {
    for (int i = 0; i < 60; ++i)
      EXPECT_TRUE(
          succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
            QUIRE_TRY(store_->create(
                transaction, item_json(9, std::to_string(i), R"(,"other)" + std::to_string(i) + R"(":1)")));
            if (i % 2) return fail(ErrorCode::interrupted, "lost");
            return {};
          })) == (i % 2 == 0));
  });
  for (std::thread& thread : threads) thread.join();
  for (int thread = 0; thread < 3; ++thread) {
    std::ranges::sort(encoded[thread]);
    ASSERT_TRUE(succeeds(write(encoded[thread], BulkMode::create)));
    for (int i = 0; i < 60; ++i)
      EXPECT_EQ(read(thread, std::to_string(i)),
                item_json(thread, std::to_string(i), R"(,"name)" + std::to_string(thread + i) + R"(":1)"));
  }
}

TEST_F(Bulk, PastTheDictionarysBoundNamesStandInline) {
  DetachedEncoder encoder = value_of(DetachedEncoder::create(*environment_, *store_));
  std::string rest;
  for (int i = 0; i < 5000; ++i) rest += R"(,"name)" + std::to_string(i) + R"(":)" + std::to_string(i);
  const std::string json = item_json(1, "a", rest);
  const std::string more = item_json(1, "b", R"(,"yet another":1,")" + std::string(100, 'n') + R"(":2)");
  ASSERT_TRUE(succeeds(write({encode(encoder, json), encode(encoder, more)}, BulkMode::create)));
  EXPECT_EQ(store_->dictionary().size(), sql::KeyDictionary::kMostNames);
  EXPECT_EQ(read(1, "a"), json);
  EXPECT_EQ(read(1, "b"), more);
}

}  // namespace
}  // namespace quire::engine
