// The input of an import as JSON texts, one for each item: the lines of NDJSON, or the elements of one JSON
// array, told apart by the first character. Memory is one block, or the longest text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/container/import.h"
#include "sql/error.h"

namespace quire::engine {

struct ImportText {
  std::string_view json;     // good until the next call
  Position start;            // within the whole input
  uint64_t element = 0;      // its number in the array, from 1; 0 for a line
  bool is_too_long = false;  // it was passed over; json is empty
};

class ImportInput {
 public:
  // Texts longer than `longest_text` bytes are passed over.
  ImportInput(const InputReader& read, size_t longest_text) : read_(read), longest_text_(longest_text) {}

  // False at the end. Blank lines, a byte order mark and CRLF are left out. What a text holds is for others
  // to judge; an error (io; invalid_json between the elements of an array) is final.
  Result<bool> next(ImportText& text);
  uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  // The search for the end of a JSON value, which may go on in the next block. Counts brackets outside of
  // strings.
  struct ValueScan {
    size_t done = 0;  // bytes from the front of what is there
    size_t depth = 0;
    bool in_string = false;
    bool is_escaped = false;
    bool in_scalar = false;  // a number, true, ...: ends before a comma, a bracket or white space

    // True at the end of the value, with `done` behind it.
    bool go_on(std::string_view bytes);
  };

  Result<void> start();
  Result<bool> next_line(ImportText& text);
  // The place of the next newline, counted from the front; nothing if the line ends with the input or is too
  // long.
  Result<std::optional<size_t>> find_newline();
  Result<void> pass_over_line();
  Result<bool> next_element(ImportText& text);
  Result<bool> begin_element();
  Result<void> read_element(ImportText& text);

  std::string_view ahead() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }
  // Reads more behind what is there; false at the end of the input.
  Result<bool> fill();
  // The next byte that is no white space, without taking it; nothing at the end.
  Result<std::optional<char>> peek();
  void take(size_t bytes);
  std::unexpected<Error> misplaced(std::string_view what) const;

  const InputReader& read_;
  size_t longest_text_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of the bytes not yet taken
  size_t end_ = 0;
  uint64_t bytes_read_ = 0;
  Position place_{0, 1, 1};  // of begin_
  bool is_started_ = false;
  bool is_array_ = false;
  bool at_end_ = false;
  uint64_t elements_ = 0;
};

}  // namespace quire::engine
