// Memory that goes from one list of pending commits to the next.
#include "engine/file/chunk_arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>
#include <vector>

#include "engine/file/large_pages.h"

namespace quire::engine {
namespace {

TEST(ChunkArenaTest, PiecesAreAlignedAndApart) {
  ChunkArena arena;
  std::set<std::pair<char*, char*>> pieces;
  size_t sum = 0;
  for (size_t i = 1; i < 20'000; ++i) {
    const size_t bytes = i * 37 % 500 + 1, alignment = size_t{1} << i % 7;
    char* const piece = arena.allocate(bytes, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % alignment, 0u);
    std::memset(piece, 1, bytes);
    pieces.emplace(piece, piece + bytes);
    sum += bytes;
  }
  for (auto at = pieces.begin(); std::next(at) != pieces.end(); ++at)
    EXPECT_LE(at->second, std::next(at)->first);
  EXPECT_GE(arena.bytes(), sum);
}

TEST(ChunkArenaTest, WhatIsClearedIsTakenAgain) {
  ChunkArena arena;
  std::vector<const char*> before, after;
  size_t bytes = 0;
  for (std::vector<const char*>* const seen : {&before, &after}) {
    arena.clear();
    EXPECT_EQ(arena.bytes(), 0u);
    for (int i = 0; i < 100; ++i) seen->push_back(arena.allocate(60'000, 8));
    if (bytes == 0) bytes = arena.bytes();
  }
  EXPECT_EQ(after, before);
  EXPECT_EQ(arena.bytes(), bytes);
}

TEST(ChunkArenaTest, APieceMayBeLongerThanAChunk) {
  ChunkArena arena;
  for (const size_t bytes : {size_t{200} << 10, size_t{3} << 20}) {
    char* const piece = arena.allocate(bytes, 8);
    std::memset(piece, 1, bytes);
    std::memset(arena.allocate(10, 1), 2, 10);
    EXPECT_EQ(piece[bytes - 1], 1);
    EXPECT_GE(arena.bytes(), bytes);
    arena.clear();
  }
}

// malloc would keep them: 40 lists at once, and then none.
TEST(ChunkArenaTest, WhatManyListsTookGoesBackToTheSystem) {
  const auto count_mapped = [](const std::set<void*>& pages) {
    // Fails for what is not mapped.
    return std::count_if(pages.begin(), pages.end(),
                         [](void* page) { return msync(page, kLargePage, MS_ASYNC) == 0; });
  };
  std::set<void*> pages;
  for (int i = 0; i < 40; ++i) {
    void* const page = take_large_page();
    ASSERT_NE(page, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(page) % kLargePage, 0u);
    EXPECT_TRUE(pages.insert(page).second);
    std::memset(page, 1, kLargePage);
  }
  EXPECT_EQ(count_mapped(pages), 40);
  for (void* const page : pages) give_back_large_page(page);
  EXPECT_LE(count_mapped(pages), 16);
}

}  // namespace
}  // namespace quire::engine
