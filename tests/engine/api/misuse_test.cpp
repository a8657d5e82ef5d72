// What the API's contract forbids, as far as it can be seen: an error, never a crash.
#include <cstring>
#include <functional>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

class MisuseTest : public DatabaseTest {};

TEST_F(MisuseTest, NullHandlesAreReported) {
  quire_error error;
  quire_buffer buffer{};
  quire_value value;
  const char* json;
  size_t length;
  quire_database* database;
  quire_container* container;
  quire_statement* statement;
  quire_snapshot* snapshot;
  quire_transaction* transaction;
  quire_feed* feed;
  const int codes[] = {
      quire_open(nullptr, nullptr, &database, &error),
      quire_open(":memory:", nullptr, nullptr, &error),
      quire_container_create(nullptr, "{}", 2, &error),
      quire_container_drop(nullptr, "x", 1, &error),
      quire_containers(nullptr, &buffer, &error),
      quire_containers(database_->c_handle(), nullptr, &error),
      quire_status(nullptr, &buffer, &error),
      quire_status(database_->c_handle(), nullptr, &error),
      quire_container_open(nullptr, "x", 1, &container, &error),
      quire_container_open(database_->c_handle(), nullptr, 1, &container, &error),
      quire_transaction_begin(nullptr, &transaction, &error),
      quire_transaction_commit(nullptr, &error),
      quire_create(nullptr, nullptr, "{}", 2, nullptr, &error),
      quire_upsert(nullptr, nullptr, "{}", 2, nullptr, nullptr, &error),
      quire_replace(nullptr, nullptr, "{}", 2, nullptr, nullptr, &error),
      quire_delete(nullptr, nullptr, nullptr, 0, "x", 1, nullptr, &error),
      quire_read_json(nullptr, nullptr, 0, "x", 1, 1, &buffer, &error),
      quire_snapshot_begin(nullptr, &snapshot, &error),
      quire_snapshot_renew(nullptr, &error),
      quire_snapshot_read(nullptr, nullptr, nullptr, 0, "x", 1, &value, &error),
      quire_import(nullptr, nullptr, nullptr, nullptr, nullptr, &error),
      quire_prepare(nullptr, "x", 1, &statement, &error),
      quire_prepare(database_->c_handle(), nullptr, 1, &statement, &error),
      quire_prepare_in(nullptr, "x", 1, &statement, &error),
      quire_bind(nullptr, "x", {}, &error),
      quire_bind_json(nullptr, "x", "1", 1, &error),
      quire_step(nullptr, &error),
      quire_row_json(nullptr, &json, &length, &error),
      quire_value_json({}, nullptr, &error),
      quire_value_pretty_json({}, nullptr, &error),
      quire_check(nullptr, nullptr, 0, &buffer, &error),
      quire_check(database_->c_handle(), nullptr, 0, nullptr, &error),
      quire_backup(nullptr, "x", &error),
      quire_backup(database_->c_handle(), nullptr, &error),
      quire_compact(nullptr, nullptr, &error),
      quire_advise(nullptr, "x", 1, &buffer, &error),
      quire_erase_expired(nullptr, 1, nullptr, &error),
      quire_write(nullptr, nullptr, QUIRE_CREATE, "{}", 2, nullptr, nullptr, &error),
      quire_patch(nullptr, nullptr, nullptr, 0, "x", 1, "[]", 2, nullptr, nullptr, &error),
      quire_patch_with(nullptr, nullptr, nullptr, 0, "x", 1, "[]", 2, nullptr, nullptr, &error),
      quire_delete_with(nullptr, nullptr, nullptr, 0, "x", 1, nullptr, &error),
      quire_read(nullptr, nullptr, nullptr, 0, "x", 1, nullptr, &buffer, nullptr, &error),
      quire_batch(nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr, &error),
      quire_feed_open(nullptr, nullptr, &feed, &error),
      quire_feed_next(nullptr, 0, nullptr, &error),
      quire_feed_json(nullptr, &buffer, &error),
      quire_feed_token(nullptr, &buffer, &error),
      quire_script_create(nullptr, nullptr, &error),
      quire_script_drop(nullptr, QUIRE_PROCEDURE, "x", 1, &error),
      quire_scripts(nullptr, &buffer, &error),
      quire_execute(nullptr, nullptr, "x", 1, nullptr, 0, nullptr, 0, &buffer, nullptr, &error),
      quire_register_procedure(nullptr, "x", 1, nullptr, nullptr, nullptr, &error),
      quire_call_create(nullptr, "{}", 2, &buffer, &error),
      quire_call_upsert(nullptr, "{}", 2, nullptr, &buffer, &error),
      quire_call_replace(nullptr, "{}", 2, nullptr, &buffer, &error),
      quire_call_delete(nullptr, "x", 1, nullptr, &error),
      quire_call_read(nullptr, "x", 1, &buffer, &error),
      quire_call_query(nullptr, "{}", 2, &buffer, &error),
      quire_call_respond(nullptr, "1", 1, &error),
  };
  for (const int code : codes) EXPECT_EQ(code, QUIRE_MISUSE);
  EXPECT_STREQ(quire_code_name(error.code), "misuse");
  EXPECT_EQ(quire_step(nullptr, nullptr), QUIRE_MISUSE);
}

TEST_F(MisuseTest, NullIsReleasedAndAskedWithoutHarm) {
  EXPECT_EQ(quire_close(nullptr, nullptr), QUIRE_OK);
  quire_interrupt(nullptr);
  quire_container_close(nullptr);
  quire_transaction_rollback(nullptr);
  quire_snapshot_end(nullptr);
  quire_reset(nullptr);
  quire_finalize(nullptr);
  quire_leave_unrecorded(nullptr);
  quire_omit_system_properties(nullptr);
  quire_feed_close(nullptr);
  quire_set_progress(nullptr, nullptr, nullptr);
  quire_call_log(nullptr, "x", 1);
  EXPECT_EQ(quire_log(nullptr, nullptr), nullptr);
  EXPECT_NE(quire_request_log(nullptr), nullptr);
  EXPECT_EQ(quire_parameter_name(nullptr, 0), nullptr);
  EXPECT_EQ(quire_value_type(quire_row_value(nullptr)), QUIRE_UNDEFINED);
  quire_statement_stats stats{1, 1, 1, 1};
  quire_stats(nullptr, &stats);
  EXPECT_EQ(stats.items_read, 0u);
}

TEST_F(MisuseTest, AMovedFromHandleIsReported) {
  auto container = make("things");
  const Container moved = std::move(container);
  EXPECT_TRUE(fails_with(container.create("{}"), QUIRE_MISUSE));
  auto database = Database::open(":memory:");
  const Database moved_too = std::move(*database);
  database->set_progress(nullptr);
  EXPECT_TRUE(fails_with(database->check(), QUIRE_MISUSE));
}

// It would else be done, and stay, in a transaction of its own.
TEST_F(MisuseTest, WorkWithinATransactionThatHasEndedIsReported) {
  auto container = make("things");
  ASSERT_TRUE(succeeds(container.create(R"({"id":"1"})")));
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(transaction));
  transaction->rollback();
  Transaction* const ended = &*transaction;
  WriteOptions within;
  within.transaction = ended;
  EXPECT_TRUE(fails_with(container.create("{}", ended), QUIRE_MISUSE, "has ended"));
  EXPECT_TRUE(fails_with(container.upsert("{}", within), QUIRE_MISUSE, "has ended"));
  EXPECT_TRUE(fails_with(container.replace(R"({"id":"1","n":1})", within), QUIRE_MISUSE, "has ended"));
  EXPECT_TRUE(fails_with(container.patch({}, "1", R"([{"op":"set","path":"/n","value":1}])", within),
                         QUIRE_MISUSE, "has ended"));
  EXPECT_TRUE(fails_with(container.remove({}, "1", within), QUIRE_MISUSE, "has ended"));
  EXPECT_TRUE(fails_with(container.read({}, "1", {}, ended), QUIRE_MISUSE, "has ended"));
  EXPECT_TRUE(fails_with(container.execute("p", {}, "[]", ended), QUIRE_MISUSE, "has ended"));
  const BatchResult result = container.execute({}, Batch().upsert("{}"), ended);
  ASSERT_FALSE(result.succeeded());
  EXPECT_EQ(result.error->code, QUIRE_MISUSE);
  EXPECT_EQ(result.operations.size(), 1u);
  EXPECT_EQ(container.read_json({}, "1", false).value(), R"({"id":"1"})");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM things t"), "1\n");
}

TEST_F(MisuseTest, ADatabaseWithOpenHandlesStaysOpen) {
  {
    auto container = make("things");
    EXPECT_TRUE(fails_with(database_->close(), QUIRE_MISUSE, "1"));
    auto statement = container.prepare("SELECT * FROM c");
    auto snapshot = database_->begin_snapshot();
    auto transaction = database_->begin_transaction();
    EXPECT_TRUE(fails_with(database_->close(), QUIRE_MISUSE, "4"));
    EXPECT_TRUE(succeeds(container.create("{}", &*transaction)));
  }
  EXPECT_TRUE(succeeds(database_->close()));
  EXPECT_TRUE(fails_with(database_->prepare("SELECT 1"), QUIRE_MISUSE));
}

TEST_F(MisuseTest, ADatabaseIsNotClosedWhileAnotherThreadIsWithinItsBegin) {
  const std::string path = file("begin.quire");
  reopen(path);
  make("things");
  auto other = Database::open(path);
  ASSERT_TRUE(succeeds(other));
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO things VALUES {id: 'a'}"), "");
  std::jthread([&] { EXPECT_TRUE(fails_with(database_->close(), QUIRE_MISUSE, "BEGIN")); }).join();
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_TRUE(succeeds(database_->close()));
  EXPECT_EQ(rows(other->prepare("INSERT INTO things VALUES {id: 'b'}")), "");
  EXPECT_EQ(rows(other->prepare("SELECT VALUE t.id FROM things t")), "\"a\"\n\"b\"\n");
}

TEST_F(MisuseTest, ADatabaseIsClosedWhoseBeginIsOfAThreadThatHasEnded) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "to close it lets go of a mutex of LMDB's that the ended thread has locked";
#endif
  const std::string path = file("begin.quire");
  reopen(path);
  make("things");
  auto other = Database::open(path);
  ASSERT_TRUE(succeeds(other));
  std::jthread([&] {
    EXPECT_EQ(query("BEGIN"), "");
    EXPECT_EQ(query("INSERT INTO things VALUES {id: 'a'}"), "");
  }).join();
  EXPECT_TRUE(succeeds(database_->close())) << "nobody else can, once the thread has ended";
  EXPECT_EQ(rows(other->prepare("INSERT INTO things VALUES {id: 'b'}")), "");
  EXPECT_EQ(rows(other->prepare("SELECT VALUE t.id FROM things t")), "\"b\"\n");
}

TEST_F(MisuseTest, OptionsMustTellTheirSize) {
  quire_options options{};
  quire_database* database = nullptr;
  quire_error error;
  EXPECT_EQ(quire_open(":memory:", &options, &database, &error), QUIRE_MISUSE);
  EXPECT_EQ(database, nullptr);
  // A caller of an older version, whose struct ended earlier.
  options.struct_size = offsetof(quire_options, map_size);
  options.map_size = 1;
  ASSERT_EQ(quire_open(":memory:", &options, &database, &error), QUIRE_OK);
  EXPECT_EQ(quire_close(database, nullptr), QUIRE_OK);
}

TEST_F(MisuseTest, HandlesOfDifferentDatabasesDoNotMix) {
  auto things = make("things");
  auto other = std::move(Database::open(":memory:").value());
  auto transaction = other.begin_transaction();
  EXPECT_TRUE(fails_with(things.create("{}", &*transaction), QUIRE_MISUSE, "different databases"));
  auto snapshot = other.begin_snapshot();
  EXPECT_TRUE(fails_with(snapshot->read(things, {}, "a"), QUIRE_MISUSE, "different databases"));
}

TEST_F(MisuseTest, ATransactionBelongsToItsThread) {
  auto things = make("things");
  auto transaction = database_->begin_transaction();
  std::thread([&] {
    EXPECT_TRUE(fails_with(things.create("{}", &*transaction), QUIRE_MISUSE, "thread"));
    EXPECT_EQ(quire_transaction_commit(transaction->c_handle(), nullptr), QUIRE_MISUSE);
    EXPECT_TRUE(fails_with(transaction->commit(), QUIRE_MISUSE, "thread"));
    transaction->rollback();
  }).join();
  EXPECT_TRUE(succeeds(things.create("{}", &*transaction)));
  EXPECT_TRUE(succeeds(transaction->commit()));
  EXPECT_TRUE(fails_with(transaction->commit(), QUIRE_MISUSE));
}

TEST_F(MisuseTest, WritingBesideOnesOwnTransactionDoesNotHang) {
  auto things = make("things");
  auto transaction = database_->begin_transaction();
  EXPECT_TRUE(fails_with(things.create("{}"), QUIRE_MISUSE));
  EXPECT_TRUE(fails_with(database_->begin_transaction(), QUIRE_MISUSE));
  EXPECT_TRUE(fails_with(database_->create_container(R"({"id":"more"})"), QUIRE_MISUSE));
  std::istringstream lines("{\"id\":\"a\",\"a_new_name\":1}\n");
  EXPECT_TRUE(fails_with(things.import(lines), QUIRE_MISUSE));
  EXPECT_TRUE(succeeds(things.create("{}", &*transaction)));
}

TEST_F(MisuseTest, AStatementThatEndedWantsAReset) {
  auto statement = database_->prepare("SELECT VALUE 1");
  EXPECT_TRUE(fails_with(statement->row_json(), QUIRE_MISUSE, "step"));
  EXPECT_TRUE(*statement->step());
  EXPECT_FALSE(*statement->step());
  EXPECT_TRUE(statement->row().is_undefined());
  EXPECT_TRUE(fails_with(statement->step(), QUIRE_MISUSE, "reset"));
  statement->reset();
  EXPECT_TRUE(*statement->step());
}

// ---- Callbacks that come back

struct Reentry {
  quire_database* database = nullptr;
  quire_statement* statement = nullptr;
  int calls = 0;
  int step = 0, bind = 0, close = 0;
};

// Uses what it should not, and finalizes the statement whose step called it.
int come_back(void* context, uint64_t, uint64_t) {
  auto& reentry = *static_cast<Reentry*>(context);
  if (reentry.calls++ > 0) return 0;
  reentry.step = quire_step(reentry.statement, nullptr);
  reentry.bind = quire_bind(reentry.statement, "a", {QUIRE_NULL, 0, 0, nullptr, 0}, nullptr);
  reentry.close = quire_close(reentry.database, nullptr);
  quire_reset(reentry.statement);
  if (reentry.statement != nullptr) quire_finalize(reentry.statement);
  return 0;
}

TEST_F(MisuseTest, ACallbackCannotUseTheStatementThatCalledIt) {
  Container things = make("things");
  std::stringstream lines;
  for (int i = 0; i < 5000; ++i) lines << R"({"id":")" << i << R"(","n":)" << i << "}\n";
  ASSERT_TRUE(succeeds(things.import(lines)));
  constexpr std::string_view kSql = "CREATE INDEX numbers ON things (n)";
  Reentry reentry{.database = database_->c_handle()};
  ASSERT_EQ(quire_prepare(database_->c_handle(), kSql.data(), kSql.size(), &reentry.statement, nullptr),
            QUIRE_OK);
  quire_set_progress(database_->c_handle(), come_back, &reentry);
  EXPECT_EQ(quire_step(reentry.statement, nullptr), QUIRE_DONE);
  quire_set_progress(database_->c_handle(), nullptr, nullptr);
  ASSERT_GT(reentry.calls, 0);
  EXPECT_EQ(reentry.step, QUIRE_MISUSE);
  EXPECT_EQ(reentry.bind, QUIRE_MISUSE);
  EXPECT_EQ(reentry.close, QUIRE_MISUSE);
  EXPECT_EQ(query("SELECT VALUE t.n FROM things t WHERE t.n = 7"), "7\n");
}

TEST_F(MisuseTest, ADatabaseIsNotClosedByACallbackOfItsCheck) {
  Container things = make("things");
  std::stringstream lines;
  for (int i = 0; i < 5000; ++i) lines << R"({"id":")" << i << "\"}\n";
  ASSERT_TRUE(succeeds(things.import(lines)));
  {
    const Container closed = std::move(things);
  }
  Reentry reentry{.database = database_->c_handle()};
  quire_set_progress(database_->c_handle(), come_back, &reentry);
  EXPECT_EQ(database_->check().value(), "[]");
  EXPECT_EQ(reentry.close, QUIRE_MISUSE);
  reentry.calls = 0;
  EXPECT_TRUE(succeeds(database_->advise("things")));
  EXPECT_EQ(reentry.close, QUIRE_MISUSE);
  EXPECT_GT(reentry.calls, 0);
  quire_set_progress(database_->c_handle(), nullptr, nullptr);
}

TEST_F(MisuseTest, AnImportOutlivesTheHandleThatACallbackReleases) {
  make("things");
  quire_container* container = nullptr;
  ASSERT_EQ(quire_container_open(database_->c_handle(), "things", 6, &container, nullptr), QUIRE_OK);
  struct Input {
    quire_container* container;
    bool is_read = false;
  } input{container};
  const auto read = [](void* context, char* buffer, size_t capacity) -> int64_t {
    auto& given = *static_cast<Input*>(context);
    if (std::exchange(given.is_read, true)) return 0;
    quire_container_close(given.container);
    constexpr std::string_view kLine = "{\"id\":\"a\"}\n";
    return static_cast<int64_t>(kLine.copy(buffer, capacity));
  };
  quire_import_result result{};
  EXPECT_EQ(quire_import(container, read, &input, nullptr, &result, nullptr), QUIRE_OK);
  EXPECT_EQ(result.items, 1u);
  EXPECT_EQ(query("SELECT VALUE t.id FROM things t"), "\"a\"\n");
}

TEST_F(MisuseTest, AProcedureCannotWriteBesideItsCall) {
  Container things = make("things");
  int create = 0, begin = 0, execute = 0, close = 0, read = 0;
  ASSERT_TRUE(succeeds(
      database_->register_procedure("beside", [&](ProcedureCall& call, std::string_view) -> Result<void> {
        quire_container* const container = things.c_handle();
        quire_transaction* transaction = nullptr;
        quire_buffer body{};
        create = quire_create(container, nullptr, "{}", 2, nullptr, nullptr);
        begin = quire_transaction_begin(database_->c_handle(), &transaction, nullptr);
        execute =
            quire_execute(container, nullptr, "beside", 6, nullptr, 0, nullptr, 0, &body, nullptr, nullptr);
        close = quire_close(database_->c_handle(), nullptr);
        read = quire_read_json(container, nullptr, 0, "none", 4, 0, &body, nullptr);
        quire_buffer_release(&body);
        return call.respond("1");
      })));
  EXPECT_EQ(things.execute("beside", PartitionKey()).value().body, "1");
  EXPECT_EQ(create, QUIRE_MISUSE);
  EXPECT_EQ(begin, QUIRE_MISUSE);
  EXPECT_EQ(execute, QUIRE_MISUSE);
  EXPECT_EQ(close, QUIRE_MISUSE);
  EXPECT_EQ(read, QUIRE_NOT_FOUND) << "reading is allowed";
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM things"), "0\n");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("EXECUTE beside() ON things"), "1\n");
  EXPECT_NE(create, QUIRE_OK) << "nor into the transaction that the call is a part of";
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM things"), "0\n");
}

// Small, and with more than the log takes: a transaction is kept in two ways.
class ProcedureWithinTest : public DatabaseTest, public testing::WithParamInterface<size_t> {
 protected:
  // A procedure that reads, and is refused what it tries beside: to write, and what `end` tries.
  void expect_only_reads(Container& things, Transaction* handle, const std::function<void()>& end) {
    ASSERT_TRUE(succeeds(database_->register_procedure("within", [&, handle, end](ProcedureCall& call, auto) {
      EXPECT_TRUE(succeeds(call.create(R"({"id":"by call","x":")" + std::string(GetParam(), 'x') + "\"}")));
      EXPECT_TRUE(fails_with(things.create(R"({"id":"beside"})", handle), QUIRE_MISUSE));
      EXPECT_THAT(query("INSERT INTO things VALUES {id: 'beside'}"), testing::StartsWith("misuse"));
      EXPECT_TRUE(succeeds(things.read({}, "by call", {}, handle)));
      EXPECT_TRUE(succeeds(things.read({}, "before", {}, handle)));
      end();
      EXPECT_TRUE(succeeds(call.create(R"({"id":"by call 2"})")));
      return call.respond("1");
    })));
  }
};

TEST_P(ProcedureWithinTest, BeginItReadsAndNeitherWritesBesideItsCallNorEndsIt) {
  reopen(file("within.quire"));
  Container things = make("things");
  expect_only_reads(things, nullptr, [&] {
    EXPECT_TRUE(succeeds(things.read_json({}, "by call")));
    EXPECT_EQ(query("SELECT VALUE t.id FROM things t"), "\"before\"\n\"by call\"\n");
    EXPECT_THAT(query("COMMIT"), testing::StartsWith("misuse"));
    EXPECT_THAT(query("ROLLBACK"), testing::StartsWith("misuse"));
  });
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("INSERT INTO things VALUES {id: 'before'}"), "");
  EXPECT_EQ(query("EXECUTE within() ON things"), "1\n");
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(query("SELECT VALUE t.id FROM things t"), "\"before\"\n\"by call\"\n\"by call 2\"\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

TEST_P(ProcedureWithinTest, AHandleItReadsAndNeitherWritesBesideItsCallNorEndsIt) {
  reopen(file("within.quire"));
  Container things = make("things");
  auto handle = database_->begin_transaction();
  ASSERT_TRUE(succeeds(handle));
  expect_only_reads(things, &*handle, [&] {
    EXPECT_TRUE(fails_with(handle->commit(), QUIRE_MISUSE));
    EXPECT_EQ(quire_transaction_commit(handle->c_handle(), nullptr), QUIRE_MISUSE);
    handle->rollback();
    quire_transaction_rollback(handle->c_handle());
  });
  ASSERT_TRUE(succeeds(things.create(R"({"id":"before"})", &*handle)));
  EXPECT_TRUE(succeeds(things.execute("within", PartitionKey(), "[]", &*handle)));
  EXPECT_TRUE(succeeds(handle->commit()));
  EXPECT_EQ(query("SELECT VALUE t.id FROM things t"), "\"before\"\n\"by call\"\n\"by call 2\"\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

INSTANTIATE_TEST_SUITE_P(OfAnySize, ProcedureWithinTest, testing::Values(10, 1'500'000));

TEST_F(MisuseTest, AProcedureCannotCloseTheDatabaseThatRunsIt) {
  make("things");
  quire_container* container = nullptr;
  ASSERT_EQ(quire_container_open(database_->c_handle(), "things", 6, &container, nullptr), QUIRE_OK);
  int close = QUIRE_OK;
  ASSERT_TRUE(succeeds(database_->register_procedure("close", [&](ProcedureCall& call, std::string_view) {
    quire_container_close(container);
    close = quire_close(database_->c_handle(), nullptr);
    return call.respond("1");
  })));
  quire_buffer body{};
  EXPECT_EQ(quire_execute(container, nullptr, "close", 5, nullptr, 0, nullptr, 0, &body, nullptr, nullptr),
            QUIRE_OK);
  EXPECT_EQ(std::string_view(body.data, body.length), "1");
  EXPECT_EQ(close, QUIRE_MISUSE);
  quire_buffer_release(&body);
}

TEST_F(MisuseTest, CodesHaveNames) {
  EXPECT_STREQ(quire_code_name(QUIRE_OK), "ok");
  EXPECT_STREQ(quire_code_name(QUIRE_ROW), "row");
  EXPECT_STREQ(quire_code_name(QUIRE_INTERNAL), "internal");
  EXPECT_STREQ(quire_code_name(12345), "unknown");
  EXPECT_GE(std::strlen(quire_version()), 5u);
}

}  // namespace
}  // namespace quire::tests
