// The temporary file of an import's sort: without a name, so that it ends with the process whatever happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/error.h"

namespace quire::engine {

// Made at the first append. One thread at a time appends; reads of what was appended before may run beside
// it.
class SpillFile {
 public:
  explicit SpillFile(std::string folder) : folder_(std::move(folder)) {}
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  Result<void> append(std::string_view bytes);
  Result<void> read(uint64_t offset, std::span<char> bytes) const;
  uint64_t size() const noexcept { return size_; }

 private:
  Result<void> make();

  std::string folder_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

// Collects small pieces into appends of a block.
class SpillWriter {
 public:
  explicit SpillWriter(SpillFile& file) : file_(file) { block_.reserve(kBlock); }
  Result<void> write(std::string_view bytes);
  // Must be called last.
  Result<void> finish();

 private:
  static constexpr size_t kBlock = size_t{1} << 20;
  SpillFile& file_;
  std::string block_;
};

// Reads a stretch of the file from its front, a block at a time.
class SpillReader {
 public:
  SpillReader(const SpillFile& file, uint64_t begin, uint64_t end, size_t block)
      : file_(&file), at_(begin), end_(end), block_size_(block) {}

  bool at_end() const noexcept { return next_ == block_.size() && at_ == end_; }
  // The next `size` bytes, good until the next call.
  Result<std::string_view> read(size_t size);

 private:
  const SpillFile* file_;
  uint64_t at_;  // of the file: what is not in the block yet
  uint64_t end_;
  size_t block_size_;
  std::vector<char> block_;
  size_t next_ = 0;  // in the block
};

}  // namespace quire::engine
