#include "engine/script/wasm_runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

// Whether the generated code sets the marks: cmake/adapt_module.cmake.
extern "C" const int quire_marks_writes;

namespace quire::engine {
namespace {

constexpr uint64_t kMarkedBytes = 1 << QUIRE_MARK_SHIFT;
constexpr uint64_t kLongestStore = 8;
constexpr uint64_t kMappedBytes = QUIRE_MARK_BYTES + kReservedPages * kWasmPageBytes + kSlackBytes;

thread_local uint64_t refused = 0;

// Opens memory that is reserved, from `from` bytes on, for `bytes`.
bool open_memory(const wasm_rt_memory_t& memory, uint64_t from, uint64_t bytes) noexcept {
  return bytes == 0 || mprotect(memory.data + from, bytes, PROT_READ | PROT_WRITE) == 0;
}

// Signatures of functions, by the number that the generated code compares at indirect calls. Guarded by the
// mutex; written while the module is set up, once in a process.
std::mutex signatures_mutex;
std::vector<std::vector<int>> signatures;

}  // namespace

uint64_t refused_growths() noexcept {
  return refused;
}
void set_refused_growths(uint64_t count) noexcept {
  refused = count;
}

void restore_memory(wasm_rt_memory_t& memory, uint64_t start, std::span<const uint8_t> bytes,
                    bool is_base) noexcept {
  uint8_t* const marks = memory.data - QUIRE_MARK_BYTES;
  const uint64_t end = start + bytes.size();
  if (!is_base || quire_marks_writes == 0) {
    std::memcpy(memory.data + start, bytes.data(), bytes.size());
  } else {
    // A store that begins before it may reach into it.
    std::memcpy(memory.data + start, bytes.data(), std::min<size_t>(kLongestStore, bytes.size()));
    uint64_t several = 0;  // marks are looked at together: few are set
    for (uint64_t first = start; first < end; first += kMarkedBytes * sizeof several) {
      std::memcpy(&several, marks + (first >> QUIRE_MARK_SHIFT), sizeof several);
      // Marks side by side are one copy. Each is 0 or 1: here 0 or all ones.
      for (uint64_t set = several * 0xFF; set != 0;) {
        const int from = std::countr_zero(set);
        const int upto = from + std::countr_one(set >> from);
        const uint64_t place = first + static_cast<uint64_t>(from / 8) * kMarkedBytes;
        const uint64_t size = static_cast<uint64_t>((upto - from) / 8) * kMarkedBytes + kLongestStore;
        std::memcpy(memory.data + place, bytes.data() + (place - start), std::min(size, end - place));
        set = upto == 64 ? 0 : set >> upto << upto;
      }
    }
  }
  std::memset(marks, 0, end >> QUIRE_MARK_SHIFT);
}

void shrink_memory(wasm_rt_memory_t& memory, uint32_t pages) noexcept {
  if (memory.pages <= pages) return;
  uint8_t* const slack = memory.data + pages * kWasmPageBytes;
  std::memset(slack, 0, kSlackBytes);
  uint8_t* const from = slack + kSlackBytes;
  const uint64_t bytes = (memory.pages - pages) * kWasmPageBytes;
  // Mapped anew, the pages are zero and cost no memory.
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(from, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED) std::memset(from, 0, bytes);
  memory.pages = pages;
  memory.size = static_cast<uint32_t>(pages * kWasmPageBytes);
}

uint32_t add_function(wasm_rt_funcref_table_t& table, const wasm_rt_funcref_t& function) {
  void* const data = std::realloc(table.data, (size_t{table.size} + 1) * sizeof *table.data);
  if (data == nullptr) throw std::bad_alloc();
  table.data = static_cast<wasm_rt_funcref_t*>(data);
  table.data[table.size] = function;
  return table.size++;
}

}  // namespace quire::engine

using quire::engine::kMappedBytes;
using quire::engine::kReservedPages;
using quire::engine::kSlackBytes;
using quire::engine::kWasmPageBytes;
using quire::engine::open_memory;

extern "C" {

bool wasm_rt_is_initialized(void) {
  return true;
}

void wasm_rt_trap(wasm_rt_trap_t reason) {
  throw quire::engine::WasmTrap{reason};
}

uint32_t wasm_rt_register_func_type(uint32_t parameters, uint32_t results, ...) {
  std::vector<int> signature = {static_cast<int>(parameters)};
  va_list types;
  va_start(types, results);
  for (uint32_t i = 0; i < parameters + results; ++i) signature.push_back(va_arg(types, int));
  va_end(types);
  const std::lock_guard lock(quire::engine::signatures_mutex);
  auto& known = quire::engine::signatures;
  for (size_t i = 0; i < known.size(); ++i)
    if (known[i] == signature) return static_cast<uint32_t>(i + 1);
  known.push_back(std::move(signature));
  return static_cast<uint32_t>(known.size());
}

void quire_wasm_allocate_memory(wasm_rt_memory_t* memory, uint32_t pages) {
  memory->max_pages = kReservedPages;
  memory->data = nullptr;
  if (pages > memory->max_pages) throw std::bad_alloc();
  void* const place =
      mmap(nullptr, kMappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  memory->data = static_cast<uint8_t*>(place) + QUIRE_MARK_BYTES;
  if (mprotect(place, QUIRE_MARK_BYTES + pages * kWasmPageBytes + kSlackBytes, PROT_READ | PROT_WRITE) != 0)
    throw std::bad_alloc();
  memory->pages = pages;
  memory->size = static_cast<uint32_t>(pages * kWasmPageBytes);
}

uint32_t quire_wasm_grow_memory(wasm_rt_memory_t* memory, uint32_t pages) {
  const auto before = static_cast<uint32_t>(memory->pages);
  const uint64_t wanted = uint64_t{before} + pages;
  const bool fits = wanted <= std::min<uint64_t>(memory->max_pages, kReservedPages);
  if (!fits || !open_memory(*memory, before * kWasmPageBytes + kSlackBytes, pages * kWasmPageBytes)) {
    ++quire::engine::refused;
    return UINT32_MAX;
  }
  memory->pages = static_cast<uint32_t>(wanted);
  memory->size = static_cast<uint32_t>(wanted * kWasmPageBytes);
  return before;
}

void wasm_rt_free_memory(wasm_rt_memory_t* memory) {
  if (memory->data != nullptr) munmap(memory->data - QUIRE_MARK_BYTES, kMappedBytes);
  memory->data = nullptr;
}

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t* table, uint32_t elements, uint32_t most) {
  table->size = elements;
  table->max_size = most;
  table->data = static_cast<wasm_rt_funcref_t*>(std::calloc(elements, sizeof *table->data));
  if (table->data == nullptr) throw std::bad_alloc();
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t* table) {
  std::free(table->data);
  table->data = nullptr;
}

}  // extern "C"
