// The cells of CSV and TSV. What a cell is can be told from how it is written: bare `12`, `true`, `null` are
// that value, in quotes they are strings, as is a whole number whose digits would be lost; a bare empty cell
// is nothing at all, `""` the empty string; arrays and objects stand in quotes as JSON. Other programs read
// the same texts.
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
// Whether such a number is a whole one of more digits than an item's number keeps: those of a card, say.
bool has_too_many_digits(std::string_view number);

struct DelimitedCell {
  std::string text;
  bool is_quoted = false;
  bool is_cut = false;     // the text ends before its closing quote
  bool is_spoilt = false;  // something follows that quote
};

// Takes records apart; a quoted cell may hold line ends. Of a text that comes in parts it reads each byte
// once, however long a record is.
class DelimitedReader {
 public:
  explicit DelimitedReader(char separator) : separator_(separator) {}

  // Moves over the next record. False where the text ends before the record does: what has been moved over is
  // kept for the call that has the text from `at` on, which may be a last quote. `is_end`: no text comes
  // after this one; then false says that there is no record.
  bool next(std::string_view text, size_t& at, bool is_end, std::vector<DelimitedCell>& record);
  // Of the record that is being read, as far as it is known.
  size_t bytes_read() const noexcept { return bytes_read_; }
  // Ends of lines in all that has been moved over, those within cells too.
  uint64_t lines_read() const noexcept { return lines_read_; }

 private:
  void end_cell();

  char separator_;
  // Of the record that is being read.
  std::vector<DelimitedCell> cells_;
  DelimitedCell cell_;
  size_t bytes_read_ = 0;
  bool is_open_ = false;  // within quotes
  uint64_t lines_read_ = 0;
};

}  // namespace quire::shell
