// Many look-ups at once: what they find is what each alone finds, and they may know nothing.
#include "engine/file/batch_get.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "engine/file/environment.h"
#include "engine/file/page_view.h"
#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

struct Filled {
  std::unique_ptr<Environment> environment;
  Table table;

  Filled(int rows, size_t record_bytes,
         std::unique_ptr<Environment> opened = value_of(Environment::open(Environment::kInMemory)))
      : environment(std::move(opened)) {
    EXPECT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(table, transaction.create_table("t"));
      for (int row = 0; row < rows; ++row)
        QUIRE_TRY(transaction.put(table, fmt::format("{:08}", row), std::string(record_bytes, 'r')));
      return {};
    })));
  }
};

// What look-ups of all keys at once find must be what each alone finds; how many they found.
size_t check_found(const Transaction& transaction, Table table, std::span<const Bytes> keys) {
  BatchGet batch_get(transaction, table);
  std::vector<Bytes> records(keys.size(), "left as it was");
  batch_get.find(keys, records);
  size_t found = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (records[i].data() == nullptr) continue;
    ++found;
    const std::optional<Bytes> alone = value_of(transaction.get(table, keys[i]));
    EXPECT_EQ(alone, records[i]) << keys[i];
    EXPECT_EQ(alone.value_or(Bytes()).data(), records[i].data());
  }
  return found;
}

TEST(BatchGet, FindsTheSameInAFileLargerThanMemory) {
  const TemporaryFolder folder;
  const FileOptions options{.durability = Durability::none, .most_read_ahead = 1};
  const Filled filled(30'000, 300, value_of(Environment::open(folder.path("f.quire"), options)));
  std::vector<std::string> texts;
  for (int row = 29'999; texts.size() < BatchGet::kMost; row -= 700)
    texts.push_back(fmt::format("{:08}", row));
  const std::vector<Bytes> keys(texts.begin(), texts.end());
  const auto snapshot = value_of(filled.environment->begin_read());
  EXPECT_EQ(check_found(snapshot, filled.table, keys), keys.size());
}

TEST(BatchGet, FindsWhatIsThere) {
  std::vector<std::string> texts;
  for (int row = 17; texts.size() < BatchGet::kMost; row += 900) texts.push_back(fmt::format("{:08}", row));
  std::vector<Bytes> keys(texts.begin(), texts.end());
  const std::vector<Bytes> absent{"", "0", "0000001", "000000010", "3", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"};
  const std::vector<Bytes> near{"00000004", "00000005", "00000006", "00000006", "00000007"};
  // Many in a page, one, and on pages of their own.
  for (const size_t record_bytes : {size_t{300}, size_t{1'500}, size_t{10'000}}) {
    const Filled filled(30'000, record_bytes);
    const auto snapshot = value_of(filled.environment->begin_read());
    EXPECT_EQ(check_found(snapshot, filled.table, keys), keys.size());
    EXPECT_EQ(check_found(snapshot, filled.table, near), near.size());
    EXPECT_EQ(check_found(snapshot, filled.table, absent), 0U);
    EXPECT_EQ(check_found(snapshot, filled.table, {}), 0U);
    std::vector<Bytes> mixed(keys.rbegin(), keys.rend() - std::ssize(absent));
    mixed.insert(mixed.begin() + 3, absent.begin(), absent.end());
    EXPECT_EQ(check_found(snapshot, filled.table, mixed), keys.size() - absent.size());
    std::vector<Bytes> too_many = keys;
    too_many.insert(too_many.end(), 5, "00000001");
    EXPECT_EQ(check_found(snapshot, filled.table, too_many), BatchGet::kMost);
  }
}

// Ids without a partition key are keys by themselves, and may be as short as they like.
TEST(BatchGet, OrdersKeysOfAnyLength) {
  std::mt19937 random(7);
  const auto any_key = [&] {
    std::string key(random() % 12, '\0');
    for (char& byte : key) byte = "\x00\x01\x7f\x80\xff"[random() % 5];
    return key;
  };
  for (int i = 0; i < 200'000; ++i) {
    const std::string a = any_key(), b = random() % 4 == 0 ? a + any_key() : any_key();
    ASSERT_EQ(is_at_most(a, b), a <= b);
    ASSERT_EQ(is_at_most(b, a), b <= a);
  }
}

// Keys that agree in much of their front, short and long ones; with short records, nodes lie up to a page's
// end.
TEST(BatchGet, FindsKeysOfAnyLength) {
  std::mt19937 random(11);
  const auto any_key = [&] {
    std::string key = fmt::format("{:016}", random() % 40);
    key.resize(random() % 3 == 0 ? random() % 17 : 16, '7');
    for (size_t more = 1 + random() % 40; more > 0; --more) key += "\x00\x01\x7f\x80\xff"[random() % 5];
    return key;
  };
  const auto environment = value_of(Environment::open(Environment::kInMemory));
  std::vector<std::string> texts;
  Table table;
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(table, transaction.create_table("t"));
    for (int i = 0; i < 60'000; ++i) {
      texts.push_back(any_key());
      QUIRE_TRY(transaction.put(table, texts.back(), std::string(random() % 30, 'r')));
    }
    return {};
  })));
  const auto snapshot = value_of(environment->begin_read());
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::string> wanted;
    for (size_t i = 0; i < BatchGet::kMost; ++i)
      wanted.push_back(random() % 4 == 0 ? any_key() : texts[random() % texts.size()]);
    if (round % 2 == 0) std::ranges::sort(wanted);
    const std::vector<Bytes> keys(wanted.begin(), wanted.end());
    size_t there = 0;
    for (const Bytes key : keys) there += value_of(snapshot.get(table, key)).has_value();
    ASSERT_EQ(check_found(snapshot, table, keys), there);
  }
}

TEST(BatchGet, KnowsNothingWhereItWouldNotHelp) {
  const std::vector<Bytes> keys{"00000001", "00000002"};
  const Filled small(1'000, 10), large(10'000, 1'000);
  std::vector<Bytes> records(keys.size(), "left as it was");
  BatchGet().find(keys, records);
  EXPECT_EQ(records, std::vector<Bytes>(keys.size()));
  EXPECT_EQ(check_found(value_of(small.environment->begin_read()), small.table, keys), 0U);
  EXPECT_TRUE(succeeds(large.environment->write([&](WriteTransaction& transaction) -> Result<void> {
    EXPECT_EQ(check_found(transaction, large.table, keys), 0U);
    return transaction.drop_table("t");
  })));
  EXPECT_EQ(check_found(value_of(large.environment->begin_read()), large.table, keys), 0U);
}

// Changes that a log alone holds are not in the tree that is looked at; nor are those of the transaction
// itself.
TEST(BatchGet, FindsWhatIsPending) {
  const TemporaryFolder folder;
  const auto environment =
      value_of(Environment::open(folder.path("f.quire"), FileOptions{.durability = Durability::relaxed}));
  Table table;
  ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(table, transaction.create_table("t"));
    for (int row = 0; row < 10'000; ++row)
      QUIRE_TRY(transaction.put(table, fmt::format("{:08}", row), std::string(1'000, 'r')));
    return {};
  })));
  const std::vector<Bytes> keys{"00000001", "00000002", "00000003", "00000004", "new"};
  const auto before = value_of(environment->begin_read());
  int pending = 0, pending_in_writes = 0;
  for (int commit = 0; commit < 100; ++commit) {
    const bool erases = commit % 2 == 1;
    ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_TRY(transaction.put(table, keys[1], fmt::format("commit {}", commit)));
      QUIRE_TRY(transaction.put(table, keys[4], "there"));
      if (erases)
        QUIRE_TRY(transaction.erase(table, keys[2]));
      else
        QUIRE_TRY(transaction.put(table, keys[2], "there"));
      if (transaction.snapshot() == nullptr) {
        EXPECT_EQ(check_found(transaction, table, keys), 0U);
      } else {
        EXPECT_EQ(check_found(transaction, table, keys), keys.size() - (erases ? 1 : 0));
        ++pending_in_writes;
      }
      return {};
    })));
    const auto snapshot = value_of(environment->begin_read());
    EXPECT_EQ(check_found(before, table, keys), keys.size() - 1);
    EXPECT_EQ(check_found(snapshot, table, keys), keys.size() - (erases ? 1 : 0));
    pending += snapshot.pending() != nullptr;
  }
  EXPECT_GT(pending, 50);
  EXPECT_GT(pending_in_writes, 50);
}

}  // namespace
}  // namespace quire::engine
