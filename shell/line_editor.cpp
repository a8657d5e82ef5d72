#include "shell/line_editor.h"

#include <editline/readline.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "shell/commands.h"

namespace quire::shell {
namespace {

constexpr int kHistoryLines = 1000;

// libedit calls plain functions: the input that they read from.
StandardInput* g_input = nullptr;

// The next code point of what is typed, as libedit wants it, or -1.
int next_character(FILE*) {
  const int first = g_input->read_byte();
  if (first < 0xC2 || first > 0xF4) return first;
  const int following = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  int code_point = first & (0x3F >> following);
  for (int i = 0; i < following; ++i) {
    const int byte = g_input->read_byte();
    if (byte < 0) return -1;
    code_point = code_point << 6 | (byte & 0x3F);
  }
  return code_point;
}

char* next_command(const char* text, int state) {
  static size_t at = 0;
  if (state == 0) at = 0;
  const auto commands = all_commands();
  while (at < commands.size()) {
    const std::string name(commands[at++].name);
    if (name.starts_with(text)) return strdup(name.c_str());
  }
  return nullptr;
}

// Dot-commands complete at the start of a line, files elsewhere.
char** complete(const char* text, int start, int) {
  return start == 0 && text[0] == '.' ? rl_completion_matches(text, next_command) : nullptr;
}

struct Free {
  void operator()(char* text) const noexcept { std::free(text); }
};

}  // namespace

LineEditor::LineEditor(StandardInput& input) {
  g_input = &input;
  rl_readline_name = const_cast<char*>("quire");
  rl_getc_function = next_character;
  rl_initialize();
  rl_attempted_completion_function = complete;
  using_history();
  stifle_history(kHistoryLines);
  if (const char* home = std::getenv("HOME"); home != nullptr) {
    history_path_ = std::string(home) + "/.quire_history";
    read_history(history_path_.c_str());
  }
}

LineEditor::~LineEditor() {
  if (!history_path_.empty()) write_history(history_path_.c_str());
  g_input = nullptr;
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  const std::unique_ptr<char, Free> line(readline(prompt.c_str()));
  if (line == nullptr) return std::nullopt;
  return std::string(line.get());
}

void LineEditor::remember(const std::string& line) {
  add_history(line.c_str());
}

}  // namespace quire::shell
