// Documents in and out of a sandbox without JSON text between.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/script/js_value.h"
#include "engine/script/object_forms.h"
#include "engine/script/object_shapes.h"
#include "engine/script/property_names.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::engine {

class EngineObject;
struct EngineProperty;
class Sandbox;

// A sandbox's own; used within its runs alone.
class DocumentConverter {
 public:
  explicit DocumentConverter(Sandbox& sandbox) : sandbox_(sandbox) {}

  // What JSON.parse would make of the value's JSON, and NaN and the infinities, which JSON has not; owned by
  // the caller. kJsException where the engine threw, for want of memory: then the run is at its end, and what
  // was made goes with it.
  JsValue to_script(const sql::Value& value);
  // What would come of JSON.stringify's text, in `arena`. Nothing where only JSON.stringify can tell: of
  // getters and toJSON, of what is no plain object or array, of numbers and strings that JSON changes or
  // refuses, of more bytes than a text may have. None of the script's code runs, and nothing is thrown.
  std::optional<sql::Value> from_script(JsValue value, sql::Arena& arena);

  // What plain objects and arrays inherit from.
  struct Prototypes {
    JsValue object, array;
  };
  // At boot.
  void find_prototypes();
  const Prototypes& prototypes() const noexcept { return prototypes_; }
  // The words of a script are the names that its documents are likely to have: looked up here, they are not
  // looked up in each run. False where the engine threw, for want of memory.
  bool learn_names(std::string_view script);
  // That the engine holds now.
  std::shared_ptr<const PropertyNames> names() const { return names_.all(); }
  std::shared_ptr<const ObjectShapes::Shapes> shapes() const { return shapes_.all(); }
  // From now on, until the memory is another: which objects go in and out is added there. Null: no more.
  void watch_forms(ObjectForms* forms) noexcept { forms_ = forms; }
  // Has the engine hold objects of these forms. False where it threw, for want of memory.
  bool learn_forms(std::span<const ObjectForms::Form> forms);
  // Another memory takes the place of the engine's, with what it holds.
  void restore(const Prototypes& prototypes, std::shared_ptr<const PropertyNames> names,
               std::shared_ptr<const ObjectShapes::Shapes> shapes) noexcept {
    prototypes_ = prototypes;
    names_.begin(std::move(names));
    shapes_.begin(std::move(shapes));
    forms_ = nullptr;
  }

 private:
  class Staged;

  JsValue made_of(const sql::Value& value);
  JsValue new_array(const sql::Value& array);
  JsValue new_object(const sql::Value& object);
  JsValue new_object_of(const Staged& members);
  uint32_t name_number(std::string_view name);
  void keep_few_names();

  bool has_plain_prototypes();
  EngineObject object_at(JsValue object) const;
  static bool inherits_from(const EngineObject& object, JsValue prototype);
  bool read(JsValue value, size_t depth, sql::Value& out);
  bool read_number(double number, sql::Value& out);
  bool read_string(JsValue string, sql::Value& out);
  bool read_array(const EngineObject& array, size_t depth, sql::Value& out);
  bool read_object(const EngineObject& object, size_t depth, sql::Value& out);
  bool read_property(const EngineProperty& property, size_t depth, sql::Member& out);
  const PropertyName* name_of(uint32_t number, bool& is_symbol);
  bool spend(size_t bytes) noexcept;

  Sandbox& sandbox_;
  RunNames names_;
  ObjectShapes shapes_;
  ObjectForms* forms_ = nullptr;
  Prototypes prototypes_;

  // In: what the containers that are not finished yet are made of.
  std::vector<JsValue> values_;
  std::vector<uint32_t> numbers_;
  // Out.
  sql::Arena* arena_ = nullptr;
  size_t budget_ = 0;  // bytes of JSON
};

}  // namespace quire::engine
