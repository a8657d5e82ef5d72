#include "shell/line_editor.h"

#include <editline/readline.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "shell/commands.h"

namespace quire::shell {
namespace {

constexpr int kHistoryLines = 1000;

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

LineEditor::LineEditor() {
  rl_readline_name = const_cast<char*>("quire");
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
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  const std::unique_ptr<char, Free> line(readline(prompt.c_str()));
  if (line == nullptr) return std::nullopt;
  return std::string(line.get());
}

void LineEditor::remember(const std::string& statement) {
  std::string line = statement;
  std::replace(line.begin(), line.end(), '\n', ' ');
  add_history(line.c_str());
}

}  // namespace quire::shell
