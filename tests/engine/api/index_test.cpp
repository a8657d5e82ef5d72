// Indexes and unique keys, through the public API.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class IndexTest : public DatabaseTest {
 protected:
  std::string define(std::string_view definition) {
    const auto made = database_->create_container(definition);
    return made ? "" : std::string(made.error().name()) + ": " + made.error().message;
  }
  // The plan's line about the container.
  std::string access(std::string_view sql) {
    const std::string plan = query("EXPLAIN " + std::string(sql));
    const size_t end = plan.rfind('\n', plan.size() - 2);
    return end == std::string::npos ? plan : plan.substr(end + 1);
  }
  void fill(std::string_view container, int items) {
    for (int i = 0; i < items; ++i)
      ASSERT_EQ(query(fmt::format(
                    "INSERT INTO {} VALUES {{id: '{}', p: 'p{}', n: {}, s: 'text {}', tags: ['t{}', 'all']}}",
                    container, i, i % 3, i, i, i % 7)),
                "");
  }
};

// The map grows only while the process has no snapshot: the making of an index must not wait for itself.
TEST_F(IndexTest, IsMadeWhereTheMapHasToGrowForIt) {
  reopen(file("f.quire"), {.durability = Durability::none, .map_size = 1 << 20, .busy_timeout_ms = 5000});
  Container container = make("c", "/p");
  std::string lines;
  for (int i = 0; i < 3000; ++i)
    lines += fmt::format(R"({{"id":"{}","p":{},"text":"{:0>250}"}})", i, i % 3, i) + '\n';
  std::istringstream input(lines);
  ASSERT_TRUE(succeeds(container.import(input)));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(query(fmt::format("CREATE INDEX i{} ON c (text, n{})", i, i)), "");
  EXPECT_EQ(database_->check().value(), "[]");
}

TEST_F(IndexTest, AUniqueKeyHoldsWithinAPartition) {
  ASSERT_EQ(
      define(
          R"({"id":"c","partitionKey":{"paths":["/p"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]},
                   {"paths":["/a","/b/c"]}]}})"),
      "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '1', p: 'x', email: 'e', a: 1, b: {c: 1}}"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '2', p: 'y', email: 'e', a: 1, b: {c: 1}}"), "");
  EXPECT_THAT(query("INSERT INTO c VALUES {id: '3', p: 'x', email: 'e'}"),
              HasSubstr("unique key (/email) is taken: items '1' and '3' have the same value of /email"));
  EXPECT_THAT(query("INSERT INTO c VALUES {id: '3', p: 'x', email: 'f', a: 1.0, b: {c: 1}}"),
              HasSubstr("conflict"));
  // A missing value counts as null.
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '4', p: 'x', a: 2}"), "");
  EXPECT_THAT(query("INSERT INTO c VALUES {id: '5', p: 'x', email: null, a: 3}"), HasSubstr("conflict"));
  // An item may keep its own values, and give them up.
  EXPECT_EQ(query("UPDATE c SET c.n = 1 WHERE c.id = '1'"), "");
  EXPECT_EQ(query("UPDATE c SET c.email = 'g', c.a = 9 WHERE c.id = '1'"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '3', p: 'x', email: 'e'}"), "");
  EXPECT_EQ(query("DELETE FROM c WHERE c.id = '3'"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: '6', p: 'x', email: 'e', a: 6}"), "");
  EXPECT_THAT(query("ALTER CONTAINER c WITH {uniqueKeyPolicy: {uniqueKeys: []}}"),
              HasSubstr("cannot be changed"));
}

TEST_F(IndexTest, ARefusedOneIsNeverInTheDefinitionAlone) {
  define(R"({"id":"c","partitionKey":{"paths":["/p"]}})");
  fill("c", 30);
  EXPECT_EQ(query("CREATE INDEX kept ON c (n)"), "");
  std::atomic<bool> is_over = false;
  std::string found;
  std::thread checker([&] {
    while (!is_over && found.empty()) {
      const auto faults = database_->check("c");
      if (!faults || *faults != "[]") found = faults ? *faults : faults.error().message;
    }
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(query("CREATE UNIQUE INDEX refused ON c (p)"), HasSubstr("unique index 'refused'"));
    EXPECT_THAT(query("ALTER CONTAINER c WITH {defaultTtl: 1000, indexes: [{name: 'refused', unique: true, "
                      "paths: [{path: '/p'}]}]}"),
                HasSubstr("'refused'"));
  }
  is_over = true;
  checker.join();
  EXPECT_EQ(found, "");
  EXPECT_THAT(database_->containers().value(), HasSubstr(R"("name":"kept")"));
  EXPECT_THAT(database_->containers().value(), Not(HasSubstr("refused")));
  EXPECT_THAT(database_->containers().value(), Not(HasSubstr("defaultTtl")));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 20"), "10\n");
}

// They build each other's indexes.
TEST_F(IndexTest, ThreadsThatMakeIndexesAtOnceAreToldOfTheirOwn) {
  define(R"({"id":"c","partitionKey":{"paths":["/p"]}})");
  fill("c", 30);
  std::atomic<bool> is_over = false;
  std::string found;
  std::thread other([&] {
    while (!is_over && found.empty()) {
      found = query("CREATE INDEX other ON c (n)");
      found += query("DROP INDEX other ON c");
    }
  });
  for (int i = 0; i < 200; ++i)
    EXPECT_THAT(query("CREATE UNIQUE INDEX refused ON c (p)"), HasSubstr("unique index 'refused' is taken"));
  is_over = true;
  other.join();
  EXPECT_EQ(found, "");
  EXPECT_EQ(database_->check("c").value(), "[]");
}

TEST_F(IndexTest, AUniqueIndexHoldsOverTheContainer) {
  make("c", "/p");
  fill("c", 20);
  EXPECT_THAT(query("CREATE UNIQUE INDEX u ON c (p)"), HasSubstr("unique index 'u' is taken"));
  EXPECT_THAT(database_->containers().value(), Not(HasSubstr("\"u\"")));
  EXPECT_EQ(query("CREATE UNIQUE INDEX u ON c (n)"), "");
  EXPECT_THAT(query("INSERT INTO c VALUES {id: 'x', p: 'q', n: 7.0}"), HasSubstr("conflict"));
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'x', p: 'q'}, {id: 'y', p: 'q'}"), "");
  EXPECT_THAT(query("UPDATE c SET c.n = 3 WHERE c.id = 'x'"), HasSubstr("conflict"));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.n = 3"), "1\n");
}

TEST_F(IndexTest, StatementsMakeAndDropIndexes) {
  make("c", "/p");
  fill("c", 300);
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.n = 5"), HasSubstr("CREATE INDEX ON c (n)"));
  EXPECT_EQ(query("CREATE INDEX ON c (n)"), "");
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.n = 5"),
              HasSubstr("index scan of container c by c_n (c.n = 5)"));
  EXPECT_THAT(query("CREATE INDEX c_n ON c (s)"), HasSubstr("has an index 'c_n' already"));
  EXPECT_EQ(query("CREATE INDEX IF NOT EXISTS c_n ON c (s)"), "");
  EXPECT_THAT(query("CREATE INDEX x ON d (s)"), HasSubstr("container_not_found"));
  EXPECT_THAT(query("CREATE INDEX x ON c (s, s)"), HasSubstr("twice"));
  EXPECT_THAT(query("CREATE INDEX x ON c (s, tags[])"), HasSubstr("several paths"));
  EXPECT_EQ(query("CREATE INDEX tags ON c (tags[])"), "");
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 't3')"), HasSubstr("by tags"));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.tags, 't3')"), "43\n");
  EXPECT_THAT(query("DROP INDEX tag"), HasSubstr("did you mean 'tags'?"));
  EXPECT_EQ(query("DROP INDEX tags"), "");
  EXPECT_EQ(query("DROP INDEX IF EXISTS tags ON c"), "");
  EXPECT_EQ(query("DROP INDEX c_n ON c"), "");
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.n = 5"), HasSubstr("CREATE INDEX"));
}

TEST_F(IndexTest, NamesThatAreWordsOfTheStatementStayNames) {
  EXPECT_EQ(query("CREATE CONTAINER index"), "");
  EXPECT_EQ(query("INSERT INTO index VALUES {id: '1', unique: 1, tags: [1]}"), "");
  EXPECT_EQ(query("CREATE UNIQUE INDEX on_unique ON index (index.unique DESC)"), "");
  EXPECT_EQ(query("CREATE INDEX IF NOT EXISTS ON index (tags[])"), "");
  EXPECT_EQ(query("CREATE INDEX IF NOT EXISTS ON index (tags[])"), "");
  EXPECT_THAT(database_->containers().value(), Not(HasSubstr("index_tags_2")));
  EXPECT_EQ(query("CREATE INDEX quoted ON index ('/index/tags', [\"odd name\"].x)"), "");
  EXPECT_THAT(database_->containers().value(), HasSubstr(R"("/index/tags")"));
  EXPECT_EQ(query("DROP CONTAINER index"), "");
}

TEST_F(IndexTest, AnIndexOfAnyNameCanBeDropped) {
  make("c", "/p");
  EXPECT_EQ(query("CREATE INDEX 'by n' ON c (n)"), "");
  EXPECT_THAT(query("DROP INDEX 'by m' ON c"), HasSubstr("did you mean 'by n'?"));
  EXPECT_EQ(query("DROP INDEX 'by n' ON 'c'"), "");
  EXPECT_THAT(query("DROP INDEX x ON missing"), HasSubstr("container_not_found"));
  EXPECT_EQ(query("DROP INDEX IF EXISTS x ON missing"), "");
}

TEST_F(IndexTest, APolicyThatIsNotAutomaticIndexesNothing) {
  ASSERT_EQ(define(R"({"id":"c","indexingPolicy":{"automatic":false,"includedPaths":[{"path":"/*"}]}})"), "");
  fill("c", 200);
  EXPECT_THAT(query("CHECK c"), HasSubstr(R"("entries":0)"));
}

TEST_F(IndexTest, TheAdviceIsForTheScanThatNeedsItMost) {
  make("c", "/p");
  make("d", "/p");
  fill("c", 1);
  fill("d", 1000);
  EXPECT_THAT(access("SELECT VALUE c.id FROM c JOIN d ON d.n = c.n WHERE d.s = 'text 3'"),
              HasSubstr("CREATE INDEX ON d (s)"));
}

TEST_F(IndexTest, AnAlterThatFailsLeavesTheIndexesThatItWouldHaveDropped) {
  make("c", "/p");
  fill("c", 100);
  EXPECT_EQ(query("CREATE INDEX a ON c (n)"), "");
  EXPECT_THAT(query("ALTER CONTAINER c WITH {indexes: [{name: 'u', unique: true, paths: [{path: '/p'}]}]}"),
              HasSubstr("conflict"));
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.n = 5"), HasSubstr("by a"));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.n = 5"), "\"5\"\n");
}

TEST_F(IndexTest, APreparedStatementFollowsTheIndexes) {
  make("c", "/p");
  fill("c", 200);
  auto statement = database_->prepare("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 0 LIMIT 2");
  ASSERT_TRUE(succeeds(statement));
  EXPECT_EQ(rows(*statement), "199\n198\n");
  EXPECT_EQ(query("CREATE INDEX n ON c (n)"), "");
  statement->reset();
  EXPECT_EQ(rows(*statement), "199\n198\n");
  // A value too long for a key: the order of the index is not that of the values any more.
  for (const char* tail : {"b", "a", "c"})
    EXPECT_EQ(query(fmt::format("INSERT INTO c VALUES {{id: '{0}', p: 'q', n: '{1}{0}'}}", tail,
                                std::string(600, 'x'))),
              "");
  statement->reset();
  const std::string last = rows(*statement);
  EXPECT_THAT(last, testing::StartsWith("\"" + std::string(600, 'x') + "c\"\n"));
  EXPECT_EQ(query(fmt::format("SELECT VALUE c.id FROM c WHERE c.n = '{}a'", std::string(600, 'x'))),
            "\"a\"\n");
  EXPECT_EQ(query(fmt::format("SELECT VALUE c.id FROM c WHERE c.n > '{}a'", std::string(600, 'x'))),
            "\"b\"\n\"c\"\n");
}

TEST_F(IndexTest, APolicyIndexesPathsAsTheyAppear) {
  ASSERT_EQ(define(R"({"id":"c","indexingPolicy":{"includedPaths":[{"path":"/*"}],
                   "excludedPaths":[{"path":"/s/?"},{"path":"/deep/*"}]}})"),
            "");
  fill("c", 200);
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'x', p: 'p', late: {er: 1}, deep: {er: 1}}"), "");
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.late.er = 1"), HasSubstr("by /late/er"));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.late.er = 1"), "\"x\"\n");
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.n = 3 AND c.s = 'text 3'"), HasSubstr("by /n"));
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.s = 'text 3'"), Not(HasSubstr("index scan")));
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.deep.er = 1"), Not(HasSubstr("index scan")));
  // The index has no entries for objects: all items are read.
  auto statement = database_->prepare("SELECT VALUE c.id FROM c WHERE c.late = @o");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("o", Json{R"({"er":1})"})));
  EXPECT_EQ(rows(*statement), "\"x\"\n");
  EXPECT_EQ(
      query("ALTER CONTAINER c WITH {indexingPolicy: {includedPaths: [], excludedPaths: [{path: '/*'}]}}"),
      "");
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.n = 3"), Not(HasSubstr("index scan")));
  EXPECT_EQ(query("ALTER CONTAINER c WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}"), "");
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.s = 'text 3'"), HasSubstr("by /s"));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.s = 'text 3'"), "\"3\"\n");
}

// The bytes of small negative numbers end in FF, and those of their complement in 00.
TEST_F(IndexTest, ADescendingPartMayBeANegativeNumber) {
  make("c", "/p");
  EXPECT_EQ(query("CREATE INDEX i ON c (a DESC, b)"), "");
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(query(fmt::format("INSERT INTO c VALUES {{id: '{}', a: {}, b: {}}}", i, i % 3 - 2, i % 10)),
              "");
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.a = -1 AND c.b = 4"), HasSubstr("by i"));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.a = -1 AND c.b = 4"), "\"34\"\n\"4\"\n");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.a IN (-1, -2) AND c.b >= 4 AND c.b < 5"),
            "\"24\"\n\"34\"\n\"4\"\n\"54\"\n");
}

TEST_F(IndexTest, AnOrderedScanForAnArrayThatNoEntryHasReadsTheItems) {
  ASSERT_EQ(define(R"({"id":"c","indexingPolicy":{"includedPaths":[{"path":"/*"}]}})"), "");
  fill("c", 50);
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'x', n: [1]}"), "");
  EXPECT_EQ(query("SELECT VALUE c.n FROM c WHERE c.n = [1] ORDER BY c.n OFFSET 0 LIMIT 2"), "[1]\n");
}

TEST_F(IndexTest, WhatIsUndoneLeavesNoEntries) {
  ASSERT_EQ(define(R"({"id":"c","indexingPolicy":{"includedPaths":[{"path":"/*"}]}})"), "");
  fill("c", 120);
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'x', new: {path: 1}, n: 5}"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.new.path = 1"), "\"x\"\n");
  EXPECT_EQ(query("DELETE FROM c WHERE c.id = '5'"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.n = 5"), "\"x\"\n");
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.n = 5"), "\"5\"\n");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'y', other: {path: 2}}"), "");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.other.path = 2"), "\"y\"\n");
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.new.path = 1"), "");
  EXPECT_EQ(database_->check().value(), "[]");
}

// A process that is killed while it builds leaves a container that the next one can use, and that gets its
// index.
TEST_F(IndexTest, ABuildThatWasKilledGoesOn) {
  const std::string path = file("killed.quire");
  reopen(path);
  make("c", "/p");
  std::string items;
  for (int i = 0; i < 60'000; ++i)
    items += fmt::format("{{\"id\":\"{}\",\"p\":\"p{}\",\"n\":{},\"s\":\"{}\"}}\n", i, i % 50, i,
                         std::string(200, 'x'));
  std::istringstream input(items);
  auto container = database_->container("c");
  ASSERT_TRUE(succeeds(container->import(input)));
  container = std::unexpected(quire::Error{});
  database_.reset();
  for (int attempt = 1; attempt <= 8; ++attempt) {
    const pid_t child = fork();
    if (child == 0) {
      auto database = Database::open(path);
      auto statement = database->prepare(fmt::format("CREATE INDEX i{} ON c (n, s)", attempt));
      (void)rows(*statement);
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(15 * attempt));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  reopen(path);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.n >= 0"), "60000\n");
  EXPECT_EQ(query("SELECT VALUE c.p FROM c WHERE c.n = 59999"), "\"p49\"\n");
  EXPECT_EQ(query("CREATE INDEX IF NOT EXISTS i9 ON c (n)"), "");
  EXPECT_THAT(access("SELECT VALUE c.p FROM c WHERE c.n = 59999"), HasSubstr("index scan"));
  EXPECT_EQ(query("SELECT VALUE c.p FROM c WHERE c.n = 59999"), "\"p49\"\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

class UnfinishedIndexTest : public IndexTest {
 protected:
  // Four containers, each with an index that a process began and did not finish; the file has a map that is
  // too small for them.
  void SetUp() override {
    const std::string path = file("f.quire");
    reopen(path, {.durability = Durability::none});
    for (const char* name : kNames) {
      std::string lines;
      for (int i = 0; i < 2500; ++i) lines += fmt::format(R"({{"id":"{}","text":"{:0>250}"}})", i, i) + '\n';
      std::istringstream input(lines);
      ASSERT_TRUE(succeeds(make(name, "/id").import(input)));
    }
    database_.reset();
    const pid_t child = fork();
    if (child == 0) _exit(is_every_index_interrupted(path) ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    reopen(path, {.durability = Durability::none, .map_size = 1 << 20, .busy_timeout_ms = 500});
  }

  std::string access_by_text(std::string_view name) {
    return access(fmt::format("SELECT * FROM {} c WHERE c.text = 'x'", name));
  }

  static constexpr const char* kNames[] = {"one", "two", "three", "four"};

 private:
  static bool is_every_index_interrupted(const std::string& path) {
    auto database = Database::open(path, {.durability = Durability::none});
    database->set_progress([](uint64_t, uint64_t) { return false; });
    return std::ranges::all_of(kNames, [&](const char* name) {
      return rows(database->prepare(fmt::format("CREATE INDEX texts ON {} (text, n)", name)))
          .starts_with("interrupted");
    });
  }
};

// Who goes on with it because it opens the container must hold no snapshot, as in the making of one.
TEST_F(UnfinishedIndexTest, IsGoneOnWithWhereTheMapHasToGrowForIt) {
  EXPECT_TRUE(succeeds(database_->container("one")));
  EXPECT_THAT(access_by_text("one"), HasSubstr("index scan"));
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM two c"), "2500\n");
  EXPECT_THAT(access_by_text("two"), HasSubstr("index scan"));
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("ROLLBACK"), "");
  for (const char* name : {"three", "four"}) EXPECT_THAT(access_by_text(name), HasSubstr("index scan"));
  EXPECT_EQ(database_->check().value(), "[]");
}

TEST_F(IndexTest, ABuildOverFewItemsWithManyElementsEndsWhenAsked) {
  Container c = make("c", "/p");
  std::string elements;
  for (int i = 0; i < 5000; ++i) elements += std::to_string(i) + ",";
  elements.pop_back();
  for (const char* id : {"1", "2"})
    ASSERT_TRUE(succeeds(c.create(fmt::format(R"({{"id":"{}","p":"x","n":[{}]}})", id, elements))));
  database_->set_progress([](uint64_t, uint64_t) { return false; });
  EXPECT_THAT(query("CREATE INDEX by_n ON c (n[])"), HasSubstr("interrupted"));
  database_->set_progress(nullptr);
  EXPECT_EQ(query("DROP INDEX by_n ON c"), "");
  EXPECT_EQ(query("CREATE INDEX by_n ON c (n[])"), "");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.n, 4999)"), "2\n");
}

TEST_F(UnfinishedIndexTest, IsGoneOnWithUnderTheEyesOfWhoOpensTheContainer) {
  uint64_t most = 0;
  database_->set_progress([&](uint64_t, uint64_t all) {
    most = std::max(most, all);
    return false;
  });
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM one c"), "2500\n");
  EXPECT_TRUE(succeeds(database_->container("one")));
  EXPECT_GE(most, 2500U);
  EXPECT_THAT(access_by_text("one"), Not(HasSubstr("index scan")));
  EXPECT_TRUE(succeeds(database_->container("two")));
  EXPECT_THAT(access_by_text("two"), Not(HasSubstr("index scan")));
}

TEST_F(UnfinishedIndexTest, AnInterruptOfItsBuildEndsTheQueryThatMetIt) {
  auto counting = database_->prepare("SELECT VALUE COUNT(1) FROM one c");
  database_->set_progress([&](uint64_t, uint64_t) {
    database_->interrupt();
    return true;
  });
  EXPECT_TRUE(fails_with(counting->step(), QUIRE_INTERRUPTED));
  database_->set_progress(nullptr);
  counting->reset();
  EXPECT_TRUE(*counting->step());
  EXPECT_EQ(counting->row().as_integer(), 2500);
}

TEST_F(UnfinishedIndexTest, KeepsNobodyFromTheItemsWhereItCannotBeFinished) {
  auto holds_a_snapshot = database_->prepare("SELECT VALUE n FROM n IN (SELECT VALUE [1, 2])");
  ASSERT_TRUE(succeeds(holds_a_snapshot->step()));
  for (const char* name : kNames) {
    EXPECT_TRUE(succeeds(database_->container(name)));
    EXPECT_EQ(query(fmt::format("SELECT VALUE COUNT(1) FROM {} c", name)), "2500\n");
  }
  EXPECT_THAT(access_by_text("four"), Not(HasSubstr("index scan")));
}

TEST_F(IndexTest, AnImportIntoAnIndexedContainerIndexesItsItems) {
  ASSERT_EQ(
      define(R"({"id":"c","partitionKey":{"paths":["/p"]},"indexingPolicy":{"includedPaths":[{"path":"/*"}]},
                   "indexes":[{"name":"u","unique":true,"paths":[{"path":"/n"}]}]})"),
      "");
  const auto import = [&](int from, int to) {
    std::string items;
    for (int i = from; i < to; ++i)
      items += fmt::format("{{\"id\":\"{0}\",\"p\":\"{1}\",\"n\":{0},\"a\":[{1}]}}\n", i, i % 50);
    std::istringstream input(items);
    return database_->container("c")->import(input);
  };
  ASSERT_TRUE(succeeds(import(0, 5000)));
  ASSERT_TRUE(succeeds(import(5000, 6000)));
  EXPECT_THAT(access("SELECT VALUE c.id FROM c WHERE c.n = 17"), HasSubstr("index scan"));
  EXPECT_EQ(query("SELECT VALUE c.id FROM c WHERE c.n IN (17, 5017)"), "\"17\"\n\"5017\"\n");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.a, 7)"), "120\n");
  std::istringstream again(R"({"id":"x","p":"q","n":3})");
  EXPECT_TRUE(fails_with(database_->container("c")->import(again), QUIRE_CONFLICT, "unique index 'u'"));
  EXPECT_EQ(database_->check().value(), "[]");
}

TEST_F(IndexTest, WrongPoliciesSayWhatIsWrong) {
  const auto policy = [&](std::string_view json) {
    return define(fmt::format(R"({{"id":"c","indexingPolicy":{}}})", json));
  };
  EXPECT_THAT(policy("1"), HasSubstr("must be an object"));
  EXPECT_THAT(policy(R"({"includedPath":[]})"), HasSubstr("did you mean 'includedPaths'?"));
  EXPECT_THAT(policy(R"({"indexingMode":"often"})"), HasSubstr("\"consistent\" or \"none\""));
  EXPECT_THAT(policy(R"({"automatic":1})"), HasSubstr("true or false"));
  EXPECT_THAT(policy(R"({"includedPaths":[{"path":"/a/?"}]})"), HasSubstr("'/*' must be in"));
  EXPECT_THAT(policy(R"({"includedPaths":[{"path":"a/*"}]})"), HasSubstr("does not begin with /"));
  EXPECT_THAT(policy(R"({"includedPaths":[{"path":"/a"}]})"), HasSubstr("must end in /? or /*"));
  EXPECT_THAT(policy(R"({"includedPaths":[{"path":"/a/*/b/?"}]})"), HasSubstr("before its end"));
  EXPECT_THAT(policy(R"({"includedPaths":[{"path":"/\"a/?"}]})"), HasSubstr("does not end"));
  EXPECT_THAT(policy(R"({"includedPaths":["/*"]})"), HasSubstr("must look like"));
  EXPECT_THAT(policy(R"({"includedPaths":[{"path":"/*"},{"path":"/*"}]})"), HasSubstr("twice"));
  EXPECT_THAT(policy(R"({"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/*"}]})"),
              HasSubstr("both in"));
  EXPECT_THAT(policy(R"({"compositeIndexes":[[{"path":"/a"}]]})"), HasSubstr("2 to 8 paths"));
  EXPECT_THAT(policy(R"({"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"down"}]]})"),
              HasSubstr("\"ascending\" or"));
  EXPECT_THAT(policy(R"({"compositeIndexes":[[{"path":"/a"},{"path":"/b/?"}]]})"), HasSubstr("takes no /?"));
  EXPECT_THAT(policy(R"({"compositeIndexes":[[{"path":"/a"},{"path":"/b"}],[{"path":"/a"},{"path":"/b"}]]})"),
              HasSubstr("the same index twice"));
  std::string many;
  for (int i = 0; i <= 1500; ++i) many += fmt::format("{}{{\"path\":\"/p{}/?\"}}", i == 0 ? "" : ",", i);
  EXPECT_THAT(policy(fmt::format(R"({{"includedPaths":[{}]}})", many)), HasSubstr("may have 1500 paths"));
  EXPECT_THAT(
      policy(
          R"({"includedPaths":[{"path":"/*"},{"path":"/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/?"}]})"),
      HasSubstr("too many paths"));
  EXPECT_THAT(policy(R"({"compositeIndexes":[[{"path":"/a"},{"path":"/b","oder":"descending"}]]})"),
              HasSubstr("did you mean 'order'?"));
  EXPECT_THAT(define(R"({"id":"c","indexes":[{"name":"u","unique":1,"paths":[{"path":"/a"}]}]})"),
              HasSubstr("true or false"));
  EXPECT_THAT(define(R"({"id":"c","uniqueKeyPolicy":{"uniqueKeys":[{"pathes":["/a"]}]}})"),
              HasSubstr("'paths'"));
  EXPECT_THAT(define(R"({"id":"c","uniqueKeyPolicy":{"uniqueKeys":[{"paths":[]}]}})"),
              HasSubstr("1 to 16 paths"));
  EXPECT_THAT(policy(R"({"_includedPaths":[]})"), HasSubstr("has no member \"_includedPaths\""));
  EXPECT_THAT(policy(R"({"spatialIndexes":[{"path":"/p/?","types":["Circle"]}]})"),
              HasSubstr("Point, LineString"));
  EXPECT_THAT(policy(R"({"spatialIndexes":[{"types":["Point"]}]})"), HasSubstr("\"path\""));
  EXPECT_THAT(policy(R"({"spatialIndexes":[{"path":"/p","types":["Point"]}]})"), HasSubstr("/? or /*"));
  EXPECT_THAT(policy(R"({"vectorIndexes":[{"path":"/v","type":"ivf"}]})"), HasSubstr("one of flat"));
  EXPECT_THAT(policy(R"({"vectorIndexes":[{"path":"v","type":"flat"}]})"), HasSubstr("begin with /"));
  EXPECT_THAT(policy(R"({"fullTextIndexes":[{"path":"/t","language":"en-US"}]})"), HasSubstr("no member"));
  EXPECT_EQ(policy(R"({"indexingMode":"none","automatic":false})"), "");
}

}  // namespace
}  // namespace quire::tests
