#include "engine/file/chunk_arena.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>
#include <utility>

namespace quire::engine {
namespace {

constexpr size_t kLine = 64, kAhead = 1024;

}  // namespace

ChunkPool::Chunk ChunkPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!chunks_.empty()) {
      Chunk chunk = std::move(chunks_.back());
      chunks_.pop_back();
      return chunk;
    }
  }
  return std::make_unique_for_overwrite<char[]>(kChunkBytes);
}

void ChunkPool::give_back(std::vector<Chunk> chunks) noexcept {
  const std::lock_guard lock(mutex_);
  const size_t room = kMostBytes / kChunkBytes - std::min(kMostBytes / kChunkBytes, chunks_.size());
  const auto kept = chunks.begin() + static_cast<ptrdiff_t>(std::min(room, chunks.size()));
  try {
    chunks_.insert(chunks_.end(), std::make_move_iterator(chunks.begin()), std::make_move_iterator(kept));
  } catch (const std::bad_alloc&) {
    // They go to the heap with the list.
  }
}

void ChunkPool::clear() noexcept {
  std::vector<Chunk> chunks;
  const std::lock_guard lock(mutex_);
  chunks_.swap(chunks);
}

ChunkArena::~ChunkArena() {
  pool_->give_back(std::move(chunks_));
}

char* ChunkArena::allocate(size_t bytes, size_t alignment) {
  void* place = room_;
  if (room_ == nullptr || std::align(alignment, bytes, place, room_bytes_) == nullptr) {
    const size_t size = std::max(bytes + alignment, ChunkPool::kChunkBytes);
    place = add_chunk(size);
    room_bytes_ = size;
    bytes_ += size;
    std::align(alignment, bytes, place, room_bytes_);
  }
  room_ = static_cast<char*>(place) + bytes;
  room_bytes_ -= bytes;
  // What is written to next lies in no cache as a rule.
  const auto ahead = reinterpret_cast<uintptr_t>(room_) + kAhead;
  for (size_t line = 0; line < bytes; line += kLine)
    __builtin_prefetch(reinterpret_cast<const char*>(ahead + line), 1);
  return static_cast<char*>(place);
}

char* ChunkArena::add_chunk(size_t bytes) {
  const bool is_usual = bytes == ChunkPool::kChunkBytes;
  ChunkPool::Chunk chunk = is_usual ? pool_->take() : std::make_unique_for_overwrite<char[]>(bytes);
  char* const place = chunk.get();
  (is_usual ? chunks_ : large_chunks_).push_back(std::move(chunk));
  return place;
}

}  // namespace quire::engine
