// What the generated code asks of its surroundings, in place of wabt's runtime: memory with a hard cap,
// tables of functions, traps. Thread-safe, without signals and without jumps: a trap is a C++ exception,
// which the Sandbox catches; it never leaves engine/script.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "engine/script/wasm_prelude.h"

namespace quire::engine {

struct WasmTrap {
  wasm_rt_trap_t reason;
};

inline constexpr uint64_t kWasmPageBytes = 65536;

// The address space that every memory has; it is capped at less by its max_pages.
inline constexpr uint32_t kReservedPages = 16384;

// May be written to behind every memory, so that only where an access begins has to be checked
// (cmake/adapt_module.cmake).
inline constexpr uint64_t kSlackBytes = kWasmPageBytes;
// Elsewhere the generated code keeps its memory back to front: what runs over would do so at the other end.
static_assert(std::endian::native == std::endian::little);

static_assert(uint64_t{QUIRE_MARK_BYTES} << QUIRE_MARK_SHIFT == kReservedPages * kWasmPageBytes);

// Puts `bytes`, whole pages, in the place of what lies from `start` on, where a page begins: only where it
// was written to since, if `is_base` says that they lay there the last time. No write counts from then on.
void restore_memory(wasm_rt_memory_t& memory, uint64_t start, std::span<const uint8_t> bytes,
                    bool is_base) noexcept;

// Gives back all pages from `pages` on; what stood there reads as zero once the memory grows again.
void shrink_memory(wasm_rt_memory_t& memory, uint32_t pages) noexcept;

// Makes a function of ours one that the module can call: the number by which it does, the next one of the
// table. bad_alloc.
uint32_t add_function(wasm_rt_funcref_table_t& table, const wasm_rt_funcref_t& function);

// How often a memory of this thread was refused to grow.
uint64_t refused_growths() noexcept;
void set_refused_growths(uint64_t count) noexcept;

}  // namespace quire::engine
