// Where the rows of statements go: standard output, a file of `.output` or `.once`, or a pager once they fill
// more than the screen.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace quire::shell {

class Output {
 public:
  Output() = default;
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Rows go to the file from now on, or only those of the next statement; an empty path: to standard output.
  // False if the file cannot be written, as errno says.
  bool redirect(const std::string& path, bool only_once);
  // Whether long results on a terminal are shown by $PAGER; the prompt asks for it.
  bool uses_pager = false;

  // Text for a person at a terminal: colours and tables as wide as it is.
  bool is_terminal() const;
  bool has_colour() const;

  // Around the rows of each statement.
  void begin();
  void write(std::string_view text);
  // False if the output takes no more, as errno says.
  bool finish();
  bool has_failed() const { return failure_ != 0; }
  // The reader has left: a pager that was quit, or the end of a pipe.
  bool was_left() const;
  // The path of the file, or "the output".
  std::string name() const;

 private:
  void write_through(std::string_view text);
  void hold(std::string_view text);
  bool start_pager();

  std::FILE* file_ = stdout;
  std::string path_;
  bool only_once_ = false;
  std::FILE* pager_ = nullptr;
  int failure_ = 0;
  // Rows held back until it is known whether they need a pager.
  bool is_holding_ = false;
  std::string held_;
  size_t held_lines_ = 0;
  std::chrono::steady_clock::time_point held_since_;
};

// Whether escape sequences for colours are welcome there: a terminal that is not dumb, and no NO_COLOR.
bool takes_colour(std::FILE* file);

}  // namespace quire::shell
