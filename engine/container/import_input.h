// The input of an import as JSON texts, one for each item: the lines of NDJSON, or the elements of one JSON
// array, told apart by the first character. Memory is one block, or the longest text.
//
// Elements are cut one by one. Lines are handed out by the stretch, read straight into the buffer of whoever
// cuts it, beside others, with a LineCutter.
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

// Whole lines of the input as they came. Keeps its buffer.
struct ImportLines {
  static constexpr size_t kBytes = size_t{4} << 20;

  std::vector<char> buffer;
  size_t read = 0;  // bytes in the buffer
  size_t size = 0;  // of these, once the stretch is whole: its lines
  Position start;   // of the first line
  uint32_t newlines = 0;
  bool is_front = false;  // of one line that is longer than any text may be: the rest is passed over
  bool is_last = false;
};

// Cuts lines into texts. Blank lines and CRLF are left out.
class LineCutter {
 public:
  LineCutter(const ImportLines& lines, size_t longest_text);
  // False at the end.
  bool next(ImportText& text);

 private:
  std::string_view rest_;
  Position place_;
  size_t longest_text_;
  bool is_front_;
};

class ImportInput {
 public:
  // Texts longer than `longest_text` bytes are passed over.
  ImportInput(const InputReader& read, size_t longest_text, uint32_t first_line = 1)
      : read_(read), longest_text_(longest_text), place_{0, first_line, 1} {}

  // Comes first: passes over a byte order mark and white space. What a text holds is for others to judge; an
  // error (io; invalid_json between the elements of an array) is final.
  Result<void> start();
  bool is_array() const noexcept { return is_array_; }
  // Of an array: false at the end.
  Result<bool> next_element(ImportText& text);
  // Of lines: begins a stretch, then reads once more into it; true when it is whole.
  Result<void> begin_lines(ImportLines& lines);
  Result<bool> read_lines(ImportLines& lines);
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

  Result<void> pass_over_line();
  void end_lines(ImportLines& lines, size_t end);
  Result<bool> begin_element();
  Result<void> read_element(ImportText& text);

  // At most `room` bytes; 0 at the end of the input.
  Result<size_t> read(char* buffer, size_t room);
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
  Position place_;  // of begin_
  bool is_array_ = false;
  bool is_within_line_ = false;  // behind the front of one that is too long
  bool at_end_ = false;
  uint64_t elements_ = 0;
};

}  // namespace quire::engine
