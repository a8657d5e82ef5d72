#include "engine/file/tree_copy.h"

#include <filesystem>
#include <string>

#include "engine/file/environment.h"
#include "engine/file/file_state.h"
#include "engine/file/table_tree.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class TreeCopy : public testing::Test {
 protected:
  // A few megabytes.
  TreeCopy() {
    environment_ = value_of(Environment::open(folder_.path("a.quire"), {.durability = Durability::none}));
    EXPECT_TRUE(succeeds(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const Table table, transaction.create_table("t"));
      for (int i = 0; i < 1000; ++i)
        QUIRE_TRY(transaction.put(table, std::to_string(i), std::string(10'000, 'x')));
      return {};
    })));
  }
  Result<int> copy(const OnBytes& on_bytes) {
    const ReadTransaction snapshot = value_of(environment_->begin_read());
    return copy_tree(snapshot.state().environment(), copy_path_, 0666, on_bytes);
  }

  TemporaryFolder folder_;
  std::string copy_path_ = folder_.path("copy.quire");
  std::unique_ptr<Environment> environment_;
};

TEST(FileCopy, OfAFileLargerThanMemoryIsWhole) {
  const TemporaryFolder folder;
  const auto record = [](int i) { return std::string(i % 10 == 0 ? 10'000 : 300, 'x'); };
  constexpr int kRecords = 2000;  // on more pages than one branch leads to
  const auto environment = value_of(Environment::open(folder.path("a.quire"), {.most_read_ahead = 1}));
  Table table;
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(table, transaction.create_table("t"));
    for (int i = 0; i < kRecords; ++i) QUIRE_TRY(transaction.put(table, std::to_string(i), record(i)));
    return {};
  })));
  const auto is_read_exactly = [&] {
    const ReadTransaction snapshot = value_of(environment->begin_read());
    return TableTree::of(snapshot, table)->is_read_exactly();
  };
  EXPECT_TRUE(is_read_exactly());
  ASSERT_TRUE(succeeds(environment->copy_to(folder.path("b.quire"))));
  EXPECT_TRUE(is_read_exactly());
  const auto copy = value_of(Environment::open(folder.path("b.quire")));
  const ReadTransaction snapshot = value_of(copy->begin_read());
  const Table copied = value_of(copy->open_table("t")).value();
  for (int i = 0; i < kRecords; ++i) EXPECT_EQ(value_of(snapshot.get(copied, std::to_string(i))), record(i));
}

TEST_F(TreeCopy, IsWholeWhetherItIsWatchedOrNot) {
  for (const bool is_watched : {false, true}) {
    uint64_t told = 0, calls = 0;
    const OnBytes on_bytes = [&](uint64_t bytes) -> Result<void> {
      told += bytes;
      ++calls;
      return {};
    };
    ASSERT_EQ(value_of(copy(is_watched ? on_bytes : nullptr)), 0);
    EXPECT_EQ(calls > 0, is_watched);
    EXPECT_LE(told, std::filesystem::file_size(copy_path_));
    const auto environment = value_of(Environment::open(copy_path_));
    EXPECT_TRUE(value_of(environment->check_pages(10, nullptr)).empty());
    const Table table = value_of(environment->open_table("t")).value();
    EXPECT_EQ(value_of(value_of(environment->begin_read()).count(table)), 1000);
    std::filesystem::remove(copy_path_);
  }
}

TEST_F(TreeCopy, EndsWhenItIsToldTo) {
  for (int i = 0; i < 20; ++i) {
    int calls = 0;
    EXPECT_TRUE(fails_with(copy([&](uint64_t) -> Result<void> {
                             ++calls;
                             return fail(ErrorCode::interrupted, "enough");
                           }),
                           ErrorCode::interrupted, "enough"));
    EXPECT_EQ(calls, 1);
    std::filesystem::remove(copy_path_);
  }
  EXPECT_EQ(value_of(copy(nullptr)), 0);
}

TEST_F(TreeCopy, AFileThatIsThereIsLeftAlone) {
  ASSERT_EQ(value_of(copy(nullptr)), 0);
  const auto before = std::filesystem::last_write_time(copy_path_);
  EXPECT_EQ(value_of(copy(nullptr)), EEXIST);
  EXPECT_EQ(std::filesystem::last_write_time(copy_path_), before);
}

}  // namespace
}  // namespace quire::engine
