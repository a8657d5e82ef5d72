// Native procedures: C++ under the rules of scripts. These hold in a build without JavaScript as well.
#include <chrono>
#include <thread>

#include "tests/engine/api/script_fixture.h"

namespace quire::tests {
namespace {

class NativeProcedureTest : public ScriptTest {
 protected:
  void add(std::string_view name, NativeProcedure procedure) {
    ASSERT_TRUE(succeeds(database_->register_procedure(name, std::move(procedure))));
  }
};

TEST_F(NativeProcedureTest, WorksInOneTransactionOfOnePartition) {
  add("publish", [](ProcedureCall& call, std::string_view) -> Result<void> {
    auto made = call.create(R"({"id":"n1","authorId":"a1"})");
    if (!made) return std::unexpected(made.error());
    auto rows = call.query(
        R"({"query":"SELECT VALUE COUNT(1) FROM c WHERE c.id = @id","parameters":[{"name":"@id","value":"n1"}]})");
    if (!rows) return std::unexpected(rows.error());
    call.log("published");
    return call.respond(*rows);
  });
  auto result = shelf_->execute("publish", "a1");
  ASSERT_TRUE(succeeds(result));
  EXPECT_EQ(result->body, R"({"feed":[1]})");
  EXPECT_EQ(result->log, "published\n");
  EXPECT_TRUE(fails_with(shelf_->execute("publish", "a1"), QUIRE_CONFLICT, "procedure 'publish'"));
  EXPECT_TRUE(fails_with(shelf_->execute("publish", "a2"), QUIRE_FORBIDDEN));
  EXPECT_EQ(query("EXECUTE publish() ON shelf IN PARTITION 'a2'").substr(0, 9), "forbidden");
}

TEST_F(NativeProcedureTest, EndsAtItsNextOperationOnceItsStatementIsLate) {
  add("slow", [](ProcedureCall& call, std::string_view) -> Result<void> {
    EXPECT_TRUE(succeeds(call.remove("b1")));
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    auto read = call.read_json("b2");
    return read ? call.respond(*read) : Result<void>(std::unexpected(read.error()));
  });
  const std::string before = ids();
  set("statement_time", "50");
  EXPECT_THAT(
      query("EXECUTE slow() ON shelf IN PARTITION 'a1'"),
      testing::StartsWith(
          "timeout: procedure 'slow': the statement took longer than the 50 ms of PRAGMA statement_time"));
  EXPECT_EQ(ids(), before);
}

TEST_F(NativeProcedureTest, AnErrorOrAnExceptionUndoesAll) {
  const std::string before = ids();
  add("fail", [](ProcedureCall& call, std::string_view arguments) -> Result<void> {
    EXPECT_TRUE(succeeds(call.remove("b1")));
    EXPECT_TRUE(succeeds(call.upsert(R"({"id":"n1","authorId":"a1"})")));
    EXPECT_TRUE(fails_with(call.read_json("b1"), QUIRE_NOT_FOUND));
    EXPECT_TRUE(
        fails_with(call.replace(R"({"id":"n1","authorId":"a1"})", "\"stale\""), QUIRE_PRECONDITION_FAILED));
    if (arguments == "[1]") throw std::runtime_error("thrown");
    return std::unexpected(Error{.code = 12345, .status = 0, .message = "my own"});
  });
  EXPECT_TRUE(fails_with(shelf_->execute("fail", "a1"), QUIRE_SCRIPT_FAILED, "procedure 'fail': my own"));
  EXPECT_TRUE(fails_with(shelf_->execute("fail", "a1", "[1]"), QUIRE_SCRIPT_FAILED, "thrown"));
  EXPECT_EQ(ids(), before);
}

// In a transaction of its own, and as a part of another.
TEST_F(NativeProcedureTest, WhateverIsThrownAndWhateverCodeAnErrorHasItFails) {
  const std::string before = ids();
  add("codeless", [](ProcedureCall& call, std::string_view) -> Result<void> {
    EXPECT_TRUE(succeeds(call.remove("b1")));
    Error error;
    error.message = "no code";
    for (int i = 0; i < 1000; ++i) error.message += "é";
    return std::unexpected(error);
  });
  const quire_native_procedure throwing = [](void*, quire_call*, const char*, size_t, quire_error*) -> int {
    throw 5;
  };
  ASSERT_EQ(
      quire_register_procedure(database_->c_handle(), "throwing", 8, throwing, nullptr, nullptr, nullptr),
      QUIRE_OK);
  const auto expect_failures = [&] {
    const auto failed = shelf_->execute("codeless", "a1");
    ASSERT_TRUE(fails_with(failed, QUIRE_SCRIPT_FAILED, "procedure 'codeless': no code"));
    EXPECT_EQ(failed.error().message.substr(failed.error().message.size() - 2), "é") << "no half of one";
    EXPECT_TRUE(fails_with(shelf_->execute("throwing", "a1"), QUIRE_INTERNAL, "unknown type"));
  };
  expect_failures();
  EXPECT_EQ(query("BEGIN"), "");
  expect_failures();
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(ids(), before);
}

TEST_F(NativeProcedureTest, AnErrorThatItPassesOnTellsWhenToComeBack) {
  add("refused", [](ProcedureCall&, std::string_view) -> Result<void> {
    return std::unexpected(
        Error{.code = QUIRE_TOO_MANY_REQUESTS, .message = "slow down", .retry_after_ms = 7});
  });
  const auto refused = shelf_->execute("refused", "a1");
  ASSERT_TRUE(fails_with(refused, QUIRE_TOO_MANY_REQUESTS, "procedure 'refused': slow down"));
  EXPECT_EQ(refused.error().retry_after_ms, 7u);
}

TEST_F(NativeProcedureTest, ArgumentsAreAJsonArray) {
  int calls = 0;
  add("list", [&](ProcedureCall& call, std::string_view arguments) {
    ++calls;
    return call.respond(arguments);
  });
  for (const std::string_view list : {"[]", " [ 1, {} ] ", "[[]]"})
    EXPECT_EQ(shelf_->execute("list", "a1", list)->body, list);
  EXPECT_EQ(calls, 3);
  for (const std::string_view other : {"{}", "5", "null", "\"[]\""})
    EXPECT_TRUE(fails_with(shelf_->execute("list", "a1", other), QUIRE_INVALID_ARGUMENT,
                           "the arguments of procedure 'list' must be a JSON array"));
  for (const std::string_view broken : {"[bad", "", "[1] x", "[1,\n }"})
    EXPECT_TRUE(fails_with(shelf_->execute("list", "a1", broken), QUIRE_INVALID_JSON,
                           "the arguments of procedure 'list': "));
  EXPECT_EQ(shelf_->execute("list", "a1", "[1,\n }").error().line, 2u);
  EXPECT_EQ(calls, 3);
}

TEST_F(NativeProcedureTest, BracesAloneAreTheKeyOfAContainerWithoutPartitionKey) {
  Container notes = make("notes");
  add("note", [](ProcedureCall& call, std::string_view) -> Result<void> {
    EXPECT_TRUE(succeeds(call.create(R"({"id":"1"})")));
    return {};
  });
  EXPECT_TRUE(succeeds(notes.execute("note", {})));
  EXPECT_TRUE(notes.execute({}, Batch().read("1")).succeeded());
}

TEST_F(NativeProcedureTest, OperationsAndResultsAreBounded) {
  EXPECT_EQ(query("PRAGMA script_operations = 2"), "2\n");
  EXPECT_EQ(query("PRAGMA script_result = 100"), "100\n");
  add("read", [](ProcedureCall& call, std::string_view) -> Result<void> {
    for (;;)
      if (auto read = call.read_json("a1"); !read) return std::unexpected(read.error());
  });
  EXPECT_TRUE(fails_with(shelf_->execute("read", "a1"), QUIRE_LIMIT_EXCEEDED, "2 operations"));
  add("respond",
      [](ProcedureCall& call, std::string_view) { return call.respond('"' + std::string(200, 'x') + '"'); });
  EXPECT_TRUE(fails_with(shelf_->execute("respond", "a1"), QUIRE_LIMIT_EXCEEDED, "100"));
  add("garble", [](ProcedureCall& call, std::string_view) { return call.respond("{"); });
  EXPECT_TRUE(fails_with(shelf_->execute("garble", "a1"), QUIRE_INVALID_JSON));
  EXPECT_TRUE(fails_with(
      database_->register_procedure("a/b", [](ProcedureCall&, std::string_view) { return Result<void>(); }),
      QUIRE_INVALID_ARGUMENT));
}

TEST_F(NativeProcedureTest, SeveralPartitionsAndContainersAreOneTransactionOfTheFile) {
  Container stocks = make("stocks", "/id");
  Container holdings = make("holdings", "/personId");
  ASSERT_TRUE(succeeds(stocks.create(R"({"id":"1","symbol":"zaza"})")));
  add("mustExist", [](ProcedureCall& call, std::string_view) -> Result<void> {
    auto read = call.read_json("1");
    if (!read) return std::unexpected(read.error());
    return {};
  });
  add("hold", [](ProcedureCall& call, std::string_view) -> Result<void> {
    auto made = call.create(R"({"id":"h1","personId":"p1","stockId":"1"})");
    if (!made) return std::unexpected(made.error());
    return {};
  });
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_TRUE(succeeds(stocks.execute("mustExist", "1")));
  EXPECT_TRUE(succeeds(holdings.execute("hold", "p1")));
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_TRUE(succeeds(stocks.remove("1", "1")));
  EXPECT_TRUE(fails_with(stocks.execute("mustExist", "1"), QUIRE_NOT_FOUND));
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(query("SELECT VALUE h.stockId FROM holdings h JOIN stocks s ON s.id = h.stockId"), "\"1\"\n");
}

}  // namespace
}  // namespace quire::tests
