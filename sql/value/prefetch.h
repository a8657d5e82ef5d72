#pragma once

namespace quire::sql {

// Has the processor bring a line of memory into its caches, for a look at it soon. Any address will do.
inline void prefetch(const void* at) noexcept {
  __builtin_prefetch(at);
  // GCC 12 takes a function that does nothing else for one without effect, and leaves its calls out.
  asm volatile("");
}

}  // namespace quire::sql
