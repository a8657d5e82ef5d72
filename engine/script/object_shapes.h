// Objects with the same names in the same order share a shape in the engine, which makes it anew, a name at a
// time, for each object that it is asked for. Here the shape that the first one got is given to those that
// follow.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/script/js_value.h"

struct w2c_qjs;

namespace quire::engine {

// Of one run: shapes go with the engine's memory, but for those of the image that it begins with.
class ObjectShapes {
 public:
  struct Shape {
    uint32_t address = 0;  // 0: none; held, so that it stays
    uint32_t slots = 0;    // for values, of which as many as there are names are in use
    std::vector<uint32_t> names;
  };
  // By a hash of the names, a few of which share their places.
  using Shapes = std::array<std::array<Shape, 4>, 16>;

  void begin(std::shared_ptr<const Shapes> of_image) noexcept {
    of_image_ = std::move(of_image);
    for (auto& few : own_)
      for (Shape& shape : few) shape.address = 0;
  }
  // For an image that is made now.
  std::shared_ptr<const Shapes> all() const;
  // A plain object with these members, which takes the values; kJsException where the engine threw. Nothing
  // where no such object was learnt: then the values are the caller's still.
  std::optional<JsValue> make(w2c_qjs& module, uint32_t context, std::span<const uint32_t> names,
                              std::span<const JsValue> values);
  // `object`: one that the engine has made of these names.
  void learn(w2c_qjs& module, JsValue object, std::span<const uint32_t> names);

 private:
  static size_t place_of(std::span<const uint32_t> names) noexcept;
  static const Shape* find(const Shapes& shapes, std::span<const uint32_t> names) noexcept;

  std::shared_ptr<const Shapes> of_image_;
  Shapes own_;
};

}  // namespace quire::engine
