// Transactional batches, and reads that name an etag, through the public API.
#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BatchTest : public DatabaseTest {
 protected:
  static std::vector<int> statuses(const BatchResult& result) {
    std::vector<int> statuses;
    for (const auto& operation : result.operations) statuses.push_back(operation.status);
    return statuses;
  }
  std::string ids() { return query("SELECT VALUE s.id FROM shelf s ORDER BY s.id"); }
  static std::string book(std::string_view id, int pages) {
    return R"({"id":")" + std::string(id) + R"(","author":"le guin","pages":)" + std::to_string(pages) + "}";
  }

  Container shelf_ = make("shelf", "/author");
};

TEST_F(BatchTest, OperationsSeeThoseBeforeThem) {
  ASSERT_TRUE(succeeds(shelf_.create(book("old", 1))));
  const BatchResult result =
      shelf_.execute("le guin", Batch()
                                    .create(book("a", 100))
                                    .read("a")
                                    .upsert(book("a", 101))
                                    .replace(book("old", 2))
                                    .patch("a", R"({"condition":"FROM c WHERE c.pages = 101","operations":[
                                     {"op":"incr","path":"/pages","value":1}]})")
                                    .remove("old")
                                    .upsert(book("b", 5))
                                    .read("a"));
  ASSERT_TRUE(result.succeeded()) << result.error->message;
  EXPECT_THAT(statuses(result), ElementsAre(201, 200, 200, 200, 200, 204, 201, 200));
  EXPECT_THAT(result.operations[1].json, HasSubstr(R"("pages":100,"_rid")"));
  EXPECT_THAT(result.operations[7].json, HasSubstr(R"("pages":102,"_rid")"));
  EXPECT_TRUE(result.operations[0].info.was_created());
  EXPECT_EQ(result.operations[4].info.etag(), result.operations[7].info.etag());
  EXPECT_EQ(ids(), "\"a\"\n\"b\"\n");
}

TEST_F(BatchTest, AFailureUndoesAllOfIt) {
  ASSERT_TRUE(succeeds(shelf_.create(book("a", 1))));
  const BatchResult result =
      shelf_.execute("le guin", Batch().create(book("b", 1)).remove("a").create(book("b", 2)).read("a"));
  ASSERT_FALSE(result.succeeded());
  EXPECT_EQ(result.error->code, QUIRE_CONFLICT);
  EXPECT_THAT(result.error->message, HasSubstr("operation 3 (create) of the batch: item 'b'"));
  EXPECT_THAT(statuses(result), ElementsAre(424, 424, 409, 424));
  EXPECT_TRUE(result.operations[0].info.etag().empty());
  EXPECT_EQ(ids(), "\"a\"\n");
  EXPECT_THAT(statuses(shelf_.execute("le guin", Batch().read("z"))), ElementsAre(404));
  EXPECT_THAT(statuses(shelf_.execute("le guin", Batch().create("{").read("a"))), ElementsAre(400, 424));
  EXPECT_THAT(statuses(shelf_.execute("le guin", Batch().remove("a").replace(book("a", 1)))),
              ElementsAre(424, 404));
  EXPECT_THAT(statuses(shelf_.execute("le guin", Batch().patch("a", R"([{"op":"remove","path":"/id"}])"))),
              ElementsAre(400));
}

TEST_F(BatchTest, StaysInItsPartition) {
  const BatchResult result =
      shelf_.execute("le guin", Batch().create(book("a", 1)).create(R"({"id":"x","author":"other"})"));
  EXPECT_THAT(statuses(result), ElementsAre(424, 400));
  EXPECT_EQ(result.error->code, QUIRE_INVALID_PARTITION_KEY);
  EXPECT_THAT(result.error->message, HasSubstr("item 'x' has the partition key [\"other\"]"));
  EXPECT_EQ(shelf_.execute({"le guin", "too many"}, Batch().read("a")).error->code,
            QUIRE_INVALID_PARTITION_KEY);
  EXPECT_EQ(ids(), "");
}

TEST_F(BatchTest, PreconditionsGuardIt) {
  const auto first = shelf_.create(book("a", 1));
  const auto second = shelf_.upsert(book("a", 2));
  for (const Batch& batch : {Batch().replace(book("a", 3), first->etag()),
                             Batch().upsert(book("a", 3), first->etag()), Batch().remove("a", first->etag()),
                             Batch().patch("a", R"([{"op":"set","path":"/n","value":1}])", first->etag()),
                             Batch().patch("a", R"({"condition":"FROM c WHERE c.pages > 2",
                                                   "operations":[{"op":"set","path":"/n","value":1}]})")})
    EXPECT_THAT(statuses(shelf_.execute("le guin", batch)), ElementsAre(412));
  const BatchResult result = shelf_.execute(
      "le guin",
      Batch().read("a", second->etag()).read("a", first->etag()).replace(book("a", 3), second->etag()));
  EXPECT_THAT(statuses(result), ElementsAre(304, 200, 200));
  EXPECT_EQ(result.operations[0].json, "");
}

TEST_F(BatchTest, LimitsAreOfTheBatchAsAWhole) {
  Batch many;
  for (int i = 0; i < 101; ++i) many.upsert(book("a", i));
  EXPECT_EQ(shelf_.execute("le guin", many).error->code, QUIRE_LIMIT_EXCEEDED);
  EXPECT_THAT(shelf_.execute("le guin", many).error->message, HasSubstr("101 operations; the limit is 100"));
  Batch exact;
  for (int i = 0; i < 100; ++i) exact.upsert(book("a", i));
  EXPECT_TRUE(shelf_.execute("le guin", exact).succeeded());
  Batch large;
  for (int i = 0; i < 3; ++i)
    large.create(R"({"author":"le guin","text":")" + std::string(800'000, 'x') + "\"}");
  EXPECT_EQ(shelf_.execute("le guin", large).error->code, QUIRE_TOO_LARGE);
  EXPECT_EQ(shelf_.execute("le guin", Batch()).error->code, QUIRE_INVALID_ARGUMENT);
  EXPECT_EQ(ids(), "\"a\"\n");
}

TEST_F(BatchTest, TakesPartInATransaction) {
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(transaction));
  ASSERT_TRUE(succeeds(shelf_.create(book("a", 1), &*transaction)));
  EXPECT_FALSE(shelf_.execute("le guin", Batch().create(book("b", 1)).create(book("a", 1)), &*transaction)
                   .succeeded());
  EXPECT_TRUE(shelf_.execute("le guin", Batch().read("a").create(book("c", 1)), &*transaction).succeeded());
  EXPECT_TRUE(succeeds(shelf_.read("le guin", "c", "", &*transaction)));
  EXPECT_TRUE(fails_with(shelf_.read("le guin", "c"), QUIRE_NOT_FOUND));
  ASSERT_TRUE(succeeds(transaction->commit()));
  EXPECT_EQ(ids(), "\"a\"\n\"c\"\n");
}

TEST_F(BatchTest, WithinBeginABatchIsAllOrNothing) {
  EXPECT_EQ(query("BEGIN"), "");
  ASSERT_TRUE(succeeds(shelf_.create(book("a", 1))));
  EXPECT_FALSE(shelf_.execute("le guin", Batch().create(book("b", 1)).create(book("a", 1))).succeeded());
  EXPECT_TRUE(succeeds(shelf_.read("le guin", "a")));
  EXPECT_EQ(query("COMMIT"), "");
  EXPECT_EQ(ids(), "\"a\"\n");
}

TEST_F(BatchTest, AReadSaysWhetherTheItemHasChanged) {
  const auto first = shelf_.create(book("a", 1));
  const auto read = shelf_.read("le guin", "a");
  ASSERT_TRUE(succeeds(read));
  EXPECT_EQ(read->info.etag(), first->etag());
  EXPECT_EQ(read->info.timestamp(), first->timestamp());
  EXPECT_EQ(read->json, shelf_.read_json("le guin", "a").value());
  for (const std::string_view etag : {first->etag(), std::string_view("*")}) {
    const auto unchanged = shelf_.read("le guin", "a", etag);
    ASSERT_TRUE(succeeds(unchanged));
    EXPECT_TRUE(unchanged->is_unchanged);
    EXPECT_EQ(unchanged->json, "");
    EXPECT_EQ(unchanged->info.etag(), first->etag());
  }
  ASSERT_TRUE(succeeds(shelf_.upsert(book("a", 2))));
  const std::string upper = [&] {
    std::string text(first->etag());
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  }();
  for (const std::string_view etag : {first->etag(), std::string_view(upper), std::string_view("W/*")})
    EXPECT_FALSE(shelf_.read("le guin", "a", etag)->is_unchanged);
  EXPECT_TRUE(fails_with(shelf_.read("le guin", "z", "*"), QUIRE_NOT_FOUND));
  EXPECT_STREQ(quire_code_name(QUIRE_NOT_MODIFIED), "not_modified");
}

TEST_F(BatchTest, EachOperationTellsItsCharge) {
  const BatchResult result = shelf_.execute(
      "le guin", Batch().create(book("a", 1)).read("a").upsert(book("a", 2)).read("a", "*").remove("a"));
  ASSERT_TRUE(result.succeeded());
  double sum = 0;
  for (const auto& operation : result.operations) {
    EXPECT_GT(operation.info.request_charge(), 0);
    sum += operation.info.request_charge();
  }
  EXPECT_DOUBLE_EQ(sum, request_charge());
  EXPECT_EQ(
      shelf_.execute("le guin", Batch().create(book("b", 1)).read("z")).operations[0].info.request_charge(),
      0);
}

// However early it fails, nothing is left of what the results held before.
TEST_F(BatchTest, ResultsAreFilledAlsoWhereNothingIsDone) {
  ASSERT_TRUE(succeeds(shelf_.create(book("a", 1))));
  const quire_scalar key{QUIRE_STRING, 0, 0, "le guin", 7};
  const quire_scalar no_key{QUIRE_ARRAY, 0, 0, nullptr, 0};
  const quire_batch_operation read{.kind = QUIRE_BATCH_READ,
                                   .id = "a",
                                   .id_length = 1,
                                   .json = {},
                                   .json_length = 0,
                                   .if_match = {},
                                   .if_none_match = {}};
  quire_batch_operation strange = read;
  strange.kind = static_cast<quire_batch_kind>(6);
  quire_batch_operation nameless = read;
  nameless.id = nullptr;
  std::vector<quire_batch_result> results(101);
  quire_error error{};
  const auto run = [&](std::vector<quire_batch_operation> operations, const quire_scalar& at) {
    const quire_batch_operation first[] = {read, read};
    EXPECT_EQ(quire_batch(shelf_.c_handle(), nullptr, &key, 1, first, 2, results.data(), nullptr), QUIRE_OK);
    EXPECT_EQ(results[0].status, 200);
    EXPECT_GT(results[0].item.length, 0u);
    const int code = quire_batch(shelf_.c_handle(), nullptr, &at, 1, operations.data(), operations.size(),
                                 results.data(), &error);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(results[i].item.length, 0u);
      EXPECT_STREQ(results[i].info.etag, "");
    }
    EXPECT_EQ(results[0].status, 424);
    return code;
  };
  EXPECT_EQ(run({read, strange}, key), QUIRE_MISUSE);
  EXPECT_EQ(results[1].status, error.status);
  EXPECT_THAT(error.message, HasSubstr("operation 2 of the batch: it has the unknown kind 6"));
  EXPECT_EQ(run({read, nameless}, key), QUIRE_MISUSE);
  EXPECT_EQ(results[1].status, error.status);
  EXPECT_EQ(run({read, read}, no_key), QUIRE_INVALID_ARGUMENT);
  EXPECT_EQ(run(std::vector(101, read), key), QUIRE_LIMIT_EXCEEDED);
  EXPECT_EQ(results[100].status, 424);
  for (quire_batch_result& result : results) quire_buffer_release(&result.item);
}

TEST_F(BatchTest, InCAnEmptyEtagIsThatOfNoItem) {
  ASSERT_TRUE(succeeds(shelf_.create(book("a", 1))));
  const quire_scalar key{QUIRE_STRING, 0, 0, "le guin", 7};
  quire_batch_operation remove{};
  remove.kind = QUIRE_BATCH_DELETE;
  remove.id = "a";
  remove.id_length = 1;
  remove.if_match = "";
  EXPECT_EQ(quire_batch(shelf_.c_handle(), nullptr, &key, 1, &remove, 1, nullptr, nullptr),
            QUIRE_PRECONDITION_FAILED);
  EXPECT_TRUE(shelf_.execute("le guin", Batch().remove("a", "")).succeeded());
}

TEST_F(BatchTest, MisuseIsAnError) {
  quire_error error;
  quire_batch_operation operation{};
  EXPECT_EQ(quire_batch(nullptr, nullptr, nullptr, 0, &operation, 1, nullptr, &error), QUIRE_MISUSE);
  const quire_scalar key{QUIRE_STRING, 0, 0, "k", 1};
  EXPECT_EQ(quire_batch(shelf_.c_handle(), nullptr, &key, 1, nullptr, 1, nullptr, &error), QUIRE_MISUSE);
  EXPECT_EQ(quire_batch(shelf_.c_handle(), nullptr, &key, 1, &operation, 1, nullptr, &error), QUIRE_MISUSE);
  operation.kind = static_cast<quire_batch_kind>(6);
  EXPECT_EQ(quire_batch(shelf_.c_handle(), nullptr, &key, 1, &operation, 1, nullptr, &error), QUIRE_MISUSE);
  EXPECT_THAT(error.message, HasSubstr("unknown kind 6"));
}

}  // namespace
}  // namespace quire::tests
