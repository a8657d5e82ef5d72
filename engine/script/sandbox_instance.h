// The generated module's state behind a Sandbox; for the sandbox's own files alone.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>

#include "engine/script/quickjs.h"
#include "engine/script/sandbox.h"
#include "engine/script/wasm_runtime.h"

// What the module's imports of WASI are given.
struct w2c_wasi__snapshot__preview1 {
  quire::engine::Sandbox* sandbox;
};

namespace quire::engine {

struct Sandbox::Instance {
  explicit Instance(Sandbox& sandbox) : environment{nullptr, &sandbox}, system{&sandbox} {}
  ~Instance() {
    if (is_made) wasm2c_qjs_free(&module);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  w2c_qjs module{};
  w2c_env environment;
  w2c_wasi__snapshot__preview1 system;
  bool is_made = false;
};

// Bytes that the module has been given, with a NUL behind them, freed again.
class Sandbox::Bytes {
 public:
  Bytes(Sandbox& sandbox, std::string_view text)
      : module_(sandbox.instance_->module), size_(static_cast<uint32_t>(text.size())) {
    if (text.size() < kMostScriptMemory) address_ = w2c_qjs_wasm_malloc(&module_, size_ + 1);
    if (address_ == 0) {
      sandbox.breach(Breach::memory);
      throw WasmTrap{WASM_RT_TRAP_UNREACHABLE};
    }
    sandbox.write(address_, text.data(), size_);
    sandbox.write(address_ + size_, "", 1);
  }
  // A trap in here ends a run that is at its end already; the memory goes with the run.
  ~Bytes() {
    try {
      w2c_qjs_wasm_free(&module_, address_);
    } catch (const WasmTrap&) {
    }
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  uint32_t address() const noexcept { return address_; }
  uint32_t size() const noexcept { return size_; }

 private:
  w2c_qjs& module_;
  uint32_t size_;
  uint32_t address_ = 0;
};

// The same for the time until the module is called again, without a NUL: in the place for arguments, as far
// as that is large enough.
class Sandbox::Scratch {
 public:
  Scratch(Sandbox& sandbox, std::string_view text) : size_(static_cast<uint32_t>(text.size())) {
    if (text.size() > kMostScriptArguments * sizeof(uint64_t)) {
      address_ = bytes_.emplace(sandbox, text).address();
      return;
    }
    address_ = sandbox.arguments_;
    sandbox.write(address_, text.data(), text.size());
  }
  uint32_t address() const noexcept { return address_; }
  uint32_t size() const noexcept { return size_; }

 private:
  uint32_t size_;
  uint32_t address_ = 0;
  std::optional<Bytes> bytes_;
};

}  // namespace quire::engine
