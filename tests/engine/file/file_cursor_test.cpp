// Walks over a table: going on over many entries at once is the same as going on one by one.
#include "engine/file/file_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "engine/file/environment.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

constexpr int kRows = 5'000;

std::string key_of(int row) {
  return fmt::format("{:06}", row);
}

class FileCursorTest : public testing::Test {
 protected:
  FileCursorTest() {
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table_, transaction.create_table("t"));
      // Of any length, so that pages hold from one to a hundred; some lie on pages of their own.
      for (int row = 0; row < kRows; ++row)
        QUIRE_TRY(transaction.put(table_, key_of(row), std::string(row % 97 == 0 ? 5'000 : row / 25, 'r')));
      return {};
    })));
  }
  FileCursor cursor(const Transaction& transaction) {
    return value_of(FileCursor::open(transaction, table_));
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  Table table_;
};

// Goes on by skip_before() as far as it leads, then, as it may stop early, by next().
int go_on(FileCursor& cursor, Bytes end, uint64_t most) {
  uint64_t count = 0;
  while (count < most) {
    const Bytes before = cursor.key();
    const uint64_t skipped = value_of(cursor.skip_before(end, most - count));
    if (skipped == 0) {
      EXPECT_EQ(cursor.key(), before);
      if (!value_of(cursor.next()) || cursor.key() >= end) break;
      ++count;
    }
    count += skipped;
  }
  return static_cast<int>(count);
}

TEST_F(FileCursorTest, GoesOnOverManyAsOverEach) {
  const auto snapshot = value_of(environment_->begin_read());
  for (int start = 0; start < kRows; start += 61)
    for (const int length : {0, 1, 2, 5, 40, 700, kRows})
      for (const int most : {1, 3, 64, 1'024, 2 * kRows}) {
        FileCursor walk = cursor(snapshot);
        ASSERT_TRUE(value_of(walk.seek(key_of(start))));
        const int wanted = std::min({length, most, kRows - 1 - start});
        ASSERT_EQ(go_on(walk, key_of(start + length + 1), most), wanted)
            << start << ' ' << length << ' ' << most;
        if (wanted == most) {
          EXPECT_EQ(walk.key(), key_of(start + most));
          EXPECT_EQ(walk.record().size(), value_of(snapshot.get(table_, walk.key()))->size());
        }
        EXPECT_EQ(value_of(walk.seek(key_of(kRows - 1))), true);
      }
}

TEST_F(FileCursorTest, SkipsThousandsAtOnce) {
  const auto snapshot = value_of(environment_->begin_read());
  FileCursor walk = cursor(snapshot);
  ASSERT_TRUE(value_of(walk.first()));
  EXPECT_EQ(value_of(walk.skip_before("x", 2 * kRows)), kRows - 1);
  EXPECT_EQ(walk.key(), key_of(kRows - 1));
  EXPECT_FALSE(value_of(walk.next()));
}

TEST_F(FileCursorTest, ReadsManyAsEach) {
  const auto snapshot = value_of(environment_->begin_read());
  std::array<TreeEntry, 64> found;
  for (int start = 0; start < kRows; start += 37)
    for (const int length : {0, 1, 2, 5, 40, 700})
      for (const size_t most : {1, 3, 64}) {
        const int end = std::min(start + length + 1, kRows);
        FileCursor walk = cursor(snapshot);
        ASSERT_TRUE(value_of(walk.seek(key_of(start))));
        for (int row = start + 1;;) {
          const size_t count = value_of(walk.read_before(key_of(end), std::span(found).first(most)));
          ASSERT_LE(count, most);
          for (const TreeEntry& entry : std::span(found).first(count)) {
            ASSERT_LT(row, end);
            EXPECT_EQ(entry.key, key_of(row));
            EXPECT_EQ(entry.record, value_of(snapshot.get(table_, key_of(row++))));
          }
          ASSERT_EQ(walk.key(), key_of(row - 1)) << "it stands on the last of them";
          if (count == 0 && (!value_of(walk.next()) || walk.key() != key_of(row++))) break;
          if (row >= end) break;
        }
      }
}

TEST_F(FileCursorTest, LooksAtEachInAWriteTransaction) {
  EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    FileCursor walk = cursor(transaction);
    EXPECT_TRUE(value_of(walk.first()));
    EXPECT_EQ(value_of(walk.skip_before("x", 10)), 0U);
    std::array<TreeEntry, 4> found;
    EXPECT_EQ(value_of(walk.read_before("x", found)), 0U);
    EXPECT_EQ(go_on(walk, key_of(101), kRows), 100);
    return {};
  })));
}

}  // namespace
}  // namespace quire::engine
