#include "shell/render_table.h"

#include <algorithm>
#include <numeric>

#include "shell/display_width.h"

namespace quire::shell {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kNarrowestColumn = 8;
// A cell shows so many lines of its value; `.mode json` or `pretty` shows the rest.
constexpr size_t kCellLines = 5;
// No terminal shows more of a cell.
constexpr size_t kCellBytes = 4096;

std::string padded(std::string_view text, size_t width, bool to_the_right) {
  const size_t taken = display_width(text);
  const std::string blanks(width > taken ? width - taken : 0, ' ');
  return to_the_right ? blanks + std::string(text) : std::string(text) + blanks;
}

// The first line of a text that is too long for one: to behind a blank or a comma, if one is near its end.
std::string_view first_line(std::string_view text, size_t width) {
  std::string_view line = beginning(text, width);
  if (line.empty()) line = text.substr(0, 1);
  if (line.size() == text.size()) return line;
  const size_t last = line.find_last_of(" ,");
  return last != std::string_view::npos && last > line.size() / 2 ? line.substr(0, last + 1) : line;
}

std::vector<std::string> fold(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    if (lines.size() + 1 == kCellLines) {
      lines.push_back(std::string(beginning(text, width - 1)) + "…");
      return lines;
    }
    const std::string_view line = first_line(text, width);
    lines.emplace_back(line);
    text.remove_prefix(line.size());
  }
  lines.emplace_back(text);
  return lines;
}

void end_line(std::string& text) {
  text.resize(text.find_last_not_of(' ') + 1);
  text += '\n';
}

}  // namespace

void Table::add_cell(std::string_view column, std::string_view text, bool is_number) {
  auto found = column_of_.find(column);
  if (found == column_of_.end()) {
    found = column_of_.emplace(column, columns_.size()).first;
    const std::string name = printable(column);
    columns_.push_back({.name = name, .width = display_width(name)});
  }
  Cell cell{found->second, printable(text.substr(0, kCellBytes)), is_number};
  Column& into = columns_[cell.column];
  into.width = std::max(into.width, display_width(cell.text));
  into.is_numbers &= is_number;
  rows_.back().push_back(std::move(cell));
}

std::string Table::render(size_t width) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.width);
  return fit(widths, width) ? render_columns(widths) : render_lists(width);
}

bool Table::fit(std::vector<size_t>& widths, size_t room) const {
  const auto least = [&](size_t i) {
    return columns_[i].is_numbers ? widths[i] : std::min(widths[i], kNarrowestColumn);
  };
  size_t fewest = 0;
  for (size_t i = 0; i < widths.size(); ++i) fewest += least(i) + kGap;
  if (fewest > room + kGap) return false;
  for (size_t total = std::accumulate(widths.begin(), widths.end(), kGap * widths.size());
       total > room + kGap; --total) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least(i) && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    --widths[widest];
  }
  return true;
}

std::string Table::render_columns(const std::vector<size_t>& widths) const {
  std::string text;
  std::string rule;
  // The lines of one row, each with its columns padded; `lines[i]` are those of column i.
  std::vector<std::vector<std::string>> lines(columns_.size());
  std::vector<bool> is_number(columns_.size(), false);
  const auto add_lines = [&] {
    size_t height = 1;
    for (const auto& column : lines) height = std::max(height, column.size());
    for (size_t k = 0; k < height; ++k) {
      std::string line;
      for (size_t i = 0; i < lines.size(); ++i) {
        line += padded(k < lines[i].size() ? lines[i][k] : "", widths[i], is_number[i]);
        line += std::string(kGap, ' ');
      }
      end_line(line);
      text += line;
    }
  };
  for (size_t i = 0; i < columns_.size(); ++i) {
    lines[i] = fold(columns_[i].name, widths[i]);
    is_number[i] = columns_[i].is_numbers;
    rule += std::string(widths[i], '-') + std::string(kGap, ' ');
  }
  add_lines();
  end_line(rule);
  text += rule;
  for (const Row& row : rows_) {
    std::fill(lines.begin(), lines.end(), std::vector<std::string>());
    for (const Cell& cell : row) {
      lines[cell.column] = fold(cell.text, widths[cell.column]);
      is_number[cell.column] = cell.is_number;
    }
    add_lines();
  }
  return text;
}

std::string Table::render_lists(size_t width) const {
  std::string text;
  for (const Row& row : rows_) {
    size_t name_width = 0;
    for (const Cell& cell : row) name_width = std::max(name_width, display_width(columns_[cell.column].name));
    name_width = std::min(name_width, width / 3);
    const size_t room = std::max(width - name_width - std::min(width - name_width, kGap), kNarrowestColumn);
    if (!text.empty()) text += '\n';
    for (const Cell& cell : row) {
      std::string name(beginning(columns_[cell.column].name, name_width));
      for (const std::string& part : fold(cell.text, room)) {
        std::string line = padded(name, name_width + kGap, false) + part;
        end_line(line);
        text += line;
        name.clear();
      }
    }
  }
  return text;
}

}  // namespace quire::shell
