// Databases and containers through the public API.
#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <string>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;

class ContainerTest : public DatabaseTest {};

TEST_F(ContainerTest, AreListedByNameWithTheirCounters) {
  auto things = make("things");
  make("cities", "/country");
  ASSERT_TRUE(succeeds(things.create(R"({"id":"a"})")));
  const std::string json = database_->containers().value();
  EXPECT_THAT(json, testing::StartsWith(R"([{"id":"cities","partitionKey":{"paths":["/country"])"));
  EXPECT_THAT(json, HasSubstr(R"("itemCount":0,"bytes":0},{"id":"things","itemCount":1,"bytes":)"));
}

TEST_F(ContainerTest, AListedDefinitionCanBeCreatedAgain) {
  make("things", "/kind");
  std::string json = database_->containers().value();
  json = json.substr(1, json.size() - 2);
  ASSERT_TRUE(succeeds(database_->drop_container("things")));
  ASSERT_TRUE(succeeds(database_->create_container(json)));
  EXPECT_EQ(database_->containers().value(), "[" + json + "]");
}

TEST_F(ContainerTest, AValueOfASnapshotOutlivesItsContainer) {
  constexpr std::string_view kItem = R"({"id":"a","first":{"second":[1,{"third":"x"}]}})";
  ASSERT_TRUE(succeeds(database_->create_container(R"({"id":"things"})")));
  ASSERT_TRUE(succeeds(database_->container("things").value().create(kItem)));
  auto snapshot = database_->begin_snapshot().value();
  Value item;
  {
    const Container things = database_->container("things").value();
    item = snapshot.read(things, {}, "a").value();
  }
  ASSERT_TRUE(succeeds(database_->drop_container("things")));
  // It may have what the dropped one has given up.
  ASSERT_TRUE(succeeds(database_->create_container(R"({"id":"others"})")));
  ASSERT_TRUE(succeeds(database_->container("others").value().create(R"({"id":"a","other":1,"names":2})")));
  EXPECT_EQ(item.to_json().value(), kItem);
  EXPECT_EQ(item["first"]["second"][1]["third"].as_string(), "x");
  ASSERT_TRUE(succeeds(snapshot.renew()));
}

TEST_F(ContainerTest, BadDefinitionsAreRefused) {
  EXPECT_TRUE(fails_with(database_->create_container("{"), QUIRE_INVALID_JSON));
  EXPECT_TRUE(fails_with(database_->create_container("{}"), QUIRE_INVALID_DEFINITION, "id"));
  EXPECT_TRUE(fails_with(database_->create_container(R"({"id":""})"), QUIRE_INVALID_DEFINITION));
  EXPECT_TRUE(fails_with(database_->create_container(R"({"id":"x","partitionKey":{"paths":["a"]}})"),
                         QUIRE_INVALID_DEFINITION));
  // A query would measure by the cosine without a word.
  const auto measured_by = [](const std::string& name) {
    return R"({"id":"v","vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","distanceFunction":)" +
           name + "}]}}";
  };
  EXPECT_TRUE(fails_with(database_->create_container(measured_by(R"("euclidian")")), QUIRE_INVALID_DEFINITION,
                         R"(or "euclidean", not "euclidian")"));
  EXPECT_TRUE(fails_with(database_->create_container(measured_by("2")), QUIRE_INVALID_DEFINITION, "not 2"));
  EXPECT_TRUE(succeeds(database_->create_container(measured_by(R"("Euclidean")"))));
  EXPECT_TRUE(fails_with(database_
                             ->prepare("ALTER CONTAINER v WITH {vectorEmbeddingPolicy: {vectorEmbeddings: "
                                       "[{path: '/v', distanceFunction: 'l2'}]}}")
                             ->step(),
                         QUIRE_INVALID_DEFINITION, "not \"l2\""));
  make("things");
  EXPECT_TRUE(
      fails_with(database_->create_container(R"({"id":"things"})"), QUIRE_CONTAINER_EXISTS, "things"));
}

// Source: test_vector_policy.py and test_full_text_policy.py of Azure's SDK for Python.
TEST_F(ContainerTest, PoliciesOfSearchesAreChecked) {
  const auto refused = [&](const std::string& policy, const char* message) {
    return fails_with(database_->create_container(R"({"id":"x",)" + policy + "}"), QUIRE_INVALID_DEFINITION,
                      message);
  };
  const auto embedding = [](const std::string& members) {
    return R"("vectorEmbeddingPolicy":{"vectorEmbeddings":[{)" + members + "}]}";
  };
  EXPECT_TRUE(refused(embedding(R"("path":"/v","dataType":"float33")"), R"(not "float33")"));
  EXPECT_TRUE(refused(embedding(R"("path":"/v","dimensions":8000)"), "from 1 to 4096, not 8000"));
  EXPECT_TRUE(refused(embedding(R"("path":"/v","dimensions":-1)"), "not -1"));
  EXPECT_TRUE(refused(embedding(R"("path":"/v","dimensions":2.5)"), "not 2.5"));
  EXPECT_TRUE(refused(embedding(R"("path":"/v/")"), R"(not "/v/")"));
  EXPECT_TRUE(refused(embedding(R"("dimensions":3)"), "\"path\" in vectorEmbeddingPolicy must be"));
  EXPECT_TRUE(refused(R"("vectorEmbeddingPolicy":[])", "must be an object like"));
  EXPECT_TRUE(refused(R"("vectorEmbeddingPolicy":{"vectorEmbeddings":1})", "an array of objects, not 1"));
  EXPECT_TRUE(refused(R"("fullTextPolicy":{"defaultLanguage":"spa-SPA"})", R"(not "spa-SPA")"));
  EXPECT_TRUE(
      refused(R"("fullTextPolicy":{"fullTextPaths":[{"path":"/t","language":"en-us"}]})", R"(en-US, es-ES)"));
  EXPECT_TRUE(refused(R"("fullTextPolicy":{"fullTextPaths":[{"path":"t"}]})", R"(like "/a/b", not "t")"));
  EXPECT_TRUE(refused(R"("geospatialConfig":{"type":"Geometry"})", R"(must be "Geography", the globe)"));
  EXPECT_TRUE(refused(R"("geospatialConfig":"Geography")", "geospatialConfig"));
  EXPECT_TRUE(
      succeeds(database_->create_container(R"({"id":"globe","geospatialConfig":{"type":"Geography"}})")));
  EXPECT_TRUE(succeeds(database_->create_container(
      R"({"id":"x","fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/t"}]},)" +
      embedding(R"("path":"/v","dataType":"uint8","dimensions":4096,"distanceFunction":"cosine")") + "}")));
  EXPECT_TRUE(succeeds(
      database_->create_container(R"({"id":"y","fullTextPolicy":null,"vectorEmbeddingPolicy":null})")));
}

TEST_F(ContainerTest, AnUnknownNameSuggestsTheNearest) {
  make("cities");
  EXPECT_TRUE(fails_with(database_->container("citeis"), QUIRE_CONTAINER_NOT_FOUND, "'cities'"));
  EXPECT_TRUE(fails_with(database_->drop_container("citeis"), QUIRE_CONTAINER_NOT_FOUND, "'cities'"));
}

TEST_F(ContainerTest, AHandleFailsOnceItsContainerIsDroppedEvenIfTheNameIsGivenAgain) {
  auto old = make("things");
  ASSERT_TRUE(succeeds(old.create(R"({"id":"a"})")));
  ASSERT_TRUE(succeeds(database_->drop_container("things")));
  EXPECT_TRUE(fails_with(old.read_json({}, "a"), QUIRE_CONTAINER_NOT_FOUND));
  EXPECT_TRUE(fails_with(old.create(R"({"id":"a"})"), QUIRE_CONTAINER_NOT_FOUND));
  auto fresh = make("things");
  EXPECT_TRUE(fails_with(old.create(R"({"id":"a"})"), QUIRE_CONTAINER_NOT_FOUND));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM things t"), "0\n");
  EXPECT_TRUE(succeeds(fresh.create(R"({"id":"a"})")));
}

TEST_F(ContainerTest, AFileKeepsThemForTheNextProcess) {
  const std::string path = file("app.quire");
  reopen(path);
  {
    auto cities = make("cities", "/country");
    ASSERT_TRUE(succeeds(cities.create(R"({"id":"nice","country":"FR"})")));
  }
  reopen(path, {.read_only = true});
  EXPECT_EQ(query("SELECT VALUE c.id FROM cities c"), "\"nice\"\n");
  auto cities = database_->container("cities");
  EXPECT_TRUE(fails_with(cities->create(R"({"id":"x"})"), QUIRE_READ_ONLY));
  EXPECT_TRUE(fails_with(database_->begin_transaction(), QUIRE_READ_ONLY));
  EXPECT_TRUE(fails_with(database_->create_container(R"({"id":"x"})"), QUIRE_READ_ONLY));
}

TEST_F(ContainerTest, OpeningReportsWhatIsWrong) {
  const auto open = [&](std::string_view name, const Options& options = {}) {
    return Database::open(file(name), options);
  };
  std::ofstream(file("text.quire")) << std::string(100'000, 'x');
  EXPECT_TRUE(fails_with(open("text.quire"), QUIRE_NOT_A_DATABASE));
  EXPECT_TRUE(fails_with(open("none.quire", {.must_exist = true}), QUIRE_CANNOT_OPEN));
  EXPECT_TRUE(fails_with(open("none/none.quire"), QUIRE_CANNOT_OPEN));
  EXPECT_TRUE(
      fails_with(open("x.quire", {.durability = static_cast<Durability>(9)}), QUIRE_INVALID_ARGUMENT));
  EXPECT_FALSE(std::filesystem::exists(file("none.quire")));
}

// It would fail in the same way each time.
TEST_F(ContainerTest, ATransactionThatWasRolledBackForTheMapToGrowFindsRoom) {
  const Options options{.durability = Durability::none, .map_size = 1 << 20, .busy_timeout_ms = 1000};
  for (const bool is_statement : {false, true}) {
    for (const std::string& path : {std::string(":memory:"), file(is_statement ? "s.quire" : "t.quire")}) {
      reopen(path, options);
      Container items = make("items");
      const auto write_all = [&]() -> Result<void> {
        std::optional<Transaction> transaction;
        if (is_statement) {
          EXPECT_EQ(query("BEGIN"), "");
        } else {
          transaction.emplace(database_->begin_transaction().value());
        }
        for (int i = 0; i < 60; ++i) {
          const std::string item = fmt::format(R"({{"id":"{}","x":"{}"}})", i, std::string(100'000, 'y'));
          const auto written = items.upsert(item, {.transaction = transaction ? &*transaction : nullptr});
          if (written) continue;
          if (is_statement) {
            EXPECT_EQ(query("ROLLBACK"), "");
          }
          return Failure(written.error());
        }
        if (!is_statement) return transaction->commit();
        EXPECT_EQ(query("COMMIT"), "");
        return {};
      };
      Result<void> written = write_all();
      for (int i = 0; i < 6 && !written; ++i) {
        EXPECT_TRUE(fails_with(written, QUIRE_BUSY));
        written = write_all();
      }
      EXPECT_TRUE(succeeds(written)) << path;
      EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM items i"), "60\n");
    }
  }
}

TEST_F(ContainerTest, TheFilesStatusNamesWhoReads) {
  make("things");
  reopen(file("status.quire"));
  make("things");
  EXPECT_THAT(database_->status().value(), HasSubstr(R"("readers":0,"oldestReader":null})"));
  {
    const auto snapshot = database_->begin_snapshot();
    ASSERT_TRUE(succeeds(snapshot));
    EXPECT_THAT(database_->status().value(),
                HasSubstr(R"("readers":1,"oldestReader":{"process":)" + std::to_string(getpid()) + ","));
  }
  EXPECT_THAT(database_->status().value(), HasSubstr(R"("readers":0)"));
}

}  // namespace
}  // namespace quire::tests
