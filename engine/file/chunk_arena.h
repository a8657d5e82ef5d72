// Memory that is taken piece by piece and goes all at once. Its chunks come from a pool, to which they
// return: what one list of pending commits gives back the next one takes, and need not have the system put
// pages there once more. Internal to engine/file.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace quire::engine {

// Chunks that nobody uses. From any thread.
class ChunkPool {
 public:
  static constexpr size_t kChunkBytes = size_t{64} << 10;
  using Chunk = std::unique_ptr<char[]>;

  // bad_alloc.
  Chunk take();
  // Keeps as many as one list may need.
  void give_back(std::vector<Chunk> chunks) noexcept;
  // Keeps none of those that are there.
  void clear() noexcept;

 private:
  static constexpr size_t kMostBytes = size_t{8} << 20;

  std::mutex mutex_;
  std::vector<Chunk> chunks_;
};

// Belongs to one thread at a time.
class ChunkArena {
 public:
  explicit ChunkArena(std::shared_ptr<ChunkPool> pool) : pool_(std::move(pool)) {}
  ChunkArena(const ChunkArena&) = delete;
  ChunkArena& operator=(const ChunkArena&) = delete;
  ~ChunkArena();

  // bad_alloc.
  char* allocate(size_t bytes, size_t alignment);
  // Of all chunks.
  size_t bytes() const noexcept { return bytes_; }

 private:
  char* add_chunk(size_t bytes);

  std::shared_ptr<ChunkPool> pool_;
  std::vector<ChunkPool::Chunk> chunks_;        // of the pool's size
  std::vector<ChunkPool::Chunk> large_chunks_;  // for one piece each
  char* room_ = nullptr;
  size_t room_bytes_ = 0;
  size_t bytes_ = 0;
};

}  // namespace quire::engine
