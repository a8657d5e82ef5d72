// The bytes of entries: what is put together comes apart again, and damaged bytes give nothing.
#include "engine/index/index_entry.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "sql/value/key_encoding.h"

namespace quire::engine {
namespace {

using sql::Value;

std::string encoded(const Value& value) {
  std::string bytes;
  sql::encode_key(value, bytes);
  return bytes;
}

const IndexShape kOnePart{0, {false}};

void expect_same(const IndexEntry& a, const IndexEntry& b) {
  EXPECT_EQ(a.scope, b.scope);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.item_key, b.item_key);
  EXPECT_EQ(a.has_cut_values, b.has_cut_values);
}

TEST(IndexEntryTest, AnEntryComesApartAsItWasPutTogether) {
  EntryList list;
  list.add(IndexNumber{7}, "", encoded(Value::integer(42)), "item key");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list.number(0), IndexNumber{7});
  EXPECT_TRUE(list.record(0).empty());
  const auto entry = parse_index_entry(list.key(0), list.record(0), kOnePart);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->values, encoded(Value::integer(42)));
  EXPECT_EQ(entry->item_key, "item key");
  EXPECT_FALSE(entry->has_cut_values);
  expect_same(list.entry(0, 0), *entry);
}

TEST(IndexEntryTest, LongValuesAndLongItemKeysAreCutAndTheItemKeyIsKept) {
  for (const size_t value_size : {1U, 250U, 252U, 253U, 5000U}) {
    for (const size_t key_size : {1U, 200U, 252U, 253U, 300U, 511U}) {
      EntryList list;
      const std::string item_key(key_size, 'k');
      list.add(IndexNumber{1}, "scope of 16 byte", encoded(Value::string(std::string(value_size, 'v'))),
               item_key);
      EXPECT_LE(list.key(0).size(), kLongestTableKey);
      const auto entry = parse_index_entry(list.key(0), list.record(0), {16, {false}});
      ASSERT_TRUE(entry) << value_size << ' ' << key_size;
      EXPECT_EQ(entry->item_key, item_key);
      EXPECT_EQ(entry->has_cut_values, value_size + 3 > kLongestIndexValues);
      expect_same(list.entry(0, 16), *entry);
    }
  }
}

TEST(IndexEntryTest, DamagedBytesGiveNothing) {
  EntryList list;
  list.add(IndexNumber{1}, "", encoded(Value::string("some text")), "item");
  const std::string key(list.key(0));
  for (size_t size = 0; size < key.size() - 4; ++size)
    EXPECT_FALSE(parse_index_entry(key.substr(0, size), "", kOnePart)) << size;
  EXPECT_FALSE(parse_index_entry(key, "", {0, {false, false, false}}));
  EXPECT_FALSE(parse_index_entry(key, "\x01", kOnePart));  // says that 256 bytes of values follow
  EXPECT_FALSE(parse_index_entry(std::string("\x00\x01\x77", 3), "", kOnePart));
}

TEST(IndexEntryTest, SortingLeavesEachEntryOnce) {
  EntryList list;
  for (const int value : {3, 1, 2, 3, 1}) list.add(IndexNumber{1}, "", encoded(Value::integer(value)), "k");
  list.add(IndexNumber{0x102}, "", encoded(Value::integer(0)), "k");
  list.sort();
  ASSERT_EQ(list.size(), 4U);
  for (size_t i = 0; i + 1 < list.size(); ++i) EXPECT_LT(list.key(i), list.key(i + 1));
  EXPECT_EQ(list.number(3), IndexNumber{0x102});
}

TEST(IndexEntryTest, SortingAgainKnowsWhatWasThereBefore) {
  EntryList list;
  for (const int value : {2, 1}) list.add(IndexNumber{1}, "", encoded(Value::integer(value)), "k");
  list.sort();
  list.add(IndexNumber{1}, "", encoded(Value::integer(2)), "k");
  list.sort();
  EXPECT_EQ(list.size(), 2U);
}

// Keys that are alike far into them, end within eight bytes, and end with zeros, in any order.
TEST(IndexEntryTest, SortingGoesByAllBytes) {
  std::mt19937 random(1);
  const auto any = [&](size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random); };
  EntryList list;
  std::set<std::string> keys;
  for (int i = 0; i < 20'000; ++i) {
    const std::string values = std::string(any(3) * 8, 'v') + std::string(any(20), "\0a"[any(2)]);
    const std::string item_key = std::string(any(2) * 240, 'k') + std::string(any(12), '\0') + "xy"[any(2)];
    list.add(IndexNumber{static_cast<uint16_t>(any(3) * 255 + 1)}, "", values, item_key);
    keys.emplace(list.key(list.size() - 1));
  }
  list.sort();
  ASSERT_EQ(list.size(), keys.size());
  size_t at = 0;
  for (const std::string& key : keys) {
    ASSERT_EQ(list.key(at), key);
    ASSERT_EQ(list.number(at), index_number_of(key));
    ++at;
  }
}

TEST(IndexEntryTest, OnlyUndefinedValuesStandForNothing) {
  const auto is_nothing = [](const std::string& values, PartOrders is_descending) {
    EntryList list;
    list.add(IndexNumber{1}, "", values, "k");
    const IndexShape shape{0, is_descending};
    return are_all_undefined(*parse_index_entry(list.key(0), list.record(0), shape), shape);
  };
  std::string descending;
  sql::encode_key_descending(Value(), descending);
  EXPECT_TRUE(is_nothing(encoded(Value()), {false}));
  EXPECT_TRUE(is_nothing(encoded(Value()) + descending, {false, true}));
  EXPECT_FALSE(is_nothing(encoded(Value()) + encoded(Value::null()), {false, false}));
}

}  // namespace
}  // namespace quire::engine
