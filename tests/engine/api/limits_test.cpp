// The limits of what a statement, a transaction and a reader may use: what goes past one ends with an error
// of its own, leaves nothing behind, and what comes next works.
#include <chrono>
#include <thread>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class LimitsTest : public DatabaseTest {
 protected:
  LimitsTest() { start({}); }

  void start(const Options& options) {
    things_.reset();
    reopen(":memory:", options);
    things_.emplace(make("things"));
  }
  void fill(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i)
      lines += R"({"id":")" + std::to_string(i) + R"(","n":)" + std::to_string(i) + "}\n";
    ASSERT_TRUE(succeeds(import(lines)));
  }
  Result<quire_import_result> import(std::string_view text) {
    return things_->import([&](char* buffer, size_t capacity) {
      const size_t length = text.copy(buffer, capacity);
      text.remove_prefix(length);
      return static_cast<int64_t>(length);
    });
  }
  std::string count() { return query("SELECT VALUE COUNT(1) FROM things"); }
  static std::string item(std::string_view id, size_t bytes) {
    return R"({"id":")" + std::string(id) + R"(","text":")" + std::string(bytes, 'x') + "\"}";
  }

  std::optional<Container> things_;
};

// ---- Options and PRAGMA

TEST_F(LimitsTest, AreOpenOptionsAndSettings) {
  EXPECT_EQ(query("PRAGMA result_size") + query("PRAGMA transaction_size") + query("PRAGMA reader_age") +
                query("PRAGMA statement_time"),
            "0\n1073741824\n0\n0\n");
  start({.statement_memory = 5'000'000,
         .statement_time_ms = 1000,
         .reader_age_ms = 2000,
         .result_size = 3000,
         .transaction_size = 4000,
         .script_time_ms = 6000,
         .script_memory = 7 << 20});
  EXPECT_EQ(query("PRAGMA statement_memory") + query("PRAGMA statement_time") + query("PRAGMA reader_age") +
                query("PRAGMA result_size") + query("PRAGMA transaction_size") + query("PRAGMA script_time") +
                query("PRAGMA script_memory"),
            "5000000\n1000\n2000\n3000\n4000\n6000\n7340032\n");
  EXPECT_THAT(query("PRAGMA transaction_size = 0"), HasSubstr("above 0"));
  EXPECT_THAT(query("PRAGMA reader_age = 86400001"), HasSubstr("86400000"));
  EXPECT_THAT(query("PRAGMA result_size = 'all'"), HasSubstr("0 for no limit"));
}

TEST_F(LimitsTest, OptionsOutOfRangeOpenNothing) {
  const auto opens_with = [](const Options& options) { return Database::open(":memory:", options); };
  EXPECT_TRUE(fails_with(opens_with({.statement_time_ms = 86'400'001}), QUIRE_INVALID_ARGUMENT, "86400000"));
  EXPECT_TRUE(fails_with(opens_with({.reader_age_ms = 86'400'001}), QUIRE_INVALID_ARGUMENT, "reader_age_ms"));
  EXPECT_TRUE(fails_with(opens_with({.script_time_ms = 3'600'001}), QUIRE_INVALID_ARGUMENT, "3600000"));
  EXPECT_TRUE(fails_with(opens_with({.script_memory = 1}), QUIRE_INVALID_ARGUMENT, "4 MiB"));
  EXPECT_TRUE(fails_with(opens_with({.script_memory = UINT64_MAX}), QUIRE_INVALID_ARGUMENT, "1 GiB"));
}

TEST_F(LimitsTest, ACallerOfBeforeTheyWereHasTheDefaults) {
  quire_options options{};
  options.struct_size = offsetof(quire_options, statement_time_ms);
  options.reader_age_ms = UINT32_MAX;  // behind the end of the struct as it was
  quire_database* database = nullptr;
  quire_error error{};
  ASSERT_EQ(quire_open(":memory:", &options, &database, &error), QUIRE_OK) << error.message;
  EXPECT_EQ(quire_close(database, &error), QUIRE_OK);
}

// ---- The size of a result

TEST_F(LimitsTest, AResultThatIsTooLargeEndsAtTheRowThatIs) {
  fill(10);
  EXPECT_EQ(query("PRAGMA result_size = 8"), "8\n");
  EXPECT_EQ(query("SELECT VALUE 'ab' FROM things t WHERE t.n < 2"), "\"ab\"\n\"ab\"\n");
  auto statement = database_->prepare("SELECT VALUE 'abc' FROM things");
  ASSERT_TRUE(succeeds(statement));
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(statement->step().value());
    const auto second = statement->step();
    ASSERT_TRUE(fails_with(second, QUIRE_RESULT_TOO_LARGE, "more than the 8 bytes of PRAGMA result_size"));
    EXPECT_EQ(second.error().status, 413);
    EXPECT_STREQ(second.error().name(), "result_too_large");
    EXPECT_TRUE(fails_with(statement->step(), QUIRE_MISUSE)) << "it has ended";
    statement->reset();
  }
  EXPECT_THAT(query("SELECT VALUE 'too long'"), StartsWith("result_too_large")) << "one row alone";
  EXPECT_EQ(query("SELECT VALUE 1"), "1\n");
  EXPECT_EQ(query("PRAGMA result_size = 0"), "0\n");
  EXPECT_EQ(query("SELECT VALUE 'not too long'"), "\"not too long\"\n");
}

TEST_F(LimitsTest, AChangeWhoseReturnedRowsAreTooManyChangesNothing) {
  fill(10);
  EXPECT_EQ(query("PRAGMA result_size = 15"), "15\n");
  EXPECT_THAT(query("UPDATE things t SET t.n = -1 WHERE true RETURNING VALUE t.id"),
              StartsWith("result_too_large"));
  EXPECT_THAT(query("DELETE FROM things t RETURNING VALUE t.id"), StartsWith("result_too_large"));
  EXPECT_EQ(query("SELECT VALUE SUM(t.n) FROM things t"), "45\n");
  // The rows that are read for a change are not given to anybody.
  EXPECT_EQ(query("UPDATE things t SET t.text = 'longer than fifteen bytes' WHERE true"), "");
  EXPECT_EQ(query("UPDATE things t SET t.n = -1 WHERE t.n < 3 RETURNING VALUE t.id"),
            "\"0\"\n\"1\"\n\"2\"\n");
}

TEST_F(LimitsTest, WithinATransactionAResultThatIsTooLargeLeavesItOpen) {
  fill(10);
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("DELETE FROM things t WHERE t.n = 0"), "");
  EXPECT_EQ(query("PRAGMA result_size = 15"), "15\n");
  EXPECT_THAT(query("SELECT VALUE t.id FROM things t"), StartsWith("result_too_large"));
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(count(), "9\n");
}

// ---- The size of a transaction

TEST_F(LimitsTest, AWriteThatIsTooLargeChangesNothing) {
  start({.transaction_size = 10'000});
  const auto refused = things_->create(item("a", 20'000));
  ASSERT_TRUE(fails_with(refused, QUIRE_TRANSACTION_TOO_LARGE,
                         "more than the 10000 bytes of PRAGMA transaction_size: nothing of it can be kept"));
  EXPECT_EQ(refused.error().status, 413);
  EXPECT_THAT(
      query("INSERT INTO things VALUES " + item("a", 4000) + ", " + item("b", 4000) + ", " + item("c", 4000)),
      StartsWith("transaction_too_large"));
  EXPECT_EQ(count(), "0\n");
  ASSERT_TRUE(succeeds(things_->create(item("a", 4000))));
  ASSERT_TRUE(succeeds(things_->create(item("b", 4000)))) << "each has the limit for itself";
  EXPECT_THAT(query("UPDATE things t SET t.more = 1 WHERE true"), "");
  const std::string longer(5000, 'y');
  EXPECT_THAT(query("UPDATE things t SET t.more = '" + longer + "' WHERE true"),
              StartsWith("transaction_too_large"));
  EXPECT_EQ(query("SELECT VALUE SUM(t.more) FROM things t"), "2\n");
  EXPECT_EQ(query("PRAGMA transaction_size = 100000"), "100000\n");
  EXPECT_EQ(query("UPDATE things t SET t.more = '" + longer + "' WHERE true"), "");
  EXPECT_EQ(database_->check().value(), "[]");
}

TEST_F(LimitsTest, WhatIsErasedCountsByItsKeys) {
  fill(5000);
  EXPECT_EQ(query("PRAGMA transaction_size = 20000"), "20000\n");
  EXPECT_THAT(query("DELETE FROM things"), StartsWith("transaction_too_large"));
  EXPECT_EQ(count(), "5000\n");
  EXPECT_EQ(query("DELETE FROM things t WHERE t.n < 10"), "");
  EXPECT_EQ(count(), "4990\n");
}

TEST_F(LimitsTest, ATransactionThatGrewTooLargeCanOnlyBeRolledBack) {
  start({.transaction_size = 10'000});
  for (const std::string_view end : {"COMMIT", "ROLLBACK"}) {
    EXPECT_EQ(query("BEGIN"), "");
    EXPECT_EQ(query("INSERT INTO things VALUES {id: 'small'}"), "");
    EXPECT_THAT(query("INSERT INTO things VALUES " + item("a", 20'000)), StartsWith("transaction_too_large"));
    EXPECT_THAT(query("INSERT INTO things VALUES {id: 'later'}"), StartsWith("transaction_too_large"));
    EXPECT_EQ(count(), "1\n") << "it can be read until then";
    EXPECT_THAT(query(end), end == "COMMIT"
                                ? "transaction_too_large: the transaction changes more than the 10000 "
                                  "bytes of PRAGMA transaction_size: nothing of it can be kept; "
                                  "divide it into several, or raise the limit"
                                : "");
    EXPECT_EQ(count(), "0\n");
    EXPECT_THAT(query("COMMIT"), StartsWith("misuse")) << "it has ended";
  }
  EXPECT_EQ(query("INSERT INTO things VALUES {id: 'small'}"), "");
}

TEST_F(LimitsTest, AHandlesTransactionLikewise) {
  start({.transaction_size = 10'000});
  {
    auto transaction = database_->begin_transaction().value();
    ASSERT_TRUE(succeeds(things_->create(item("a", 100), &transaction)));
    EXPECT_TRUE(fails_with(things_->create(item("b", 20'000), &transaction), QUIRE_TRANSACTION_TOO_LARGE));
    EXPECT_TRUE(fails_with(transaction.commit(), QUIRE_TRANSACTION_TOO_LARGE));
  }
  EXPECT_EQ(count(), "0\n");
  ASSERT_TRUE(succeeds(things_->create(item("a", 100))));
}

TEST_F(LimitsTest, ABatchThatIsTooLargeChangesNothing) {
  start({.transaction_size = 10'000});
  Batch batch;
  for (const char* id : {"a", "b", "c"}) batch.create(item(id, 4000));
  const BatchResult result = things_->execute({}, batch);
  ASSERT_FALSE(result.succeeded());
  EXPECT_EQ(result.error->code, QUIRE_TRANSACTION_TOO_LARGE);
  EXPECT_EQ(result.operations[2].status, 413);
  EXPECT_EQ(result.operations[0].status, 424);
  EXPECT_EQ(count(), "0\n");
}

TEST_F(LimitsTest, WhatWasUndoneDoesNotCount) {
  start({.transaction_size = 10'000});
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO things VALUES {id: 'there'}"), "");
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(query("INSERT INTO things VALUES " + item("a", 4000) + ", {id: 'there'}"),
                StartsWith("conflict"));
  EXPECT_EQ(query("INSERT INTO things VALUES " + item("a", 4000)), "");
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(count(), "2\n");
}

TEST_F(LimitsTest, ImportsAndBuildsOfIndexesAreNoOneTransaction) {
  EXPECT_EQ(query("PRAGMA transaction_size = 2000"), "2000\n");
  fill(5000);
  EXPECT_EQ(query("CREATE INDEX ON things (n)"), "");
  EXPECT_EQ(query("ALTER CONTAINER things WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}"), "");
  EXPECT_EQ(query("ANALYZE things"), "");
  EXPECT_EQ(query("SELECT VALUE t.id FROM things t WHERE t.n = 4321"), "\"4321\"\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

// ---- The age of a reader

TEST_F(LimitsTest, AStatementThatHoldsItsSnapshotTooLongEnds) {
  fill(3000);
  auto unlimited = database_->prepare("SELECT VALUE t.id FROM things t");
  EXPECT_EQ(query("PRAGMA reader_age = 200"), "200\n");
  auto statement = database_->prepare("SELECT VALUE t.id FROM things t");
  ASSERT_TRUE(succeeds(statement));
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(statement->step().value());
    std::this_thread::sleep_for(milliseconds(210));
    const auto late = statement->step();
    ASSERT_TRUE(fails_with(late, QUIRE_SNAPSHOT_TOO_OLD, "longer than the 200 ms of PRAGMA reader_age"));
    EXPECT_EQ(late.error().status, 408);
    EXPECT_TRUE(fails_with(statement->step(), QUIRE_MISUSE)) << "it has ended";
    statement->reset();
  }
  EXPECT_TRUE(unlimited->step().value());
  std::this_thread::sleep_for(milliseconds(210));
  EXPECT_TRUE(unlimited->step().value()) << "prepared before the limit was set";
}

TEST_F(LimitsTest, AQueryThatRunsTooLongIsAReaderThatIsTooOld) {
  EXPECT_EQ(query("PRAGMA reader_age = 200"), "200\n");
  const std::string_view digits = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]";
  auto statement = database_->prepare(
      "SELECT VALUE COUNT(1) FROM a IN (SELECT VALUE @n) JOIN b IN (SELECT VALUE @n) JOIN c IN (SELECT VALUE "
      "@n) "
      "JOIN d IN (SELECT VALUE @n) JOIN e IN (SELECT VALUE @n) JOIN f IN (SELECT VALUE @n) JOIN g IN (SELECT "
      "VALUE @n) JOIN h IN (SELECT VALUE @n)");
  ASSERT_TRUE(succeeds(statement));
  ASSERT_TRUE(succeeds(statement->bind("n", Json{digits})));
  EXPECT_THAT(rows(*statement), StartsWith("snapshot_too_old"));
}

TEST_F(LimitsTest, WithinATransactionThereIsNoSnapshotToBecomeOld) {
  fill(3);
  EXPECT_EQ(query("PRAGMA reader_age = 5"), "5\n");
  EXPECT_EQ(query("BEGIN"), "");
  auto statement = database_->prepare("SELECT VALUE t.id FROM things t");
  ASSERT_TRUE(succeeds(statement));
  EXPECT_TRUE(statement->step().value());
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(statement->step().value());
  statement->reset();
  EXPECT_EQ(query("COMMIT"), "");
}

TEST_F(LimitsTest, ASnapshotThatIsTooOldHasEndedUntilItIsRenewed) {
  fill(1);
  auto snapshot = database_->begin_snapshot().value();
  ASSERT_TRUE(succeeds(snapshot.read(*things_, {}, "0")));
  EXPECT_EQ(query("PRAGMA reader_age = 200"), "200\n");
  std::this_thread::sleep_for(milliseconds(210));
  EXPECT_EQ(query("UPDATE things t SET t.n = 7 WHERE true"), "");
  for (int reads = 0; reads < 2; ++reads)
    EXPECT_TRUE(fails_with(snapshot.read(*things_, {}, "0"), QUIRE_SNAPSHOT_TOO_OLD, "reader_age"));
  ASSERT_TRUE(succeeds(snapshot.renew()));
  EXPECT_EQ(snapshot.read(*things_, {}, "0").value()["n"].as_integer(), 7);
  EXPECT_EQ(query("PRAGMA reader_age = 0"), "0\n");
  std::this_thread::sleep_for(milliseconds(210));
  EXPECT_TRUE(succeeds(snapshot.read(*things_, {}, "0")));
}

TEST_F(LimitsTest, AFeedThatHoldsItsSnapshotTooLongGoesOnWithANewerOne) {
  fill(3);
  EXPECT_EQ(query("PRAGMA reader_age = 200"), "200\n");
  Feed feed = things_->feed().value();
  std::string ids;
  const auto next = [&] {
    const auto change = feed.next();
    if (!change) return std::string(change.error().name());
    return *change ? std::string((*change)->current()["id"].as_string()) : "";
  };
  EXPECT_EQ(next(), "0");
  EXPECT_EQ(query("UPDATE things t SET t.n = 7 WHERE t.id = '1'"), "");
  std::this_thread::sleep_for(milliseconds(210));
  EXPECT_EQ(next(), "2") << "it sees that the other has moved to the end";
  EXPECT_EQ(next(), "1");
  EXPECT_EQ(next(), "");
}

// ---- The time of what takes long

TEST_F(LimitsTest, TheTimeOfAStatementBoundsBuildsAndChecksToo) {
  fill(5000);
  EXPECT_EQ(query("CREATE INDEX ON things (n)"), "");
  // Told at the first look how far they are, they take longer than they may.
  database_->set_progress([](uint64_t, uint64_t) {
    std::this_thread::sleep_for(milliseconds(30));
    return true;
  });
  EXPECT_EQ(query("PRAGMA statement_time = 20"), "20\n");
  for (const std::string_view late :
       {"CREATE INDEX ON things (n, id)", "CHECK things", "ANALYZE things",
        "ALTER CONTAINER things WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}", "ADVISE things"})
    EXPECT_THAT(query(late), AllOf(StartsWith("timeout"), HasSubstr("20 ms"))) << late;
  EXPECT_TRUE(fails_with(database_->check(), QUIRE_TIMEOUT));
  EXPECT_TRUE(fails_with(database_->advise("things"), QUIRE_TIMEOUT));
  EXPECT_EQ(query("PRAGMA statement_time = 0"), "0\n");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM things t WHERE t.n >= 4990"), "10\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

TEST_F(LimitsTest, TheConditionOfAPatchHasTheLimitsOfAStatement) {
  fill(1);
  EXPECT_EQ(query("PRAGMA statement_time = 50"), "50\n");
  std::string list = "(SELECT VALUE [0";
  for (int i = 1; i < 500; ++i) list += "," + std::to_string(i);
  list += "])";
  std::string condition = "FROM t";
  for (const char* name : {"a", "b", "c", "d"}) condition += std::string(" JOIN ") + name + " IN " + list;
  const std::string patch = R"({"condition":")" + condition +
                            R"( WHERE a + b + c + d < 0","operations":[{"op":"set","path":"/x","value":1}]})";
  EXPECT_TRUE(fails_with(things_->patch({}, "0", patch), QUIRE_TIMEOUT, "50 ms of PRAGMA statement_time"));
  EXPECT_EQ(query("PRAGMA statement_time = 0"), "0\n");
  std::thread interrupter([this] {
    std::this_thread::sleep_for(milliseconds(100));
    database_->interrupt();
  });
  EXPECT_TRUE(fails_with(things_->patch({}, "0", patch), QUIRE_INTERRUPTED, "the condition of the patch"));
  interrupter.join();
  EXPECT_EQ(query("SELECT VALUE t.x FROM things t"), "");
}

TEST_F(LimitsTest, AnImportIsNoStatementAndEndsByItsOwnMeans) {
  start({.statement_time_ms = 1});
  std::string_view text = "{\"id\":\"1\"}\n{\"id\":\"2\"}\n";
  ASSERT_TRUE(succeeds(things_->import([&](char* buffer, size_t capacity) {
    std::this_thread::sleep_for(milliseconds(5));
    const size_t length = text.substr(0, 11).copy(buffer, capacity);
    text.remove_prefix(length);
    return static_cast<int64_t>(length);
  })));
  EXPECT_EQ(query("PRAGMA statement_time = 0"), "0\n");
  EXPECT_EQ(count(), "2\n");
}

}  // namespace
}  // namespace quire::tests
