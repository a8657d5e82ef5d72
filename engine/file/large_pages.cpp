#include "engine/file/large_pages.h"

#include <sys/mman.h>

#include <memory>

namespace quire::engine {

void prefer_large_pages(void* memory, size_t bytes) noexcept {
  if (std::align(kLargePage, kLargePage, memory, bytes) == nullptr) return;
  (void)madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
}

}  // namespace quire::engine
