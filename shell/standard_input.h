// Standard input, or a script's file, read once for all who want it: the prompt by the character, a script by
// the line, `.import
// -` by the block. They share one buffer, so that what one of them read ahead is not lost to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quire::shell {

class StandardInput {
 public:
  explicit StandardInput(int descriptor = 0);

  // Bytes read, not beyond the line end that takes `lines` to 0: it counts down. 0 at the end; -1 with errno
  // on failure, EINTR for a Ctrl-C while it waited.
  int64_t read_lines(char* buffer, size_t capacity, uint64_t& lines);
  bool is_terminal() const;
  // Without its line end; nothing at the end of input, and on failure. What is longer than any line of a
  // script comes in parts.
  std::optional<std::string> read_line();
  // As errno says, why no more could be read; 0 where it is the end, or a Ctrl-C.
  int failure() const { return failure_; }
  // The next byte, or -1.
  int read_byte();
  // Whether a read would find something at once, as it does while pasted text is coming in.
  bool has_more() const;

 private:
  // Reads what there is into the empty buffer.
  int64_t fill();

  int descriptor_;
  std::vector<char> buffer_;
  size_t at_ = 0;
  size_t end_ = 0;
  int failure_ = 0;
};

}  // namespace quire::shell
