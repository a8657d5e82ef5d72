// Statements over storage: scopes, plans that follow their containers, bindings. What the public API shows is
// tested in tests/engine/api.
#include "engine/query/prepared_statement.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "engine/file/table_registry.h"
#include "tests/engine/file/other_process.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class QueryTest : public testing::Test {
 protected:
  std::shared_ptr<ContainerStore> make(std::string_view name, const std::vector<std::string>& paths,
                                       std::initializer_list<std::string_view> items) {
    return make(value_of(ContainerDefinition::make(name, paths)), items);
  }

  std::shared_ptr<ContainerStore> make(const ContainerDefinition& definition,
                                       std::initializer_list<std::string_view> items) {
    auto store = value_of(containers_.create(definition));
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      for (const std::string_view item : items) QUIRE_TRY(store->create(transaction, item));
      return {};
    })));
    return store;
  }

  std::unique_ptr<PreparedStatement> prepare(std::string_view sql,
                                             std::shared_ptr<ContainerStore> scope = nullptr) {
    return value_of(PreparedStatement::prepare(containers_, sql, {.scope = std::move(scope)}));
  }

  static std::string rows(PreparedStatement& statement) {
    std::string text;
    statement.reset();
    for (;;) {
      const auto row = statement.step();
      if (!row) return std::string(error_code_row(row.error().code).name);
      if (!*row) return text;
      sql::write_json(**row, text);
      text += '\n';
    }
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  OpenContainers containers_{*environment_};
};

TEST_F(QueryTest, ContainersThatAnotherDatabaseHasDroppedAreNotKeptForEver) {
  const auto kept = make("kept", {}, {});
  OpenContainers others(*environment_);
  const auto kept_there = value_of(others.open("kept"));
  std::vector<std::weak_ptr<ContainerStore>> opened;
  for (int i = 0; i < 100; ++i) {
    const std::string name = fmt::format("c{}", i % 3);
    make(name, {}, {});
    opened.push_back(value_of(others.open(name)));
    ASSERT_TRUE(succeeds(containers_.drop(name)));
  }
  EXPECT_LT(std::ranges::count_if(opened, [](const auto& store) { return !store.expired(); }), 50);
  EXPECT_EQ(others.known(kept->number()).store, kept_there);
}

TEST_F(QueryTest, ContainersThatAnotherProcessHasDroppedLeaveRoomForOthers) {
  const TemporaryFolder folder;
  const auto open = [&] {
    return value_of(Environment::open(folder.path("f.quire"), {.durability = Durability::none}));
  };
  std::unique_ptr<Environment> theirs;
  std::optional<OpenContainers> others;
  OtherProcess other([&](int step) {
    if (step == 0) others.emplace(*(theirs = open()));
    if (step > 0 && !others->drop(fmt::format("c{}", step - 1))) return false;
    const auto made = ContainerDefinition::make(fmt::format("c{}", step));
    return made && others->create(*made).has_value();
  });
  ASSERT_TRUE(other.step());
  const auto environment = open();
  OpenContainers ours(*environment);
  for (unsigned step = 0; step < kMostTables / std::size(kContainerTables) + 100; ++step) {
    ASSERT_TRUE(succeeds(ours.open(fmt::format("c{}", step))));
    ASSERT_TRUE(other.step());
  }
}

TEST_F(QueryTest, AContainerThatItsCommitGroupHasMadeIsForTheNextTransaction) {
  // What a group does is done by one thread, within one transaction.
  EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(
        ContainerStore::create(*environment_, transaction, value_of(ContainerDefinition::make("c", {})), {}));
    const uint64_t openings = containers_.openings();
    return transaction.nested([&](WriteTransaction& nested) -> Result<void> {
      QUIRE_ASSIGN(const auto found, containers_.find(nested, "c"));
      EXPECT_EQ(found.store, nullptr);
      EXPECT_GT(found.opening, openings);
      return {};
    });
  })));
  EXPECT_EQ(rows(*prepare("INSERT INTO c VALUES {id: 'a'} RETURNING VALUE c.id")), "\"a\"\n");
}

TEST_F(QueryTest, EachAccessPathReadsOnlyItsItems) {
  make("c", {"/k"}, {R"({"id":"1","k":"a"})", R"({"id":"2","k":"a"})", R"({"id":"1","k":"b"})"});
  auto scan = prepare("SELECT VALUE COUNT(1) FROM c WHERE c.id = '1'");
  EXPECT_EQ(rows(*scan), "2\n");
  EXPECT_EQ(scan->stats().items_read, 3u);
  auto partition = prepare("SELECT VALUE COUNT(1) FROM c WHERE c.k = @k");
  ASSERT_TRUE(succeeds(partition->bind("k", sql::Value::string("a"))));
  EXPECT_EQ(rows(*partition), "2\n");
  EXPECT_EQ(partition->stats().items_read, 2u);
  auto point = prepare("SELECT VALUE c.k FROM c WHERE c.k = 'b' AND c.id = '1'");
  EXPECT_EQ(rows(*point), "\"b\"\n");
  EXPECT_EQ(point->stats().items_read, 1u);
}

// They share a partition, as their doubles are the same; = tells them apart, whatever way leads to them.
TEST_F(QueryTest, NumbersThatShareAPartitionAreNotEqual) {
  constexpr std::string_view kItems[] = {R"({"id":"1","k":9007199254740992,"l":"a"})",
                                         R"({"id":"2","k":9007199254740993,"l":"a"})",
                                         R"({"id":"3","k":9007199254740993,"l":"b"})"};
  make("flat", {"/k"}, {kItems[0], kItems[1], kItems[2]});
  make("deep", {"/k", "/l"}, {kItems[0], kItems[1], kItems[2]});
  make("none", {}, {kItems[0], kItems[1], kItems[2]});
  const auto expect = [&](std::string_view condition, std::string_view ids) {
    for (const std::string_view container : {"none", "flat", "deep"})
      EXPECT_EQ(rows(*prepare(
                    fmt::format("SELECT VALUE c.id FROM {} c WHERE {} ORDER BY c.id", container, condition))),
                ids)
          << container << ": " << condition;
  };
  expect("c.k = 9007199254740992", "\"1\"\n");
  expect("c.k = 9007199254740992.0", "\"1\"\n");
  expect("c.k = 9007199254740993", "\"2\"\n\"3\"\n");
  expect("c.k = 9007199254740992 AND c.id = '2'", "");
  expect("c.k = 9007199254740993 AND c.l = 'a' AND c.id = '2'", "\"2\"\n");
  expect("c.k = 9007199254740992 AND c.l = 'a' AND c.id = '2'", "");
  expect("c.k IN (9007199254740992, 1)", "\"1\"\n");
  expect("c.k IN (9007199254740993, 9007199254740992, 9007199254740993)", "\"1\"\n\"2\"\n\"3\"\n");
  expect("c.k IN (9007199254740992, 1) AND c.l IN ('a', 'b')", "\"1\"\n");
  expect("ARRAY_CONTAINS([1, 9007199254740992], c.k) AND c.id IN ('1', '2', '3')", "\"1\"\n");
  EXPECT_EQ(rows(*prepare("DELETE FROM flat c WHERE c.k = 9007199254740992 RETURNING VALUE c.id")),
            "\"1\"\n");
}

// The keys of the items are gathered first, which takes long where there are millions.
TEST_F(QueryTest, KeysOfARangeAreGatheredUntilTold) {
  const auto store = make(value_of(ContainerDefinition::from_json(
                              R"({"id":"c","indexes":[{"name":"n","paths":[{"path":"/n"}]}]})")),
                          {});
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    for (int n = 0; n < 10'000; ++n)
      QUIRE_TRY(store->create(transaction, fmt::format(R"({{"id":"{}","n":{}}})", n, n)));
    return {};
  })));
  const auto source = value_of(SnapshotSource::begin(containers_, nullptr));
  sql::Collection* const collection = source->collection("c");
  ASSERT_NE(collection, nullptr);
  int asked = 0;
  const std::function<Result<void>()> may_go_on = [&asked]() -> Result<void> {
    if (++asked == 2) return std::unexpected(Error{ErrorCode::interrupted, "enough"});
    return {};
  };
  const sql::KeyRange all[] = {{"", ""}};
  const sql::IndexProbe probe[] = {{collection->indexes()[0].number, all}};
  sql::Access access;
  access.kind = sql::Access::Kind::any_index;
  access.probes = probe;
  EXPECT_TRUE(succeeds(collection->open(access)));
  access.may_go_on = &may_go_on;
  const auto cursor = collection->open(access);
  ASSERT_FALSE(cursor);
  EXPECT_EQ(cursor.error().code, ErrorCode::interrupted);
  EXPECT_EQ(asked, 2);
}

// Its operators are kept from run to run.
TEST_F(QueryTest, AnAggregateThatRunsAgainBeginsAnew) {
  make("c", {"/k"},
       {R"({"id":"1","k":"a","n":5,"t":"a text that is longer than others"})",
        R"({"id":"2","k":"a","n":7,"t":"b"})", R"({"id":"3","k":"b","n":1.5})"});
  auto aggregates = prepare(
      "SELECT COUNT(1) AS c, COUNT(c.t) AS t, SUM(c.n) AS s, AVG(c.n) AS a, MIN(c.t) AS low, MAX(c.t) AS high"
      " FROM c WHERE c.k = @k AND c.n < @below");
  const auto run = [&](std::string_view key, double below) {
    aggregates->reset();
    EXPECT_TRUE(succeeds(aggregates->bind("k", sql::Value::string(key))));
    EXPECT_TRUE(succeeds(aggregates->bind("below", sql::Value::real(below))));
    return rows(*aggregates);
  };
  const std::string both =
      R"({"c":2,"t":2,"s":12,"a":6,"low":"a text that is longer than others","high":"b"})"
      "\n";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run("a", 10), both);
    EXPECT_EQ(run("a", 6.5), R"({"c":1,"t":1,"s":5,"a":5,"low":"a text that is longer than others",)"
                             R"("high":"a text that is longer than others"})"
                             "\n");
    EXPECT_EQ(run("none", 10), "{\"c\":0,\"t\":0,\"s\":0}\n");
    EXPECT_EQ(run("b", 10), "{\"c\":1,\"t\":0,\"s\":1.5,\"a\":1.5}\n");
  }
  aggregates->reset();
  EXPECT_TRUE(succeeds(aggregates->bind("k", sql::Value::string("a"))));
  EXPECT_TRUE(value_of(aggregates->step()).has_value());
  EXPECT_EQ(run("a", 10), both) << "after a run that was not gone through";
}

TEST_F(QueryTest, PoliciesOfTheDefinitionGiveDefaults) {
  make(
      value_of(ContainerDefinition::from_json(
          R"({"id":"c","vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","distanceFunction":"euclidean"}]},)"
          R"("fullTextPolicy":{"defaultLanguage":"de-DE","fullTextPaths":[]}})")),
      {R"({"id":"1","v":[3,4],"t":"viele H\u00e4user"})"});
  auto statement =
      prepare("SELECT VectorDistance(c.v, [0, 0]) AS d, FullTextContains(c.t, 'Haus') AS f FROM c");
  EXPECT_EQ(rows(*statement), "{\"d\":5,\"f\":true}\n");
}

TEST_F(QueryTest, APolicyOfAnEarlierVersionIsNoReasonToRefuseAnotherChange) {
  const auto definition = value_of(ContainerDefinition::from_json(
      R"({"id":"c","vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","distanceFunction":"l2"}]}})"));
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(ContainerStore::create(*environment_, transaction, definition, {}));
    return {};
  })));
  EXPECT_EQ(rows(*prepare("ALTER CONTAINER c WITH {defaultTtl: 60}")), "");
  EXPECT_EQ(rows(*prepare("ALTER CONTAINER c WITH {vectorEmbeddingPolicy: {vectorEmbeddings: [{path: '/v', "
                          "distanceFunction: 'l3'}]}}")),
            "invalid_definition");
}

TEST_F(QueryTest, APolicyThatIsAlteredHoldsForStatementsPreparedBefore) {
  make("c", {}, {R"({"id":"1","v":[3,4]})"});
  auto statement = prepare("SELECT VALUE VECTORDISTANCE(c.v, [3, 0]) FROM c");
  EXPECT_EQ(rows(*statement), "0.6\n");
  EXPECT_EQ(rows(*prepare("ALTER CONTAINER c WITH {vectorEmbeddingPolicy: {vectorEmbeddings: [{path: '/v', "
                          "distanceFunction: 'euclidean'}]}}")),
            "");
  EXPECT_EQ(rows(*statement), "4\n");
}

TEST_F(QueryTest, AScoreRestsOnAllItemsOfTheContainer) {
  make("c", {"/k"},
       {R"({"id":"1","k":"a","t":"red red"})", R"({"id":"2","k":"a","t":"blue"})",
        R"({"id":"3","k":"b","t":"red"})"});
  auto ranked =
      prepare("SELECT VALUE c.id FROM c WHERE c.k = 'a' ORDER BY RANK FullTextScore(c.t, 'red', 'blue')");
  EXPECT_EQ(rows(*ranked), "\"2\"\n\"1\"\n");
  EXPECT_EQ(ranked->stats().items_read, 3u + 2u);
}

TEST_F(QueryTest, APrefixOfAHierarchicalKeyReadsItsPartitions) {
  make("c", {"/a", "/b"},
       {R"({"id":"1","a":1,"b":1})", R"({"id":"2","a":1,"b":2})", R"({"id":"3","a":2,"b":1})"});
  auto statement = prepare("SELECT VALUE COUNT(1) FROM c WHERE c.a = 1");
  EXPECT_EQ(rows(*statement), "2\n");
  EXPECT_EQ(statement->stats().items_read, 2u);
}

TEST_F(QueryTest, ASortUnderALimitKeepsComputedKeysWhileItsRowsAreReplaced) {
  auto store = make("c", {}, {});
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    for (int i = 10'000; i < 15'000; ++i)
      QUIRE_TRY(store->create(transaction, "{\"id\":\"a key that rises: " + std::to_string(i) + "\"}"));
    return {};
  })));
  auto statement = prepare("SELECT UPPER(c.id) AS id FROM c ORDER BY LOWER(c.id) DESC OFFSET 1 LIMIT 2");
  EXPECT_EQ(rows(*statement), "{\"id\":\"A KEY THAT RISES: 14998\"}\n{\"id\":\"A KEY THAT RISES: 14997\"}\n");
}

TEST_F(QueryTest, ASortPastItsMemoryFailsAndOneUnderALimitNeedsLittle) {
  auto store = make("c", {}, {});
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    for (int i = 0; i < 5000; ++i) QUIRE_TRY(store->create(transaction, fmt::format(R"({{"id":"{}"}})", i)));
    return {};
  })));
  constexpr size_t kMemory = size_t{128} << 10;
  const auto run = [&](std::string_view sql) {
    return rows(
        *value_of(PreparedStatement::prepare(containers_, sql, {.scope = nullptr, .memory_limit = kMemory})));
  };
  EXPECT_EQ(run("SELECT VALUE c.id FROM c ORDER BY c.id || ''"), "out_of_memory");
  EXPECT_EQ(run("SELECT VALUE c.id FROM c ORDER BY c.id || '' OFFSET 1 LIMIT 1"), "\"1\"\n");
}

// `times` of `part`, in which {} stands for a number that rises.
std::string repeated(std::string_view part, size_t times, std::string_view separator = ",") {
  std::string text;
  for (size_t i = 0; i < times; ++i)
    text += (i == 0 ? "" : std::string(separator)) + fmt::format(fmt::runtime(part), i);
  return text;
}

TEST_F(QueryTest, WhatTheCompilerWouldMultiplyIsBounded) {
  make("c", {}, {R"({"id":"1","a":[1]})"});
  const std::string joins =
      "SELECT VALUE 1 FROM c " + repeated("JOIN j{} IN c.a", sql::kMostSources - 1, " ");
  const std::string keys = "SELECT VALUE 1 FROM c GROUP BY " + repeated("c.k{}", sql::kMostGroupKeys);
  const std::string subqueries = "SELECT VALUE [" + repeated("(SELECT VALUE {})", sql::kMostSubqueries);
  EXPECT_EQ(rows(*prepare(joins)), "1\n");
  EXPECT_EQ(rows(*prepare(keys)), "1\n");
  EXPECT_TRUE(rows(*prepare(subqueries + "]")).ends_with(",510,511]\n"));
  for (const std::string& sql :
       {joins + " JOIN k IN c.a", keys + ", c.k", subqueries + ", (SELECT VALUE 1)]"})
    EXPECT_TRUE(fails_with(PreparedStatement::prepare(containers_, sql, {}), ErrorCode::limit_exceeded));
}

TEST_F(QueryTest, NestedOperatorsThatReadAnOperandTwiceAreWalkedOnce) {
  make("c", {}, {R"({"id":"1","a":3})"});
  std::string between = "c.a", match = "c.a";
  for (int level = 0; level < 100; ++level) {
    between = "(" + between + " BETWEEN 1 AND 4)";
    match = "CASE " + match + " WHEN 3 THEN 4 WHEN 4 THEN 3 END";
  }
  EXPECT_EQ(rows(*prepare("SELECT VALUE [" + between + ", " + match + "] FROM c")), "[3]\n");
}

TEST_F(QueryTest, AVeryLongStatementTakesShortBatches) {
  auto store = make("c", {}, {});
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    for (int i = 0; i < 1000; ++i)
      QUIRE_TRY(store->create(transaction, fmt::format(R"({{"id":"{:03}","tags":[1,2]}})", i)));
    return {};
  })));
  const std::string list = "ARRAY_LENGTH([" + repeated("ABS(c.n{})", 8'000) + "])";
  EXPECT_EQ(rows(*prepare("SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags WHERE t = 2 AND " + list + " = 0")),
            "1000\n");
  EXPECT_EQ(
      rows(*prepare("SELECT VALUE c.id FROM c WHERE " + list + " = 0 ORDER BY c.id OFFSET 998 LIMIT 5")),
      "\"998\"\n\"999\"\n");
}

TEST_F(QueryTest, LongValuesOfConstantCallsAreLeftToTheRun) {
  const std::string sql = "SELECT VALUE LENGTH(CONCAT(" + repeated("REPLICATE('x', 10000)", 1000) + "))";
  EXPECT_EQ(rows(*prepare(sql)), "10000000\n");
}

TEST_F(QueryTest, SystemPropertiesAndDocumentIdsComeFromTheRecord) {
  auto store = make("c", {}, {R"({"id":"1","_ts":"mine"})", R"({"id":"2"})"});
  auto statement = prepare("SELECT VALUE [c._ts > 1700000000, IS_STRING(c._etag), DOCUMENTID(c)] FROM c");
  EXPECT_EQ(rows(*statement), "[true,true,1]\n[true,true,2]\n");
}

TEST_F(QueryTest, AScopeStaysWithItsContainerWhateverItsNameBecomes) {
  auto store = make("c", {}, {R"({"id":"1"})"});
  auto scoped = prepare("SELECT VALUE x.id FROM x", store);
  auto named = prepare("SELECT VALUE c.id FROM c");
  EXPECT_EQ(rows(*scoped), "\"1\"\n");
  ASSERT_TRUE(succeeds(containers_.drop("c")));
  EXPECT_EQ(rows(*named), "container_not_found");
  make("c", {}, {R"({"id":"2"})"});
  EXPECT_EQ(rows(*scoped), "container_not_found");
  EXPECT_EQ(rows(*named), "\"2\"\n");
}

TEST_F(QueryTest, APlanIsMadeAnewForAContainerWithAnotherPartitionKey) {
  make("c", {"/k"}, {R"({"id":"1","k":"a"})"});
  auto statement = prepare("SELECT VALUE c.id FROM c WHERE c.k = 'a' AND c.id = '1'");
  ASSERT_TRUE(succeeds(containers_.drop("c")));
  make("c", {"/other"}, {R"({"id":"1","k":"a","other":5})"});
  EXPECT_EQ(rows(*statement), "\"1\"\n");
}

TEST_F(QueryTest, AContainerThatAnotherProcessMadeIsOpenedWhenAsked) {
  const TemporaryFolder folder;
  const auto environment = value_of(Environment::open(folder.path("f.quire")));
  OpenContainers others(*environment), ours(*environment);
  auto store = value_of(others.create(value_of(ContainerDefinition::make("c"))));
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(store->create(transaction, R"({"id":"1","name":"x"})"));
    return {};
  })));
  auto statement = value_of(PreparedStatement::prepare(ours, "SELECT VALUE c.name FROM c", {}));
  EXPECT_EQ(rows(*statement), "\"x\"\n");
  EXPECT_EQ(ours.openings(), 1u);
}

TEST_F(QueryTest, ASourceThatBeganBeforeAnOpeningIsOutdated) {
  const auto before = value_of(SnapshotSource::begin(containers_, nullptr));
  make("c", {}, {});
  const auto after = value_of(SnapshotSource::begin(containers_, nullptr));
  EXPECT_EQ(before->collection("c"), nullptr);  // not in its snapshot at all
  ASSERT_TRUE(succeeds(containers_.drop("c")));
  EXPECT_NE(after->collection("c"), nullptr);  // still in this one, but opened anew
  EXPECT_FALSE(before->is_outdated());
  EXPECT_TRUE(after->is_outdated());
  EXPECT_EQ(after->lookups().at("c").has_value(), true);
  EXPECT_EQ(before->lookups().at("c").has_value(), false);
}

TEST_F(QueryTest, ARunEndsItsSnapshotWithItsLastRow) {
  make("c", {}, {R"({"id":"1"})"});
  auto statement = prepare("SELECT VALUE c.id FROM c");
  ASSERT_TRUE(succeeds(statement->step()));
  EXPECT_EQ(value_of(environment_->facts()).readers, 1u);
  EXPECT_EQ(value_of(statement->step()), std::nullopt);
  EXPECT_EQ(value_of(environment_->facts()).readers, 0u);
}

TEST_F(QueryTest, ABindingIsReplacedWhileItsOldTextIsFreed) {
  auto statement = prepare("SELECT VALUE @a || @b");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(
        succeeds(statement->bind("@a", sql::Value::string(std::string(100, static_cast<char>('a' + i))))));
    ASSERT_TRUE(succeeds(statement->bind_json("b", "\"" + std::to_string(i) + "\"")));
    EXPECT_EQ(rows(*statement),
              "\"" + std::string(100, static_cast<char>('a' + i)) + std::to_string(i) + "\"\n");
    statement->reset();
  }
  EXPECT_TRUE(fails_with(statement->bind_json("b", "{"), ErrorCode::invalid_json));
  EXPECT_TRUE(fails_with(statement->bind("c", sql::Value::null()), ErrorCode::invalid_argument, "@c"));
}

TEST_F(QueryTest, ALimitThatIsHitEndsTheSnapshot) {
  make("c", {"/k"}, {R"({"id":"1","k":"a"})", R"({"id":"2","k":"a"})", R"({"id":"3","k":"b"})"});
  const auto readers = [&] { return value_of(environment_->facts()).readers; };
  const auto late = value_of(
      PreparedStatement::prepare(containers_, "SELECT VALUE c.id FROM c",
                                 {.scope = nullptr, .snapshot_limit = std::chrono::milliseconds(1)}));
  (void)late->step();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_FALSE(late->step());
  EXPECT_EQ(readers(), 0U);
  const auto large = value_of(PreparedStatement::prepare(containers_, "SELECT VALUE c.id FROM c",
                                                         {.scope = nullptr, .result_limit = 5}));
  EXPECT_EQ(rows(*large), "result_too_large");
  EXPECT_EQ(readers(), 0U);
}

}  // namespace
}  // namespace quire::engine
