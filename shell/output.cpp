#include "shell/output.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

namespace quire::shell {
namespace {

// Rows that decide a table's columns and widths; a longer result is shown as tables of so many rows.
constexpr size_t kTableRows = 500;
constexpr size_t kNarrowestColumn = 4;

// Calls `visit(code point, bytes)` for each code point of UTF-8 text.
template <typename Visit>
void each_code_point(std::string_view text, Visit visit) {
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t code_point = 0;
    const utf8proc_ssize_t length = std::max<utf8proc_ssize_t>(1, utf8proc_iterate(at, left, &code_point));
    if (!visit(code_point, static_cast<size_t>(length))) return;
    at += length;
    left -= length;
  }
}

size_t width_of(utf8proc_int32_t code_point) {
  return static_cast<size_t>(std::max(0, utf8proc_charwidth(code_point)));
}

// Control characters would move the cursor.
std::string printable(std::string_view text) {
  std::string clean;
  for (const char c : text) clean += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  return clean;
}

std::string cut(const std::string& text, size_t width) {
  if (display_width(text) <= width) return text;
  size_t used = 0;
  size_t bytes = 0;
  each_code_point(text, [&](utf8proc_int32_t code_point, size_t length) {
    if (used + width_of(code_point) + 1 > width) return false;
    used += width_of(code_point);
    bytes += length;
    return true;
  });
  return text.substr(0, bytes) + "…";
}

std::string padded(const std::string& text, size_t width, bool right) {
  const size_t taken = display_width(text);
  const std::string blanks(width > taken ? width - taken : 0, ' ');
  return right ? blanks + text : text + blanks;
}

// Takes from the widest columns until all fit.
void fit(std::vector<size_t>& widths, size_t room) {
  const auto total = [&] {
    size_t sum = 0;
    for (const size_t width : widths) sum += width + 2;
    return sum;
  };
  while (total() > room) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kNarrowestColumn) return;
    --*widest;
  }
}

}  // namespace

const std::vector<ModeRow>& modes() {
  static const std::vector<ModeRow> rows = {
      {"auto", Mode::automatic, "tables on a terminal, JSON lines in a pipe"},
      {"json", Mode::json, "one JSON value a line"},
      {"pretty", Mode::pretty, "indented JSON"},
      {"table", Mode::table, "a table that fits the terminal"},
  };
  return rows;
}

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr && std::atoi(columns) > 0)
    return static_cast<size_t>(std::atoi(columns));
  return 80;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  each_code_point(text, [&](utf8proc_int32_t code_point, size_t) {
    width += width_of(code_point);
    return true;
  });
  return width;
}

RowWriter::RowWriter(Mode mode, bool is_terminal) : mode_(mode), is_terminal_(is_terminal) {
  if (mode_ == Mode::automatic && !is_terminal) mode_ = Mode::json;
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

Result<void> RowWriter::write_json(Value row, bool pretty) {
  auto json = pretty ? row.to_pretty_json() : row.to_json();
  if (!json) return Failure(std::move(json.error()));
  json->push_back('\n');
  std::fwrite(json->data(), 1, json->size(), stdout);
  return {};
}

Result<void> RowWriter::add_to_table(Value row) {
  std::vector<Cell> cells(columns_.size());
  const auto add_cell = [&](std::string_view name, Value value) -> Result<void> {
    size_t column = 0;
    while (column < columns_.size() && columns_[column] != name) ++column;
    if (column == columns_.size()) columns_.emplace_back(name);
    if (cells.size() <= column) cells.resize(column + 1);
    if (value.is_string()) {
      cells[column] = {printable(value.as_string()), false};
      return {};
    }
    auto json = value.to_json();
    if (!json) return Failure(std::move(json.error()));
    cells[column] = {printable(*json), value.is_number()};
    return {};
  };
  if (row.is_object()) {
    for (const Member member : row.members())
      if (auto added = add_cell(member.name, member.value); !added) return added;
  } else if (auto added = add_cell("value", row); !added) {
    return added;
  }
  rows_.push_back(std::move(cells));
  if (rows_.size() == kTableRows) flush_table();
  return {};
}

void RowWriter::flush_table() {
  if (rows_.empty()) return;
  std::vector<size_t> widths;
  for (const std::string& column : columns_) widths.push_back(display_width(column));
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i].text));
  fit(widths, terminal_width() + 2);

  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i)
    text += padded(cut(columns_[i], widths[i]), widths[i], false) + "  ";
  text += "\n";
  for (const size_t width : widths) text += std::string(width, '-') + "  ";
  text += "\n";
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += padded(cut(row[i].text, widths[i]), widths[i], row[i].is_number) + "  ";
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  rows_.clear();
  columns_.clear();
}

bool RowWriter::finish() {
  flush_table();
  return std::fflush(stdout) == 0;
}

}  // namespace quire::shell
