// Hints for look-ups: they go the way of any key, there or not, and of nothing that may not be read so.
#include "engine/file/look_ahead.h"

#include <fmt/format.h>

#include <vector>

#include "engine/file/environment.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

struct Filled {
  std::unique_ptr<Environment> environment = value_of(Environment::open(Environment::kInMemory));
  Table table;

  Filled(int rows, size_t record_bytes) {
    EXPECT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table, transaction.create_table("t"));
      for (int row = 0; row < rows; ++row)
        QUIRE_TRY(transaction.put(table, fmt::format("{:08}", row), std::string(record_bytes, 'r')));
      return {};
    })));
  }
};

TEST(LookAhead, GoesTheWayOfEachKey) {
  std::vector<std::string> texts{"", "0", "00000000", "00029999", "3", std::string(kLongestTableKey, '\xFF')};
  for (int row = 17; texts.size() < LookAhead::kMost; row += 1'000)
    texts.push_back(fmt::format("{:08}", row));
  std::vector<Bytes> keys(texts.begin(), texts.end());
  // Many in a page, one, and on pages of their own.
  for (const size_t record_bytes : {300, 1'500, 10'000}) {
    const Filled filled(30'000, record_bytes);
    const auto snapshot = value_of(filled.environment->begin_read());
    const LookAhead look_ahead(snapshot, filled.table);
    EXPECT_EQ(look_ahead.ask_for(keys), keys.size());
    EXPECT_EQ(look_ahead.ask_for({}), 0U);
    std::vector<Bytes> too_many = keys;
    too_many.insert(too_many.end(), 5, "00000001");
    EXPECT_EQ(look_ahead.ask_for(too_many), LookAhead::kMost);
  }
}

TEST(LookAhead, DoesNothingWhereItWouldNotHelp) {
  const std::vector<Bytes> keys{"00000001", "00000002"};
  const Filled small(1'000, 10), large(10'000, 1'000);
  EXPECT_EQ(LookAhead().ask_for(keys), 0U);
  EXPECT_EQ(LookAhead(value_of(small.environment->begin_read()), small.table).ask_for(keys), 0U);
  EXPECT_TRUE(succeeds(large.environment->write([&](WriteTransaction& transaction) -> Result<void> {
    EXPECT_EQ(LookAhead(transaction, large.table).ask_for(keys), 0U);
    return transaction.drop_table("t");
  })));
  EXPECT_EQ(LookAhead(value_of(large.environment->begin_read()), large.table).ask_for(keys), 0U);
}

}  // namespace
}  // namespace quire::engine
