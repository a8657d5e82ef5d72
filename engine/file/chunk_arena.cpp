#include "engine/file/chunk_arena.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

constexpr size_t kLine = 64, kAhead = 1024;

}  // namespace

char* ChunkArena::allocate(size_t bytes, size_t alignment) {
  void* place = room_;
  if (room_ == nullptr || std::align(alignment, bytes, place, room_bytes_) == nullptr) {
    open_chunk(bytes + alignment);
    place = room_;
    std::align(alignment, bytes, place, room_bytes_);
  }
  room_ = static_cast<char*>(place) + bytes;
  room_bytes_ -= bytes;
  // What is written to next lies in no cache as a rule.
  const auto ahead = reinterpret_cast<uintptr_t>(room_) + kAhead;
  for (size_t line = 0; line < bytes; line += kLine)
    sql::prefetch_to_write(reinterpret_cast<const char*>(ahead + line));
  return static_cast<char*>(place);
}

void ChunkArena::clear() noexcept {
  own_chunks_.clear();
  in_use_ = 0;
  room_ = nullptr;
  room_bytes_ = 0;
  bytes_ = 0;
}

void ChunkArena::open_chunk(size_t least_bytes) {
  size_t bytes = bytes_of(in_use_);
  if (least_bytes > bytes) {
    bytes = least_bytes;
    own_chunks_.push_back(make_chunk(bytes));
    room_ = own_chunks_.back().get();
  } else {
    if (in_use_ == chunks_.size()) chunks_.push_back(make_chunk(bytes));
    room_ = chunks_[in_use_++].get();
  }
  room_bytes_ = bytes;
  bytes_ += bytes;
}

ChunkArena::Chunk ChunkArena::make_chunk(size_t bytes) {
  const bool is_page = bytes == kLargePage;
  Chunk chunk(static_cast<char*>(is_page ? take_large_page() : std::malloc(bytes)), Free{is_page});
  if (chunk == nullptr) throw std::bad_alloc();
  return chunk;
}

void ChunkArena::Free::operator()(char* place) const noexcept {
  if (is_page)
    give_back_large_page(place);
  else
    std::free(place);
}

}  // namespace quire::engine
