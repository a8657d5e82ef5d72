// CSV, TSV and Markdown: formats whose first line names the columns. Nested objects give a column for each of
// their properties ("address.city"); arrays stand as JSON. The names come from the first rows, so a property
// that only a later row has is an error rather than lost.
#include <fmt/format.h>

#include <map>

#include "shell/delimited_text.h"
#include "shell/row_format.h"

namespace quire::shell {
namespace {

constexpr size_t kHeaderRows = 1000;
constexpr std::string_view kScalarColumn = "value";  // of rows that are no objects

// Calls `visit(name, value)` for each property that is no object, and for empty objects.
Result<void> flatten(Value row, const std::string& prefix, const CellVisitor& visit) {
  for (const Member member : row.members()) {
    const std::string name = prefix + std::string(member.name);
    const bool is_nested = member.value.is_object() && member.value.size() > 0;
    auto visited = is_nested ? flatten(member.value, name + ".", visit) : visit(name, member.value);
    if (!visited) return visited;
  }
  return {};
}

class HeaderedFormat : public RowFormat {
 public:
  Result<void> add(Value row, std::string& out) override {
    Row cells;
    const auto add_cell = [&](const std::string& name, Value value) -> Result<void> {
      auto text = written(value);
      if (!text) return Failure(std::move(text.error()));
      auto column = column_of_.find(name);
      if (column == column_of_.end()) {
        if (has_header_) return unknown_column(name);
        column = add_column(name);
      }
      uint64_t& last_row = last_row_[column->second];
      if (last_row == row_count_ + 1) return twofold_column(row, name);
      last_row = row_count_ + 1;
      cells.emplace_back(column->second, std::move(*text));
      return {};
    };
    auto added = visit_cells(row, add_cell);
    if (!added) return added;
    ++row_count_;
    if (has_header_) {
      add_row(cells, out);
      return {};
    }
    held_.push_back(std::move(cells));
    if (held_.size() == kHeaderRows) release(out);
    return {};
  }
  Result<void> finish(std::string& out) override {
    if (!has_header_ && !columns_.empty()) release(out);
    return {};
  }

 protected:
  std::map<std::string, size_t>::iterator add_column(const std::string& name) {
    columns_.push_back(name);
    last_row_.push_back(0);
    return column_of_.emplace(name, columns_.size() - 1).first;
  }
  virtual Result<std::string> written(Value value) const = 0;
  virtual void add_header(const std::vector<std::string>& columns, std::string& out) const = 0;
  virtual void add_line(const std::vector<std::string_view>& cells, std::string& out) const = 0;

 private:
  using Row = std::vector<std::pair<size_t, std::string>>;

  void release(std::string& out) {
    add_header(columns_, out);
    has_header_ = true;
    for (const Row& row : held_) add_row(row, out);
    held_.clear();
  }
  void add_row(const Row& row, std::string& out) const {
    std::vector<std::string_view> cells(columns_.size());
    for (const auto& [column, text] : row) cells[column] = text;
    add_line(cells, out);
  }
  Result<void> unknown_column(const std::string& name) const {
    return Failure(Error{QUIRE_INVALID_ARGUMENT, 400,
                         fmt::format("row {} has '{}', which none of the first {} rows has, so the header "
                                     "lacks it; name the columns in SELECT, or use .export, which looks at "
                                     "all rows first",
                                     row_count_ + 1, name, kHeaderRows)});
  }

  // {"a.b": 1, "a": {"b": 2}}
  Result<void> twofold_column(Value row, const std::string& name) const {
    const Value id = row["id"];
    const std::string which = id.is_string() ? fmt::format(" (id '{}')", id.as_string()) : "";
    return Failure(
        Error{QUIRE_INVALID_ARGUMENT, 400,
              fmt::format("row {}{} has two values for the column '{}', one in a property of that name "
                          "and one in an object: use JSON lines, or name the columns in SELECT",
                          row_count_ + 1, which, name)});
  }

  std::vector<std::string> columns_;
  std::map<std::string, size_t> column_of_;
  std::vector<uint64_t> last_row_;  // that has a value in the column, from 1
  std::vector<Row> held_;
  bool has_header_ = false;
  uint64_t row_count_ = 0;
};

class DelimitedFormat : public HeaderedFormat {
 public:
  DelimitedFormat(const std::vector<std::string>& columns, char separator) : separator_(separator) {
    for (const std::string& column : columns) add_column(column);
  }

 protected:
  Result<std::string> written(Value value) const override {
    if (value.is_string()) return delimited_string(value.as_string(), separator_);
    auto json = value.to_json();
    if (json && (value.is_array() || value.is_object())) return quoted_cell(*json);
    return json;
  }
  void add_header(const std::vector<std::string>& columns, std::string& out) const override {
    std::vector<std::string> written;
    for (const std::string& column : columns) written.push_back(delimited_name(column, separator_));
    add_line({written.begin(), written.end()}, out);
  }
  void add_line(const std::vector<std::string_view>& cells, std::string& out) const override {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += separator_;
      out += cells[i];
    }
    out += '\n';
  }

 private:
  char separator_;
};

class MarkdownFormat : public HeaderedFormat {
 protected:
  Result<std::string> written(Value value) const override {
    auto text = cell_text(value);
    if (!text) return text;
    return escaped(*text);
  }
  void add_header(const std::vector<std::string>& columns, std::string& out) const override {
    std::vector<std::string> names;
    for (const std::string& column : columns) names.push_back(escaped(column));
    add_line({names.begin(), names.end()}, out);
    for (size_t i = 0; i < columns.size(); ++i) out += "| --- ";
    out += "|\n";
  }
  void add_line(const std::vector<std::string_view>& cells, std::string& out) const override {
    for (const std::string_view cell : cells) {
      out += "| ";
      out += cell;
      out += ' ';
    }
    out += "|\n";
  }

 private:
  static std::string escaped(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '|') escaped += '\\';
      if (c == '\n')
        escaped += "<br>";
      else if (c != '\r')
        escaped += c;
    }
    return escaped;
  }
};

}  // namespace

std::unique_ptr<RowFormat> make_delimited_format(const FormatOptions& options, char separator) {
  return std::make_unique<DelimitedFormat>(options.columns, separator);
}

std::unique_ptr<RowFormat> make_markdown_format() {
  return std::make_unique<MarkdownFormat>();
}

Result<void> visit_cells(Value row, const CellVisitor& visit) {
  return row.is_object() ? flatten(row, "", visit) : visit(std::string(kScalarColumn), row);
}

}  // namespace quire::shell
