// Memory that goes from one list of pending commits to the next.
#include "engine/file/chunk_arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>

namespace quire::engine {
namespace {

TEST(ChunkArenaTest, PiecesAreAlignedAndApart) {
  ChunkArena arena(std::make_shared<ChunkPool>());
  std::set<std::pair<char*, char*>> pieces;
  for (size_t i = 1; i < 3000; ++i) {
    const size_t bytes = i * 37 % 500 + 1, alignment = size_t{1} << i % 7;
    char* const piece = arena.allocate(bytes, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % alignment, 0u);
    std::memset(piece, 1, bytes);
    pieces.emplace(piece, piece + bytes);
  }
  for (auto at = pieces.begin(); std::next(at) != pieces.end(); ++at)
    EXPECT_LE(at->second, std::next(at)->first);
  EXPECT_EQ(arena.bytes() % ChunkPool::kChunkBytes, 0u);
}

TEST(ChunkArenaTest, TheNextOneTakesWhatWasGivenBack) {
  const auto pool = std::make_shared<ChunkPool>();
  std::set<const char*> before, after;
  for (std::set<const char*>* const seen : {&before, &after}) {
    ChunkArena arena(pool);
    for (int i = 0; i < 5; ++i) seen->insert(arena.allocate(ChunkPool::kChunkBytes - 1, 1));
  }
  EXPECT_EQ(before.size(), 5u);
  EXPECT_EQ(after, before);
}

TEST(ChunkArenaTest, APieceMayBeLongerThanAChunk) {
  ChunkArena arena(std::make_shared<ChunkPool>());
  constexpr size_t kBytes = 3 * ChunkPool::kChunkBytes;
  char* const piece = arena.allocate(kBytes, 8);
  std::memset(piece, 1, kBytes);
  std::memset(arena.allocate(10, 1), 2, 10);
  EXPECT_EQ(piece[kBytes - 1], 1);
  EXPECT_GE(arena.bytes(), kBytes);
}

}  // namespace
}  // namespace quire::engine
