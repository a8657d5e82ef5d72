// What a thread has left open when it ended: the threads of a pool end, and what collects garbage comes
// later, on a thread of its own.
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

// With items that are small, and that the log does not take: a transaction is kept in two ways.
class EndedThreadTest : public DatabaseTest, public testing::WithParamInterface<size_t> {
 protected:
  EndedThreadTest() {
    reopen(path_, {.busy_timeout_ms = 1000});
    make("things");
  }
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "to end it lets go of a mutex of LMDB's that the ended thread has locked";
#endif
  }
  std::string text() const { return std::string(GetParam(), 'x'); }
  void expect_b_alone() {
    EXPECT_EQ(query("SELECT VALUE t.id FROM things t"), "\"b\"\n");
    EXPECT_EQ(database_->check().value(), "[]");
  }

  std::string path_ = file("ended.quire");
};

TEST_P(EndedThreadTest, ItsTransactionIsRolledBackByAnother) {
  quire_transaction* left = nullptr;
  std::thread([&] {
    const auto things = std::move(database_->container("things").value());
    ASSERT_EQ(quire_transaction_begin(database_->c_handle(), &left, nullptr), QUIRE_OK);
    const std::string item = R"({"id":"a","x":")" + text() + "\"}";
    EXPECT_EQ(quire_create(things.c_handle(), left, item.data(), item.size(), nullptr, nullptr), QUIRE_OK);
  }).join();
  EXPECT_EQ(quire_transaction_commit(left, nullptr), QUIRE_MISUSE);
  quire_transaction_rollback(left);
  EXPECT_EQ(query("INSERT INTO things VALUES {id: 'b'}"), "");
  expect_b_alone();
  reopen(path_);
  expect_b_alone();
}

// Of two threads one after the other, which have one number.
TEST_P(EndedThreadTest, ItsTransactionIsNotLostToAnother) {
  std::optional<Transaction> left;
  const auto leave = [&](const char* id) {
    std::thread([&] {
      left.emplace(database_->begin_transaction().value());
      const auto things = std::move(database_->container("things").value());
      const std::string item = std::string(R"({"id":")") + id + R"(","x":")" + text() + "\"}";
      EXPECT_EQ(quire_create(things.c_handle(), left->c_handle(), item.data(), item.size(), nullptr, nullptr),
                QUIRE_OK);
    }).join();
  };
  leave("a");
  std::thread([&] { EXPECT_TRUE(fails_with(left->commit(), QUIRE_MISUSE)); }).join();
  EXPECT_NE(left->c_handle(), nullptr);
  left->rollback();
  EXPECT_EQ(left->c_handle(), nullptr);
  leave("c");
  left.reset();
  EXPECT_EQ(query("INSERT INTO things VALUES {id: 'b'}"), "");
  expect_b_alone();
}

TEST_P(EndedThreadTest, ItsBeginIsRolledBackByTheNextWrite) {
  const auto leave_begin = [&] {
    std::thread([&] {
      EXPECT_EQ(query("BEGIN"), "");
      EXPECT_EQ(query("INSERT INTO things VALUES {id: 'a', x: '" + text() + "'}"), "");
    }).join();
  };
  leave_begin();
  EXPECT_EQ(query("INSERT INTO things VALUES {id: 'b'}"), "");
  leave_begin();
  EXPECT_EQ(query("CREATE CONTAINER more"), "");
  leave_begin();
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_EQ(query("COMMIT"), "");
  expect_b_alone();
}

INSTANTIATE_TEST_SUITE_P(OfAnySize, EndedThreadTest, testing::Values(10, 500'000));

}  // namespace
}  // namespace quire::tests
