// Items through the public API: what is written is read back, and each bad input has its own error and
// changes nothing.
#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class ItemTest : public DatabaseTest {
 protected:
  Container cities_ = make("cities", "/country");

  std::string count() { return query("SELECT VALUE COUNT(1) FROM cities c"); }
};

TEST_F(ItemTest, ReadsBackWhatWasCreatedByteForByte) {
  const std::string json =
      R"({"id":"é","country":"FR","big":9223372036854775807,"pi":3.14,"deep":{"a":[1,null,{}]}})";
  ASSERT_TRUE(succeeds(cities_.create(json)));
  EXPECT_EQ(cities_.read_json("FR", "é", false).value(), json);
}

TEST_F(ItemTest, ShowsSystemPropertiesBehindTheItemsOwn) {
  auto info = cities_.create(R"({"id":"nice","country":"FR","_ts":1,"_etag":"mine"})");
  ASSERT_TRUE(succeeds(info));
  const std::string json = cities_.read_json("FR", "nice").value();
  EXPECT_THAT(json, MatchesRegex(R"(\{"id":"nice","country":"FR","_rid":".*","_self":"dbs/.*","_etag":".*",)"
                                 R"("_attachments":"attachments/","_ts":[0-9]+\})"));
  EXPECT_THAT(json, HasSubstr(std::to_string(info->timestamp())));
  EXPECT_EQ(info->etag().size(), 38u);
  EXPECT_TRUE(info->was_created());
}

TEST_F(ItemTest, UpsertCreatesThenReplaces) {
  EXPECT_TRUE(cities_.upsert(R"({"id":"nice","country":"FR"})")->was_created());
  EXPECT_FALSE(cities_.upsert(R"({"id":"nice","country":"FR","n":2})")->was_created());
  EXPECT_EQ(cities_.read_json("FR", "nice", false).value(), R"({"id":"nice","country":"FR","n":2})");
}

TEST_F(ItemTest, AnItemWithoutIdGetsOne) {
  ASSERT_TRUE(succeeds(cities_.create(R"({"country":"FR"})")));
  EXPECT_THAT(query("SELECT VALUE c.id FROM cities c"), MatchesRegex("\"[0-9a-f-]{36}\"\n"));
}

TEST_F(ItemTest, EtagsGuardWrites) {
  const auto first = cities_.create(R"({"id":"nice","country":"FR"})");
  const auto second = cities_.replace(R"({"id":"nice","country":"FR","n":1})", {.if_match = first->etag()});
  ASSERT_TRUE(succeeds(second));
  EXPECT_NE(first->etag(), second->etag());
  const WriteOptions stale{.if_match = first->etag()};
  EXPECT_TRUE(
      fails_with(cities_.replace(R"({"id":"nice","country":"FR"})", stale), QUIRE_PRECONDITION_FAILED));
  EXPECT_TRUE(
      fails_with(cities_.upsert(R"({"id":"nice","country":"FR"})", stale), QUIRE_PRECONDITION_FAILED));
  EXPECT_TRUE(fails_with(cities_.remove("FR", "nice", stale), QUIRE_PRECONDITION_FAILED));
  EXPECT_TRUE(succeeds(cities_.remove("FR", "nice", {.if_match = "*"})));
  EXPECT_EQ(count(), "0\n");
}

// An etag that is empty by mistake must not lose the check. In C++ an empty one is documented as any.
TEST_F(ItemTest, InCAnEmptyEtagIsThatOfNoItem) {
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":"nice","country":"FR"})")));
  const std::string item = R"({"id":"nice","country":"FR","n":1})";
  const std::string patch = R"([{"op":"set","path":"/n","value":1}])";
  const quire_scalar key{QUIRE_STRING, 0, 0, "FR", 2};
  quire_container* const cities = cities_.c_handle();
  quire_write_options options{};
  options.struct_size = sizeof options;
  options.if_match = "";
  quire_error error{};
  for (const int code : {
           quire_upsert(cities, nullptr, item.data(), item.size(), "", nullptr, &error),
           quire_replace(cities, nullptr, item.data(), item.size(), "", nullptr, &error),
           quire_write(cities, nullptr, QUIRE_UPSERT, item.data(), item.size(), &options, nullptr, &error),
           quire_patch(cities, nullptr, &key, 1, "nice", 4, patch.data(), patch.size(), "", nullptr, &error),
           quire_delete(cities, nullptr, &key, 1, "nice", 4, "", &error),
           quire_delete_with(cities, nullptr, &key, 1, "nice", 4, &options, &error),
       })
    EXPECT_EQ(code, QUIRE_PRECONDITION_FAILED);
  EXPECT_EQ(error.status, 412);
  EXPECT_STREQ(error.message, R"(item 'nice' has changed: its _etag is not "")");
  EXPECT_EQ(quire_read(cities, nullptr, &key, 1, "nice", 4, "", nullptr, nullptr, nullptr), QUIRE_OK);
  EXPECT_EQ(cities_.read_json("FR", "nice", false).value(), R"({"id":"nice","country":"FR"})");
  EXPECT_TRUE(succeeds(cities_.upsert(item, {.if_match = ""})));
}

TEST_F(ItemTest, MissingItemsAreNotFound) {
  EXPECT_TRUE(fails_with(cities_.read_json("FR", "nice"), QUIRE_NOT_FOUND, "nice"));
  EXPECT_TRUE(fails_with(cities_.remove("FR", "nice"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(fails_with(cities_.replace(R"({"id":"nice","country":"FR"})"), QUIRE_NOT_FOUND));
  const auto error = cities_.read_json("FR", "nice").error();
  EXPECT_EQ(error.status, 404);
  EXPECT_STREQ(error.name(), "not_found");
}

TEST_F(ItemTest, PartitionKeysOfEveryScalarTypeAreTheirOwnPartitions) {
  for (const char* key :
       {R"(,"country":"1")", R"(,"country":1)", R"(,"country":true)", R"(,"country":null)", ""})
    ASSERT_TRUE(succeeds(cities_.create(R"({"id":"x")" + std::string(key) + "}")));
  EXPECT_EQ(cities_.read_json("1", "x", false).value(), R"({"id":"x","country":"1"})");
  EXPECT_EQ(cities_.read_json(1, "x", false).value(), R"({"id":"x","country":1})");
  EXPECT_EQ(cities_.read_json(1.0, "x", false).value(), R"({"id":"x","country":1})");
  EXPECT_EQ(cities_.read_json(true, "x", false).value(), R"({"id":"x","country":true})");
  EXPECT_EQ(cities_.read_json(nullptr, "x", false).value(), R"({"id":"x","country":null})");
  EXPECT_EQ(cities_.read_json(Scalar::undefined(), "x", false).value(), R"({"id":"x"})");
}

TEST_F(ItemTest, AHierarchicalKeyTakesAComponentForEachPath) {
  ASSERT_TRUE(succeeds(database_->create_container(
      R"({"id":"log","partitionKey":{"paths":["/tenant","/user"],"kind":"MultiHash"}})")));
  auto log = std::move(database_->container("log").value());
  ASSERT_TRUE(succeeds(log.create(R"({"id":"1","tenant":"a","user":7})")));
  EXPECT_TRUE(succeeds(log.read_json({"a", 7}, "1")));
  EXPECT_TRUE(fails_with(log.read_json("a", "1"), QUIRE_INVALID_PARTITION_KEY));
  EXPECT_TRUE(fails_with(log.read_json({1, 2, 3, 4}, "1"), QUIRE_INVALID_PARTITION_KEY, "at most 3"));
  EXPECT_TRUE(succeeds(log.remove({"a", 7}, "1")));
}

TEST_F(ItemTest, WithoutAPartitionKeyTheIdIsTheKey) {
  auto notes = make("notes");
  ASSERT_TRUE(succeeds(notes.create(R"({"id":"a","text":"x"})")));
  EXPECT_EQ(notes.read_json({}, "a", false).value(), R"({"id":"a","text":"x"})");
  EXPECT_TRUE(fails_with(notes.create(R"({"id":"a"})"), QUIRE_CONFLICT));
}

struct BadItem {
  const char* name;
  std::string json;
  int code;
};
void PrintTo(const BadItem& bad, std::ostream* out) {
  *out << bad.name;
}

class RefusedItemTest : public DatabaseTest {
 protected:
  void expect_refusal(const std::string& json, int code) {
    auto cities = make("cities", "/country");
    ASSERT_TRUE(succeeds(cities.create(R"({"id":"nice","country":"FR"})")));
    const std::string before = query("SELECT VALUE c FROM cities c");
    EXPECT_TRUE(fails_with(cities.create(json), code));
    if (code != QUIRE_CONFLICT) {
      EXPECT_TRUE(fails_with(cities.upsert(json), code));
    }
    EXPECT_EQ(query("SELECT VALUE c FROM cities c"), before);
  }
};

// No parameter, which every start of the program would copy some ten times.
TEST_F(RefusedItemTest, OfThreeMegabytes) {
  expect_refusal(R"({"id":"x","a":")" + std::string(3'000'000, 'a') + "\"}", QUIRE_TOO_LARGE);
}

class BadItemTest : public RefusedItemTest, public testing::WithParamInterface<BadItem> {};

TEST_P(BadItemTest, IsRefusedAndChangesNothing) {
  expect_refusal(GetParam().json, GetParam().code);
}

std::string nested(size_t depth) {
  return R"({"id":"x","a":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
}

INSTANTIATE_TEST_SUITE_P(
    All, BadItemTest,
    testing::Values(
        BadItem{"no_json", "hello", QUIRE_INVALID_JSON}, BadItem{"empty", "", QUIRE_INVALID_JSON},
        BadItem{"cut_off", R"({"id":"x)", QUIRE_INVALID_JSON},
        BadItem{"trailing", R"({"id":"x"} 1)", QUIRE_INVALID_JSON},
        BadItem{"lone_surrogate", R"({"id":"\ud800"})", QUIRE_INVALID_JSON},
        BadItem{"not_utf8", "{\"id\":\"\xff\"}", QUIRE_INVALID_JSON},
        BadItem{"binary", std::string("\0\1\2", 3), QUIRE_INVALID_JSON},
        BadItem{"nested_129_deep", nested(129), QUIRE_INVALID_JSON},
        BadItem{"no_object", "[1]", QUIRE_INVALID_ARGUMENT},
        BadItem{"empty_id", R"({"id":""})", QUIRE_INVALID_ID},
        BadItem{"numeric_id", R"({"id":1})", QUIRE_INVALID_ID},
        BadItem{"id_of_1024_bytes", R"({"id":")" + std::string(1024, 'i') + "\"}", QUIRE_INVALID_ID},
        BadItem{"id_with_slash", R"({"id":"a/b"})", QUIRE_INVALID_ID},
        BadItem{"object_as_partition_key", R"({"id":"x","country":{}})", QUIRE_INVALID_PARTITION_KEY},
        BadItem{"long_partition_key", R"({"id":"x","country":")" + std::string(2049, 'c') + "\"}",
                QUIRE_LIMIT_EXCEEDED},
        BadItem{"duplicate", R"({"id":"nice","country":"FR"})", QUIRE_CONFLICT}),
    [](const auto& info) { return info.param.name; });

TEST_F(ItemTest, InvalidJsonIsReportedWithItsPlace) {
  const auto result = cities_.create("{\"id\":\"x\",\n  \"a\": tru }");
  ASSERT_TRUE(fails_with(result, QUIRE_INVALID_JSON));
  EXPECT_EQ(result.error().line, 2u);
  EXPECT_GE(result.error().column, 8u);
}

TEST_F(ItemTest, TheLongestIdAndTheDeepestNestingAreTaken) {
  const std::string id(1023, 'i');
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":")" + id + R"(","country":"FR"})")));
  EXPECT_TRUE(succeeds(cities_.read_json("FR", id)));
  EXPECT_TRUE(succeeds(cities_.create(nested(128))));
}

// ---- Messages

TEST_F(ItemTest, AReplaceWithoutIdIsToldWhatTheIdIsFor) {
  const auto result = cities_.replace(R"({"country":"FR"})");
  EXPECT_TRUE(fails_with(result, QUIRE_INVALID_ID, "a replace needs it to tell which item to replace"));
}

TEST_F(ItemTest, ALongIdOrKeyLeavesRoomForTheReason) {
  std::string id = "i";
  for (int i = 0; i < 2000; ++i) id += "é";
  const auto refused = cities_.create(R"({"country":"FR","id":")" + id + "\"}");
  EXPECT_TRUE(fails_with(refused, QUIRE_INVALID_ID, "é...' has 4001"));
  EXPECT_TRUE(fails_with(cities_.read_json("FR", id), QUIRE_NOT_FOUND, "é...' in partition"));
  EXPECT_TRUE(fails_with(cities_.remove("FR", id), QUIRE_NOT_FOUND, "é...' with this partition key"));
  const std::string longest = R"({"country":"FR","id":")" + std::string(1023, 'i') + "\"}";
  ASSERT_TRUE(succeeds(cities_.create(longest)));
  EXPECT_TRUE(fails_with(cities_.create(longest), QUIRE_CONFLICT, "exists in container 'cities'"));
  EXPECT_TRUE(fails_with(cities_.upsert(longest, {.if_match = "\"x\""}), QUIRE_PRECONDITION_FAILED,
                         "its _etag is not \"x\""));
  const std::string far = R"({"id":"x","country":")" + std::string(2048, 'c') + "\"}";
  ASSERT_TRUE(succeeds(cities_.create(far)));
  EXPECT_TRUE(fails_with(cities_.create(far), QUIRE_CONFLICT, "exists in container 'cities'"));
  std::istringstream lines(far + "\n" + longest + "\n");
  EXPECT_TRUE(fails_with(cities_.import(lines), QUIRE_CONFLICT, "exists in container 'cities'; upsert"));
}

// C would take it for the end of the message.
TEST_F(ItemTest, AZeroByteInAMessageIsSeen) {
  const std::string item = R"({"id":"a\u0000b","country":"FR"})";
  ASSERT_TRUE(succeeds(cities_.create(item)));
  EXPECT_TRUE(fails_with(cities_.create(item), QUIRE_CONFLICT, R"(item 'a\0b' with partition key)"));
  const std::string zeros(200, '\0');
  EXPECT_TRUE(fails_with(cities_.read_json("FR", zeros), QUIRE_NOT_FOUND, R"(\0\0' in partition)"));
  EXPECT_TRUE(
      fails_with(database_->container(std::string(2000, '\0')), QUIRE_CONTAINER_NOT_FOUND, R"(\0\0)"));
}

// ---- Snapshots

TEST_F(ItemTest, ASnapshotStaysWhereItBegan) {
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":"nice","country":"FR","n":1})")));
  auto snapshot = database_->begin_snapshot();
  ASSERT_TRUE(succeeds(snapshot));
  ASSERT_TRUE(succeeds(cities_.upsert(R"({"id":"nice","country":"FR","n":2,"new":"name"})")));
  EXPECT_EQ((*snapshot->read(cities_, "FR", "nice"))["n"].as_integer(), 1);
  ASSERT_TRUE(succeeds(snapshot->renew()));
  const Value now = snapshot->read(cities_, "FR", "nice").value();
  EXPECT_EQ(now["n"].as_integer(), 2);
  EXPECT_EQ(now["new"].as_string(), "name");
  EXPECT_TRUE(now["_ts"].is_undefined());
  EXPECT_TRUE(fails_with(snapshot->read(cities_, "FR", "lyon"), QUIRE_NOT_FOUND, "lyon"));
}

// ---- Transactions

TEST_F(ItemTest, ATransactionIsSeenOnlyOnceItCommits) {
  auto others = make("others");
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(transaction));
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":"nice","country":"FR"})", &*transaction)));
  ASSERT_TRUE(succeeds(others.create(R"({"id":"o"})", &*transaction)));
  EXPECT_EQ(count(), "0\n");
  ASSERT_TRUE(succeeds(transaction->commit()));
  EXPECT_EQ(count(), "1\n");
  EXPECT_TRUE(succeeds(others.read_json({}, "o")));
}

TEST_F(ItemTest, ARolledBackTransactionLeavesNothing) {
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":"nice","country":"FR"})")));
  {
    auto transaction = database_->begin_transaction();
    ASSERT_TRUE(succeeds(
        cities_.upsert(R"({"id":"nice","country":"FR","fresh":1})", {.transaction = &*transaction})));
    ASSERT_TRUE(succeeds(cities_.create(R"({"id":"lyon","country":"FR","other":1})", &*transaction)));
  }
  EXPECT_EQ(query("SELECT VALUE {id: c.id, fresh: c.fresh} FROM cities c"), "{\"id\":\"nice\"}\n");
  // The names that it had added are given anew.
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":"paris","country":"FR","new":true})")));
  EXPECT_EQ(query("SELECT VALUE c.new FROM cities c"), "true\n");
}

TEST_F(ItemTest, AFailedWriteLeavesItsTransactionUsable) {
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":"nice","country":"FR"})", &*transaction)));
  EXPECT_TRUE(fails_with(cities_.create(R"({"id":"nice","country":"FR"})", &*transaction), QUIRE_CONFLICT));
  EXPECT_TRUE(fails_with(cities_.create("{", &*transaction), QUIRE_INVALID_JSON));
  EXPECT_TRUE(succeeds(cities_.remove("FR", "nice", {.transaction = &*transaction})));
  ASSERT_TRUE(succeeds(cities_.create(R"({"id":"lyon","country":"FR"})", &*transaction)));
  ASSERT_TRUE(succeeds(transaction->commit()));
  EXPECT_EQ(query("SELECT VALUE c.id FROM cities c"), "\"lyon\"\n");
}

}  // namespace
}  // namespace quire::tests
