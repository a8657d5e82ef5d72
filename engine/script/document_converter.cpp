// Whatever the module gives as an address is checked before it is followed.
#include "engine/script/document_converter.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <ranges>
#include <system_error>

#include "engine/script/engine_object.h"
#include "engine/script/sandbox_instance.h"
#include "sql/value/document.h"
#include "sql/value/member_reader.h"

namespace quire::engine {
namespace {

constexpr uint32_t kOrdinary = 7;  // JS_PROP_C_W_E
// Where a call puts the length of what it gives, in the place for arguments.
constexpr uint32_t kLengthAt = 0;

// What a value takes as JSON beside its text, at least; and each property that is looked at counts.
constexpr size_t kValueBytes = 2;

bool begins_like_index(std::string_view name) {
  return !name.empty() && name.front() >= '0' && name.front() <= '9';
}

// Indexes have an order of their own, and an object that is made at once would take "__proto__" for what it
// inherits from.
bool is_ordinary_name(std::string_view name) {
  return name != "__proto__" && !begins_like_index(name);
}

// As JavaScript has them: up to 2^32 - 2, without zeros before; past all indexes for another name.
uint64_t index_of(std::string_view name) {
  constexpr uint64_t kNone = UINT32_MAX;
  const auto end = name.data() + name.size();
  uint32_t index = 0;
  const auto [at, error] = std::from_chars(name.data(), end, index);
  const bool is_canonical = name.size() == 1 || !name.starts_with('0');
  return begins_like_index(name) && error == std::errc() && at == end && is_canonical ? index : kNone;
}

ObjectForms::Form form_of(const sql::Value& object) {
  ObjectForms::Form form;
  sql::MemberWalk walk(object);
  for (sql::Member member; walk.next(member);)
    if (!member.value.is_undefined()) form.emplace_back(member.name);
  return form;
}

}  // namespace

// ---- In

// The elements or members of a container, while they are gathered.
class DocumentConverter::Staged {
 public:
  explicit Staged(DocumentConverter& converter) noexcept
      : converter_(converter),
        first_value_(converter.values_.size()),
        first_number_(converter.numbers_.size()) {}
  ~Staged() {
    converter_.values_.resize(first_value_);
    converter_.numbers_.resize(first_number_);
  }
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;

  std::span<const JsValue> values() const noexcept {
    return std::span<const JsValue>(converter_.values_).subspan(first_value_);
  }
  std::span<const uint32_t> numbers() const noexcept {
    return std::span<const uint32_t>(converter_.numbers_).subspan(first_number_);
  }

 private:
  DocumentConverter& converter_;
  size_t first_value_, first_number_;
};

JsValue DocumentConverter::to_script(const sql::Value& value) {
  keep_few_names();
  return made_of(value);
}

JsValue DocumentConverter::made_of(const sql::Value& value) {
  switch (value.kind()) {
    case sql::Kind::undefined:
      return kJsUndefined;
    case sql::Kind::null:
      return kJsNull;
    case sql::Kind::boolean:
      return Sandbox::new_boolean(value.as_boolean());
    case sql::Kind::integer:
      if (value.as_integer() == static_cast<int32_t>(value.as_integer()))
        return Sandbox::new_integer(static_cast<int32_t>(value.as_integer()));
      return sandbox_.new_number(value.as_double());
    case sql::Kind::real:
      return sandbox_.new_number(value.as_real());
    case sql::Kind::string:
      return sandbox_.new_string(value.as_string());
    case sql::Kind::array:
      return new_array(value);
    case sql::Kind::object:
      return new_object(value);
  }
  return kJsUndefined;
}

JsValue DocumentConverter::new_array(const sql::Value& array) {
  const Staged staged(*this);
  for (uint32_t i = 0; i < array.size(); ++i) {
    const sql::Value element = array.element(i);
    if (element.is_undefined()) continue;
    values_.push_back(made_of(element));
    if (Sandbox::is_exception(values_.back())) return kJsException;
  }
  return sandbox_.new_array(staged.values());
}

JsValue DocumentConverter::new_object(const sql::Value& object) {
  const Staged staged(*this);
  bool is_ordinary = true;
  sql::MemberWalk walk(object);
  for (sql::Member member; walk.next(member);) {
    if (member.value.is_undefined()) continue;
    const uint32_t number = name_number(member.name);
    if (number == 0) return kJsException;
    is_ordinary &= is_ordinary_name(member.name);
    values_.push_back(made_of(member.value));
    if (Sandbox::is_exception(values_.back())) return kJsException;
    numbers_.push_back(number);
  }
  if (!is_ordinary) return new_object_of(staged);
  w2c_qjs& module = sandbox_.instance_->module;
  if (const auto made = shapes_.make(module, sandbox_.context_, staged.numbers(), staged.values()))
    return *made;
  if (forms_ != nullptr) forms_->add(form_of(object));
  const JsValue made = new_object_of(staged);
  if (!Sandbox::is_exception(made)) shapes_.learn(module, made, staged.numbers());
  return made;
}

// Members are defined, not set: what plain objects inherit may have setters of the script's.
JsValue DocumentConverter::new_object_of(const Staged& members) {
  w2c_qjs* const module = &sandbox_.instance_->module;
  const JsValue made{w2c_qjs_JS_NewObject(module, sandbox_.context_)};
  if (Sandbox::is_exception(made)) return made;
  for (size_t i = 0; i < members.values().size(); ++i) {
    const uint32_t done = w2c_qjs_JS_DefinePropertyValue(
        module, sandbox_.context_, made.bits, members.numbers()[i], members.values()[i].bits, kOrdinary);
    if (static_cast<int32_t>(done) < 0) return kJsException;
  }
  return made;
}

// Each object stays, and with it what the engine knows of objects like it.
bool DocumentConverter::learn_forms(std::span<const ObjectForms::Form> forms) {
  for (const ObjectForms::Form& form : forms) {
    const Staged staged(*this);
    JsValue made = kJsNull;
    for (const std::string& name : form) {
      numbers_.push_back(name_number(name));
      values_.push_back(kJsNull);
      if (numbers_.back() != 0) made = new_object_of(staged);
      if (numbers_.back() == 0 || Sandbox::is_exception(made)) return false;
    }
    shapes_.learn(sandbox_.instance_->module, made, staged.numbers());
  }
  return true;
}

// The engine holds the names that are known here, which a run over many rows may meet ever more of.
void DocumentConverter::keep_few_names() {
  if (!names_.is_full()) return;
  for (const PropertyName& name : names_.own())
    w2c_qjs_JS_FreeAtom(&sandbox_.instance_->module, sandbox_.context_, name.number);
  names_.clear();
}

// 0 where the engine threw.
uint32_t DocumentConverter::name_number(std::string_view name) {
  if (const PropertyName* const known = names_.find(name)) return known->number;
  uint32_t number;
  {
    const Sandbox::Scratch scratch(sandbox_, name);
    number = w2c_qjs_JS_NewAtomLen(&sandbox_.instance_->module, sandbox_.context_, scratch.address(),
                                   scratch.size());
  }
  if (number != 0) names_.add(std::string(name), number);
  return number;
}

bool DocumentConverter::learn_names(std::string_view script) {
  constexpr size_t kMostLearnt = 256;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t learnt = 0;
  for (size_t at = 0; at < script.size() && learnt < kMostLearnt;) {
    const size_t begin = at;
    while (at < script.size() && (is_letter(script[at]) || is_digit(script[at]))) ++at;
    const std::string_view word = script.substr(begin, at - begin);
    if (word.empty()) ++at;
    if (word.empty() || !is_letter(word.front()) || names_.find(word) != nullptr) continue;
    if (name_number(word) == 0) return false;
    ++learnt;
  }
  return true;
}

// ---- Out

void DocumentConverter::find_prototypes() {
  w2c_qjs* const module = &sandbox_.instance_->module;
  prototypes_ = {.object = {w2c_qjs_JS_GetClassProto(module, sandbox_.context_, EngineObject::kPlain)},
                 .array = {w2c_qjs_JS_GetClassProto(module, sandbox_.context_, EngineObject::kArray)}};
}

std::optional<sql::Value> DocumentConverter::from_script(JsValue value, sql::Arena& arena) {
  if (Sandbox::is_undefined(value)) return sql::Value();
  keep_few_names();
  if (value.tag() == JsTag::kObject && !has_plain_prototypes()) return std::nullopt;
  arena_ = &arena;
  budget_ = sandbox_.limits_.result_bytes;
  sql::Value document;
  if (!read(value, 0, document)) return std::nullopt;
  return document;
}

// Whether objects and arrays inherit nothing that would change how they look as JSON.
bool DocumentConverter::has_plain_prototypes() {
  const uint32_t to_json = name_number("toJSON");
  w2c_qjs* const module = &sandbox_.instance_->module;
  const auto has = [&](JsValue prototype) {
    return w2c_qjs_JS_GetOwnProperty(module, sandbox_.context_, 0, prototype.bits, to_json) != 0;
  };
  return to_json != 0 && !has(prototypes_.object) && !has(prototypes_.array) &&
         inherits_from(object_at(prototypes_.array), prototypes_.object);
}

EngineObject DocumentConverter::object_at(JsValue object) const {
  return {EngineMemory(sandbox_.instance_->module), object};
}

bool DocumentConverter::inherits_from(const EngineObject& object, JsValue prototype) {
  return object.prototype() == static_cast<uint32_t>(prototype.bits);
}

bool DocumentConverter::spend(size_t bytes) noexcept {
  if (bytes > budget_) return false;
  budget_ -= bytes;
  return true;
}

// Each false where it takes JSON.stringify.
bool DocumentConverter::read(JsValue value, size_t depth, sql::Value& out) {
  if (!spend(kValueBytes)) return false;
  switch (value.tag()) {
    case JsTag::kInteger:
      out = sql::Value::integer(static_cast<int32_t>(value.bits));
      return true;
    case JsTag::kBoolean:
      out = sql::Value::boolean((value.bits & 1) != 0);
      return true;
    case JsTag::kNull:
    case JsTag::kUndefined:  // of an array: members are left out
      out = sql::Value::null();
      return true;
    case JsTag::kString:
    case JsTag::kRope:
      return read_string(value, out);
    case JsTag::kObject:
      break;
    default:
      return Sandbox::is_float(value) && read_number(sandbox_.number(value), out);
  }
  if (depth == sql::kMostNesting) return false;
  const EngineObject object = object_at(value);
  switch (object.class_id()) {
    case EngineObject::kPlain:
      return !object.is_exotic() && inherits_from(object, prototypes_.object) &&
             read_object(object, depth, out);
    case EngineObject::kArray:
      return inherits_from(object, prototypes_.array) && read_array(object, depth, out);
    default:
      return false;
  }
}

// Integers past 2^53 have other digits in JSON than of their own.
bool DocumentConverter::read_number(double number, sql::Value& out) {
  constexpr double kExact = 0x1p53;
  if (!(number > -kExact && number < kExact)) return false;
  out = number == 0 ? sql::Value::integer(0) : sql::Value::number(number);
  return true;
}

bool DocumentConverter::read_string(JsValue string, sql::Value& out) {
  w2c_qjs* const module = &sandbox_.instance_->module;
  if (string.tag() == JsTag::kString) {
    if (const auto bytes = ascii_of_string(EngineMemory(*module), string)) {
      if (!spend(bytes->size())) return false;
      out = sql::Value::string(arena_->copy_string(*bytes));
      return true;
    }
  }
  const uint32_t length_at = sandbox_.arguments_ + kLengthAt;
  const uint32_t text = w2c_qjs_JS_ToCStringLen2(module, sandbox_.context_, length_at, string.bits, 0);
  if (text == 0) return false;
  const uint32_t size = sandbox_.load_word(length_at);
  const char* const bytes = reinterpret_cast<const char*>(sandbox_.at(text, size));
  const bool is_valid = spend(size) && simdjson::validate_utf8(bytes, size);
  if (is_valid) out = sql::Value::string(arena_->copy_string({bytes, size}));
  w2c_qjs_JS_FreeCString(module, sandbox_.context_, text);
  return is_valid;
}

// How many there are is the engine's word: no more are made room for than may be read.
bool DocumentConverter::read_array(const EngineObject& array, size_t depth, sql::Value& out) {
  const std::optional<uint32_t> count = array.element_count();
  if (!count || *count > budget_ / kValueBytes) return false;
  const std::span<sql::Value> elements = arena_->make_array<sql::Value>(*count);
  for (uint32_t i = 0; i < *count; ++i)
    if (!read(array.element(i), depth + 1, elements[i])) return false;
  out = sql::Value::array(elements);
  return true;
}

bool DocumentConverter::read_object(const EngineObject& object, size_t depth, sql::Value& out) {
  const uint32_t count = object.property_count();
  if (count > budget_ / kValueBytes || !spend(count * kValueBytes)) return false;
  const EngineObject::Places places = object.places();
  std::span<sql::Member> members = arena_->make_array<sql::Member>(count);
  size_t members_read = 0;
  bool has_index = false, is_ordinary = true;
  for (uint32_t i = 0; i < count; ++i) {
    sql::Member& member = members[members_read];
    if (!read_property(object.property(places, i), depth, member)) return false;
    if (member.value.is_undefined()) continue;
    has_index |= begins_like_index(member.name);
    is_ordinary &= is_ordinary_name(member.name);
    ++members_read;
  }
  members = members.first(members_read);
  if (forms_ != nullptr && is_ordinary) forms_->add(members | std::views::transform(&sql::Member::name));
  if (has_index)
    std::ranges::stable_sort(members, {}, [](const sql::Member& member) { return index_of(member.name); });
  out = sql::Value::object(members);
  return true;
}

// What JSON leaves out stays undefined.
bool DocumentConverter::read_property(const EngineProperty& property, size_t depth, sql::Member& out) {
  if (property.name == 0 || !property.is_enumerable) return true;
  bool is_symbol = false;
  const PropertyName* const name = name_of(property.name, is_symbol);
  if (is_symbol) return true;
  if (name == nullptr || !property.is_value || name->is_to_json || !spend(name->text.size())) return false;
  if (Sandbox::is_undefined(property.value)) return true;
  // What lies within may have more names than are kept, and the value may be there when the run is over.
  const std::string_view text = arena_->copy_string(name->text);
  if (!read(property.value, depth + 1, out.value)) return false;
  out.name = text;
  return true;
}

// Null: it cannot be told as it stands in JSON, or is a symbol's.
const PropertyName* DocumentConverter::name_of(uint32_t number, bool& is_symbol) {
  if (const PropertyName* const known = names_.find(number)) return known;
  w2c_qjs* const module = &sandbox_.instance_->module;
  const JsValue value{w2c_qjs_JS_AtomToValue(module, sandbox_.context_, number)};
  is_symbol = !Sandbox::is_string(value) && !Sandbox::is_exception(value);
  sandbox_.free_counted(value);
  if (is_symbol) return nullptr;
  const uint32_t length_at = sandbox_.arguments_ + kLengthAt;
  const uint32_t text = w2c_qjs_JS_AtomToCStringLen(module, sandbox_.context_, length_at, number);
  if (text == 0) return nullptr;
  const uint32_t size = sandbox_.load_word(length_at);
  std::string name(reinterpret_cast<const char*>(sandbox_.at(text, size)), size);
  w2c_qjs_JS_FreeCString(module, sandbox_.context_, text);
  if (!simdjson::validate_utf8(name)) return nullptr;
  w2c_qjs_JS_DupAtom(module, sandbox_.context_, number);
  return &names_.add(std::move(name), number);
}

}  // namespace quire::engine
