#include "engine/container/feed_row.h"

#include <gtest/gtest.h>

namespace quire::engine {
namespace {

std::string version(uint32_t place, uint32_t previous_place) {
  std::string row;
  write_version_head({.kind = FeedRowKind::replaced,
                      .timestamp = 7,
                      .item_key = "key",
                      .first = {},
                      .live = 0,
                      .first_key = {},
                      .last_key = {},
                      .previous = Lsn{5},
                      .place = place,
                      .previous_place = previous_place,
                      .record = {}},
                     row);
  return row + "record";
}

TEST(FeedRow, AVersionReadsBackWithAndWithoutPlaces) {
  for (const auto& [place, previous] : {std::pair{0u, 0u}, {3u, 0u}, {0u, 4u}}) {
    const std::string bytes = version(place, previous);
    const auto row = read_feed_row(bytes);
    ASSERT_TRUE(row) << place << ' ' << previous;
    EXPECT_EQ(row->place, place);
    EXPECT_EQ(row->previous_place, previous);
    EXPECT_EQ(row->item_key, "key");
    EXPECT_EQ(row->record, "record");
  }
}

TEST(FeedRow, PlacesThatNobodyWritesAreDamage) {
  std::string bytes = version(3, 0);
  constexpr size_t kPlaces = 15;
  ASSERT_EQ(bytes[kPlaces], 3);
  bytes[kPlaces] = 0;
  EXPECT_FALSE(read_feed_row(bytes));
}

TEST(FeedRow, ARowThatIsCutOffIsDamage) {
  const std::string bytes = version(3, 4);
  for (size_t length = 0; length < bytes.size() - 6; ++length)
    EXPECT_FALSE(read_feed_row(Bytes(bytes).substr(0, length))) << length;
}

}  // namespace
}  // namespace quire::engine
