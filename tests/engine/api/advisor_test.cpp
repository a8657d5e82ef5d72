// ADVISE over containers that are modelled well, or in one way badly: what is wrong is found, and nothing
// else.
#include <atomic>
#include <sstream>
#include <thread>

#include "tests/engine/api/advisor_models.h"
#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

class AdvisorTest : public DatabaseTest {
 protected:
  void make(const ModelContainer& made) {
    ASSERT_TRUE(succeeds(database_->create_container(made.definition))) << made.definition;
    const std::string name = name_of(made);
    auto container = database_->container(name);
    ASSERT_TRUE(succeeds(container));
    std::stringstream lines;
    for (const std::string& item : made.items) lines << item << '\n';
    ASSERT_TRUE(succeeds(container->import(lines)));
  }
  static std::string name_of(const ModelContainer& made) {
    constexpr std::string_view kStart = R"({"id":")";
    return made.definition.substr(kStart.size(), made.definition.find('"', kStart.size()) - kStart.size());
  }
  void load(const std::vector<ModelContainer>& containers) {
    for (const ModelContainer& container : containers) make(container);
  }
  // A value of each row of ADVISE for which the condition holds, one a line.
  std::string ask(std::string_view name, std::string_view what) {
    const auto json = database_->advise(name);
    if (!json) return json.error().message;
    auto statement =
        database_->prepare("SELECT VALUE " + std::string(what) + " FROM f IN (SELECT VALUE @rows)");
    if (!statement) return statement.error().message;
    EXPECT_TRUE(succeeds(statement->bind("rows", Json{*json})));
    return rows(*statement);
  }
};

class AdvisorModelTest : public AdvisorTest, public testing::WithParamInterface<size_t> {};

TEST_P(AdvisorModelTest, FindsWhatIsWrongAndNothingElse) {
  const Model& model = models()[GetParam()];
  const std::vector<ModelContainer> containers = model.make();
  load(containers);
  for (const auto& [sql, times] : model.queries) {
    auto statement = database_->prepare(sql);
    ASSERT_TRUE(succeeds(statement)) << sql;
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(rows(*statement).find("error"), std::string::npos);
      statement->reset();
    }
  }
  const std::string name = name_of(containers[0]);
  std::string expected;
  for (const std::string& kind : model.expected) expected += '"' + kind + "\"\n";
  const std::string everything = ask(name, "f");
  EXPECT_EQ(ask(name, "(f.severity != 'note' ? f.finding : undefined)"), expected) << everything;
  EXPECT_EQ(ask(name, "(f.finding = 'summary' ? f.numbers.toChange : undefined)"),
            std::to_string(model.expected.size()) + "\n");
  const std::string advice = ask(name, "(f.finding = 'summary' ? f.advice : undefined)");
  EXPECT_EQ(advice == "\"nothing to change\"\n", model.expected.empty()) << advice;
  if (!model.path.empty()) {
    EXPECT_EQ(ask(name, "(f.severity != 'note' ? f.path : undefined)"), '"' + model.path + "\"\n")
        << everything;
  }
  if (!model.note.empty()) {
    EXPECT_NE(ask(name, "(f.severity = 'note' ? f.finding : undefined)").find('"' + model.note + '"'),
              std::string::npos)
        << everything;
  }
  // A finding says what to do.
  EXPECT_EQ(ask(name, "(f.severity != 'note' AND LENGTH(f.advice) < 20 ? f : undefined)"), "") << everything;
}

std::vector<size_t> numbers_of_models() {
  std::vector<size_t> numbers(models().size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  return numbers;
}

INSTANTIATE_TEST_SUITE_P(Models, AdvisorModelTest, testing::ValuesIn(numbers_of_models()),
                         [](const auto& row) { return std::string(models()[row.param].name); });

TEST_F(AdvisorTest, ShowsItemsThatHaveTheFinding) {
  load(models()[0].make());
  EXPECT_EQ(ask("posts", "(f.finding = 'growing_array' ? f.examples[0].id : undefined)"), "\"p59\"\n");
  EXPECT_EQ(ask("posts", "(f.finding = 'growing_array' ? f.numbers.longest : undefined)"), "238\n");
  EXPECT_EQ(ask("posts", "(f.finding = 'growing_array' ? f.numbers.daysToItemLimit > 0 : undefined)"),
            "true\n");
}

TEST_F(AdvisorTest, IsAStatementWithTheSameRows) {
  load(models()[0].make());
  EXPECT_EQ(query("ADVISE posts"), ask("posts", "f"));
  EXPECT_EQ(query("advise posts;"), ask("posts", "f"));
  auto container = database_->container("posts");
  ASSERT_TRUE(succeeds(container));
  EXPECT_EQ(rows(container->prepare("ADVISE c")), ask("posts", "f"));
}

TEST_F(AdvisorTest, AnEmptyContainerHasNothingToChange) {
  DatabaseTest::make("empty", "/pk");
  EXPECT_EQ(ask("empty", "f.advice"), "\"nothing to change\"\n");
}

TEST_F(AdvisorTest, AContainerThatIsNotThereIsNamed) {
  DatabaseTest::make("posts");
  EXPECT_TRUE(fails_with(database_->advise("post"), QUIRE_CONTAINER_NOT_FOUND, "did you mean 'posts'?"));
  EXPECT_NE(query("ADVISE post").find("container_not_found"), std::string::npos);
  EXPECT_NE(query("ADVISE").find("syntax"), std::string::npos);
  EXPECT_NE(query("ADVISE posts posts").find("syntax"), std::string::npos);
}

TEST_F(AdvisorTest, IsRefusedInStrictMode) {
  DatabaseTest::make("posts");
  query("PRAGMA strict = on");
  EXPECT_NE(query("ADVISE posts").find("not_in_strict_mode"), std::string::npos);
}

TEST_F(AdvisorTest, SeesWhatItsTransactionWrote) {
  DatabaseTest::make("posts");
  query("BEGIN");
  query("INSERT INTO posts VALUES {'id': '1'}");
  EXPECT_EQ(ask("posts", "(f.finding = 'summary' ? f.numbers.items : undefined)"), "1\n");
  query("ROLLBACK");
  EXPECT_EQ(ask("posts", "(f.finding = 'summary' ? f.numbers.items : undefined)"), "0\n");
}

TEST_F(AdvisorTest, SaysWhenItLookedIntoASampleAlone) {
  auto container = DatabaseTest::make("numbers");
  std::stringstream lines;
  for (int i = 0; i < 45'000; ++i) lines << R"({"id":")" << i << R"(","n":)" << i << "}\n";
  ASSERT_TRUE(succeeds(container.import(lines)));
  EXPECT_EQ(ask("numbers", "(f.finding = 'summary' ? f.numbers.isSampled : undefined)"), "true\n");
  EXPECT_EQ(ask("numbers", "(f.finding = 'summary' ? f.numbers.sampledItems : undefined)"), "15000\n");
  EXPECT_NE(ask("numbers", "f.what").find("a sample of 15000"), std::string::npos);
}

TEST_F(AdvisorTest, EndsWhenItIsInterrupted) {
  auto container = DatabaseTest::make("numbers");
  std::stringstream lines;
  for (int i = 0; i < 100'000; ++i) lines << R"({"id":")" << i << R"(","n":)" << i << "}\n";
  ASSERT_TRUE(succeeds(container.import(lines)));
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    while (!is_done) database_->interrupt();
  });
  const auto advised = database_->advise("numbers");
  is_done = true;
  other.join();
  EXPECT_TRUE(fails_with(advised, QUIRE_INTERRUPTED));
}

TEST_F(AdvisorTest, TellsHowFarItIsAndEndsWhenItIsTold) {
  auto container = DatabaseTest::make("numbers");
  std::stringstream lines;
  for (int i = 0; i < 30'000; ++i) lines << R"({"id":")" << i << R"(","n":)" << i << "}\n";
  ASSERT_TRUE(succeeds(container.import(lines)));
  uint64_t calls = 0, last = 0;
  database_->set_progress([&](uint64_t done, uint64_t all) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, all);
    EXPECT_GE(all, 30'000u);
    last = done;
    ++calls;
    return true;
  });
  EXPECT_TRUE(succeeds(database_->advise("numbers")));
  EXPECT_GT(calls, 0u);
  database_->set_progress([](uint64_t, uint64_t) { return false; });
  EXPECT_TRUE(fails_with(database_->advise("numbers"), QUIRE_INTERRUPTED));
  EXPECT_TRUE(query("ADVISE numbers").starts_with("interrupted"));
  database_->set_progress(nullptr);
  EXPECT_TRUE(succeeds(database_->advise("numbers")));
}

TEST_F(AdvisorTest, AStatementMayBeLeftOutOfTheRecord) {
  auto container = DatabaseTest::make("numbers");
  ASSERT_TRUE(succeeds(container.create(R"({"id":"1","n":1})")));
  Statement own = std::move(container.prepare("SELECT VALUE c.n FROM c").value());
  own.leave_unrecorded();
  EXPECT_EQ(rows(own), "1\n");
  own.reset();
  EXPECT_EQ(rows(own), "1\n");
  EXPECT_EQ(ask("numbers", "(f.finding = 'summary' ? f.numbers.queryRuns : undefined)"), "0\n");
  EXPECT_EQ(query("SELECT VALUE c.n FROM numbers c"), "1\n");
  EXPECT_EQ(ask("numbers", "(f.finding = 'summary' ? f.numbers.queryRuns : undefined)"), "1\n");
}

TEST_F(AdvisorTest, TakesWhateverItemsHold) {
  auto container = DatabaseTest::make("odd", "/a/b");
  std::string wide = R"({"id":"wide")";
  for (int i = 0; i < 5000; ++i) wide += ",\"k" + std::to_string(i) + R"(":{"Id":)" + std::to_string(i) + "}";
  const std::string deep = R"({"id":"deep","list":)" + std::string(120, '[') + std::string(120, ']') + "}";
  for (const std::string& item :
       {wide + "}", deep,
        std::string(R"({"id":"1","Id":null,"_id":[[]],"a":{"b":null},"":{"id":1},"ids":[1,"",null,{}]})"),
        std::string(R"({"id":"2","a":[1],"type":"","xId":9223372036854775807,"created":"9999-12-31"})"),
        std::string(R"({"id":"3","a":{"b":1e308},"created":-1,"list":[[[[[]]]],[{"id":"3"}]]})")})
    ASSERT_TRUE(succeeds(container.create(item))) << item.substr(0, 80);
  EXPECT_EQ(ask("odd", "(f.finding = 'summary' ? f.numbers.items : undefined)"), "5\n");
}

TEST_F(AdvisorTest, QueriesOfManyShapesAreKeptInBoundedMemory) {
  auto container = DatabaseTest::make("posts");
  for (int i = 0; i < 600; ++i) query("SELECT VALUE c.x" + std::to_string(i) + " FROM posts c");
  for (int i = 0; i < 5; ++i) query("SELECT VALUE c.often FROM posts c WHERE c.n = " + std::to_string(i));
  EXPECT_EQ(ask("posts", "(f.finding = 'query_mix' ? f.numbers.queries <= 256 : undefined)"), "true\n");
  EXPECT_EQ(ask("posts", "(f.finding = 'query_mix' ? f.numbers.mix[0].query : undefined)"),
            "\"SELECT VALUE c.often FROM posts c WHERE c.n = ?\"\n");
}

}  // namespace
}  // namespace quire::tests
