// The generated module's state behind a Sandbox; for the sandbox's own files alone.
#pragma once

#include "engine/script/quickjs.h"
#include "engine/script/sandbox.h"
#include "engine/script/wasm_runtime.h"

// What the module's imports of WASI are given.
struct Z_wasi_snapshot_preview1_instance_t {
  quire::engine::Sandbox* sandbox;
};

namespace quire::engine {

struct Sandbox::Instance {
  explicit Instance(Sandbox& sandbox) : environment{nullptr, &sandbox}, system{&sandbox} {}
  ~Instance() {
    if (is_made) Z_qjs_free(&module);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  Z_qjs_instance_t module{};
  Z_env_instance_t environment;
  Z_wasi_snapshot_preview1_instance_t system;
  bool is_made = false;
};

}  // namespace quire::engine
