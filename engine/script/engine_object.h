// Objects and strings of the JavaScript engine as they lie in its memory, read without a call of it. Where
// things lie is that of the pinned module (quickjs-ng, 32 bits), and is tried each time an engine boots
// (Sandbox::check_documents). A place outside the memory ends the run.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "engine/script/js_value.h"
#include "engine/script/sandbox_instance.h"

namespace quire::engine {

namespace engine_layout {

constexpr uint32_t kHoldsBefore = 4;  // a count of who holds it lies before what an address stands for

// JSObject
constexpr uint32_t kBits = 8, kClass = 10, kShape = 12, kValues = 16, kElements = 28, kElementCount = 32;
constexpr uint16_t kIsExotic = 1 << 3, kHasElementsInARow = 1 << 4;

// JSShape, a hash table, and for each property flags and the number of its name (JSShapeProperty)
constexpr uint32_t kIsShared = 8, kHashSize = 16, kSlots = 20, kPropertyCount = 24, kPrototype = 36,
                   kHash = 44;
constexpr uint32_t kHashBytes = 4, kPropertyBytes = 8, kNameInProperty = 4;
constexpr uint32_t kIsEnumerable = 1 << 28, kKindShift = 30;

// JSString
constexpr uint32_t kIsWide = 1U << 31;  // of the first word, whose rest is the length
constexpr uint32_t kStringBits = 4, kIsPartOfAnother = 3 << 28;
constexpr uint32_t kStringBytes = 24;

}  // namespace engine_layout

class EngineMemory {
 public:
  explicit EngineMemory(const w2c_qjs& module) noexcept : memory_(module.w2c_memory) {}

  const uint8_t* at(uint32_t address, uint64_t size) const {
    if (address + size > memory_.size) throw WasmTrap{WASM_RT_TRAP_OOB};
    return memory_.data + address;
  }
  // All that is not the engine's own writes here, so that restore_memory() knows of it.
  void write(uint32_t address, const void* bytes, uint64_t size) const {
    (void)at(address, size);
    quire_mark_range(&memory_, address, size);
    if (size != 0) std::memcpy(memory_.data + address, bytes, size);
  }
  template <typename T>
  T load(uint32_t address) const {
    T value;
    std::memcpy(&value, at(address, sizeof value), sizeof value);
    return value;
  }
  void store(uint32_t address, uint32_t word) const { write(address, &word, sizeof word); }

  // How many hold what lies at an address: objects, shapes.
  uint32_t holds(uint32_t address) const { return load<uint32_t>(address - engine_layout::kHoldsBefore); }
  void hold(uint32_t address, int32_t more) const {
    store(address - engine_layout::kHoldsBefore, holds(address) + static_cast<uint32_t>(more));
  }

 private:
  const wasm_rt_memory_t& memory_;
};

struct EngineProperty {
  uint32_t name;  // its number; 0: deleted
  bool is_enumerable;
  bool is_value;  // rather than a getter or what is made when it is asked for
  JsValue value;
};

// Good until the engine runs again.
class EngineObject {
 public:
  static constexpr uint16_t kPlain = 1, kArray = 2;  // JSClassID

  EngineObject(const EngineMemory& memory, JsValue object)
      : memory_(memory),
        object_(static_cast<uint32_t>(object.bits)),
        shape_(memory.load<uint32_t>(object_ + engine_layout::kShape)) {}

  uint16_t class_id() const { return memory_.load<uint16_t>(object_ + engine_layout::kClass); }
  // Whether it has properties beside those below, and elements.
  bool is_exotic() const { return has_bit(engine_layout::kIsExotic); }
  // What it inherits from: 0 is null.
  uint32_t prototype() const { return of_shape(engine_layout::kPrototype); }

  uint32_t shape() const noexcept { return shape_; }
  void set_shape(uint32_t shape) const { memory_.store(object_ + engine_layout::kShape, shape); }
  // Whether it is among those that the engine looks through for the next object, and so never changes while
  // more than one hold it.
  bool is_shape_shared() const { return memory_.load<uint8_t>(shape_ + engine_layout::kIsShared) != 0; }

  // Where the values of its properties lie, and how many there is room for.
  uint32_t values() const { return memory_.load<uint32_t>(object_ + engine_layout::kValues); }
  void set_values(uint32_t values) const { memory_.store(object_ + engine_layout::kValues, values); }
  uint32_t slots() const { return of_shape(engine_layout::kSlots); }

  uint32_t property_count() const { return of_shape(engine_layout::kPropertyCount); }
  // Where what its properties are, and their values, begin.
  struct Places {
    uint32_t entries, values;
  };
  Places places() const {
    using namespace engine_layout;
    return {shape_ + kHash + of_shape(kHashSize) * kHashBytes, values()};
  }
  EngineProperty property(const Places& places, uint32_t index) const {
    using namespace engine_layout;
    const uint32_t entry = places.entries + index * kPropertyBytes;
    const auto flags = memory_.load<uint32_t>(entry);
    return {.name = memory_.load<uint32_t>(entry + kNameInProperty),
            .is_enumerable = (flags & kIsEnumerable) != 0,
            .is_value = flags >> kKindShift == 0,
            .value = value_at(places.values, index)};
  }
  EngineProperty property(uint32_t index) const { return property(places(), index); }

  // Of an array: its length, where it has no holes and no properties beside.
  std::optional<uint32_t> element_count() const {
    const auto count = memory_.load<uint32_t>(object_ + engine_layout::kElementCount);
    const bool is_plain = has_bit(engine_layout::kHasElementsInARow) && property_count() == 1 &&
                          property(0).value.bits == js_word(JsTag::kInteger, count).bits;
    return is_plain ? std::optional(count) : std::nullopt;
  }
  JsValue element(uint32_t index) const {
    return value_at(memory_.load<uint32_t>(object_ + engine_layout::kElements), index);
  }

 private:
  bool has_bit(uint16_t bit) const {
    return (memory_.load<uint16_t>(object_ + engine_layout::kBits) & bit) != 0;
  }
  uint32_t of_shape(uint32_t what) const { return memory_.load<uint32_t>(shape_ + what); }
  JsValue value_at(uint32_t values, uint32_t index) const {
    return memory_.load<JsValue>(values + index * uint32_t{sizeof(JsValue)});
  }

  const EngineMemory memory_;
  uint32_t object_, shape_;
};

// The bytes of a string that holds its own, each of a character below 256; nothing for any other.
inline std::optional<std::string_view> bytes_of_string(const EngineMemory& memory, JsValue string) {
  using namespace engine_layout;
  const auto address = static_cast<uint32_t>(string.bits);
  const auto length = memory.load<uint32_t>(address);
  if ((length & kIsWide) != 0 || (memory.load<uint32_t>(address + kStringBits) & kIsPartOfAnother) != 0)
    return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(memory.at(address + kStringBytes, length)), length);
}

// Eight bytes at a time, the last ones twice.
inline bool is_ascii(std::string_view text) noexcept {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t all = 0;
  if (text.size() < sizeof all) {
    for (const char c : text) all |= static_cast<unsigned char>(c);
    return (all & kHighBits) == 0;
  }
  const auto add = [&](size_t at) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    all |= word;
  };
  for (size_t at = 0; at + sizeof all < text.size(); at += sizeof all) add(at);
  add(text.size() - sizeof all);
  return (all & kHighBits) == 0;
}

// The same where all of them are ASCII, and so the text as it is outside.
inline std::optional<std::string_view> ascii_of_string(const EngineMemory& memory, JsValue string) {
  auto bytes = bytes_of_string(memory, string);
  if (bytes && !is_ascii(*bytes)) bytes.reset();
  return bytes;
}

}  // namespace quire::engine
