#include "shell/display_width.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

namespace quire::shell {
namespace {

struct Character {
  size_t bytes;
  size_t width;
};

Character first_character(std::string_view text) {
  utf8proc_int32_t code_point = 0;
  const utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                  static_cast<utf8proc_ssize_t>(text.size()), &code_point);
  if (bytes <= 0) return {1, 1};
  return {static_cast<size_t>(bytes), static_cast<size_t>(std::max(0, utf8proc_charwidth(code_point)))};
}

}  // namespace

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr && std::atoi(columns) > 0)
    return static_cast<size_t>(std::atoi(columns));
  return 80;
}

size_t terminal_height() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character.width;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string printable(std::string_view text) {
  const auto is_second_control = [&](size_t i) {  // U+0080 to U+009F
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    return text[i] == '\xC2' && next >= 0x80 && next < 0xA0;
  };
  std::string clean;
  clean.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (is_second_control(i))
      ++i;
    else if (byte >= 0x20 && byte != 0x7F) {
      clean += text[i];
      continue;
    }
    clean += ' ';
  }
  return clean;
}

std::string_view beginning(std::string_view text, size_t width) {
  size_t bytes = 0;
  size_t taken = 0;
  while (bytes < text.size()) {
    const Character character = first_character(text.substr(bytes));
    if (taken + character.width > width) break;
    taken += character.width;
    bytes += character.bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace quire::shell
