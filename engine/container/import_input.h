// The input of an import as JSON texts, one for each item: the lines of NDJSON, or the elements of one JSON array, told
// apart by the first character. Memory is one block, or the longest text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/container/import.h"
#include "sql/error.h"

namespace quire::engine {

struct ImportText {
  std::string_view json;  // good until the next call
  uint64_t line = 0;      // where it starts, from 1
  uint64_t column = 0;    // in bytes, from 1
};

class ImportInput {
 public:
  // Texts longer than `longest_text` bytes are refused.
  ImportInput(const InputReader& read, size_t longest_text) : read_(read), longest_text_(longest_text) {}

  // False at the end. Blank lines, a byte order mark and CRLF are passed over. After an error of one text (too_large)
  // the next call goes on behind it; other errors (io, invalid_json between the elements of an array) are final.
  Result<bool> next(ImportText& text);
  uint64_t bytes_read() const noexcept { return bytes_read_; }

 private:
  Result<void> start();
  Result<bool> next_line(ImportText& text);
  Result<bool> next_element(ImportText& text);
  // Reads more behind what is there; false at the end of the input.
  Result<bool> fill();
  // The next byte that is no white space, without taking it; nothing at the end.
  Result<std::optional<char>> peek();
  void take(size_t bytes);
  // The length of the JSON value that starts at the front; 0 if its end has not been read yet.
  size_t scan_value();
  Error misplaced(std::string_view what) const;

  const InputReader& read_;
  size_t longest_text_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of the bytes not yet taken
  size_t end_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t line_ = 1;
  uint64_t column_ = 1;
  bool is_started_ = false;
  bool is_array_ = false;
  bool is_first_element_ = true;
  bool at_end_ = false;
  // Of scan_value: where it stopped.
  size_t scanned_ = 0;
  size_t depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
};

}  // namespace quire::engine
