// A snapshot reads LMDB's pages without LMDB: it must see what LMDB shows a transaction that writes, and
// where pages are damaged it may fail, but read nothing that is not the file's.
#include "engine/file/tree_cursor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <random>
#include <set>
#include <span>

#include "engine/file/environment.h"
#include "engine/file/file_cursor.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using Random = std::mt19937_64;

// Keys with long parts in common, so that pages hold few and trees are deep.
std::string key_of(size_t row, size_t bytes) {
  std::string key(bytes, 'k');
  const std::string number = fmt::format("{:07}", row);
  return key.replace(bytes / 2, number.size(), number).substr(0, kLongestTableKey);
}

struct Shape {
  const char* name;
  size_t rows, key_bytes, record_bytes;
  bool is_larger_than_memory = false;
};

class TreeCursorTest : public testing::TestWithParam<Shape> {
 protected:
  // Every second row, in no order, with records of any length up to the longest.
  void fill() {
    ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table_, transaction.create_table("t"));
      for (size_t i = 0; i < shape_.rows; ++i) {
        const size_t row = i * 7919 % shape_.rows * 2 + 1;
        QUIRE_TRY(transaction.put(table_, key_of(row, shape_.key_bytes),
                                  std::string(random_() % (shape_.record_bytes + 1), 'r')));
      }
      return {};
    })));
  }
  std::string any_key() { return key_of(random_() % (2 * shape_.rows + 2), shape_.key_bytes); }

  // The same step of both; whether they stand on an entry.
  bool do_step(FileCursor& tree, FileCursor& lmdb) {
    const auto both = [&](auto step) {
      const bool is_there = value_of(step(tree));
      EXPECT_EQ(is_there, value_of(step(lmdb)));
      return is_there;
    };
    switch (random_() % 12) {
      case 0:
        return both([](FileCursor& cursor) { return cursor.first(); });
      case 1:
        return both([](FileCursor& cursor) { return cursor.last(); });
      case 2:
      case 3:
        return both([key = any_key()](FileCursor& cursor) { return cursor.seek(key); });
      case 4:
        return both([key = any_key() + "x"](FileCursor& cursor) { return cursor.seek(key); });
      case 5:
      case 6:
      case 7:
        return both([](FileCursor& cursor) { return cursor.previous(); });
      default:
        return both([](FileCursor& cursor) { return cursor.next(); });
    }
  }

  Shape shape_ = GetParam();
  Random random_{17};
  TemporaryFolder folder_;
  std::unique_ptr<Environment> environment_ = value_of(
      shape_.is_larger_than_memory
          ? Environment::open(folder_.path("f.quire"), {.durability = Durability::none, .most_read_ahead = 1})
          : Environment::open(Environment::kInMemory));
  Table table_;
};

TEST_P(TreeCursorTest, GoesWhereLmdbsGoes) {
  fill();
  const auto snapshot = value_of(environment_->begin_read());
  ASSERT_TRUE(TableTree::of(snapshot, table_).has_value());
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    EXPECT_FALSE(TableTree::of(transaction, table_).has_value());
    for (int walk = 0; walk < 30; ++walk) {
      FileCursor tree = value_of(FileCursor::open(snapshot, table_));
      FileCursor lmdb = value_of(FileCursor::open(transaction, table_));
      for (int steps = 0; steps < 300; ++steps) {
        // What a cursor does next that has found nothing is for nobody to say but one that begins anew.
        if (!do_step(tree, lmdb)) break;
        EXPECT_EQ(tree.key(), lmdb.key());
        EXPECT_EQ(tree.record(), lmdb.record());
        if (steps % 50 == 49) tree = FileCursor(std::move(tree));
      }
    }
    return {};
  })));
}

TEST_P(TreeCursorTest, FindsWhatLmdbFinds) {
  fill();
  const auto snapshot = value_of(environment_->begin_read());
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    for (int look = 0; look < 3'000; ++look) {
      const std::string key = look % 5 == 0 ? any_key().substr(0, random_() % 20 + 1) : any_key();
      EXPECT_EQ(value_of(snapshot.get(table_, key)), value_of(transaction.get(table_, key))) << key;
    }
    return {};
  })));
}

TEST_P(TreeCursorTest, WalksOverAll) {
  fill();
  const auto snapshot = value_of(environment_->begin_read());
  EXPECT_EQ(TableTree::of(snapshot, table_)->is_read_exactly(), shape_.is_larger_than_memory);
  FileCursor cursor = value_of(FileCursor::open(snapshot, table_));
  for (size_t row = 0; row < shape_.rows; ++row) {
    ASSERT_TRUE(value_of(cursor.next()));
    ASSERT_EQ(cursor.key(), key_of(2 * row + 1, shape_.key_bytes));
  }
  EXPECT_FALSE(value_of(cursor.next()));
}

// Of about the same size: no range has more than a quarter where there are to be fifty.
TEST_P(TreeCursorTest, IsDividedIntoRanges) {
  fill();
  const auto snapshot = value_of(environment_->begin_read());
  for (const size_t parts : {1, 2, 5, 50, 100'000}) {
    const auto starts = TableTree::of(snapshot, table_)->divide(parts);
    EXPECT_LT(starts.size(), 2 * parts);
    EXPECT_EQ(parts == 1 || shape_.rows < 100, starts.empty());
    std::vector<size_t> rows(1);
    FileCursor cursor = value_of(FileCursor::open(snapshot, table_));
    while (value_of(cursor.next())) {
      if (rows.size() <= starts.size() && cursor.key() >= starts[rows.size() - 1]) {
        EXPECT_NE(rows.back(), 0U);
        rows.push_back(0);
      }
      ++rows.back();
    }
    EXPECT_EQ(rows.size(), starts.size() + 1);
    if (parts >= 50 && shape_.rows >= 100) {
      EXPECT_LT(*std::ranges::max_element(rows), shape_.rows / 4);
    }
  }
}

// What lies before a key, within a fifth of all; a transaction that writes sees the tree as it was.
TEST_P(TreeCursorTest, TellsWhichShareLiesBeforeAKey) {
  fill();
  const auto shares = [&](const TableTree& tree) {
    std::vector<double> found;
    for (size_t i = 0; i <= 10; ++i)
      found.push_back(tree.share_before(key_of(i * shape_.rows / 5, shape_.key_bytes)));
    return found;
  };
  const auto snapshot = value_of(environment_->begin_read());
  const std::vector<double> found = shares(*TableTree::of(snapshot, table_));
  EXPECT_TRUE(std::ranges::is_sorted(found));
  for (size_t i = 0; i < found.size() && shape_.rows > 1; ++i)
    EXPECT_NEAR(found[i], static_cast<double>(i) / 10, 0.2) << i;
  ASSERT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_TRY(transaction.put(table_, key_of(0, shape_.key_bytes), "new"));
    if (const auto before = TableTree::before(transaction, table_)) {
      EXPECT_EQ(shares(*before), found);
    }
    return {};
  })));
}

TEST_P(TreeCursorTest, StaysWhereItFindsNoMore) {
  fill();
  const auto snapshot = value_of(environment_->begin_read());
  FileCursor cursor = value_of(FileCursor::open(snapshot, table_));
  const bool has_any = shape_.rows != 0;
  EXPECT_EQ(value_of(cursor.next()), has_any);  // the first
  EXPECT_FALSE(value_of(cursor.previous()));
  EXPECT_EQ(value_of(cursor.last()), has_any);
  EXPECT_FALSE(value_of(cursor.next()));
  EXPECT_FALSE(value_of(cursor.next()));
  EXPECT_FALSE(value_of(cursor.seek("z")));
  EXPECT_FALSE(value_of(cursor.next()));
  EXPECT_EQ(value_of(cursor.previous()), has_any);  // the last
  if (!has_any) return;
  EXPECT_EQ(cursor.key(), key_of(2 * shape_.rows - 1, shape_.key_bytes));
}

INSTANTIATE_TEST_SUITE_P(Shapes, TreeCursorTest,
                         testing::Values(Shape{"none", 0, 20, 0}, Shape{"one", 1, 20, 10},
                                         Shape{"a_page", 12, 20, 100}, Shape{"small", 20'000, 20, 30},
                                         Shape{"items", 5'000, 40, 1'000}, Shape{"on_pages", 700, 24, 12'000},
                                         Shape{"deep", 8'000, 511, 40},
                                         Shape{"larger_small", 20'000, 20, 30, true},
                                         Shape{"larger_on_pages", 700, 24, 12'000, true},
                                         Shape{"larger_deep", 8'000, 511, 40, true}),
                         [](const auto& shape) { return std::string(shape.param.name); });

// ---- Trees of other commits

TEST(TableTree, IsThatOfItsSnapshot) {
  const auto environment = value_of(Environment::open(Environment::kInMemory));
  Table table;
  const auto put = [&](std::string_view record) {
    ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      if (table == Table()) {
        QUIRE_ASSIGN(table, transaction.create_table("t"));
      }
      return transaction.put(table, "key", record);
    })));
  };
  put("first");
  const auto before = value_of(environment->begin_read());
  EXPECT_EQ(value_of(before.get(table, "key")), "first");
  for (const std::string_view record : {"second", "third"}) {
    put(record);
    EXPECT_EQ(value_of(value_of(environment->begin_read()).get(table, "key")), record);
    EXPECT_EQ(value_of(before.get(table, "key")), "first");
  }
}

// The slot of a table that is gone goes to the next.
TEST(TableTree, IsNoOtherTables) {
  const auto environment = value_of(Environment::open(Environment::kInMemory));
  for (int round = 0; round < 20; ++round) {
    const std::string name = fmt::format("t{}", round);
    Table table;
    ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table, transaction.create_table(name));
      return transaction.put(table, "key", name);
    })));
    EXPECT_EQ(value_of(value_of(environment->begin_read()).get(table, "key")), name);
    ASSERT_TRUE(succeeds(environment->write(
        [&](WriteTransaction& transaction) -> Result<void> { return transaction.drop_table(name); })));
    EXPECT_EQ(value_of(value_of(environment->begin_read()).get(table, "key")), std::nullopt);
  }
}

// ---- Damage that comes while the file is open

class DamagedTree : public testing::Test {
 protected:
  static constexpr size_t kRows = 4'000, kPage = 4096;

  DamagedTree() {
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table_, transaction.create_table("t"));
      for (size_t row = 0; row < kRows; ++row)
        QUIRE_TRY(transaction.put(table_, key(row), std::string(row % 97 == 0 ? 9'000 : 200, 'r')));
      return {};
    })));
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    std::array<char, kPage> page;
    for (off_t at = 2 * kPage; pread(descriptor_, page.data(), kPage, at) == kPage; at += kPage)
      if (std::string_view(page.data(), kPage).contains("of the table")) pages_.push_back(at);
  }
  ~DamagedTree() override { ::close(descriptor_); }

  static std::string key(size_t row) { return fmt::format("of the table {:06}", row); }

  // `count` bytes of its branches and leaves, half of them where a page tells how it is laid out.
  void damage(int count) {
    for (; count > 0; --count) {
      const off_t at = pages_[random_() % pages_.size()];
      const auto byte = static_cast<char>(random_() % 4 == 0 ? 0xFF : random_());
      const size_t place = random_() % (count % 2 == 0 ? kPage : 40);
      // LMDB's number of a page is left alone: by it the map is found.
      EXPECT_EQ(pwrite(descriptor_, &byte, 1, at + static_cast<off_t>(std::max<size_t>(place, 8))), 1);
    }
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("f.quire");
  // Larger than memory: pages are asked for by numbers that damaged ones tell.
  std::unique_ptr<Environment> environment_ = value_of(Environment::open(path_, {.most_read_ahead = 1}));
  Table table_;
  int descriptor_ = -1;
  std::vector<off_t> pages_;
  Random random_{4};
};

// Adds up what was read, so that each byte is.
struct Sum {
  uint64_t bytes = 0;
  void add(Bytes read) {
    for (const char byte : read) bytes += static_cast<unsigned char>(byte);
  }
};

TEST_F(DamagedTree, IsReadWithinTheFileOrFails) {
  ASSERT_GT(pages_.size(), 200U);
  const auto snapshot = value_of(environment_->begin_read());
  ASSERT_TRUE(TableTree::of(snapshot, table_).has_value());
  Sum sum;
  size_t failures = 0;
  for (int round = 0; round < 40; ++round) {
    damage(60);
    for (const Bytes start : TableTree::of(snapshot, table_)->divide(100)) sum.add(start);
    for (size_t i = 0; i < 100; ++i)
      sum.bytes += TableTree::of(snapshot, table_)->share_before(key(i * kRows / 100)) > 0.5 ? 1 : 0;
    for (int look = 0; look < 200; ++look) {
      const auto record = snapshot.get(table_, key(random_() % kRows));
      if (!record) {
        EXPECT_TRUE(fails_with(record, ErrorCode::corrupt));
        ++failures;
      } else if (*record) {
        sum.add(**record);
      }
    }
    FileCursor cursor = value_of(FileCursor::open(snapshot, table_));
    Result<bool> is_there = round % 3 == 0 ? cursor.first() : cursor.seek(key(random_() % kRows));
    // A tree that leads in a circle never ends.
    for (size_t steps = 0; is_there && *is_there && steps < 2 * kRows; ++steps) {
      sum.add(cursor.key());
      sum.add(cursor.record());
      if (steps % 100 == 99) {
        const auto skipped = cursor.skip_before(key(kRows / 2), 50);
        if (!skipped) break;
        std::array<TreeEntry, 16> found;
        const auto count = cursor.read_before(key(kRows), found);
        if (!count) break;
        for (const TreeEntry& entry : std::span(found).first(*count)) {
          sum.add(entry.key);
          sum.add(entry.record);
        }
      }
      is_there = round % 2 == 0 ? cursor.next() : cursor.previous();
    }
    if (!is_there) ++failures;
  }
  EXPECT_GT(failures, 0U);
  EXPECT_GT(sum.bytes, 0U);
}

}  // namespace
}  // namespace quire::engine
