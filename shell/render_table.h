// A table for a terminal. Columns are as wide as what they hold; where that is too much for the terminal, the
// widest give way and their cells fold over several lines; where even that is too much, each row becomes a
// list of names and values.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quire::shell {

class Table {
 public:
  // Columns come in the order in which they are first named. A row need not have all of them.
  void add_row() { rows_.emplace_back(); }
  void add_cell(std::string_view column, std::string_view text, bool is_number);

  size_t row_count() const { return rows_.size(); }
  std::string render(size_t width) const;

 private:
  struct Cell {
    size_t column;
    std::string text;
    bool is_number;
  };
  using Row = std::vector<Cell>;  // only the cells that there are: rows may
                                  // share few columns
  struct Column {
    std::string name;
    size_t width = 0;
    bool is_numbers = true;  // which are not folded
  };

  // False if there is no room for all columns.
  bool fit(std::vector<size_t>& widths, size_t room) const;
  std::string render_columns(const std::vector<size_t>& widths) const;
  std::string render_lists(size_t width) const;

  std::vector<Column> columns_;
  std::map<std::string, size_t, std::less<>> column_of_;
  std::vector<Row> rows_;
};

}  // namespace quire::shell
