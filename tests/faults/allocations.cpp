// The functions here have the names of the C library's and of the language's, which they take the place of.
#include "tests/faults/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#define QUIRE_IN_PLACE_OF_C __attribute__((visibility("default")))
// AddressSanitizer's own start asks for memory: C's functions stay its own, and requests of C++ alone fail.
#if defined(__SANITIZE_ADDRESS__)
#define QUIRE_REAL(name) name
#define QUIRE_REAL_ALIGNED aligned_alloc
#else
#define QUIRE_REAL(name) __libc_##name
#define QUIRE_REAL_ALIGNED __libc_memalign
extern "C" {
void* QUIRE_REAL(malloc)(size_t size);
void* QUIRE_REAL(calloc)(size_t count, size_t size);
void* QUIRE_REAL(realloc)(void* memory, size_t size);
void* QUIRE_REAL_ALIGNED(size_t alignment, size_t size);
}
#endif

namespace quire::tests {
namespace {

std::atomic<bool> is_counting{false};
std::atomic<uint64_t> count{0}, first_to_fail{0}, last_to_fail{0};

bool must_fail() noexcept {
  if (!is_counting.load(std::memory_order_relaxed)) return false;
  const uint64_t number = count.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool fails = number >= first_to_fail.load(std::memory_order_relaxed) &&
                     number <= last_to_fail.load(std::memory_order_relaxed);
  if (fails) errno = ENOMEM;
  return fails;
}

void* allocate_or_throw(size_t size, size_t alignment) {
  void* const memory = must_fail()      ? nullptr
                       : alignment == 0 ? QUIRE_REAL(malloc)(size == 0 ? 1 : size)
                                        : QUIRE_REAL_ALIGNED(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void fail_allocations(uint64_t first, uint64_t last) noexcept {
  count = 0;
  first_to_fail = first;
  last_to_fail = last;
  is_counting = true;
}

uint64_t stop_failing_allocations() noexcept {
  is_counting = false;
  return count;
}

}  // namespace quire::tests

using quire::tests::allocate_or_throw;
using quire::tests::must_fail;

#if !defined(__SANITIZE_ADDRESS__)
extern "C" {
QUIRE_IN_PLACE_OF_C void* malloc(size_t size) {
  return must_fail() ? nullptr : QUIRE_REAL(malloc)(size);
}
QUIRE_IN_PLACE_OF_C void* calloc(size_t count, size_t size) {
  return must_fail() ? nullptr : QUIRE_REAL(calloc)(count, size);
}
QUIRE_IN_PLACE_OF_C void* realloc(void* memory, size_t size) {
  return must_fail() ? nullptr : QUIRE_REAL(realloc)(memory, size);
}
QUIRE_IN_PLACE_OF_C void* aligned_alloc(size_t alignment, size_t size) {
  return must_fail() ? nullptr : QUIRE_REAL_ALIGNED(alignment, size);
}
QUIRE_IN_PLACE_OF_C int posix_memalign(void** memory, size_t alignment, size_t size) {
  if (must_fail()) return ENOMEM;
  *memory = QUIRE_REAL_ALIGNED(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif

QUIRE_IN_PLACE_OF_C void* operator new(size_t size) {
  return allocate_or_throw(size, 0);
}
QUIRE_IN_PLACE_OF_C void* operator new[](size_t size) {
  return allocate_or_throw(size, 0);
}
QUIRE_IN_PLACE_OF_C void* operator new(size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<size_t>(alignment));
}
QUIRE_IN_PLACE_OF_C void* operator new[](size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<size_t>(alignment));
}
QUIRE_IN_PLACE_OF_C void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return must_fail() ? nullptr : QUIRE_REAL(malloc)(size);
}
QUIRE_IN_PLACE_OF_C void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return must_fail() ? nullptr : QUIRE_REAL(malloc)(size);
}
QUIRE_IN_PLACE_OF_C void operator delete(void* memory) noexcept {
  free(memory);
}
QUIRE_IN_PLACE_OF_C void operator delete[](void* memory) noexcept {
  free(memory);
}
QUIRE_IN_PLACE_OF_C void operator delete(void* memory, size_t) noexcept {
  free(memory);
}
QUIRE_IN_PLACE_OF_C void operator delete[](void* memory, size_t) noexcept {
  free(memory);
}
QUIRE_IN_PLACE_OF_C void operator delete(void* memory, std::align_val_t) noexcept {
  free(memory);
}
QUIRE_IN_PLACE_OF_C void operator delete[](void* memory, std::align_val_t) noexcept {
  free(memory);
}
QUIRE_IN_PLACE_OF_C void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  free(memory);
}
QUIRE_IN_PLACE_OF_C void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  free(memory);
}
