/* Included before the C that wasm2c makes of the JavaScript engine, and by who hosts it. It takes two things
 * out of wabt's runtime that a library must not have: the signal handler (each access of memory is checked
 * instead), and the count of calls that all threads share. In its place stands a limit of the native stack
 * for each instance, compared with where the stack has come to. Another thread may raise that limit
 * above every address: then the next function that is entered traps, however long a loop of the engine's own
 * it is part of. */
#ifndef QUIRE_ENGINE_SCRIPT_WASM_PRELUDE_H
#define QUIRE_ENGINE_SCRIPT_WASM_PRELUDE_H

/* Ours, by names of ours: a program may have a module and a runtime of its own beside libquire.a. */
#define wasm_rt_is_initialized quire_wasm_rt_is_initialized
#define wasm_rt_trap quire_wasm_rt_trap
#define wasm_rt_register_func_type quire_wasm_rt_register_func_type
#define wasm_rt_free_memory quire_wasm_rt_free_memory
#define wasm_rt_allocate_funcref_table quire_wasm_rt_allocate_funcref_table
#define wasm_rt_free_funcref_table quire_wasm_rt_free_funcref_table

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcpp" /* newer ones warn of the first name, and understand it */
#define WASM_RT_MEMCHECK_SIGNAL_HANDLER 0
#define WASM_RT_USE_STACK_DEPTH_COUNT 1
#define WASM_RT_STACK_DEPTH_COUNT 1 /* its name from wabt 1.0.33 on */
#include <wasm-rt.h>
#pragma GCC diagnostic pop
#undef WASM_RT_MAX_CALL_STACK_DEPTH

/* Where a memory was written to: before it lies a byte for each 256 bytes of it, which a write sets to 1 for
 * those that it begins in. So what a run did is undone without looking at all the memory. A store takes eight
 * bytes at most, and may end in the next 256. */
#define QUIRE_MARK_SHIFT 8
#define QUIRE_MARK_BYTES 4194304
#define QUIRE_MARK_STORE(data, address) \
  ((data)[(long long)((address) >> QUIRE_MARK_SHIFT) - QUIRE_MARK_BYTES] = 1)
/* What a function begins with, and what stands between two statements where no semicolon can be written. */
#define QUIRE_MEMORY_PLACE(instance) unsigned char* const quire_data = (instance)->w2c_memory.data;
#define QUIRE_THEN ;

/* Where small pieces of memory lie that a call takes: below what the engine's own stack may come down to, and
 * outside of images. How many bytes of it are left stands before it: none, as long as an image is made. */
#define QUIRE_PIECES_LEFT 0xFFF8u
#define QUIRE_PIECES 0x10000u
#define QUIRE_PIECES_END 0x20000u
/* In the engine's runtime: how many pieces there are, their bytes, and the most of these; 0: no limit. */
#define QUIRE_COUNTS 20u
#define QUIRE_MARK_COUNTS(runtime)                       \
  QUIRE_MARK_STORE(quire_data, (runtime) + QUIRE_COUNTS) \
  , QUIRE_MARK_STORE(quire_data, (runtime) + QUIRE_COUNTS + 4u);
/* Before a piece, where the engine's own have their number within a page. */
#define QUIRE_PIECE 65534u
/* The engine's lists of pieces: of up to 128 bytes by 8, its own 8 before them included, 256 by 16, 512
 * by 32. */
#define QUIRE_LONGEST_PIECE 504u
#define QUIRE_LIST_OF_PIECE(size)               \
  ((size) <= 8u     ? 0u                        \
   : (size) <= 120u ? ((size) - 1u) / 8u        \
   : (size) <= 248u ? ((size) + 23u) / 16u + 6u \
                    : ((size) + 39u) / 32u + 14u)
#define QUIRE_BYTES_OF_PIECE(list) \
  ((list) <= 14u ? ((list) + 2u) * 8u : (list) <= 22u ? ((list) - 6u) * 16u : ((list) - 14u) * 32u)

static inline void quire_mark_range(const wasm_rt_memory_t* memory, unsigned long long address,
                                    unsigned long long size) {
  unsigned long long first, last;
  unsigned char* marks = memory->data - QUIRE_MARK_BYTES;
  if (size == 0) return;
  first = address >> QUIRE_MARK_SHIFT;
  last = (address + size - 1) >> QUIRE_MARK_SHIFT;
  /* Few are longer than what two of them stand for. */
  marks[first] = 1;
  marks[last] = 1;
  if (last - first > 1) __builtin_memset(marks + first + 1, 1, last - first - 1);
}

/* Memory is ours, whichever parameters the runtime's functions have in this version of it. */
#ifdef __cplusplus
extern "C" {
#endif
/* Asked by modules of wabt before 1.0.33 alone. */
unsigned wasm_rt_register_func_type(unsigned parameters, unsigned results, ...);
void quire_wasm_allocate_memory(wasm_rt_memory_t* memory, unsigned pages);
unsigned quire_wasm_grow_memory(wasm_rt_memory_t* memory, unsigned pages);
#ifdef __cplusplus
}
#else
#define wasm_rt_allocate_memory(memory, pages, ...) quire_wasm_allocate_memory(memory, pages)
#define wasm_rt_grow_memory(memory, pages) quire_wasm_grow_memory(memory, pages)
#endif

/* What the module's imports of "env" are given. */
struct w2c_env {
  unsigned char* stack_limit;
  void* sandbox;
};

#ifndef __cplusplus
/* A function begins with: if (++wasm_rt_call_stack_depth > WASM_RT_MAX_CALL_STACK_DEPTH) trap. */
#define wasm_rt_call_stack_depth (unsigned){0}
#define WASM_RT_MAX_CALL_STACK_DEPTH (quire_stack_is_used_up(instance->w2c_env_instance) ? 0u : ~0u)
static inline __attribute__((always_inline)) int quire_stack_is_used_up(const struct w2c_env* environment) {
#ifdef __x86_64__
  /* To ask for the frame's address would have each function keep one: 3 of its first 7 instructions. */
  int is_below;
  __asm__ volatile("cmp %1, %%rsp" : "=@ccb"(is_below) : "m"(environment->stack_limit));
  return is_below;
#else
  return (unsigned char*)__builtin_frame_address(0) <
         __atomic_load_n(&environment->stack_limit, __ATOMIC_RELAXED);
#endif
}
#endif

#endif
