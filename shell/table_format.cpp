// Rows for the eye: tables that fit the terminal, and lists of names and values.
#include <fmt/format.h>

#include "shell/display_width.h"
#include "shell/render_table.h"
#include "shell/row_format.h"

namespace quire::shell {
namespace {

// Rows that decide a table's columns and widths; a longer result is shown as tables of so many rows, so that
// memory stays small and the first rows are seen at once.
constexpr size_t kTableRows = 500;

class TableFormat : public RowFormat {
 public:
  explicit TableFormat(size_t width) : width_(width) {}

  Result<void> add(Value row, std::string& out) override {
    table_.add_row();
    if (!row.is_object()) {
      if (auto added = add_cell("value", row); !added) return added;
    }
    for (const Member member : row.members())
      if (auto added = add_cell(member.name, member.value); !added) return added;
    return table_.row_count() == kTableRows ? finish(out) : Result<void>();
  }
  Result<void> finish(std::string& out) override {
    if (table_.row_count() > 0) out += table_.render(width_);
    table_ = {};
    return {};
  }

 private:
  Result<void> add_cell(std::string_view column, Value value) {
    auto text = cell_text(value);
    if (!text) return Failure(std::move(text.error()));
    table_.add_cell(column, *text, value.is_number());
    return {};
  }

  size_t width_;
  Table table_;
};

class VerticalFormat : public RowFormat {
 public:
  Result<void> add(Value row, std::string& out) override {
    out += fmt::format("-[ {} ]{}\n", ++rows_, std::string(20, '-'));
    if (!row.is_object()) return add_line("value", 0, row, out);
    size_t width = 0;
    for (const Member member : row.members()) width = std::max(width, display_width(member.name));
    for (const Member member : row.members())
      if (auto added = add_line(member.name, width, member.value, out); !added) return added;
    return {};
  }
  Result<void> finish(std::string&) override { return {}; }

 private:
  static Result<void> add_line(std::string_view name, size_t width, Value value, std::string& out) {
    auto text = cell_text(value);
    if (!text) return Failure(std::move(text.error()));
    const std::string shown = printable(name);
    out += shown + std::string(width - std::min(width, display_width(shown)), ' ') + "  " + printable(*text) +
           "\n";
    return {};
  }

  uint64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RowFormat> make_table_format(const FormatOptions& options) {
  return std::make_unique<TableFormat>(options.width);
}

std::unique_ptr<RowFormat> make_vertical_format() {
  return std::make_unique<VerticalFormat>();
}

}  // namespace quire::shell
