/* Included before the C that wasm2c makes of the JavaScript engine, and by who hosts it. It takes two things
 * out of wabt's runtime that a library must not have: the signal handler (each access of memory is checked
 * instead), and the count of calls that all threads share. In its place stands a limit of the native stack
 * for each instance, compared with the address of the frame at hand. Another thread may raise that limit
 * above every address: then the next function that is entered traps, however long a loop of the engine's own
 * it is part of. */
#ifndef QUIRE_ENGINE_SCRIPT_WASM_PRELUDE_H
#define QUIRE_ENGINE_SCRIPT_WASM_PRELUDE_H

#define WASM_RT_MEMCHECK_SIGNAL_HANDLER 0
#define WASM_RT_USE_STACK_DEPTH_COUNT 1
#include <wasm-rt.h>
#undef WASM_RT_MAX_CALL_STACK_DEPTH

/* What the module's imports of "env" are given. */
struct Z_env_instance_t {
  unsigned char* stack_limit;
  void* sandbox;
};

#ifndef __cplusplus
/* A function begins with: if (++wasm_rt_call_stack_depth > WASM_RT_MAX_CALL_STACK_DEPTH) trap. */
#define wasm_rt_call_stack_depth (unsigned){0}
#define WASM_RT_MAX_CALL_STACK_DEPTH                                                 \
  ((unsigned char*)__builtin_frame_address(0) <                                      \
           __atomic_load_n(&instance->Z_env_instance->stack_limit, __ATOMIC_RELAXED) \
       ? 0u                                                                          \
       : ~0u)
#endif

#endif
