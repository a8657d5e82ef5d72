// Strings that go in. The engine looks at each byte of a text to tell whether it is ASCII, and passes through
// three functions on the way to its memory: most texts are made in place here, as it makes them.
#include "engine/script/engine_object.h"
#include "engine/script/sandbox_instance.h"

namespace quire::engine {
namespace {

// A string has the count of who holds it before it, and 24 bytes of its own: its length, 8 that are zero, 4
// that are not set, and its place in a list of all strings. Behind its bytes stands a NUL.
constexpr uint32_t kZerosAt = 4, kLinkAt = 16, kNextInLink = 4;
constexpr uint32_t kListInRuntime = 628;  // of the first and the last, which stand in each other's place
constexpr size_t kLongestMade = 1024;

}  // namespace

JsValue Sandbox::new_string(std::string_view text) {
  if (knows_strings_ && !text.empty() && text.size() <= kLongestMade && is_ascii(text)) {
    const JsValue made = make_string(text);
    if (!is_exception(made)) return made;
  }
  const Scratch bytes(*this, text);
  return {w2c_qjs_JS_NewStringLen(&instance_->module, context_, bytes.address(), bytes.size())};
}

// kJsException where there is no memory for it, which the engine has not been told of.
JsValue Sandbox::make_string(std::string_view text) {
  using namespace engine_layout;
  const auto size = static_cast<uint32_t>(text.size());
  const uint32_t string = w2c_qjs_js_malloc_rt(&instance_->module, runtime_, kStringBytes + size + 1);
  if (string == 0) return kJsException;
  const EngineMemory memory(instance_->module);
  const uint32_t list = runtime_ + kListInRuntime, link = string + kLinkAt;
  const uint32_t last = memory.load<uint32_t>(list);
  const uint32_t head[] = {1, size, 0, 0};  // who holds it, and so on
  memory.write(string - kHoldsBefore, head, sizeof head);
  const uint32_t neighbours[] = {last, list};
  memory.write(link, neighbours, sizeof neighbours);
  memory.store(last + kNextInLink, link);
  memory.store(list, link);
  char bytes[kLongestMade + 1];
  bytes[text.copy(bytes, size)] = '\0';
  memory.write(string + kStringBytes, bytes, size + 1);
  return js_word(JsTag::kString, string);
}

// The engine's own strings must look so, and those that are made here go as they do.
void Sandbox::check_strings() {
  using namespace engine_layout;
  constexpr std::string_view kText = "a text";
  const EngineMemory memory(instance_->module);
  const uint32_t list = runtime_ + kListInRuntime;
  const auto last = [&] { return memory.load<uint32_t>(list); };
  const auto looks_right = [&](JsValue string, uint32_t before) {
    const auto at = static_cast<uint32_t>(string.bits);
    return string.tag() == JsTag::kString && memory.holds(at) == 1 &&
           memory.load<uint32_t>(at) == kText.size() && memory.load<uint64_t>(at + kZerosAt) == 0 &&
           last() == at + kLinkAt && memory.load<uint32_t>(last()) == before &&
           memory.load<uint32_t>(last() + kNextInLink) == list &&
           memory.load<uint32_t>(before + kNextInLink) == last() &&
           bytes_of_string(memory, string) == kText &&
           memory.load<uint8_t>(at + kStringBytes + static_cast<uint32_t>(kText.size())) == 0;
  };
  const uint32_t before = last();
  const JsValue of_engine = new_string(kText);
  bool agree = looks_right(of_engine, before);
  free(of_engine);
  agree &= last() == before;
  if (agree) {
    const JsValue made = make_string(kText);
    std::string text;
    agree &= looks_right(made, before) && json(made, text) && text == R"("a text")" &&
             memory.holds(static_cast<uint32_t>(made.bits)) == 1;
    free(made);
    agree &= last() == before && memory.load<uint32_t>(before + kNextInLink) == list;
  }
  knows_strings_ = agree;
}

}  // namespace quire::engine
