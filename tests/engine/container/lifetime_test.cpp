// Which expired items a write finds: it goes on where the one before it ended.
#include "engine/container/lifetime.h"

#include <gtest/gtest.h>

#include "engine/file/environment.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

constexpr IndexNumber kNumber{1};
uint32_t at_second = 0;
using Keys = std::vector<std::string>;

class ExpiryFrontTest : public testing::Test {
 protected:
  ExpiryFrontTest() {
    at_second = 1000;
    environment_->use_clock([]() noexcept { return at_second; });
    write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table_, transaction.create_table("entries"));
      return {};
    });
  }
  template <typename Work>
  void write(const Work& work) {
    ASSERT_TRUE(succeeds(environment_->write(work)));
  }
  // An item that says when it ends, or one of the container's default that was written then.
  void change(WriteTransaction& transaction, Bytes item, bool is_own, uint32_t second, bool is_there) {
    EntryList entries;
    RecordHeader header;
    header.timestamp = second;
    header.expiry = is_own ? second : kExpiryOfContainer;
    add_expiry_entry(kNumber, header, item, entries);
    if (is_there)
      ASSERT_TRUE(succeeds(transaction.put(table_, entries.key(0), entries.record(0))));
    else
      ASSERT_TRUE(value_of(transaction.erase(table_, entries.key(0))));
  }
  void add(Bytes item, bool is_own, uint32_t second) {
    write([&](WriteTransaction& transaction) -> Result<void> {
      change(transaction, item, is_own, second, true);
      return {};
    });
  }
  Keys next(size_t most) {
    Keys found;
    write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(found, front_.next(transaction, table_, kNumber, lifetime_, most));
      return {};
    });
    return found;
  }

  std::unique_ptr<Environment> environment_ = value_of(Environment::open(Environment::kInMemory));
  Table table_;
  Lifetime lifetime_{.default_ttl = 10};
  ExpiryFront front_;
};

TEST_F(ExpiryFrontTest, GoesOnBehindWhatItHasFound) {
  for (const char* item : {"a", "b", "c", "d"}) add(item, true, 100);
  add("e", false, 50);
  EXPECT_EQ(next(2), (Keys{"a", "b"}));
  // Nobody has erased the last of them; the one before it is not looked at again.
  EXPECT_EQ(next(2), (Keys{"b", "c"}));
  EXPECT_EQ(next(3), (Keys{"c", "d", "e"}));
  EXPECT_EQ(next(2), (Keys{"e"})) << "all that had ended by themselves have been found";
  EXPECT_EQ(next(2), Keys{});
}

TEST_F(ExpiryFrontTest, FindsWhatEndsLater) {
  at_second = 1000;
  EXPECT_EQ(next(2), Keys{});
  add("a", true, 1001);
  add("b", true, 1020);
  add("c", false, 1000);
  EXPECT_EQ(next(2), Keys{});
  at_second = 1001;
  EXPECT_EQ(next(2), Keys{"a"});
  at_second = 1010;
  EXPECT_EQ(next(2), Keys{"c"});
  at_second = 1020;
  EXPECT_EQ(next(2), Keys{"b"});
}

TEST_F(ExpiryFrontTest, LooksFromTheStartNowAndThen) {
  for (const char* item : {"a", "b", "c"}) add(item, true, 100);
  EXPECT_EQ(next(3), (Keys{"a", "b", "c"}));
  // As after an undone write: all of them are there.
  size_t looks = 0;
  while (next(3) != (Keys{"a", "b", "c"})) ASSERT_LT(++looks, 1000U);
  EXPECT_GT(looks, 100U);
}

}  // namespace
}  // namespace quire::engine
