// A branch or leaf page where it lies in the map of a snapshot. Nobody has checked it (tree_page.h does):
// what is read of it stays within it, whatever it says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/file/page_layout.h"
#include "engine/file/table.h"

namespace quire::engine {

class PageView {
 public:
  PageView(const char* page, size_t bytes) : page_(page), bytes_(bytes) {
    const size_t table_end = layout::load<uint16_t>(page + 12);
    if (table_end > layout::kPageHeader && table_end <= bytes) size_ = (table_end - layout::kPageHeader) / 2;
  }
  // The page that a byte lies in; `bytes` is a power of two.
  static PageView around(const char* byte, size_t bytes) {
    return {byte - (reinterpret_cast<uintptr_t>(byte) & (bytes - 1)), bytes};
  }

  const char* begin() const noexcept { return page_; }
  size_t size() const noexcept { return size_; }
  // Where a node lies in the page; the page's start, if that cannot be.
  size_t place(size_t number) const noexcept {
    const size_t place = layout::load<uint16_t>(page_ + layout::kPageHeader + 2 * number);
    return place + layout::kNodeHeader <= bytes_ ? place : 0;
  }
  layout::Node node(size_t number) const noexcept { return {page_ + place(number)}; }
  Bytes key(size_t number) const noexcept {
    const layout::Node found = node(number);
    const auto room = static_cast<size_t>(page_ + bytes_ - found.at) - layout::kNodeHeader;
    return {found.at + layout::kNodeHeader, std::min(found.key_bytes(), room)};
  }
  // The last node whose key is not greater, or the first one, whose key a branch page leaves out.
  size_t find(Bytes wanted) const noexcept {
    size_t low = 0, high = size_;
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      (key(middle) <= wanted ? low : high) = middle;
    }
    return low;
  }

 private:
  const char* page_;
  size_t bytes_;
  size_t size_ = 0;
};

}  // namespace quire::engine
