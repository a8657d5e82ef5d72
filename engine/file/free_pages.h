// The pages that a commit has free, read without LMDB and without trust.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/file/page_layout.h"
#include "engine/file/page_reader.h"
#include "engine/file/tree_page.h"
#include "sql/error.h"

namespace quire::engine {

class FreePages {
 public:
  explicit FreePages(const PageReader& reader) : reader_(reader), checker_(reader.page_bytes()) {}

  // Those from page `from` on, each once, ascending. corrupt if a part of the list is missing or damaged; io.
  Result<std::vector<uint64_t>> collect(uint64_t root, uint64_t from);

 private:
  Result<void> visit(const TreePage& page);
  // A list: how many, then the page numbers.
  Result<void> take(const char* list, uint64_t size);

  const PageReader& reader_;
  TreePageChecker checker_;
  uint64_t from_ = 0;
  std::vector<uint64_t> found_;
  std::vector<uint64_t> to_visit_;
  std::vector<char> data_;
};

}  // namespace quire::engine
