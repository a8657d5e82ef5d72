// Request charges and throughput through the public API.
#include <functional>
#include <string>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

class RequestTest : public DatabaseTest {};

TEST_F(RequestTest, EachRequestTellsItsCharge) {
  Container items = make("items", "/k");
  const auto created = items.create(R"({"k":1,"id":"a","n":1})");
  ASSERT_TRUE(succeeds(created));
  EXPECT_DOUBLE_EQ(created->request_charge(), 4.95);
  EXPECT_DOUBLE_EQ(request_charge(), 4.95);
  EXPECT_DOUBLE_EQ(items.upsert(R"({"k":1,"id":"a","n":2})").value().request_charge(), 9.9);
  ASSERT_TRUE(succeeds(items.read_json({1}, "a")));
  EXPECT_DOUBLE_EQ(request_charge(), 1.0);
  EXPECT_TRUE(fails_with(items.read_json({1}, "z"), QUIRE_NOT_FOUND));
  EXPECT_DOUBLE_EQ(request_charge(), 1.0);
  EXPECT_TRUE(fails_with(items.create(R"({"k":1,"id":"a"})"), QUIRE_CONFLICT));
  EXPECT_DOUBLE_EQ(request_charge(), 0.0);
  Feed feed = items.feed().value();
  ASSERT_TRUE(succeeds(feed.next()));
  EXPECT_DOUBLE_EQ(request_charge(), 0.05);
  ASSERT_TRUE(succeeds(feed.next()));
  EXPECT_DOUBLE_EQ(request_charge(), 1.0) << "nothing new";
  ASSERT_TRUE(succeeds(items.remove({1}, "a")));
  EXPECT_DOUBLE_EQ(request_charge(), 4.95);
}

// Nothing of an earlier call is left, however early one fails.
TEST_F(RequestTest, AFailedCallChargesAndLogsNothing) {
  Container items = make("items", "/k");
  const quire_scalar no_key{QUIRE_ARRAY, 0, 0, nullptr, 0};
  const quire_scalar key{QUIRE_INTEGER, 1, 0, nullptr, 0};
  const quire_batch_operation strange{.kind = static_cast<quire_batch_kind>(77),
                                      .id = {},
                                      .id_length = 0,
                                      .json = {},
                                      .json_length = 0,
                                      .if_match = {},
                                      .if_none_match = {}};
  const quire_write_options no_size{};
  quire_buffer out{};
  quire_value value;
  quire_container* const c = items.c_handle();
  const Snapshot snapshot = database_->begin_snapshot().value();
  const std::function<int()> calls[] = {
      [&] { return quire_create(c, nullptr, nullptr, 0, nullptr, nullptr); },
      [&] { return quire_write(c, nullptr, QUIRE_CREATE, "{}", 2, &no_size, nullptr, nullptr); },
      [&] { return quire_patch(c, nullptr, &key, 1, "a", 1, "{bad", 4, nullptr, nullptr, nullptr); },
      [&] { return quire_delete(c, nullptr, &no_key, 1, "a", 1, nullptr, nullptr); },
      [&] { return quire_batch(c, nullptr, &key, 1, &strange, 1, nullptr, nullptr); },
      [&] { return quire_read(c, nullptr, &no_key, 1, "a", 1, nullptr, &out, nullptr, nullptr); },
      [&] { return quire_read_json(c, &no_key, 1, "a", 1, 0, &out, nullptr); },
      [&] { return quire_snapshot_read(snapshot.c_handle(), c, &no_key, 1, "a", 1, &value, nullptr); },
      [&] { return quire_execute(c, nullptr, "p", 1, &no_key, 1, nullptr, 0, &out, nullptr, nullptr); },
      [&] { return quire_feed_next(nullptr, 0, nullptr, nullptr); },
      [&] { return quire_step(nullptr, nullptr); },
  };
  for (const auto& call : calls) {
    ASSERT_TRUE(succeeds(items.upsert(R"({"k":1,"id":"a"})")));
    EXPECT_GT(request_charge(), 0);
    EXPECT_NE(call(), QUIRE_OK);
    EXPECT_EQ(request_charge(), 0) << &call - calls;
  }
  // What a procedure reads by the way is no charge of the call that it fails.
  ASSERT_TRUE(
      succeeds(database_->register_procedure("look", [&](ProcedureCall&, std::string_view) -> Result<void> {
        EXPECT_TRUE(succeeds(items.read_json({1}, "a")));
        return std::unexpected(Error{.code = QUIRE_SCRIPT_FAILED, .status = 400, .message = "no"});
      })));
  EXPECT_TRUE(fails_with(items.execute("look", 1), QUIRE_SCRIPT_FAILED));
  EXPECT_EQ(request_charge(), 0);
}

TEST_F(RequestTest, LargerItemsAndIndexesCostMore) {
  EXPECT_EQ(
      query(
          "CREATE CONTAINER items PARTITION KEY (/k) WITH {indexingPolicy: {includedPaths: [{path: '/*'}]}}"),
      "");
  Container items = database_->container("items").value();
  EXPECT_GT(items.create(R"({"k":1,"id":"a","n":1,"m":[1,2,3]})").value().request_charge(),
            4.95 + 5 * 0.2 - 1e-9);
  const std::string text(4000, 'x');
  EXPECT_GT(items.create(R"({"k":1,"id":"b","s":")" + text + "\"}").value().request_charge(), 6.67);
}

TEST_F(RequestTest, StatementsTellTheirs) {
  Container items = make("items", "/k");
  Statement insert = database_->prepare("INSERT INTO items VALUES {k: 1, id: 'a'}, {k: 1, id: 'b'}").value();
  EXPECT_EQ(rows(insert), "");
  EXPECT_DOUBLE_EQ(insert.stats().request_charge, 9.9);
  Statement query = items.prepare("SELECT VALUE c.id FROM c").value();
  EXPECT_DOUBLE_EQ(query.stats().request_charge, 0.0);
  EXPECT_EQ(rows(query), "\"a\"\n\"b\"\n");
  EXPECT_DOUBLE_EQ(query.stats().request_charge, 2.4);
  EXPECT_DOUBLE_EQ(request_charge(), 2.4);
}

// Also where it was ready before it was asked for, and whatever was asked for in between.
TEST_F(RequestTest, ARowTellsWhatItsStatementCostsSoFar) {
  Container items = make("items", "/k");
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(succeeds(items.create("{\"k\":1,\"id\":\"" + std::to_string(i) + "\"}")));
  Statement query = items.prepare("SELECT VALUE c.id FROM c").value();
  double before = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(succeeds(items.read({1}, "1")));
    EXPECT_DOUBLE_EQ(request_charge(), 1.0);
    ASSERT_TRUE(query.step().value());
    EXPECT_DOUBLE_EQ(request_charge(), query.stats().request_charge);
    EXPECT_GT(request_charge(), before);
    before = request_charge();
  }
  EXPECT_FALSE(query.step().value());
}

// A native procedure, so that this holds in a build without JavaScript.
TEST_F(RequestTest, AProcedureCostsWhatItDoes) {
  Container items = make("items", "/k");
  ASSERT_TRUE(succeeds(database_->register_procedure(
      "work", [](ProcedureCall& call, std::string_view arguments) -> Result<void> {
        if (arguments == "[]") return {};
        auto made = call.create(R"({"k":1,"id":"a"})");
        if (!made) return std::unexpected(made.error());
        if (auto read = call.read_json("a"); !read) return std::unexpected(read.error());
        auto rows = call.query(R"({"query":"SELECT VALUE c.id FROM c"})");
        if (!rows) return std::unexpected(rows.error());
        return {};
      })));
  ASSERT_TRUE(succeeds(items.execute("work", 1)));
  EXPECT_DOUBLE_EQ(request_charge(), 1.0);
  ASSERT_TRUE(succeeds(items.execute("work", 1, "[1]")));
  EXPECT_DOUBLE_EQ(request_charge(), 1.0 + 4.95 + 1.0 + 2.35);
  EXPECT_TRUE(fails_with(items.execute("work", 1, "[1]"), QUIRE_CONFLICT));
  EXPECT_DOUBLE_EQ(request_charge(), 0.0);
  ASSERT_TRUE(succeeds(items.remove({1}, "a")));
  Statement statement = database_->prepare("EXECUTE work(1) ON items IN PARTITION 1").value();
  EXPECT_EQ(rows(statement), "null\n");
  EXPECT_DOUBLE_EQ(statement.stats().request_charge, 9.3);
  EXPECT_DOUBLE_EQ(request_charge(), 9.3);
}

TEST_F(RequestTest, AProcedureIsBoundByTheThroughputOfItsPartition) {
  EXPECT_EQ(query("CREATE CONTAINER items PARTITION KEY (/k) WITH {throughput: 10001}"), "");
  Container items = database_->container("items").value();
  ASSERT_TRUE(succeeds(
      database_->register_procedure("work", [](ProcedureCall& call, std::string_view) -> Result<void> {
        for (int i = 0; i < 2000; ++i)
          if (auto made = call.create("{\"k\":1,\"id\":\"" + std::to_string(i) + "\"}"); !made)
            return std::unexpected(made.error());
        return {};
      })));
  ASSERT_TRUE(succeeds(items.execute("work", 1))) << "9,901 units of the partition's 5,000";
  EXPECT_TRUE(fails_with(items.execute("work", 1), QUIRE_TOO_MANY_REQUESTS));
  EXPECT_THAT(query("EXECUTE work() ON items IN PARTITION 1"), testing::StartsWith("too_many_requests"));
}

TEST_F(RequestTest, PastItsThroughputAContainerRefuses) {
  EXPECT_EQ(query("CREATE CONTAINER items PARTITION KEY (/k) WITH {throughput: 1}"), "");
  Container items = database_->container("items").value();
  // One request, with a debt of minutes.
  EXPECT_EQ(query("INSERT INTO items SELECT 1 AS k, CONCAT('a', TOSTRING(n)) AS id FROM n IN (SELECT VALUE "
                  "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])"),
            "");
  const auto refused = items.upsert(R"({"k":1,"id":"b"})");
  ASSERT_TRUE(fails_with(refused, QUIRE_TOO_MANY_REQUESTS, "retry after"));
  EXPECT_EQ(refused.error().status, 429);
  EXPECT_GT(refused.error().retry_after_ms, 0u);
  EXPECT_TRUE(fails_with(items.read_json({1}, "a1"), QUIRE_TOO_MANY_REQUESTS));
  EXPECT_TRUE(fails_with(items.remove({1}, "a1"), QUIRE_TOO_MANY_REQUESTS));
  EXPECT_THAT(query("SELECT * FROM items"), testing::StartsWith("too_many_requests"));
  EXPECT_THAT(query("DELETE FROM items"), testing::StartsWith("too_many_requests"));
  Feed feed = items.feed().value();
  EXPECT_TRUE(fails_with(feed.next(), QUIRE_TOO_MANY_REQUESTS));
  auto transaction = database_->begin_transaction();
  EXPECT_TRUE(fails_with(items.create(R"({"k":1,"id":"c"})", &*transaction), QUIRE_TOO_MANY_REQUESTS));
  ASSERT_TRUE(succeeds(transaction->commit()));
  // Who has the container sees the change.
  EXPECT_EQ(query("ALTER CONTAINER items WITH {throughput: null}"), "");
  EXPECT_TRUE(fails_with(items.read_json({1}, "b"), QUIRE_NOT_FOUND)) << "what was refused is not there";
  EXPECT_TRUE(fails_with(items.read_json({1}, "c"), QUIRE_NOT_FOUND));
  EXPECT_TRUE(succeeds(items.read_json({1}, "a1")));
}

TEST_F(RequestTest, DatabasesOfOneFileInAProcessHaveAContainersThroughputTogether) {
  reopen(file("a.quire"));
  auto opened = Database::open(file("a.quire"));
  ASSERT_TRUE(succeeds(opened));
  EXPECT_EQ(query("CREATE CONTAINER items PARTITION KEY (/k)"), "");
  Container items = database_->container("items").value(), others = opened->container("items").value();
  EXPECT_EQ(query("ALTER CONTAINER items WITH {throughput: 1}"), "");
  ASSERT_TRUE(succeeds(others.upsert(R"({"k":1,"id":"a"})")));
  EXPECT_TRUE(fails_with(items.read_json({1}, "a"), QUIRE_TOO_MANY_REQUESTS));
  EXPECT_TRUE(fails_with(others.read_json({1}, "a"), QUIRE_TOO_MANY_REQUESTS));
  EXPECT_EQ(query("ALTER CONTAINER items WITH {throughput: null}"), "");
  EXPECT_TRUE(succeeds(others.read_json({1}, "a")));
}

}  // namespace
}  // namespace quire::tests
