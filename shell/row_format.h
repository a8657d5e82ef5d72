// The output modes: how the rows of a statement become text. A mode is a row of one table; each format takes
// rows one by one and keeps back only what it must, so that the first rows are seen at once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quire/quire.hpp"

namespace quire::shell {

enum class Mode { automatic, json, array, json_lines, table, csv, tsv, markdown, vertical, insert };

struct ModeRow {
  std::string_view name;
  Mode mode;
  std::string_view summary;
};
std::span<const ModeRow> modes();
const ModeRow* find_mode(std::string_view name);
// "auto, json, array, ..."
std::string mode_names();

struct FormatOptions {
  Mode mode = Mode::automatic;
  bool is_terminal = false;
  bool has_colour = false;
  size_t width = 80;
  std::string insert_into = "items";  // the container of INSERT statements
  std::vector<std::string> columns;   // of CSV and TSV, where they are known beforehand
};

class RowFormat {
 public:
  virtual ~RowFormat() = default;
  // Both append what there is to show by now. The error is a value's: a NaN cannot be written as JSON.
  virtual Result<void> add(Value row, std::string& out) = 0;
  virtual Result<void> finish(std::string& out) = 0;
};

std::unique_ptr<RowFormat> make_format(const FormatOptions& options);

// The larger ones, each in a file of its own.
std::unique_ptr<RowFormat> make_table_format(const FormatOptions& options);
std::unique_ptr<RowFormat> make_vertical_format();
std::unique_ptr<RowFormat> make_delimited_format(const FormatOptions& options, char separator);
std::unique_ptr<RowFormat> make_markdown_format();

// A cell of a table: strings as they are, anything else as JSON.
Result<std::string> cell_text(Value value);

using CellVisitor = std::function<Result<void>(const std::string& column, Value value)>;
// The cells of a row in CSV: nested objects give one column for each of their properties, named
// "address.city".
Result<void> visit_cells(Value row, const CellVisitor& visit);

}  // namespace quire::shell
