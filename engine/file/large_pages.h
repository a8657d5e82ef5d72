// Memory that is written from end to end, on few pages of the system's.
#pragma once

#include <cstddef>

namespace quire::engine {

inline constexpr size_t kLargePage = size_t{2} << 20;

// Before it is first written: asks the system for large pages, as far as they fit in. A first write to a page
// of 4 KB takes 1 us or less, and 11 in some virtual machines. A hint: nothing comes of it where there are
// none.
void prefer_large_pages(void* memory, size_t bytes) noexcept;

// kLargePage bytes, aligned to as much and preferred so, with anything in them. From the system itself rather
// than from malloc, which would keep what its heaps have once grown to: some that are given back are kept for
// who asks next (32 MB a process), others go. nullptr where there is no memory. For give_back_large_page().
// Thread-safe.
void* take_large_page() noexcept;
void give_back_large_page(void* page) noexcept;

}  // namespace quire::engine
