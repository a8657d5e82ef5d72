// The cells of CSV and TSV. What a cell is can be told from how it is written: bare `12`, `true`, `null` are
// that value, in quotes they are strings; a bare empty cell is nothing at all, `""` the empty string; arrays
// and objects stand in quotes as JSON. Other programs read the same texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quire::shell {

// In quotes, its own doubled.
std::string quoted_cell(std::string_view text);
// A string, in quotes where it would else be read as something else.
std::string delimited_string(std::string_view text, char separator);
// The name of a column.
std::string delimited_name(std::string_view text, char separator);

// Whether the text is a number as JSON has them.
bool is_json_number(std::string_view text);

struct DelimitedCell {
  std::string text;
  bool is_quoted = false;
  bool is_cut = false;  // the text ends before its closing quote
};

// Takes records apart; a quoted cell may hold line ends.
class DelimitedReader {
 public:
  explicit DelimitedReader(char separator) : separator_(separator) {}

  // Moves over the next record of `text`; false if it may not be complete, and `at` stays, unless `is_end`.
  bool next(std::string_view text, size_t& at, bool is_end, std::vector<DelimitedCell>& record) const;

 private:
  char separator_;
};

}  // namespace quire::shell
