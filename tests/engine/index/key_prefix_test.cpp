#include "engine/index/key_prefix.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

namespace quire::engine {
namespace {

TEST(SortRoomTest, StaysAsItWasWhereThereIsNoMemoryForMore) {
  SortRoom<uint64_t> room;
  EXPECT_THROW(room.of(SIZE_MAX / 16), std::bad_alloc);
  EXPECT_NE(room.of(2).data(), nullptr);
  const uint64_t* const first = room.of(2).data();
  EXPECT_THROW(room.of(SIZE_MAX / 16), std::bad_alloc);
  EXPECT_EQ(room.of(3).data(), first);
  EXPECT_NE(room.of(4).data(), nullptr);
}

}  // namespace
}  // namespace quire::engine
