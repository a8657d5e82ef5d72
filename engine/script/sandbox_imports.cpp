// The module's twelve imports: all that the sandbox can ask of the world. There is no file, no network and no
// clock among them but the time at which the run began.
#include <algorithm>
#include <cstring>

#include "engine/script/sandbox_instance.h"

namespace quire::engine {

// The way from the C functions below to a Sandbox's private parts.
struct SandboxImports {
  static Sandbox& of(const w2c_env* environment) { return *static_cast<Sandbox*>(environment->sandbox); }
  // As the engine calls its own functions: the arguments lie behind each other, and are borrowed.
  static uint64_t call(w2c_qjs* module, uint32_t, uint64_t, uint32_t count, uint32_t arguments) {
    return of(module->w2c_env_instance).call_host(count, arguments).bits;
  }
  static bool wants_interrupt(Sandbox& sandbox) { return sandbox.wants_interrupt(); }
  static void free_box(Sandbox& sandbox, uint32_t box) {
    w2c_qjs_qjs_free_value(&sandbox.instance_->module, box);
  }
  static JsValue unbox(Sandbox& sandbox, uint32_t box) {
    JsValue value;
    std::memcpy(&value.bits, sandbox.at(box, sizeof value.bits), sizeof value.bits);
    return value;
  }
  static void note_rejection(Sandbox& sandbox, uint32_t promise, uint32_t reason, bool is_handled) {
    sandbox.note_rejection(unbox(sandbox, promise), unbox(sandbox, reason), is_handled);
    free_box(sandbox, promise);
    free_box(sandbox, reason);
  }
  static void write(Sandbox& sandbox, uint32_t address, const void* bytes, uint32_t size) {
    sandbox.write(address, bytes, size);
  }
};

uint32_t Sandbox::add_host_function() {
  w2c_qjs& module = instance_->module;
  wasm_rt_funcref_t function{};
  function.func_type =
      wasm2c_qjs_get_func_type(4, 1, WASM_RT_I32, WASM_RT_I64, WASM_RT_I32, WASM_RT_I32, WASM_RT_I64);
  function.func = reinterpret_cast<wasm_rt_function_ptr_t>(&SandboxImports::call);
  function.module_instance = &module;
  return add_function(module.w2c_0x5F_indirect_function_table, function);
}

JsValue Sandbox::call_host(uint32_t count, uint32_t arguments) {
  constexpr uint32_t kMost = 8;
  JsValue values[kMost];
  if (count == 0 || host_ == nullptr)
    return throw_error("the database is not there while a script is read", 400);
  count = std::min(count, kMost);
  std::memcpy(values, at(arguments, count * sizeof *values), count * sizeof *values);
  return host_->call(static_cast<uint32_t>(number(values[0])), std::span(values).subspan(1, count - 1));
}

}  // namespace quire::engine

using quire::engine::SandboxImports;

namespace {

// WASI's number for "bad file descriptor": there are none.
constexpr u32 kBadDescriptor = 8;

}  // namespace

extern "C" {

// Nobody calls it: the host's function is one of the engine's own.
u32 w2c_env_host_call(w2c_env*, u32, u32, u32, u32, u32) {
  return 0;
}

u32 w2c_env_host_interrupt(w2c_env* environment) {
  return SandboxImports::wants_interrupt(SandboxImports::of(environment)) ? 1 : 0;
}

// A rejection that gets a handler later is told of a second time.
void w2c_env_host_promise_rejection(w2c_env* environment, u32 promise, u32 reason, u32 is_handled) {
  SandboxImports::note_rejection(SandboxImports::of(environment), promise, reason, is_handled != 0);
}

// UTC everywhere.
u32 w2c_env_host_get_timezone_offset(w2c_env*, u32, u32) {
  return 0;
}

// There are no modules to import.
u32 w2c_env_host_module_load(w2c_env*, u32, u32) {
  return 0;
}
u32 w2c_env_host_module_normalize(w2c_env*, u32, u32) {
  return 0;
}

u32 w2c_wasi__snapshot__preview1_clock_time_get(w2c_wasi__snapshot__preview1* system, u32, u64, u32 out) {
  const uint64_t now = system->sandbox->now_nanoseconds();
  SandboxImports::write(*system->sandbox, out, &now, sizeof now);
  return 0;
}

// The engine seeds hash tables with it at boot; scripts get their numbers from Sandbox::random().
u32 w2c_wasi__snapshot__preview1_random_get(w2c_wasi__snapshot__preview1* system, u32 out, u32 size) {
  constexpr uint8_t kByte = 0x5A;
  for (uint32_t i = 0; i < size; ++i) SandboxImports::write(*system->sandbox, out + i, &kByte, 1);
  return 0;
}

u32 w2c_wasi__snapshot__preview1_fd_close(w2c_wasi__snapshot__preview1*, u32) {
  return kBadDescriptor;
}
u32 w2c_wasi__snapshot__preview1_fd_fdstat_get(w2c_wasi__snapshot__preview1*, u32, u32) {
  return kBadDescriptor;
}
u32 w2c_wasi__snapshot__preview1_fd_seek(w2c_wasi__snapshot__preview1*, u32, u64, u32, u32) {
  return kBadDescriptor;
}
u32 w2c_wasi__snapshot__preview1_fd_write(w2c_wasi__snapshot__preview1*, u32, u32, u32, u32) {
  return kBadDescriptor;
}

}  // extern "C"
