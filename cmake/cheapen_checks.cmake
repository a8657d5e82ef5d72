# cmake -DFILE=qjs.c -P cheapen_checks.cmake: makes the checks of each access to memory cheaper in the C that wasm2c writes.
# An access takes eight bytes at most, and behind the memory lie more (kSlackBytes in engine/script/wasm_runtime.h), so it is
# enough that it begins within the memory. And each check goes where it is used, not into a function. Where another wasm2c
# writes them in another way, they stay as they are.
file(READ ${FILE} text)
string(REPLACE "#define MEMCHECK(mem, a, t) RANGE_CHECK(mem, a, sizeof(t))"
               "#define MEMCHECK(mem, a, t) if (UNLIKELY((a) >= mem->size)) TRAP(OOB)" text "${text}")
foreach(result IN ITEMS t3 void)
  string(REPLACE "  static inline ${result} name(wasm_rt_memory_t*"
                 "  static inline __attribute__((always_inline)) ${result} name(wasm_rt_memory_t*" text "${text}")
endforeach()
file(WRITE ${FILE} "${text}")
