// Reads pages through read(2): a page that is not there, or that the disk cannot give, is an error and no
// signal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/file/page_layout.h"
#include "sql/error.h"

namespace quire::engine {

// Told of so many bytes more of pages that long work has read or written; an error ends the work, which
// passes it on. May be null.
using OnBytes = std::function<Result<void>(uint64_t bytes)>;

class PageReader {
 public:
  // `bytes`: of the file. A last page that is cut off is not counted.
  PageReader(int descriptor, uint32_t page_bytes, uint64_t bytes, OnBytes on_bytes = nullptr)
      : descriptor_(descriptor),
        page_bytes_(page_bytes),
        pages_(bytes / page_bytes),
        on_bytes_(std::move(on_bytes)) {}

  // `count` pages from `number` on. corrupt if they are not all in the file; io; errors of on_bytes.
  Result<void> read(uint64_t number, uint64_t count, std::vector<char>& into) const;
  // The first bytes of a page.
  Result<void> read_head(uint64_t number, std::span<char> into) const;

  // Whether this thread has read from the disk since it was asked last: else all is in memory.
  bool is_reading_disk() const noexcept;
  // Has `count` pages from `number` on read from the disk meanwhile; any numbers.
  void ask_for(uint64_t number, uint64_t count) const noexcept;

  uint32_t page_bytes() const { return page_bytes_; }
  uint64_t pages() const { return pages_; }

 private:
  Result<void> read_at(uint64_t offset, std::span<char> into) const;

  int descriptor_;
  uint32_t page_bytes_;
  uint64_t pages_;
  OnBytes on_bytes_;
  mutable long known_blocks_ = 0;  // read by this thread
};

// Whether a page that LMDB shows, of which `begin` is the start, 4096 bytes of it at most, lies where its
// header says: a damaged one may say that it is another.
bool is_in_place(int descriptor, std::string_view begin, uint32_t page_bytes) noexcept;

// The meta page that begins there; nothing where there is none.
std::optional<layout::Meta> meta_at(int descriptor, uint64_t offset) noexcept;

// The bytes that a file has now.
Result<uint64_t> size_of_file(int descriptor, std::string_view path);

}  // namespace quire::engine
