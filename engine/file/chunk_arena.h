// Memory that is taken piece by piece and goes all at once: to who takes pieces anew, or to the system.
// Internal to engine/file.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "engine/file/large_pages.h"

namespace quire::engine {

// Belongs to one thread at a time.
class ChunkArena {
 public:
  ChunkArena() = default;
  ChunkArena(const ChunkArena&) = delete;
  ChunkArena& operator=(const ChunkArena&) = delete;

  // bad_alloc.
  char* allocate(size_t bytes, size_t alignment);
  // Pieces are no more. The chunks stay for the next ones, which need not have the system put pages there
  // once more; those for one piece alone go.
  void clear() noexcept;
  // Of all chunks that pieces were taken of.
  size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr size_t kSmallBytes = size_t{64} << 10, kSmallChunks = 8;  // then large pages

  struct Free {
    bool is_page = false;  // of take_large_page()
    void operator()(char* place) const noexcept;
  };
  using Chunk = std::unique_ptr<char, Free>;

  static size_t bytes_of(size_t chunk) noexcept { return chunk < kSmallChunks ? kSmallBytes : kLargePage; }
  static Chunk make_chunk(size_t bytes);
  void open_chunk(size_t least_bytes);

  std::vector<Chunk> chunks_;      // of bytes_of()
  size_t in_use_ = 0;              // of chunks_
  std::vector<Chunk> own_chunks_;  // for one piece each
  char* room_ = nullptr;
  size_t room_bytes_ = 0;
  size_t bytes_ = 0;
};

}  // namespace quire::engine
