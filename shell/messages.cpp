#include "shell/messages.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "shell/display_width.h"

namespace quire::shell {
namespace {

std::string_view line_of(std::string_view text, uint32_t number) {
  for (uint32_t line = 1; line < number; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// The byte at which code point number `column` (from 1) begins.
size_t place_of(std::string_view line, uint32_t column) {
  uint32_t at = 0;
  for (size_t place = 0; place < line.size(); ++place) {
    const bool begins = (static_cast<unsigned char>(line[place]) & 0xC0) != 0x80;
    if (begins && ++at == column) return place;
  }
  return line.size();
}

// The line that an error stands in, cut to a window around its column, and a caret under the column.
std::string excerpt(std::string_view line, uint32_t column) {
  constexpr uint32_t kBefore = 60;
  constexpr uint32_t kAfter = 60;
  const size_t start = place_of(line, column > kBefore ? column - kBefore : 1);
  const size_t place = place_of(line, column);
  const size_t end = place_of(line, column + kAfter);
  // A control character, a tab too, takes one column, so that the caret stands where it should.
  const std::string before = printable(line.substr(start, place - start));
  const std::string after = printable(line.substr(place, end - place));
  return fmt::format("  {}{}\n  {}^\n", before, after, std::string(display_width(before), ' '));
}

}  // namespace

void tell_text(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

void print_message(std::string_view message) {
  std::fflush(stdout);
  const bool has_colour = takes_colour(stderr);
  tell("{}error:{} {}\n", has_colour ? "\033[1;31m" : "", has_colour ? "\033[0m" : "", message);
}

void print_error(const Error& error, std::string_view text, size_t first_line, size_t columns_before) {
  if (error.line == 0) return print_message(error.message);
  print_message(fmt::format("line {}, column {}: {}", error.line + first_line - 1,
                            error.column + (error.line == 1 ? columns_before : 0), error.message));
  const std::string_view line = line_of(text, error.line);
  if (!line.empty()) tell("{}", excerpt(line, error.column));
}

Outcome print_text(std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (is_written && std::fflush(stdout) == 0) return Outcome::done;
  if (errno != EPIPE) print_message(fmt::format("cannot write the output: {}", std::strerror(errno)));
  return Outcome::failed;
}

Outcome cannot_write_output(const Output& output) {
  if (errno != EPIPE) print_message(fmt::format("cannot write {}: {}", output.name(), std::strerror(errno)));
  return Outcome::failed;
}

}  // namespace quire::shell
