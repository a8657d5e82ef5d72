// The temporary file of an import's sort: without a name, so that it ends with the process whatever happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sql/error.h"

namespace quire::engine {

// Appended to, then mapped and read. One thread at a time.
class SpillFile {
 public:
  explicit SpillFile(std::string folder) : folder_(std::move(folder)) {}
  SpillFile(SpillFile&& other) noexcept
      : folder_(std::move(other.folder_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_),
        bytes_(std::exchange(other.bytes_, nullptr)) {}
  SpillFile& operator=(SpillFile&&) = delete;
  ~SpillFile();

  // The first call makes the file.
  Result<void> append(std::string_view bytes);
  uint64_t size() const noexcept { return size_; }

  // After the last append. The bytes stay where they are until the file ends or they are given back. The
  // system reads nothing ahead by itself: it would read as much at each place as it does of a file that is
  // read from its start, and of many runs that is more than there is memory for.
  Result<void> map();
  const char* at(uint64_t offset) const noexcept { return bytes_ + offset; }
  // Hints, for the bytes from `begin` to before `end`: to have them read from the disk meanwhile, if they are
  // not in memory, and to have them at hand, for a thread that shall not wait for each page.
  void ask_for(uint64_t begin, uint64_t end) const noexcept;
  void bring_in(uint64_t begin, uint64_t end) const noexcept;
  // Gives the whole pages from `begin` to before `end` back to the machine, where the file system can: they
  // read as zero from here on.
  void give_back(uint64_t begin, uint64_t end) const noexcept;

 private:
  Result<void> make();
  void advise(uint64_t begin, uint64_t end, int advice) const noexcept;

  std::string folder_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  const char* bytes_ = nullptr;
};

// Collects small pieces into appends of a block, each at a multiple of its size. A small one: the system
// takes memory for its cache in pieces as large as what is written, and large pieces are seldom those that
// somebody has just given back, but such as nobody has used for long. In a virtual machine the host has to
// find them first: with 256 KB an import took 1.4 times as long.
class SpillWriter {
 public:
  explicit SpillWriter(SpillFile& file) : file_(file) { block_.reserve(kBlock); }
  Result<void> write(std::string_view bytes);
  // Must be called last.
  Result<void> finish();

 private:
  static constexpr size_t kBlock = size_t{16} << 10;
  SpillFile& file_;
  std::string block_;
};

}  // namespace quire::engine
