// Memory that lives as long as a batch, a statement or a parse tree, and is freed at once. Allocation is a
// pointer bump; nothing in it is ever destroyed, so only trivially destructible things may live there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sql/value/memory_budget.h"

namespace quire::sql {

// Not thread-safe: an arena belongs to one statement.
class Arena {
 public:
  // Its chunks are taken from the budget, where there is one, until its end; past it MemoryLimitExceeded.
  explicit Arena(MemoryBudget* budget = nullptr) noexcept : memory_(budget) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* allocate(size_t bytes, size_t alignment = alignof(std::max_align_t)) {
    const auto at = (reinterpret_cast<uintptr_t>(next_) + alignment - 1) & ~(alignment - 1);
    if (at > reinterpret_cast<uintptr_t>(end_) || bytes > reinterpret_cast<uintptr_t>(end_) - at) [[unlikely]]
      return allocate_chunk(bytes, alignment);
    next_ = reinterpret_cast<std::byte*>(at + bytes);
    return reinterpret_cast<void*>(at);
  }

  // `count` value-initialised objects.
  template <typename T>
  std::span<T> make_array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count > SIZE_MAX / sizeof(T)) throw MemoryLimitExceeded{};
    T* first = static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return {first, count};
  }

  template <typename T, typename... Arguments>
  T* make(Arguments&&... arguments) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Arguments>(arguments)...};
  }

  template <typename T>
  std::span<T> copy_array(std::span<const T> from) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* first = static_cast<T*>(allocate(from.size_bytes(), alignof(T)));
    if (!from.empty())
      std::memcpy(static_cast<void*>(first), static_cast<const void*>(from.data()), from.size_bytes());
    return {first, from.size()};
  }

  std::string_view copy_string(std::string_view text) {
    char* copy = static_cast<char*>(allocate(text.size(), 1));
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // A point in time. Rewinding forgets what was allocated since, and keeps the memory for what comes next, so
  // that a steady user goes to the heap once.
  struct Mark {
    size_t chunk = 0;
    std::byte* next = nullptr;
  };
  Mark mark() const noexcept { return {chunk_, next_}; }
  void rewind(Mark mark) noexcept;
  void reset() noexcept { rewind({}); }

  size_t bytes_reserved() const noexcept { return memory_.bytes(); }

 private:
  void* allocate_chunk(size_t bytes, size_t alignment);

  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    size_t size;
  };
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;  // the chunk that next_ points into; those after it are free
  MemoryShare memory_;
};

// Forgets, at the end of its block, what is allocated within. Blocks may lie within each other.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) noexcept : arena_(arena), begin_(arena.mark()) {}
  ~ArenaScope() { arena_.rewind(begin_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  Arena::Mark begin_;
};

}  // namespace quire::sql
