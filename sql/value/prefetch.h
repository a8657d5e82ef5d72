#pragma once

#include <cstddef>
#include <span>

namespace quire::sql {

// Has the processor bring a line of memory into its caches, for a look at it soon. Any address will do.
inline void prefetch(const void* at) noexcept {
  __builtin_prefetch(at);
  // GCC 12 takes a function that does nothing else for one without effect, and leaves its calls out.
  asm volatile("");
}

// The same for memory that is written to soon.
inline void prefetch_to_write(const void* at) noexcept {
  __builtin_prefetch(at, 1);
  asm volatile("");
}

// Every line of these, which are not empty.
inline void prefetch_all(std::span<const std::byte> bytes) noexcept {
  constexpr size_t kLineBytes = 64;
  for (size_t at = 0; at < bytes.size(); at += kLineBytes) prefetch(&bytes[at]);
  prefetch(&bytes.back());
}

}  // namespace quire::sql
