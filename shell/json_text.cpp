#include "shell/json_text.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace quire::shell {

std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

// Binding it as a parameter reads it.
IsJson json_check(const Database& database) {
  auto statement = database.prepare("SELECT VALUE @value");
  if (!statement) return [](std::string_view) { return false; };
  return [kept = std::make_shared<Statement>(std::move(*statement))](std::string_view text) {
    return kept->bind("value", Json{text}).has_value();
  };
}

}  // namespace quire::shell
