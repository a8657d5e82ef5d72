// CHECK through the API, and what long statements tell of their progress.
#include <fmt/format.h>

#include <sstream>
#include <thread>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

using testing::HasSubstr;

class CheckApiTest : public DatabaseTest {
 protected:
  void fill(int items) {
    make("c", "/p");
    std::string lines;
    for (int i = 0; i < items; ++i)
      lines += fmt::format("{{\"id\":\"{}\",\"p\":\"p{}\",\"n\":{}}}\n", i, i % 50, i);
    std::istringstream input(lines);
    ASSERT_TRUE(succeeds(database_->container("c")->import(input)));
  }
};

TEST_F(CheckApiTest, ASoundDatabaseHasNoFaults) {
  fill(100);
  EXPECT_EQ(query("CREATE INDEX ON c (n)"), "");
  EXPECT_EQ(database_->check().value(), "[]");
  EXPECT_EQ(database_->check("c").value(), "[]");
  EXPECT_TRUE(fails_with(database_->check("d"), QUIRE_CONTAINER_NOT_FOUND, "'d'"));
  quire_buffer faults{};
  EXPECT_EQ(quire_check(database_->c_handle(), "", 0, &faults, nullptr), QUIRE_CONTAINER_NOT_FOUND);
  EXPECT_EQ(query("CHECK c"),
            "{\"ok\":true,\"findings\":0,\"containers\":1,\"items\":100,\"entries\":100}\n");
  EXPECT_EQ(query("BEGIN"), "");
  EXPECT_THAT(query("CHECK"), HasSubstr("within BEGIN"));
  EXPECT_TRUE(fails_with(database_->check(), QUIRE_MISUSE));
  EXPECT_EQ(query("ROLLBACK"), "");
  EXPECT_EQ(quire_check(nullptr, nullptr, 0, nullptr, nullptr), QUIRE_MISUSE);
  EXPECT_EQ(quire_check(database_->c_handle(), nullptr, 0, nullptr, nullptr), QUIRE_MISUSE);
  quire_set_progress(nullptr, nullptr, nullptr);
}

TEST_F(CheckApiTest, ANameThatATransactionHasBroughtAndMayTakeBackIsNotMissing) {
  fill(10);
  auto c = database_->container("c").value();
  auto transaction = database_->begin_transaction();
  ASSERT_TRUE(succeeds(transaction));
  ASSERT_TRUE(succeeds(c.create(R"({"id":"new","p":"p","a_new_name":1})", &*transaction)));
  std::jthread([&] { EXPECT_EQ(database_->check().value(), "[]"); }).join();
}

TEST_F(CheckApiTest, ALongStatementTellsHowFarItIsAndEndsWhenToldTo) {
  fill(100'000);
  uint64_t calls = 0, last_done = 0;
  bool goes_on = true;
  database_->set_progress([&](uint64_t done, uint64_t all) {
    ++calls;
    EXPECT_GE(done, last_done);
    EXPECT_LE(done, all);
    last_done = done;
    return goes_on;
  });
  EXPECT_EQ(query("CREATE INDEX ON c (n, p)"), "");
  EXPECT_GT(calls, 0U);
  goes_on = false;
  calls = last_done = 0;
  EXPECT_THAT(query("CREATE INDEX ON c (p, n)"), HasSubstr("interrupted"));
  EXPECT_EQ(calls, 1U);
  database_->set_progress([](uint64_t, uint64_t) -> bool { throw 5; });
  EXPECT_TRUE(fails_with(database_->check(), QUIRE_INTERRUPTED));
  database_->set_progress(nullptr);
  EXPECT_EQ(query("SELECT VALUE COUNT(1) FROM c WHERE c.p = 'p1'"), "2000\n");
  EXPECT_EQ(database_->check().value(), "[]");
}

}  // namespace
}  // namespace quire::tests
