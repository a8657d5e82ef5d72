// Something that is wrong with a page of the file.
#pragma once

#include <cstdint>
#include <string>

namespace quire::engine {

struct PageFault {
  uint64_t page = 0;
  std::string table;  // empty: the tree of tables, the free list, or the file as a whole
  std::string what;
};

// "page 17 of table 'c1/items'"
std::string place_of(const PageFault& fault);

}  // namespace quire::engine
