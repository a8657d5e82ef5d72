// What is found out about an index: counts are right, samples are shares, and damaged rows are no statistics.
#include "engine/index/index_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sql/value/key_encoding.h"

namespace quire::engine {
namespace {

using sql::Value;
using testing::ElementsAre;

sql::IndexStatistics summary_of(int entries, int first_values) {
  EntryList list;
  for (int i = 0; i < entries; ++i) {
    std::string values;
    sql::encode_key(Value::integer(i % first_values), values);
    sql::encode_key_descending(Value::string(std::to_string(i)), values);
    list.add(IndexNumber{1}, "", values, "k");
  }
  list.sort();
  const IndexShape shape{0, {false, true}};
  IndexSummary summary(shape, static_cast<uint64_t>(entries));
  for (size_t i = 0; i < list.size(); ++i)
    summary.add(*parse_index_entry(list.key(i), list.record(i), shape));
  return summary.finish();
}

TEST(IndexStatisticsTest, DifferentValuesAreCountedByLeadingParts) {
  const sql::IndexStatistics found = summary_of(1000, 7);
  EXPECT_EQ(found.entries, 1000U);
  EXPECT_THAT(found.distinct, ElementsAre(7, 1000));
  EXPECT_GE(found.bounds->size(), 100U);
  EXPECT_LE(found.bounds->size(), 128U);
  EXPECT_TRUE(std::ranges::is_sorted(*found.bounds));
  EXPECT_THAT(summary_of(0, 1).distinct, ElementsAre(0, 0));
  EXPECT_THAT(summary_of(1, 1).distinct, ElementsAre(1, 1));
}

TEST(IndexStatisticsTest, WhatIsStoredComesBack) {
  const sql::IndexStatistics found = summary_of(300, 300);
  const auto read = index_statistics_from_bytes(index_statistics_to_bytes(found));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->entries, found.entries);
  EXPECT_EQ(read->distinct, found.distinct);
  EXPECT_EQ(*read->bounds, *found.bounds);
}

TEST(IndexStatisticsTest, DamagedBytesAreNone) {
  const std::string bytes = index_statistics_to_bytes(summary_of(300, 300));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = index_statistics_from_bytes(Bytes(bytes).substr(0, size));
    if (size < 2 + 8 + 16) {
      EXPECT_FALSE(read) << size;
    }
  }
  std::string other_version = bytes;
  other_version[0] = 2;
  EXPECT_FALSE(index_statistics_from_bytes(other_version));
}

}  // namespace
}  // namespace quire::engine
