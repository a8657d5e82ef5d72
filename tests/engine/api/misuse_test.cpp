// What the API's contract forbids, as far as it can be seen: an error, never a crash.
#include <cstring>
#include <thread>

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
  const int codes[] = {
      quire_open(nullptr, nullptr, &database, &error),
      quire_open(":memory:", nullptr, nullptr, &error),
      quire_container_create(nullptr, "{}", 2, &error),
      quire_container_drop(nullptr, "x", 1, &error),
      quire_containers(nullptr, &buffer, &error),
      quire_containers(database_->c_handle(), nullptr, &error),
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

TEST_F(MisuseTest, ScalarsAreChecked) {
  auto statement = database_->prepare("SELECT VALUE @a");
  quire_error error;
  EXPECT_EQ(quire_bind(statement->c_handle(), "a", {QUIRE_ARRAY, 0, 0, nullptr, 0}, &error),
            QUIRE_INVALID_ARGUMENT);
  EXPECT_EQ(quire_bind(statement->c_handle(), "a", {static_cast<quire_type>(77), 0, 0, nullptr, 0}, &error),
            QUIRE_INVALID_ARGUMENT);
  EXPECT_EQ(quire_bind(statement->c_handle(), "a", {QUIRE_STRING, 0, 0, nullptr, 5}, &error), QUIRE_MISUSE);
  EXPECT_EQ(quire_bind(statement->c_handle(), "a", {QUIRE_STRING, 0, 0, nullptr, 0}, &error), QUIRE_OK);
  EXPECT_EQ(rows(*statement), "\"\"\n");
}

TEST_F(MisuseTest, ALongMessageIsCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "é";
  const auto error = database_->container(name).error();
  EXPECT_EQ(error.code, QUIRE_CONTAINER_NOT_FOUND);
  EXPECT_GE(error.message.size(), 1022u);
  EXPECT_EQ(error.message.substr(error.message.size() - 2), "é");
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
