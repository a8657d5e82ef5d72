// Values as the JavaScript engine passes them.
#pragma once

#include <cstdint>

namespace quire::engine {

// A value of the JavaScript engine, as it passes them: a NaN-boxed word. Counted references are freed by hand
// (Sandbox::free) or with the whole memory at the next run.
struct JsValue {
  uint64_t bits = 0;

  int32_t tag() const noexcept { return static_cast<int32_t>(bits >> 32); }
};

// The engine's tags; asserted at boot. Floating-point numbers have any tag above kFloat.
struct JsTag {
  static constexpr int32_t kFirst = -9;
  static constexpr int32_t kString = -7;
  static constexpr int32_t kRope = -6;
  static constexpr int32_t kObject = -1;
  static constexpr int32_t kInteger = 0;
  static constexpr int32_t kBoolean = 1;
  static constexpr int32_t kNull = 2;
  static constexpr int32_t kUndefined = 3;
  static constexpr int32_t kException = 6;
  static constexpr int32_t kFloat = 8;
};

constexpr JsValue js_word(int32_t tag, uint32_t payload = 0) noexcept {
  return {uint64_t{static_cast<uint32_t>(tag)} << 32 | payload};
}
inline constexpr JsValue kJsUndefined = js_word(JsTag::kUndefined);
inline constexpr JsValue kJsNull = js_word(JsTag::kNull);
inline constexpr JsValue kJsException = js_word(JsTag::kException);

}  // namespace quire::engine
