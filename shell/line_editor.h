// Lines from a terminal, with editing, history and completion, by libedit.
#pragma once

#include <optional>
#include <string>

namespace quire::shell {

// One at a time in a process: libedit's readline interface keeps global state.
class LineEditor {
 public:
  // History is read from, and kept in, a file of the user's home where that can be had.
  LineEditor();
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Nothing at the end of input (Ctrl-D).
  std::optional<std::string> read(const std::string& prompt);
  void remember(const std::string& statement);

 private:
  std::string history_path_;
};

}  // namespace quire::shell
