// Values in and out of the sandbox. Whatever the module gives as an address is checked before it is followed.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/script/engine_object.h"
#include "engine/script/sandbox_instance.h"

namespace quire::engine {

// ---- Memory

const uint8_t* Sandbox::at(uint32_t address, uint64_t size) {
  return EngineMemory(instance_->module).at(address, size);
}

void Sandbox::write(uint32_t address, const void* bytes, uint64_t size) {
  EngineMemory(instance_->module).write(address, bytes, size);
}

uint32_t Sandbox::load_word(uint32_t address) {
  return EngineMemory(instance_->module).load<uint32_t>(address);
}

// ---- In

JsValue Sandbox::new_number(double number) {
  return {w2c_qjs_JS_NewNumber(&instance_->module, context_, number)};
}

JsValue Sandbox::new_array(std::span<const JsValue> owned) {
  static_assert(sizeof(JsValue) == sizeof(uint64_t));
  const Scratch values(*this, {reinterpret_cast<const char*>(owned.data()), owned.size_bytes()});
  return {w2c_qjs_JS_NewArrayFrom(&instance_->module, context_, static_cast<uint32_t>(owned.size()),
                                  values.address())};
}

JsValue Sandbox::parse_json(std::string_view json) {
  const Bytes bytes(*this, json);
  const Bytes file(*this, "<json>");
  return {w2c_qjs_JS_ParseJSON(&instance_->module, context_, bytes.address(), bytes.size(), file.address())};
}

JsValue Sandbox::property(JsValue object, const char* name) {
  const Bytes bytes(*this, name);
  return {w2c_qjs_JS_GetPropertyStr(&instance_->module, context_, object.bits, bytes.address())};
}

JsValue Sandbox::element(JsValue array, uint32_t index) {
  return {w2c_qjs_JS_GetPropertyUint32(&instance_->module, context_, array.bits, index)};
}

bool Sandbox::set_property(JsValue object, const char* name, JsValue owned) {
  const Bytes bytes(*this, name);
  return static_cast<int32_t>(w2c_qjs_JS_SetPropertyStr(&instance_->module, context_, object.bits,
                                                        bytes.address(), owned.bits)) >= 0;
}

JsValue Sandbox::call(JsValue function, JsValue self, std::span<const JsValue> arguments) {
  if (arguments.size() > kMostScriptArguments) return throw_error("too many arguments");
  static_assert(sizeof(JsValue) == sizeof(uint64_t));
  write(arguments_, arguments.data(), arguments.size_bytes());
  return {w2c_qjs_JS_Call(&instance_->module, context_, function.bits, self.bits,
                          static_cast<uint32_t>(arguments.size()), arguments_)};
}

JsValue Sandbox::evaluate(std::string_view source, std::string_view file) {
  const Bytes text(*this, source);
  const Bytes name(*this, file);
  return {w2c_qjs_JS_Eval(&instance_->module, context_, text.address(), text.size(), name.address(), 0)};
}

void Sandbox::free(JsValue value) {
  w2c_qjs_JS_FreeValue(&instance_->module, context_, value.bits);
}

JsValue Sandbox::copy(JsValue value) {
  return {w2c_qjs_JS_DupValue(&instance_->module, context_, value.bits)};
}

bool Sandbox::is_function(JsValue value) {
  return w2c_qjs_JS_IsFunction(&instance_->module, context_, value.bits) != 0;
}

// ---- Out

double Sandbox::number(JsValue value) {
  if (value.tag() == JsTag::kInteger) return static_cast<int32_t>(value.bits);
  w2c_qjs_JS_ToFloat64(&instance_->module, context_, arguments_, value.bits);
  double number;
  std::memcpy(&number, at(arguments_, sizeof number), sizeof number);
  return number;
}

bool Sandbox::take_text(JsValue owned, std::string& out) {
  if (is_exception(owned)) return false;
  w2c_qjs* const module = &instance_->module;
  const uint32_t text = w2c_qjs_JS_ToCStringLen2(module, context_, arguments_, owned.bits, 0);
  free(owned);
  if (text == 0) return false;
  const uint32_t size = load_word(arguments_);
  const bool fits = size <= limits_.result_bytes;
  if (fits) out.append(reinterpret_cast<const char*>(at(text, size)), size);
  w2c_qjs_JS_FreeCString(module, context_, text);
  if (!fits) {
    throw_error(fmt::format("a text of {} bytes is longer than the {} bytes that a script may give", size,
                            limits_.result_bytes),
                413);
    return false;
  }
  return true;
}

// Most texts are links, which need not be made anew as UTF-8.
bool Sandbox::text(JsValue value, std::string& out) {
  const auto plain =
      value.tag() == JsTag::kString ? ascii_of_string(EngineMemory(instance_->module), value) : std::nullopt;
  if (!plain || plain->size() > limits_.result_bytes) return take_text(copy(value), out);
  out.append(*plain);
  return true;
}

bool Sandbox::json(JsValue value, std::string& out) {
  const JsValue text{w2c_qjs_JS_JSONStringify(&instance_->module, context_, value.bits, kJsUndefined.bits,
                                              kJsUndefined.bits)};
  if (is_undefined(text)) return true;
  return take_text(text, out);
}

// ---- Errors and promises

JsValue Sandbox::throw_value(JsValue owned, bool is_catchable) {
  if (!is_catchable) w2c_qjs_JS_SetUncatchableError(&instance_->module, context_, owned.bits);
  return {w2c_qjs_JS_Throw(&instance_->module, context_, owned.bits)};
}

JsValue Sandbox::throw_error(std::string_view message, int number, bool is_catchable) {
  const JsValue error{w2c_qjs_JS_NewError(&instance_->module, context_)};
  if (is_exception(error)) return error;
  set_property(error, "message", new_string(message));
  if (number != 0) {
    set_property(error, "number", new_integer(number));
    set_property(error, "body", new_string(message));
  }
  return throw_value(error, is_catchable);
}

bool Sandbox::run_jobs() {
  w2c_qjs* const module = &instance_->module;
  while (w2c_qjs_JS_IsJobPending(module, runtime_) != 0) {
    if (static_cast<int32_t>(w2c_qjs_JS_ExecutePendingJob(module, runtime_, arguments_)) < 0) return false;
    // The engine does not look at interrupts between jobs.
    if (wants_interrupt()) {
      throw_error("interrupted", 0, false);
      return false;
    }
  }
  if (rejections_.empty()) return true;
  throw_value(copy(rejections_.front().reason));
  return false;
}

void Sandbox::note_rejection(JsValue promise, JsValue reason, bool is_handled) {
  if (!is_handled) {
    rejections_.push_back({promise, copy(reason)});
    return;
  }
  const auto found =
      std::ranges::find(rejections_, promise.bits, [](const Rejection& r) { return r.promise.bits; });
  if (found == rejections_.end()) return;
  free(found->reason);
  rejections_.erase(found);
}

Sandbox::PromiseState Sandbox::promise_state(JsValue value) {
  if (value.tag() != JsTag::kObject || w2c_qjs_JS_IsPromise(&instance_->module, value.bits) == 0)
    return PromiseState::none;
  switch (w2c_qjs_JS_PromiseState(&instance_->module, context_, value.bits)) {
    case 0:
      return PromiseState::pending;
    case 1:
      return PromiseState::fulfilled;
    default:
      return PromiseState::rejected;
  }
}

JsValue Sandbox::promise_result(JsValue promise) {
  return {w2c_qjs_JS_PromiseResult(&instance_->module, context_, promise.bits)};
}

}  // namespace quire::engine
