// Lines so many at a time: each batch of an import is a transaction of its own.
#pragma once

#include <cstdint>
#include <string>

#include "shell/import_source.h"

namespace quire::shell {

class LineBatches final : public ByteSource {
 public:
  LineBatches(ByteSource& source, uint64_t lines_of_batch)
      : source_(source), lines_of_batch_(lines_of_batch) {}

  // Whether there is more: the next bytes are those of another batch. Reads ahead to know; false also on a
  // failure, which failure() tells.
  bool begin_batch();
  uint64_t lines_read() const { return lines_read_; }
  // What the input begins with, after begin_batch(), past blanks and a byte order mark.
  char first() const;
  // 0 at the end of the batch.
  int64_t read(char* buffer, size_t capacity) override;

 private:
  bool fill();

  ByteSource& source_;
  uint64_t lines_of_batch_;
  uint64_t lines_left_ = 0;
  uint64_t lines_read_ = 0;
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace quire::shell
