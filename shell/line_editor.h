// Lines from a terminal, with editing, history and completion, by libedit.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shell/standard_input.h"

namespace quire::shell {

// One at a time in a process: libedit's readline interface keeps global state.
class LineEditor {
 public:
  // History is read from, and kept in, a file of the user's home where that can be had.
  // `complete` gives what the word before the cursor may become, from the line so far and the word.
  using Complete = std::function<std::vector<std::string>(const std::string& line, const std::string& word)>;
  LineEditor(StandardInput& input, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Nothing at the end of input (Ctrl-D), and after a Ctrl-C, which is_interrupted() tells.
  std::optional<std::string> read(const std::string& prompt);
  // Adds to the history.
  void remember(const std::string& line);

 private:
  std::string history_path_;
};

}  // namespace quire::shell
