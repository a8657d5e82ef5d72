// How rows are shown: one JSON value a line, indented JSON, or a table that fits the terminal.
#pragma once

#include <cstdio>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "quire/quire.hpp"

namespace quire::shell {

enum class Mode { automatic, json, pretty, table };

struct ModeRow {
  std::string_view name;
  Mode mode;
  std::string_view summary;
};
const std::vector<ModeRow>& modes();

// Columns of the terminal, 80 where there is none.
size_t terminal_width();
// Columns that a text takes on a terminal (wide characters take two).
size_t display_width(std::string_view text);

// Shows the rows of one statement. Rows are kept back only in table mode, and only as many as decide the
// widths.
class RowWriter {
 public:
  // `automatic`: tables for objects and indented JSON for anything else on a terminal, JSON lines in a pipe.
  RowWriter(Mode mode, bool is_terminal);

  // The error is the value's: a NaN cannot be written as JSON.
  Result<void> add(Value row);
  // Shows what was kept back. False if the output cannot be written (a closed pipe).
  bool finish();

 private:
  Result<void> add_to_table(Value row);
  Result<void> write_json(Value row, bool pretty);
  void flush_table();

  Mode mode_;
  bool is_terminal_;
  struct Cell {
    std::string text;
    bool is_number = false;
  };
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace quire::shell
