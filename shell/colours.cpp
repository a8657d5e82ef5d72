#include "shell/colours.h"

#include <algorithm>

namespace quire::shell {
namespace {

constexpr std::string_view kReset = "\033[0m";
constexpr std::string_view kName = "\033[34m";
constexpr std::string_view kString = "\033[32m";
constexpr std::string_view kNumber = "\033[36m";
constexpr std::string_view kWord = "\033[35m";

// The string that the text begins with, quotes included.
std::string_view string_at(std::string_view json) {
  size_t end = 1;
  while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
  return json.substr(0, end + 1);
}

bool is_name(std::string_view behind_string) {
  const size_t next = behind_string.find_first_not_of(' ');
  return next != std::string_view::npos && behind_string[next] == ':';
}

}  // namespace

std::string coloured_json(std::string_view json) {
  std::string out;
  const auto add = [&](std::string_view colour, std::string_view text) {
    out += colour;
    out += text;
    out += kReset;
    json.remove_prefix(text.size());
  };
  while (!json.empty()) {
    const char c = json.front();
    if (c == '"') {
      const std::string_view text = string_at(json);
      add(is_name(json.substr(text.size())) ? kName : kString, text);
    } else if (std::string_view(" \n{}[],:").contains(c)) {
      out += c;
      json.remove_prefix(1);
    } else {
      const bool is_number = c == '-' || (c >= '0' && c <= '9');
      add(is_number ? kNumber : kWord, json.substr(0, json.find_first_of(" \n{}[],:")));
    }
  }
  return out;
}

}  // namespace quire::shell
