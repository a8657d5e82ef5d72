// How the rows of a statement are shown: one JSON value a line, indented JSON, or tables that fit the
// terminal.
#pragma once

#include <span>
#include <string_view>

#include "quire/quire.hpp"
#include "shell/render_table.h"

namespace quire::shell {

// `automatic`: tables for objects and indented JSON for anything else on a terminal, JSON lines in a pipe.
enum class Mode { automatic, json, pretty, table };

struct ModeRow {
  std::string_view name;
  Mode mode;
  std::string_view summary;
};
std::span<const ModeRow> modes();

class RowWriter {
 public:
  explicit RowWriter(Mode mode);

  // The error is the value's: a NaN cannot be written as JSON.
  Result<void> add(Value row);
  // Shows what was kept back for a table. False if the output takes no more, as errno says.
  bool finish();
  // The output has taken no more.
  bool has_failed() const { return has_failed_; }

 private:
  Result<void> write_json(Value row, bool is_pretty);
  Result<void> add_to_table(Value row);
  void flush_table();
  void write(std::string_view text);

  Mode mode_;
  bool has_failed_ = false;
  Table table_;
};

}  // namespace quire::shell
