#include "shell/line_editor.h"

#include <editline/readline.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

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

LineEditor::Complete g_complete;
std::vector<std::string> g_candidates;

char* next_candidate(const char*, int state) {
  static size_t at = 0;
  if (state == 0) at = 0;
  return at < g_candidates.size() ? strdup(g_candidates[at++].c_str()) : nullptr;
}

// Where there is nothing of ours, libedit completes names of files.
char** complete(const char* text, int start, int) {
  g_candidates = g_complete(std::string(rl_line_buffer).substr(0, static_cast<size_t>(start)), text);
  return g_candidates.empty() ? nullptr : rl_completion_matches(text, next_candidate);
}

// $QUIRE_HISTORY, else where the XDG rules have a program keep its state, if there is such a folder, else in
// the home; empty: nowhere.
std::string history_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::getenv("QUIRE_HISTORY") != nullptr) return variable("QUIRE_HISTORY");
  const std::string state = variable("XDG_STATE_HOME");
  if (!state.empty() && access(state.c_str(), W_OK) == 0) return state + "/quire_history";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.quire_history";
}

struct Free {
  void operator()(char* text) const noexcept { std::free(text); }
};

}  // namespace

LineEditor::LineEditor(StandardInput& input, Complete complete_word) : history_path_(history_path()) {
  g_input = &input;
  g_complete = std::move(complete_word);
  rl_readline_name = const_cast<char*>("quire");
  rl_getc_function = next_character;
  rl_initialize();
  rl_attempted_completion_function = complete;
  rl_basic_word_break_characters = const_cast<char*>(" \t\n\"\\'`@$><=;|&{(,[+*/");
  using_history();
  stifle_history(kHistoryLines);
  if (!history_path_.empty()) read_history(history_path_.c_str());
}

LineEditor::~LineEditor() {
  if (!history_path_.empty()) write_history(history_path_.c_str());
  g_input = nullptr;
  g_complete = nullptr;
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
