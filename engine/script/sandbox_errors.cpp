// What a script throws, as an error: what it says, the script's name, the line, the stack.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "engine/script/host_function.h"
#include "engine/script/sandbox_instance.h"

namespace quire::engine {
namespace {

constexpr size_t kLongestMessage = 500;
constexpr size_t kMostFrames = 8;
// The library gives an error of the database a message that begins so (withServiceText), and its plain words
// as its body.
constexpr std::string_view kServiceForm = R"({"Errors":[)";

struct Status {
  int number;
  ErrorCode code;
};
// Errors that the database gave a script and that it let pass, or that it made in their likeness, keep their
// code.
constexpr Status kStatuses[] = {
    {403, ErrorCode::forbidden}, {404, ErrorCode::not_found},           {408, ErrorCode::timeout},
    {409, ErrorCode::conflict},  {412, ErrorCode::precondition_failed}, {413, ErrorCode::too_large},
    {449, ErrorCode::busy},
};

ErrorCode code_of(int number) {
  const auto* const found = std::ranges::find(kStatuses, number, &Status::number);
  return found != std::end(kStatuses) ? found->code : ErrorCode::script_failed;
}

// "    at f (name:3:7)" gives 3 and 7.
Position position_of_frame(std::string_view frame) {
  if (frame.ends_with(')')) frame.remove_suffix(1);
  uint32_t numbers[2] = {};
  for (int i = 1; i >= 0; --i) {
    const size_t colon = frame.rfind(':');
    if (colon == std::string_view::npos) return {};
    const std::string_view digits = frame.substr(colon + 1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), numbers[i]).ec != std::errc())
      return {};
    frame = frame.substr(0, colon);
  }
  return {.offset = 0, .line = numbers[0], .column = numbers[1]};
}

// The engine writes half of a surrogate pair as UTF-8 would, were it a character: in as many bytes as U+FFFD.
void replace_half_pairs(std::string& text, size_t from) {
  const auto is_half = [&](size_t at) {
    return at + 2 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0;
  };
  for (size_t at = text.find('\xED', from); at != std::string::npos; at = text.find('\xED', at + 1))
    if (is_half(at)) text.replace(at, 3, "\uFFFD");
}

struct Stack {
  std::string text;
  Position position;
};

// The frames of scripts alone, the first few of them.
Stack readable_stack(std::string_view stack) {
  Stack result;
  size_t frames = 0;
  while (!stack.empty()) {
    const size_t end = stack.find('\n');
    const std::string_view frame = stack.substr(0, end);
    stack = end == std::string_view::npos ? std::string_view() : stack.substr(end + 1);
    if (frame.empty() || frame.find(kLibraryFile) != std::string_view::npos) continue;
    if (result.position.line == 0) result.position = position_of_frame(frame);
    if (++frames > kMostFrames) continue;
    result.text += '\n';
    result.text += shortened(frame, 200);
  }
  return result;
}

}  // namespace

bool Sandbox::readable_text(JsValue value, std::string& out) {
  const size_t start = out.size();
  if (!text(value, out)) return false;
  replace_half_pairs(out, start);
  return true;
}

// Text of a property, empty where there is none or its getter throws.
std::string Sandbox::property_text(JsValue object, const char* name) {
  std::string out;
  const JsValue value = property(object, name);
  if (is_undefined(value)) return out;
  if (is_exception(value) || !readable_text(value, out)) {
    free(JsValue{w2c_qjs_JS_GetException(&instance_->module, context_)});
    out.clear();
  }
  free(value);
  return out;
}

Error Sandbox::take_exception(std::string_view name, ErrorCode of_syntax_error) {
  // Getters and toString() of what was thrown are script as well.
  deadline_ = std::max(deadline_, std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  const JsValue thrown{w2c_qjs_JS_GetException(&instance_->module, context_)};
  const bool is_error = w2c_qjs_JS_IsError(&instance_->module, thrown.bits) != 0;
  std::string message;
  Stack stack;
  ErrorCode code = ErrorCode::script_failed;
  if (thrown.tag() == JsTag::kObject) {
    const std::string number = property_text(thrown, "number");
    int status = 0;
    std::from_chars(number.data(), number.data() + number.size(), status);
    code = code_of(status);
  }
  if (is_error) {
    const std::string kind = property_text(thrown, "name");
    message = property_text(thrown, "message");
    if (message.starts_with(kServiceForm)) {
      std::string plain = property_text(thrown, "body");
      if (!plain.empty()) message = std::move(plain);
    }
    stack = readable_stack(property_text(thrown, "stack"));
    if (kind == "SyntaxError") code = of_syntax_error;
    if (kind == "RangeError" && message.starts_with("Maximum call stack")) code = ErrorCode::limit_exceeded;
    if (kind != "Error" && !kind.empty()) message = kind + ": " + message;
  } else if (thrown.tag() == JsTag::kObject ? !json(thrown, message) : !readable_text(thrown, message)) {
    free(JsValue{w2c_qjs_JS_GetException(&instance_->module, context_)});
    message = "something that has no text was thrown";
  }
  free(thrown);
  std::string where =
      stack.position.line != 0 ? fmt::format(", line {}", stack.position.line) : std::string();
  return {code, fmt::format("{}{}: {}{}", name, where, shortened(message, kLongestMessage), stack.text),
          stack.position};
}

}  // namespace quire::engine
