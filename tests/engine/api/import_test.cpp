// Import through the public API; the importer's own tests are engine/container's.
#include <atomic>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

class ImportTest : public DatabaseTest {
 protected:
  Container things_ = make("things", "/kind");

  Result<quire_import_result> import(const std::string& text, const ImportOptions& options = {}) {
    std::istringstream input(text);
    return things_.import(input, options);
  }
  std::string count() { return query("SELECT VALUE COUNT(1) FROM things t"); }
};

TEST_F(ImportTest, TakesLinesAndArrays) {
  const auto lines = import("{\"id\":\"a\",\"kind\":1}\n\n{\"id\":\"b\",\"kind\":2}\r\n");
  ASSERT_TRUE(succeeds(lines));
  EXPECT_EQ(lines->items, 2u);
  ASSERT_TRUE(succeeds(import(R"([{"id":"c"},{"id":"d"}])")));
  EXPECT_EQ(count(), "4\n");
}

TEST_F(ImportTest, AStreamThatCannotBeReadIsAnErrorAndItsEndIsNone) {
  std::ifstream nowhere(file("nowhere.ndjson"));
  EXPECT_TRUE(fails_with(things_.import(nowhere), QUIRE_IO));
  std::istringstream throwing("{\"id\":\"a\"}\n");
  throwing.exceptions(std::ios::failbit | std::ios::badbit);
  EXPECT_TRUE(succeeds(things_.import(throwing)));
  EXPECT_EQ(count(), "1\n");
}

TEST_F(ImportTest, ABadLineLoadsNothingAndIsNamed) {
  const auto result = import("{\"id\":\"a\"}\n{\"id\":\n{\"id\":\"b\"}\n");
  EXPECT_TRUE(fails_with(result, QUIRE_INVALID_JSON));
  EXPECT_EQ(result.error().line, 2u);
  EXPECT_TRUE(fails_with(import("{\"id\":\"a\"}\n{\"id\":\"a\"}\n"), QUIRE_CONFLICT));
  EXPECT_EQ(count(), "0\n");
}

TEST_F(ImportTest, LinesOfAPartAreCountedFromItsFirst) {
  const ImportOptions options{.first_line = 101};
  EXPECT_EQ(import("{\"id\":\"a\"}\n{\n", options).error().line, 102u);
  EXPECT_TRUE(fails_with(import("{\"id\":\"a\"}\n\n{\"id\":\"a\"}\n", options), QUIRE_CONFLICT,
                         "stands on line 101 already"));
}

TEST_F(ImportTest, AnObjectOverSeveralLinesIsToldWhereItBreaksOff) {
  for (const std::string first : {"{", "{\r", "{ \"id\": \"a\", ", "{ \"id\":"}) {
    const auto result = import(first + "\n  \"kind\": 1\n}\n");
    EXPECT_TRUE(fails_with(result, QUIRE_INVALID_JSON,
                           "but the line ends: an item stands on one line, or in an array"));
    EXPECT_EQ(result.error().line, 1u);
  }
  const auto wrong = import("{\"id\": nul}\n");
  EXPECT_TRUE(fails_with(wrong, QUIRE_INVALID_JSON));
  EXPECT_EQ(wrong.error().message.find("line ends"), std::string::npos);
}

TEST_F(ImportTest, BadLinesCanBeSkipped) {
  std::vector<uint64_t> lines;
  ImportOptions options{.skip_errors = true};
  options.skipped = [&](uint64_t line, std::string_view message) {
    EXPECT_FALSE(message.empty());
    lines.push_back(line);
  };
  const auto result = import("{\"id\":\"a\"}\nnonsense\n{\"id\":7}\n{\"id\":\"b\"}\n", options);
  ASSERT_TRUE(succeeds(result));
  EXPECT_EQ(result->items, 2u);
  EXPECT_EQ(result->skipped, 2u);
  EXPECT_THAT(lines, testing::ElementsAre(2u, 3u));
}

// Indexes that are no unique ones are left to the end: here there is none.
TEST_F(ImportTest, AContainerMayHaveUniqueIndexesAlone) {
  ASSERT_EQ(query("CREATE UNIQUE INDEX ns ON things (n)"), "");
  std::vector<uint64_t> lines;
  ImportOptions options{.skip_errors = true};
  options.skipped = [&](uint64_t line, std::string_view message) {
    EXPECT_THAT(std::string(message), testing::HasSubstr("unique"));
    lines.push_back(line);
  };
  const std::string text = "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n{\"id\":\"c\",\"n\":1}\n";
  const auto refused = import(text);
  EXPECT_TRUE(fails_with(refused, QUIRE_CONFLICT, "unique"));
  EXPECT_THAT(refused.error().line, testing::AnyOf(1u, 3u));  // items are written in the order of their keys
  EXPECT_EQ(count(), "0\n");
  const auto result = import(text, options);
  ASSERT_TRUE(succeeds(result));
  EXPECT_EQ(result->items, 2u);
  EXPECT_EQ(result->skipped, 1u);
  EXPECT_THAT(lines, testing::ElementsAre(refused.error().line));
  EXPECT_EQ(count(), "2\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

// Of an item that is left out nothing is counted.
TEST_F(ImportTest, AnItemThatWouldReplaceOneAndIsSkippedLeavesTheCounters) {
  ASSERT_EQ(query("CREATE UNIQUE INDEX ns ON things (n)"), "");
  ASSERT_TRUE(succeeds(import("{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n")));
  const auto result = import("{\"id\":\"a\",\"n\":2,\"note\":\"longer\"}\n{\"id\":\"c\",\"n\":3}\n",
                             {.skip_errors = true, .upsert = true});
  ASSERT_TRUE(succeeds(result));
  EXPECT_EQ(result->items, 1u);
  EXPECT_EQ(result->skipped, 1u);
  EXPECT_EQ(query("SELECT VALUE t.n FROM things t ORDER BY t.n"), "1\n2\n3\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

TEST_F(ImportTest, MapsExtendedJsonAndIds) {
  ASSERT_TRUE(succeeds(import(R"({"_id":{"$oid":"507f1f77bcf86cd799439011"},"n":{"$numberLong":"5"}})",
                              {.extended_json = true})));
  ASSERT_TRUE(succeeds(import(R"({"key":17,"n":6})", {.id_path = "/key"})));
  EXPECT_EQ(query("SELECT VALUE [t.id, t.n] FROM things t ORDER BY t.n"),
            "[\"507f1f77bcf86cd799439011\",5]\n[\"17\",6]\n");
}

TEST_F(ImportTest, AFailingReaderLoadsNothing) {
  const ReadInput reader = [](char*, size_t) { return int64_t{-1}; };
  EXPECT_TRUE(fails_with(things_.import(reader), QUIRE_IO));
}

TEST_F(ImportTest, WhatACallbackThrowsArrives) {
  const ReadInput reader = [](char*, size_t) -> int64_t { throw std::runtime_error("the disk is gone"); };
  EXPECT_THROW(static_cast<void>(things_.import(reader)), std::runtime_error);
  EXPECT_EQ(count(), "0\n");
}

TEST_F(ImportTest, AnInterruptStopsIt) {
  bool is_first = true;
  const ReadInput reader = [&](char* buffer, size_t capacity) {
    static constexpr std::string_view kLine = "{\"kind\":1}\n";
    if (!is_first) database_->interrupt();
    is_first = false;
    size_t filled = 0;
    for (; filled + kLine.size() <= capacity; filled += kLine.size())
      kLine.copy(buffer + filled, kLine.size());
    return static_cast<int64_t>(filled);
  };
  ImportOptions options;
  options.generate_ids = true;
  EXPECT_TRUE(fails_with(things_.import(reader, options), QUIRE_INTERRUPTED));
  EXPECT_EQ(count(), "0\n");
}

// The file was opened for the import: nobody has read the names of its properties yet.
TEST_F(DatabaseTest, AnImportIntoAFileThatIsOpenedForItChecksTimesToLive) {
  reopen(file("a.quire"));
  EXPECT_EQ(query("CREATE CONTAINER c WITH {defaultTtl: 100}"), "");
  EXPECT_EQ(query("INSERT INTO c VALUES {id: 'a', ttl: 50}"), "");
  reopen(file("a.quire"));
  const std::string text = "{\"id\":\"b\"}\n{\"id\":\"c\",\"ttl\":\"x\"}\n";
  {
    Container container = database_->container("c").value();
    std::istringstream first(text), second(text);
    const auto refused = container.import(first);
    EXPECT_TRUE(fails_with(refused, QUIRE_INVALID_ARGUMENT, "ttl"));
    EXPECT_EQ(refused.error().line, 2u);
    const auto skipped = container.import(second, {.skip_errors = true});
    ASSERT_TRUE(succeeds(skipped));
    EXPECT_EQ(skipped->skipped, 1u);
  }
  EXPECT_EQ(query("SELECT VALUE c.id FROM c"), "\"a\"\n\"b\"\n");
}

// Also where the import waits for others to have written, which is what a writer would be told.
TEST_F(ImportTest, AnInterruptedImportSaysSo) {
  ASSERT_EQ(query("BEGIN"), "");
  ASSERT_EQ(query("INSERT INTO things VALUES {id: 'open', kind: 1}"), "");
  std::atomic<bool> has_ended = false;
  std::thread waiting([&] {
    for (const std::string_view item : {R"({"id":"a","a name that is new":1})", R"({"id":"a","kind":2})"})
      EXPECT_TRUE(fails_with(import(std::string(item)), QUIRE_INTERRUPTED, "the import was interrupted"));
    has_ended = true;
  });
  while (!has_ended) database_->interrupt();
  waiting.join();
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(count(), "1\n");
}

}  // namespace
}  // namespace quire::tests
