#include "engine/file/large_pages.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

namespace quire::engine {
namespace {

class KeptPages {
 public:
  void* take() noexcept {
    const std::lock_guard lock(mutex_);
    return count_ > 0 ? pages_[--count_] : nullptr;
  }
  bool keep(void* page) noexcept {
    const std::lock_guard lock(mutex_);
    if (count_ == pages_.size()) return false;
    pages_[count_++] = page;
    return true;
  }

 private:
  std::mutex mutex_;
  std::array<void*, 16> pages_{};
  size_t count_ = 0;
};

constinit KeptPages kept_pages;

void* map_large_page() noexcept {
  void* const mapped =
      mmap(nullptr, 2 * kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage;
  char* const page = begin + before;
  if (before > 0) (void)munmap(begin, before);
  (void)munmap(page + kLargePage, kLargePage - before);
  prefer_large_pages(page, kLargePage);
  return page;
}

}  // namespace

void prefer_large_pages(void* memory, size_t bytes) noexcept {
  if (std::align(kLargePage, kLargePage, memory, bytes) == nullptr) return;
  (void)madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
}

void* take_large_page() noexcept {
  void* const kept = kept_pages.take();
  return kept != nullptr ? kept : map_large_page();
}

void give_back_large_page(void* page) noexcept {
  if (!kept_pages.keep(page)) (void)munmap(page, kLargePage);
}

}  // namespace quire::engine
