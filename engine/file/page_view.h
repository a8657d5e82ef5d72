// A branch or leaf page where it lies in the map of a snapshot. Nobody has checked it (tree_page.h does):
// what is read of it stays within it, whatever it says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/file/key_order.h"
#include "engine/file/page_layout.h"
#include "engine/file/table.h"
#include "sql/value/prefetch.h"

namespace quire::engine {

inline constexpr size_t kMemoryLine = 64;

// Has the processor bring memory into its caches, for a look at it soon: lines from the one with that byte
// on. Any address will do.
inline void ask_for(const char* at, size_t lines = 1) noexcept {
  for (size_t line = 0; line < lines; ++line)
    sql::prefetch(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(at) + line * kMemoryLine));
}

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
  // Where a node lies in the page, and `key_bytes` of its key; the page's start, if that cannot be.
  size_t place(size_t number, size_t key_bytes = 0) const noexcept {
    const size_t place = layout::load<uint16_t>(page_ + layout::kPageHeader + 2 * number);
    return place + layout::kNodeHeader + key_bytes <= bytes_ ? place : 0;
  }
  layout::Node node(size_t number, size_t key_bytes = 0) const noexcept {
    return {page_ + place(number, key_bytes)};
  }
  // Asks for the memory of a node, whose place is not checked: nothing is read there.
  void ask_for_node(size_t number, size_t lines) const noexcept {
    ask_for(page_ + layout::load<uint16_t>(page_ + layout::kPageHeader + 2 * number), lines);
  }
  Bytes key(size_t number) const noexcept {
    const layout::Node found = node(number);
    const auto room = static_cast<size_t>(page_ + bytes_ - found.at) - layout::kNodeHeader;
    return {found.at + layout::kNodeHeader, std::min(found.key_bytes(), room)};
  }
  // The last node whose key is not greater, or the first one, whose key a branch page leaves out.
  size_t find(Bytes wanted) const noexcept { return find(wanted, 0, size_); }
  // It is known to lie there: from `low` on, before `high`.
  size_t find(Bytes wanted, size_t low, size_t high) const noexcept {
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      (is_at_most(key(middle), wanted) ? low : high) = middle;
    }
    return low;
  }

 private:
  const char* page_;
  size_t bytes_;
  size_t size_ = 0;
};

}  // namespace quire::engine
