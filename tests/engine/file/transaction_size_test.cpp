// The limit of what a transaction may change: counted for each request of a group by itself, and not for what
// was undone.
#include <thread>
#include <vector>

#include "engine/file/environment.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class TransactionSize : public testing::Test {
 protected:
  TransactionSize() {
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table_, transaction.create_table("t"));
      return {};
    })));
  }
  uint64_t count() { return value_of(value_of(environment_->begin_read()).count(table_)); }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  Table table_;
};

TEST_F(TransactionSize, CountsKeysAndRecordsAsFarAsTheyAreNotUndone) {
  EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    transaction.limit_size(30);
    for (int i = 0; i < 10; ++i) {
      const auto undone = transaction.nested([&](WriteTransaction& nested) -> Result<void> {
        QUIRE_TRY(nested.put(table_, "key", "0123456789"));
        return fail(ErrorCode::conflict, "no");
      });
      EXPECT_TRUE(fails_with(undone, ErrorCode::conflict));
    }
    QUIRE_TRY(transaction.put(table_, "key", "0123456789"));
    QUIRE_TRY(transaction.nested(
        [&](WriteTransaction& nested) { return nested.put(table_, "kex", "0123456789"); }));
    QUIRE_ASSIGN(const bool was_there, transaction.erase(table_, "kex"));
    EXPECT_TRUE(was_there);
    return transaction.check_size();
  })));
  EXPECT_EQ(count(), 1U);
}

TEST_F(TransactionSize, PastItNothingIsChangedOrKept) {
  const auto outcome = environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    transaction.limit_size(30);
    QUIRE_TRY(transaction.put(table_, "key", "0123456789"));
    const auto nested = transaction.nested(
        [&](WriteTransaction& inner) { return inner.put(table_, "longer", "01234567890123456789"); });
    EXPECT_TRUE(fails_with(nested, ErrorCode::transaction_too_large, "30 bytes"));
    EXPECT_TRUE(fails_with(transaction.put(table_, "k", ""), ErrorCode::transaction_too_large));
    EXPECT_TRUE(fails_with(transaction.erase(table_, "key"), ErrorCode::transaction_too_large));
    EXPECT_EQ(transaction.count(table_).value(), 1U);
    return transaction.check_size();
  });
  EXPECT_TRUE(fails_with(outcome, ErrorCode::transaction_too_large));
  EXPECT_EQ(count(), 0U);
  const auto write = value_of(environment_->begin_write());
  write->transaction().limit_size(3);
  EXPECT_FALSE(write->transaction().put(table_, "key", "record"));
  EXPECT_TRUE(fails_with(write->commit(), ErrorCode::transaction_too_large));
  EXPECT_EQ(count(), 0U);
}

TEST_F(TransactionSize, EachRequestOfAGroupHasItsOwn) {
  constexpr uint64_t kThreads = 8, kWrites = 50;
  std::vector<std::jthread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < kWrites; ++i) {
        const bool is_small = (thread + i) % 2 == 0;
        const auto written = environment_->write([&](WriteTransaction& transaction) -> Result<void> {
          transaction.limit_size(100);
          const std::string key = std::to_string(thread) + "/" + std::to_string(i);
          QUIRE_TRY(transaction.put(table_, key, std::string(is_small ? 80 : 120, 'x')));
          return transaction.check_size();
        });
        EXPECT_EQ(written.has_value(), is_small);
      }
    });
  threads.clear();
  EXPECT_EQ(count(), kThreads * kWrites / 2);
}

}  // namespace
}  // namespace quire::engine
