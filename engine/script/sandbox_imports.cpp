// The module's twelve imports: all that the sandbox can ask of the world. There is no file, no network and no
// clock among them but the time at which the run began.
#include <algorithm>
#include <cstring>

#include "engine/script/sandbox_instance.h"

namespace quire::engine {

// The way from the C functions below to a Sandbox's private parts.
struct SandboxImports {
  static Sandbox& of(const Z_env_instance_t* environment) {
    return *static_cast<Sandbox*>(environment->sandbox);
  }
  // As the engine calls its own functions: the arguments lie behind each other, and are borrowed.
  static uint64_t call(Z_qjs_instance_t* module, uint32_t, uint64_t, uint32_t count, uint32_t arguments) {
    return of(module->Z_env_instance).call_host(count, arguments).bits;
  }
  static bool wants_interrupt(Sandbox& sandbox) { return sandbox.wants_interrupt(); }
  static void free_box(Sandbox& sandbox, uint32_t box) {
    Z_qjsZ_qjs_free_value(&sandbox.instance_->module, box);
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
  Z_qjs_instance_t& module = instance_->module;
  const uint32_t type =
      wasm_rt_register_func_type(4, 1, WASM_RT_I32, WASM_RT_I64, WASM_RT_I32, WASM_RT_I32, WASM_RT_I64);
  return add_function(module.w2c___indirect_function_table,
                      {type, reinterpret_cast<wasm_rt_function_ptr_t>(&SandboxImports::call), &module});
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
u32 Z_envZ_host_call(Z_env_instance_t*, u32, u32, u32, u32, u32) {
  return 0;
}

u32 Z_envZ_host_interrupt(Z_env_instance_t* environment) {
  return SandboxImports::wants_interrupt(SandboxImports::of(environment)) ? 1 : 0;
}

// A rejection that gets a handler later is told of a second time.
void Z_envZ_host_promise_rejection(Z_env_instance_t* environment, u32 promise, u32 reason, u32 is_handled) {
  SandboxImports::note_rejection(SandboxImports::of(environment), promise, reason, is_handled != 0);
}

// UTC everywhere.
u32 Z_envZ_host_get_timezone_offset(Z_env_instance_t*, u32, u32) {
  return 0;
}

// There are no modules to import.
u32 Z_envZ_host_module_load(Z_env_instance_t*, u32, u32) {
  return 0;
}
u32 Z_envZ_host_module_normalize(Z_env_instance_t*, u32, u32) {
  return 0;
}

u32 Z_wasi_snapshot_preview1Z_clock_time_get(Z_wasi_snapshot_preview1_instance_t* system, u32, u64, u32 out) {
  const uint64_t now = system->sandbox->now_nanoseconds();
  SandboxImports::write(*system->sandbox, out, &now, sizeof now);
  return 0;
}

// The engine seeds hash tables with it at boot; scripts get their numbers from Sandbox::random().
u32 Z_wasi_snapshot_preview1Z_random_get(Z_wasi_snapshot_preview1_instance_t* system, u32 out, u32 size) {
  constexpr uint8_t kByte = 0x5A;
  for (uint32_t i = 0; i < size; ++i) SandboxImports::write(*system->sandbox, out + i, &kByte, 1);
  return 0;
}

u32 Z_wasi_snapshot_preview1Z_fd_close(Z_wasi_snapshot_preview1_instance_t*, u32) {
  return kBadDescriptor;
}
u32 Z_wasi_snapshot_preview1Z_fd_fdstat_get(Z_wasi_snapshot_preview1_instance_t*, u32, u32) {
  return kBadDescriptor;
}
u32 Z_wasi_snapshot_preview1Z_fd_seek(Z_wasi_snapshot_preview1_instance_t*, u32, u64, u32, u32) {
  return kBadDescriptor;
}
u32 Z_wasi_snapshot_preview1Z_fd_write(Z_wasi_snapshot_preview1_instance_t*, u32, u32, u32, u32) {
  return kBadDescriptor;
}

}  // extern "C"
