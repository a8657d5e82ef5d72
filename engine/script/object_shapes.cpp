#include "engine/script/object_shapes.h"

#include <algorithm>

#include "engine/script/engine_object.h"
#include "engine/script/quickjs.h"

namespace quire::engine {

std::optional<JsValue> ObjectShapes::make(w2c_qjs& module, uint32_t context, std::span<const uint32_t> names,
                                          std::span<const JsValue> values) {
  const Shape* known = find(own_, names);
  if (known == nullptr && of_image_ != nullptr) known = find(*of_image_, names);
  if (known == nullptr) return std::nullopt;
  const Shape& shape = *known;
  const JsValue made{w2c_qjs_JS_NewObject(&module, context)};
  if (made.tag() != JsTag::kObject) return kJsException;
  EngineMemory memory(module);
  const EngineObject object(memory, made);
  // The shape of objects without members goes with the last of them, which only the engine can do.
  if (memory.holds(object.shape()) == 1) {
    w2c_qjs_JS_FreeValue(&module, context, made.bits);
    return std::nullopt;
  }
  if (object.slots() != shape.slots) {
    const uint32_t larger =
        w2c_qjs_js_realloc(&module, context, object.values(), shape.slots * sizeof(JsValue));
    if (larger == 0) return kJsException;
    object.set_values(larger);
  }
  memory.write(object.values(), values.data(), values.size_bytes());
  memory.hold(shape.address, 1);
  memory.hold(object.shape(), -1);
  object.set_shape(shape.address);
  return made;
}

void ObjectShapes::learn(w2c_qjs& module, JsValue made, std::span<const uint32_t> names) {
  auto& few = own_[place_of(names)];
  const auto free = std::ranges::find(few, 0u, &Shape::address);
  if (free == few.end() || names.empty()) return;
  Shape& shape = *free;
  EngineMemory memory(module);
  const EngineObject object(memory, made);
  // One that is not for all to share changes with its object.
  if (!object.is_shape_shared() || object.property_count() != names.size()) return;
  for (uint32_t i = 0; i < names.size(); ++i)
    if (object.property(i).name != names[i]) return;
  shape.address = object.shape();
  shape.slots = object.slots();
  shape.names.assign(names.begin(), names.end());
  memory.hold(shape.address, 1);
}

std::shared_ptr<const ObjectShapes::Shapes> ObjectShapes::all() const {
  auto all = std::make_shared<Shapes>(own_);
  for (size_t place = 0; of_image_ != nullptr && place < all->size(); ++place)
    for (const Shape& shape : (*of_image_)[place]) {
      const auto free = std::ranges::find((*all)[place], 0u, &Shape::address);
      if (shape.address != 0 && free != (*all)[place].end()) *free = shape;
    }
  return all;
}

const ObjectShapes::Shape* ObjectShapes::find(const Shapes& shapes,
                                              std::span<const uint32_t> names) noexcept {
  for (const Shape& shape : shapes[place_of(names)])
    if (shape.address != 0 && std::ranges::equal(shape.names, names)) return &shape;
  return nullptr;
}

size_t ObjectShapes::place_of(std::span<const uint32_t> names) noexcept {
  uint64_t hash = 0;
  for (const uint32_t name : names) hash = (hash + name) * 0x9E3779B97F4A7C15;
  return hash >> 60;
}

}  // namespace quire::engine
