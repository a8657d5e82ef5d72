#include "sql/value/arena.h"

#include <algorithm>

namespace quire::sql {
namespace {

constexpr size_t kFirstChunk = size_t{4} << 10;
constexpr size_t kLargestChunk = size_t{1} << 20;

}  // namespace

void* Arena::allocate_chunk(size_t bytes, size_t alignment) {
  if (bytes > SIZE_MAX - alignment) throw MemoryLimitExceeded{};
  const size_t needed = bytes + alignment;
  while (chunk_ + 1 < chunks_.size() && chunks_[chunk_ + 1].size < needed) ++chunk_;
  if (chunk_ + 1 < chunks_.size()) {
    ++chunk_;
  } else {
    const size_t wanted = chunks_.empty() ? kFirstChunk : std::min(chunks_.back().size * 2, kLargestChunk);
    const size_t size = std::max(needed, wanted);
    memory_.take(size);
    try {
      chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    } catch (const std::bad_alloc&) {
      memory_.give_back(size);
      throw;
    }
    chunk_ = chunks_.size() - 1;
  }
  next_ = chunks_[chunk_].bytes.get();
  end_ = next_ + chunks_[chunk_].size;
  return allocate(bytes, alignment);
}

void Arena::rewind(Mark mark) noexcept {
  if (chunks_.empty()) return;
  chunk_ = mark.next == nullptr ? 0 : mark.chunk;
  next_ = mark.next == nullptr ? chunks_[0].bytes.get() : mark.next;
  end_ = chunks_[chunk_].bytes.get() + chunks_[chunk_].size;
}

}  // namespace quire::sql
