#include "shell/row_writer.h"

#include <unistd.h>

#include <cstdio>

#include "shell/display_width.h"

namespace quire::shell {
namespace {

// Rows that decide a table's columns and widths; a longer result is shown as tables of so many rows, so that
// memory stays small and the first rows are seen at once.
constexpr size_t kTableRows = 500;

constexpr ModeRow kModes[] = {
    {"auto", Mode::automatic, "tables on a terminal, JSON lines in a pipe"},
    {"json", Mode::json, "one JSON value a line"},
    {"pretty", Mode::pretty, "indented JSON"},
    {"table", Mode::table, "a table that fits the terminal"},
};

}  // namespace

std::span<const ModeRow> modes() {
  return kModes;
}

RowWriter::RowWriter(Mode mode) : mode_(mode) {
  if (mode_ == Mode::automatic && isatty(STDOUT_FILENO) == 0) mode_ = Mode::json;
}

Result<void> RowWriter::add(Value row) {
  switch (mode_) {
    case Mode::json:
      return write_json(row, false);
    case Mode::pretty:
      return write_json(row, true);
    case Mode::table:
      return add_to_table(row);
    case Mode::automatic:
      break;
  }
  if (row.is_object()) return add_to_table(row);
  flush_table();
  return write_json(row, true);
}

Result<void> RowWriter::write_json(Value row, bool is_pretty) {
  auto json = is_pretty ? row.to_pretty_json() : row.to_json();
  if (!json) return Failure(std::move(json.error()));
  json->push_back('\n');
  write(*json);
  return {};
}

Result<void> RowWriter::add_to_table(Value row) {
  const auto add_cell = [&](std::string_view column, Value value) -> Result<void> {
    if (value.is_string()) {
      table_.add_cell(column, value.as_string(), false);
      return {};
    }
    auto json = value.to_json();
    if (!json) return Failure(std::move(json.error()));
    table_.add_cell(column, *json, value.is_number());
    return {};
  };
  table_.add_row();
  if (!row.is_object()) {
    if (auto added = add_cell("value", row); !added) return added;
  }
  for (const Member member : row.members())
    if (auto added = add_cell(member.name, member.value); !added) return added;
  if (table_.row_count() == kTableRows) flush_table();
  return {};
}

void RowWriter::flush_table() {
  if (table_.row_count() == 0) return;
  write(table_.render(terminal_width()));
  table_ = {};
}

void RowWriter::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) has_failed_ = true;
}

bool RowWriter::finish() {
  flush_table();
  if (!has_failed_ && std::fflush(stdout) != 0) has_failed_ = true;
  return !has_failed_;
}

}  // namespace quire::shell
