// Items of a container: what is written is read, limits hold, clashes and failures change nothing.
#include "engine/container/container.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <thread>

#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using sql::Value;

std::string json_of(const Value& value) {
  std::string text;
  sql::write_json(value, text);
  return text;
}

class ContainerTest : public testing::Test {
 protected:
  void make(const std::vector<std::string>& paths, const ContainerOptions& options = {},
            uint64_t item_limit = 0) {
    ContainerDefinition definition = value_of(ContainerDefinition::make("things", paths));
    if (item_limit != 0) definition.item_limit_bytes = item_limit;
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store_, ContainerStore::create(*environment_, transaction, definition, options));
      return {};
    })));
  }

  // Each in a transaction of its own; gives the etag.
  using Operation = Result<ItemOutcome> (ContainerStore::*)(WriteTransaction&, std::string_view,
                                                            const WriteOptions&);
  Result<std::string> run(Operation operation, std::string_view json, std::string_view if_match = {}) {
    std::string etag;
    QUIRE_TRY(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const ItemOutcome outcome,
                   (store_.get()->*operation)(transaction, json, {.if_match = if_match}));
      etag = outcome.etag.view();
      was_created_ = outcome.created;
      written_ = json_of(outcome.item.root);
      return {};
    }));
    return etag;
  }
  Result<std::string> create(std::string_view json) { return run(&ContainerStore::create, json); }
  Result<std::string> upsert(std::string_view json, std::string_view if_match = {}) {
    return run(&ContainerStore::upsert, json, if_match);
  }
  Result<std::string> replace(std::string_view json, std::string_view if_match = {}) {
    return run(&ContainerStore::replace, json, if_match);
  }
  Result<void> erase(std::initializer_list<Value> key, std::string_view id, std::string_view if_match = {}) {
    return environment_->write([&](WriteTransaction& transaction) {
      return store_->erase(transaction, std::span(key.begin(), key.size()), id, if_match);
    });
  }
  // The item as JSON, or "" if there is none.
  Result<std::string> read(std::initializer_list<Value> key, std::string_view id) {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    QUIRE_ASSIGN(const auto item, store_->read(snapshot, std::span(key.begin(), key.size()), id));
    return item ? json_of(item->root) : "";
  }
  std::vector<std::string> ids(std::optional<std::vector<Value>> partition_key = std::nullopt,
                               size_t batch = 3) {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    ItemCursor cursor =
        value_of(partition_key ? store_->scan_partition(snapshot, *partition_key) : store_->scan(snapshot));
    std::vector<Value> roots(batch);
    std::vector<std::string> found;
    while (const size_t filled = value_of(cursor.next(roots)))
      for (size_t i = 0; i < filled; ++i) found.emplace_back(store_->id_of(roots[i]).as_string());
    return found;
  }
  ContainerStatistics statistics() {
    return value_of(store_->statistics(value_of(environment_->begin_read())));
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  std::shared_ptr<ContainerStore> store_;
  bool was_created_ = false;
  std::string written_;
};

TEST_F(ContainerTest, CreatesReadsReplacesUpsertsAndErases) {
  make({"/city"});
  const std::string first = value_of(create(R"({"id":"1","city":"Oslo","n":[1,{"a":null}]})"));
  EXPECT_EQ(value_of(read({Value::string("Oslo")}, "1")), R"({"id":"1","city":"Oslo","n":[1,{"a":null}]})");
  EXPECT_EQ(value_of(read({Value::string("Rome")}, "1")), "");
  EXPECT_TRUE(fails_with(create(R"({"id":"1","city":"Oslo"})"), ErrorCode::conflict,
                         R"('1' with partition key ["Oslo"])"));
  EXPECT_TRUE(succeeds(create(R"({"id":"1","city":"Rome"})")));
  const std::string second = value_of(replace(R"({"id":"1","city":"Oslo","n":2})"));
  EXPECT_NE(first, second);
  EXPECT_FALSE(was_created_);
  EXPECT_TRUE(fails_with(replace(R"({"id":"2","city":"Oslo"})"), ErrorCode::not_found, "'2'"));
  EXPECT_TRUE(succeeds(upsert(R"({"id":"2","city":"Oslo"})")));
  EXPECT_TRUE(was_created_);
  EXPECT_TRUE(succeeds(upsert(R"({"id":"2","city":"Oslo","x":1})")));
  EXPECT_FALSE(was_created_);
  EXPECT_EQ(statistics().items, 3u);
  EXPECT_TRUE(succeeds(erase({Value::string("Oslo")}, "1")));
  EXPECT_TRUE(fails_with(erase({Value::string("Oslo")}, "1"), ErrorCode::not_found));
  EXPECT_EQ(statistics().items, 2u);
}

TEST_F(ContainerTest, EtagsGuardWrites) {
  make({"/city"});
  const std::string etag = value_of(create(R"({"id":"1","city":"Oslo"})"));
  EXPECT_TRUE(
      fails_with(replace(R"({"id":"1","city":"Oslo"})", "\"other\""), ErrorCode::precondition_failed));
  const std::string newer = value_of(replace(R"({"id":"1","city":"Oslo","n":1})", etag));
  EXPECT_TRUE(
      fails_with(upsert(R"({"id":"1","city":"Oslo"})", etag), ErrorCode::precondition_failed, "changed"));
  EXPECT_TRUE(
      fails_with(upsert(R"({"id":"9","city":"Oslo"})", etag), ErrorCode::precondition_failed, "not there"));
  EXPECT_TRUE(fails_with(erase({Value::string("Oslo")}, "1", etag), ErrorCode::precondition_failed));
  EXPECT_TRUE(succeeds(upsert(R"({"id":"1","city":"Oslo"})", "*")));
  EXPECT_EQ(statistics().items, 1u);
}

TEST_F(ContainerTest, MakesAMissingIdButNotForAReplace) {
  make({});
  ASSERT_TRUE(succeeds(create(R"({"a":1})")));
  EXPECT_THAT(written_, testing::MatchesRegex(R"(\{"id":"[0-9a-f-]{36}","a":1\})"));
  EXPECT_TRUE(fails_with(replace(R"({"a":1})"), ErrorCode::invalid_id, "no \"id\""));
}

TEST_F(ContainerTest, RefusesBadItemsAndChangesNothing) {
  make({"/key"}, {}, 1000);
  const auto refused = [&](std::string_view json, ErrorCode code, std::string_view part) {
    EXPECT_TRUE(fails_with(create(json), code, part)) << json;
    EXPECT_TRUE(fails_with(upsert(json), code, part)) << json;
  };
  const size_t names = store_->dictionary().size();
  refused(R"({"id":)", ErrorCode::invalid_json, "");
  refused(R"({"id":"\ud800"})", ErrorCode::invalid_json, "");
  refused("[1]", ErrorCode::invalid_argument, "object");
  refused("7", ErrorCode::invalid_argument, "object");
  refused(R"({"id":7,"new":1})", ErrorCode::invalid_id, "string");
  refused(R"({"id":null})", ErrorCode::invalid_id, "string");
  refused(R"({"id":""})", ErrorCode::invalid_id, "empty");
  refused(R"({"id":"a/b"})", ErrorCode::invalid_id, "'/'");
  refused(R"({"id":")" + std::string(1024, 'x') + R"("})", ErrorCode::invalid_id, "1024");
  refused(R"({"id":"big","key":{"x":1}})", ErrorCode::invalid_partition_key, "item 'big'");
  refused(R"({"id":"big","key":[]})", ErrorCode::invalid_partition_key, "/key is an array");
  refused(R"({"id":"big","text":")" + std::string(1000, 'x') + R"("})", ErrorCode::too_large,
          "the limit of container 'things' is 1000");
  refused(R"({"id":"deep","a":)" + std::string(128, '[') + std::string(128, ']') + "}",
          ErrorCode::invalid_json, "128");
  EXPECT_EQ(statistics().items, 0u);
  EXPECT_EQ(statistics().last_lsn, Lsn{0});
  EXPECT_EQ(store_->dictionary().size(), names);
}

TEST_F(ContainerTest, AnItemOf3MegabytesIsTooLarge) {
  make({});
  EXPECT_TRUE(fails_with(create(R"({"id":"big","a":")" + std::string(3 << 20, 'x') + R"("})"),
                         ErrorCode::too_large, "item 'big' has 31457"));
  EXPECT_TRUE(succeeds(create(R"({"id":"big","a":")" + std::string(2'000'000, 'x') + R"("})")));
}

TEST_F(ContainerTest, APartitionKeyOf2049BytesIsRefused) {
  make({"/k"});
  EXPECT_TRUE(succeeds(create(R"({"id":"1","k":")" + std::string(2048, 'x') + R"("})")));
  EXPECT_TRUE(fails_with(create(R"({"id":"2","k":")" + std::string(2049, 'x') + R"("})"),
                         ErrorCode::limit_exceeded, "the limit is 2048 (item '2')"));
}

TEST_F(ContainerTest, MissingAndNullKeysAreDifferentPartitions) {
  make({"/a/b"});
  ASSERT_TRUE(succeeds(create(R"({"id":"missing"})")));
  ASSERT_TRUE(succeeds(create(R"({"id":"missing deeper","a":1})")));
  ASSERT_TRUE(succeeds(create(R"({"id":"null","a":{"b":null}})")));
  ASSERT_TRUE(succeeds(create(R"({"id":"zero","a":{"b":-0.0}})")));
  ASSERT_TRUE(succeeds(create(R"({"id":"text","a":{"b":"0"}})")));
  EXPECT_THAT(ids(std::vector{Value::undefined()}), testing::ElementsAre("missing", "missing deeper"));
  EXPECT_THAT(ids(std::vector{Value::null()}), testing::ElementsAre("null"));
  EXPECT_THAT(ids(std::vector{Value::integer(0)}), testing::ElementsAre("zero"));
  EXPECT_THAT(ids(std::vector{Value::string("0")}), testing::ElementsAre("text"));
  EXPECT_EQ(ids().size(), 5u);
}

TEST_F(ContainerTest, HierarchicalKeysAreScannedByPrefix) {
  make({"/tenant", "/user"});
  for (const char* json :
       {R"({"id":"1","tenant":"t1","user":"u1"})", R"({"id":"2","tenant":"t1","user":"u2"})",
        R"({"id":"3","tenant":"t2","user":"u1"})", R"({"id":"4","tenant":"t1","user":"u1"})"})
    ASSERT_TRUE(succeeds(create(json)));
  const Value t1 = Value::string("t1"), u1 = Value::string("u1");
  EXPECT_THAT(ids(std::vector{t1, u1}), testing::ElementsAre("1", "4"));
  EXPECT_THAT(ids(std::vector{t1}), testing::UnorderedElementsAre("1", "2", "4"));
  EXPECT_EQ(ids(std::vector<Value>{}).size(), 4u);
  EXPECT_EQ(value_of(read({t1, u1}, "4")), R"({"id":"4","tenant":"t1","user":"u1"})");
  EXPECT_TRUE(fails_with(read({t1}, "4"), ErrorCode::invalid_partition_key, "2 components; 1"));
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  EXPECT_TRUE(fails_with(store_->scan_partition(snapshot, std::vector{t1, u1, u1}),
                         ErrorCode::invalid_partition_key));
}

TEST_F(ContainerTest, ScansFillBatchesOfAnySize) {
  make({});
  std::vector<std::string> expected;
  for (int i = 0; i < 25; ++i) {
    expected.push_back("id" + std::to_string(100 + i));
    ASSERT_TRUE(succeeds(create(R"({"id":")" + expected.back() + "\"}")));
  }
  for (const size_t batch : {1, 5, 24, 25, 26, 1000}) EXPECT_EQ(ids(std::nullopt, batch), expected);
}

// A hash for which all strings of one length are alike.
void weak_hash(const Value& component, char (&epk)[kEpkBytes]) {
  std::memset(epk, 0, kEpkBytes);
  epk[0] = static_cast<char>(component.is_string() ? component.as_string().size() : 0);
}

TEST_F(ContainerTest, KeysThatShareAHashNeverShareAnItem) {
  make({"/k"}, {.hash = weak_hash});
  ASSERT_TRUE(succeeds(create(R"({"id":"1","k":"aa"})")));
  ASSERT_TRUE(succeeds(create(R"({"id":"2","k":"bb"})")));
  const auto clashes = [](const auto& result) {
    return fails_with(result, ErrorCode::epk_clash, R"(["bb"] and ["aa"])");
  };
  EXPECT_TRUE(clashes(read({Value::string("bb")}, "1")));
  EXPECT_TRUE(clashes(create(R"({"id":"1","k":"bb"})")));
  EXPECT_TRUE(clashes(upsert(R"({"id":"1","k":"bb"})")));
  EXPECT_TRUE(clashes(replace(R"({"id":"1","k":"bb"})")));
  EXPECT_TRUE(clashes(erase({Value::string("bb")}, "1")));
  EXPECT_THAT(ids(std::vector{Value::string("aa")}), testing::ElementsAre("1"));
  EXPECT_THAT(ids(std::vector{Value::string("bb")}), testing::ElementsAre("2"));
  EXPECT_EQ(statistics().items, 2u);
}

TEST_F(ContainerTest, LongIdsAreKeptApart) {
  make({"/k"});
  const std::string a = std::string(1000, 'x') + "a", b = std::string(1000, 'x') + "b";
  ASSERT_TRUE(succeeds(create(R"({"id":")" + a + R"(","k":1})")));
  ASSERT_TRUE(succeeds(create(R"({"id":")" + b + R"(","k":1})")));
  EXPECT_TRUE(value_of(read({Value::integer(1)}, a)).contains(a));
  EXPECT_TRUE(fails_with(create(R"({"id":")" + a + R"(","k":1})"), ErrorCode::conflict));
  EXPECT_EQ(value_of(read({Value::integer(1)}, std::string(1000, 'x') + "c")), "");
  EXPECT_EQ(value_of(read({Value::integer(1)}, "")), "");
  EXPECT_EQ(value_of(read({Value::integer(1)}, std::string(2000, 'x'))), "");
}

TEST_F(ContainerTest, SystemPropertiesAreTheDatabases) {
  make({});
  const auto before = std::time(nullptr);
  const std::string etag =
      value_of(create(R"({"_etag":"mine","id":"1","_ts":5,"_rid":{},"a":{"_ts":1},"_self":1})"));
  EXPECT_EQ(written_, R"({"id":"1","a":{"_ts":1}})");
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  const Item item = value_of(store_->read(snapshot, {}, "1")).value();
  sql::Arena arena;
  const auto property = [&](sql::SystemProperty name) {
    return store_->system_property(item.root, name, arena);
  };
  EXPECT_EQ(property(sql::SystemProperty::etag).as_string(), etag);
  EXPECT_EQ(property(sql::SystemProperty::attachments).as_string(), "attachments/");
  EXPECT_GE(property(sql::SystemProperty::ts).as_integer(), before);
  EXPECT_LE(property(sql::SystemProperty::ts).as_integer(), std::time(nullptr));
  const std::string rid(property(sql::SystemProperty::rid).as_string());
  EXPECT_EQ(rid.size(), 24u);
  const std::string self(property(sql::SystemProperty::self).as_string());
  EXPECT_THAT(self, testing::MatchesRegex("dbs/[-+A-Za-z0-9]+==/colls/[-+A-Za-z0-9]+=/docs/.*"));
  EXPECT_THAT(self, testing::EndsWith("/docs/" + rid + "/"));

  std::string json;
  store_->write_item_json(item.root, json);
  sql::JsonReader reader;
  const Value parsed = value_of(reader.to_value(json, arena));
  EXPECT_EQ(parsed.member("_etag").as_string(), etag);
  EXPECT_EQ(parsed.member("_rid").as_string(), rid);
  EXPECT_EQ(parsed.member("_ts").as_integer(), property(sql::SystemProperty::ts).as_integer());
  EXPECT_EQ(parsed.size(), 7u);
}

TEST_F(ContainerTest, AReplaceKeepsTheRidAndChangesTheLsn) {
  make({});
  ASSERT_TRUE(succeeds(create(R"({"id":"1"})")));
  ASSERT_TRUE(succeeds(create(R"({"id":"2"})")));
  ASSERT_TRUE(succeeds(replace(R"({"id":"1","a":1})")));
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  const RecordHeader header = value_of(store_->read(snapshot, {}, "1"))->header();
  EXPECT_EQ(header.rid, 1u);
  EXPECT_EQ(header.lsn, Lsn{3});
}

TEST_F(ContainerTest, NamesOfAFailedTransactionAreTakenBack) {
  make({});
  ASSERT_TRUE(succeeds(create(R"({"id":"1","kept":1})")));
  const size_t names = store_->dictionary().size();
  (void)environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(store_->create(transaction, R"({"id":"2","lost":1})"));
    EXPECT_EQ(store_->dictionary().size(), names + 1);
    return fail(ErrorCode::interrupted, "no");
  });
  EXPECT_EQ(store_->dictionary().size(), names);
  EXPECT_TRUE(fails_with(create(R"({"id":"1","conflicting":1})"), ErrorCode::conflict));
  EXPECT_EQ(store_->dictionary().size(), names);
  ASSERT_TRUE(succeeds(create(R"({"id":"3","found":1})")));
  EXPECT_EQ(value_of(read({}, "3")), R"({"id":"3","found":1})");
}

TEST_F(ContainerTest, ManyThreadsWriteItemsWithNewNames) {
  make({"/k"});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const std::string id = std::to_string(thread) + "-" + std::to_string(i);
        const std::string json = R"({"id":")" + id + R"(","k":1,"name)" + id + R"(":1})";
        const auto outcome = environment_->write([&](WriteTransaction& transaction) -> Result<void> {
          QUIRE_TRY(store_->create(transaction, json));
          if (thread == 3) return fail(ErrorCode::interrupted, "always");
          return {};
        });
        EXPECT_EQ(outcome.has_value(), thread != 3);
        EXPECT_EQ(value_of(read({Value::integer(1)}, id)), thread == 3 ? "" : json);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(statistics().items, 150u);
}

TEST_F(ContainerTest, ADroppedContainerIsGoneButOldSnapshotsReadOn) {
  make({});
  ASSERT_TRUE(succeeds(create(R"({"id":"1"})")));
  {
    const ReadTransaction old = value_of(environment_->begin_read());
    EXPECT_TRUE(value_of(store_->read(old, {}, "1")).has_value());
    ASSERT_TRUE(succeeds(environment_->write(
        [&](WriteTransaction& transaction) { return Catalog(*environment_).drop(transaction, "things"); })));
    EXPECT_TRUE(value_of(store_->read(old, {}, "1")).has_value());
    EXPECT_TRUE(fails_with(read({}, "1"), ErrorCode::container_not_found));
  }
  const auto dropped = store_;
  EXPECT_TRUE(fails_with(create(R"({"id":"2"})"), ErrorCode::container_not_found));
  make({});
  ASSERT_TRUE(succeeds(create(R"({"id":"1","new":true})")));
  EXPECT_EQ(value_of(read({}, "1")), R"({"id":"1","new":true})");
  store_ = dropped;
  EXPECT_TRUE(fails_with(read({}, "1"), ErrorCode::container_not_found));
  EXPECT_TRUE(fails_with(create(R"({"id":"2"})"), ErrorCode::container_not_found));
}

TEST_F(ContainerTest, AContainerMadeInAFailedTransactionIsGone) {
  const auto definition = value_of(ContainerDefinition::make("things"));
  (void)environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    store_ = value_of(ContainerStore::create(*environment_, transaction, definition));
    QUIRE_TRY(store_->create(transaction, R"({"id":"1"})"));
    EXPECT_TRUE(value_of(store_->read(transaction, {}, "1")).has_value());
    return fail(ErrorCode::interrupted, "no");
  });
  EXPECT_TRUE(fails_with(read({}, "1"), ErrorCode::container_not_found));
  make({});
  EXPECT_EQ(value_of(read({}, "1")), "");
}

TEST_F(ContainerTest, DamageIsFoundAndNamed) {
  make({}, {.verify_checksums = true});
  ASSERT_TRUE(succeeds(create(R"({"id":"fine"})")));
  ASSERT_TRUE(succeeds(create(R"({"id":"bad","a":"bbbb"})")));
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    std::string record(value_of(transaction.get(store_->items_table(), "bad")).value());
    record.back() ^= 1;
    return transaction.put(store_->items_table(), "bad", record);
  })));
  EXPECT_TRUE(fails_with(read({}, "bad"), ErrorCode::corrupt, "'bad'"));
  EXPECT_TRUE(succeeds(read({}, "fine")));
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) {
    return transaction.put(store_->items_table(), "bad", "short");
  })));
  EXPECT_TRUE(fails_with(read({}, "bad"), ErrorCode::corrupt, "'bad'"));
  const ReadTransaction snapshot = value_of(environment_->begin_read());
  ItemCursor cursor = value_of(store_->scan(snapshot));
  std::vector<Value> roots(10);
  EXPECT_TRUE(fails_with(cursor.next(roots), ErrorCode::corrupt, "'bad'"));
}

// Two processes with a container open, each writing names that the other has not seen.
TEST(ContainerProcesses, SeeEachOthersItemsAndNames) {
  const TemporaryFolder folder;
  const auto write_many = [&](const std::string& who) {
    const auto environment =
        value_of(Environment::open(folder.path("a.quire"), {.durability = Durability::none}));
    const Catalog catalog(*environment);
    const CatalogEntry entry = value_of(catalog.find(value_of(environment->begin_read()), "c")).value();
    const auto store = value_of(ContainerStore::open(*environment, entry));
    for (int i = 0; i < 100; ++i) {
      const std::string id = who + std::to_string(i);
      const std::string json = R"({"id":")" + id + R"(",")" + id + R"(":1})";
      const auto outcome = environment->write([&](WriteTransaction& transaction) -> Result<void> {
        QUIRE_TRY(store->create(transaction, json));
        return {};
      });
      const ReadTransaction snapshot = value_of(environment->begin_read());
      const auto item = store->read(snapshot, {}, id);
      if (!outcome || !item || !*item || json_of((*item)->root) != json) return 1;
    }
    return 0;
  };
  {
    const auto environment = value_of(Environment::open(folder.path("a.quire")));
    ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(ContainerStore::create(*environment, transaction, value_of(ContainerDefinition::make("c"))));
      return {};
    })));
  }
  const pid_t child = fork();
  if (child == 0) _exit(write_many("child"));
  EXPECT_EQ(write_many("parent"), 0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto environment = value_of(Environment::open(folder.path("a.quire")));
  const ReadTransaction snapshot = value_of(environment->begin_read());
  const CatalogEntry entry = value_of(Catalog(*environment).find(snapshot, "c")).value();
  const auto store = value_of(ContainerStore::open(*environment, entry));
  const ReadTransaction later = value_of(environment->begin_read());
  EXPECT_EQ(value_of(store->statistics(later)).items, 200u);
  for (const char* id : {"child99", "parent99"})
    EXPECT_EQ(json_of(value_of(store->read(later, {}, id))->root),
              std::string(R"({"id":")") + id + R"(",")" + id + R"(":1})");
}

}  // namespace
}  // namespace quire::engine
