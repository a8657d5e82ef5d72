// Objects and strings of the JavaScript engine as they lie in its memory, read without a call of it. The
// offsets are those of the pinned module (quickjs-ng, 32 bits), and are tried each time an engine boots
// (Sandbox::check_documents). A place outside the memory ends the run (Sandbox::at).
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "engine/script/js_value.h"
#include "engine/script/sandbox_instance.h"

namespace quire::engine {

class EngineMemory {
 public:
  explicit EngineMemory(const Z_qjs_instance_t& module) noexcept : memory_(module.w2c_memory) {}

  uint8_t* at(uint32_t address, uint64_t size) const {
    if (address + size > memory_.size) throw WasmTrap{WASM_RT_TRAP_OOB};
    return memory_.data + address;
  }
  template <typename T>
  T load(uint32_t address) const {
    T value;
    std::memcpy(&value, at(address, sizeof value), sizeof value);
    return value;
  }
  void store(uint32_t address, uint32_t word) const {
    std::memcpy(at(address, sizeof word), &word, sizeof word);
  }

  // How many hold what lies at an address: objects, shapes.
  uint32_t holds(uint32_t address) const { return load<uint32_t>(address - 4); }
  void hold(uint32_t address, int32_t more) const {
    store(address - 4, holds(address) + static_cast<uint32_t>(more));
  }

 private:
  const wasm_rt_memory_t& memory_;
};

// One property: JSShapeProperty and JSProperty.
struct EngineProperty {
  uint32_t name;  // its number; 0: deleted
  bool is_enumerable;
  bool is_value;  // rather than a getter or what is made when it is asked for
  JsValue value;
};

// A JSObject and its JSShape. Good until the engine runs again.
class EngineObject {
 public:
  static constexpr uint16_t kPlain = 1, kArray = 2;  // JSClassID

  EngineObject(const EngineMemory& memory, JsValue object)
      : memory_(memory),
        object_(static_cast<uint32_t>(object.bits)),
        shape_(memory.load<uint32_t>(object_ + 12)) {}

  uint16_t class_id() const { return memory_.load<uint16_t>(object_ + 10); }
  // What it inherits from: 0 is null.
  uint32_t prototype() const { return memory_.load<uint32_t>(shape_ + 36); }
  uint32_t shape() const noexcept { return shape_; }
  void set_shape(uint32_t shape) const { memory_.store(object_ + 12, shape); }
  // Whether it is among those that the engine looks through for the next object, and so never changes while
  // more than one hold it.
  bool is_shape_shared() const { return memory_.load<uint8_t>(shape_ + 8) != 0; }
  // Its properties are those below, and elements that lie in a row.
  bool is_exotic() const { return (bits() & 1 << 3) != 0; }
  bool has_elements_in_a_row() const { return (bits() & 1 << 4) != 0; }

  // Where the values of its properties lie, and how many there is room for.
  uint32_t values() const { return memory_.load<uint32_t>(object_ + 16); }
  void set_values(uint32_t values) const { memory_.store(object_ + 16, values); }
  uint32_t slots() const { return memory_.load<uint32_t>(shape_ + 20); }

  uint32_t property_count() const { return memory_.load<uint32_t>(shape_ + 24); }
  EngineProperty property(uint32_t index) const {
    const uint32_t hash_bytes = memory_.load<uint32_t>(shape_ + 16) * 4;
    const uint32_t entry = shape_ + 44 + hash_bytes + index * 8;
    const auto flags = memory_.load<uint32_t>(entry);
    return {.name = memory_.load<uint32_t>(entry + 4),
            .is_enumerable = (flags & 1 << 28) != 0,
            .is_value = flags >> 30 == 0,
            .value = memory_.load<JsValue>(values() + index * 8)};
  }

  // Of an array: its length, where it has no holes and no properties beside.
  std::optional<uint32_t> element_count() const {
    const auto count = memory_.load<uint32_t>(object_ + 32);
    if (!has_elements_in_a_row() || property_count() != 1) return std::nullopt;
    return property(0).value.bits == js_word(JsTag::kInteger, count).bits ? std::optional(count)
                                                                          : std::nullopt;
  }
  JsValue element(uint32_t index) const {
    return memory_.load<JsValue>(memory_.load<uint32_t>(object_ + 28) + index * 8);
  }

 private:
  uint16_t bits() const { return memory_.load<uint16_t>(object_ + 8); }

  const EngineMemory memory_;
  uint32_t object_, shape_;
};

// The bytes of a string that holds its own, each of a character below 256; nothing for any other.
inline std::optional<std::string_view> bytes_of_string(const EngineMemory& memory, JsValue string) {
  constexpr uint32_t kIsWide = 1U << 31, kHoldsNot = 3U << 28, kBytesAt = 24;
  const auto address = static_cast<uint32_t>(string.bits);
  const auto length = memory.load<uint32_t>(address);
  if ((length & kIsWide) != 0 || (memory.load<uint32_t>(address + 4) & kHoldsNot) != 0) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(memory.at(address + kBytesAt, length)), length);
}

}  // namespace quire::engine
