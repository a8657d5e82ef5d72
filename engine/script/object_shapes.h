// Objects with the same names in the same order share a shape in the engine, which makes it anew, a name at a
// time, for each object that it is asked for. Here the shape that the first one got is given to those that
// follow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/script/js_value.h"

struct Z_qjs_instance_t;

namespace quire::engine {

// Of one run: shapes go with the engine's memory.
class ObjectShapes {
 public:
  void clear() noexcept {
    for (Shape& shape : shapes_) shape.address = 0;
  }
  // A plain object with these members, which takes the values; kJsException where the engine threw. Nothing
  // where no such object was learnt: then the values are the caller's still.
  std::optional<JsValue> make(Z_qjs_instance_t& module, uint32_t context, std::span<const uint32_t> names,
                              std::span<const JsValue> values);
  // `object`: one that the engine has made of these names.
  void learn(Z_qjs_instance_t& module, JsValue object, std::span<const uint32_t> names);

 private:
  struct Shape {
    uint32_t address = 0;  // 0: none; held here, until the end of the run
    uint32_t slots = 0;    // for values, of which as many as there are names are in use
    std::vector<uint32_t> names;
  };
  Shape& place_of(std::span<const uint32_t> names) noexcept;

  std::array<Shape, 64> shapes_;
};

}  // namespace quire::engine
