// A branch or leaf page, checked by itself: everything that LMDB takes for granted when it searches a page or
// moves its nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/file/page_layout.h"
#include "sql/error.h"

namespace quire::engine {

// The order of the keys in a tree: bytes, or, in the free list, numbers.
enum class KeyOrder : uint8_t { bytes, numbers };

// Below zero, zero, above, as memcmp(). Numbers are 8 bytes long.
int compare_keys(std::string_view a, std::string_view b, KeyOrder order);

// Read in place: `bytes` must stay.
class TreePage {
 public:
  TreePage() = default;

  bool is_branch() const { return is_branch_; }
  size_t nodes() const { return nodes_; }
  layout::Node node(size_t index) const {
    return {bytes_ + layout::load<uint16_t>(bytes_ + layout::kPageHeader + 2 * index)};
  }

 private:
  friend class TreePageChecker;
  TreePage(const char* bytes, size_t nodes, bool is_branch)
      : bytes_(bytes), nodes_(nodes), is_branch_(is_branch) {}

  const char* bytes_ = nullptr;
  size_t nodes_ = 0;
  bool is_branch_ = false;
};

// Keeps its memory from page to page.
class TreePageChecker {
 public:
  explicit TreePageChecker(uint32_t page_bytes) : page_bytes_(page_bytes), node_bytes_(page_bytes / 2) {}

  // corrupt, saying what is wrong: its number, its flags, the bounds of its nodes, the tiling of the page by
  // them, the order of their keys. Where keys and data lead to is not looked at.
  Result<TreePage> check(const char* bytes, uint64_t number, KeyOrder order);

 private:
  Result<size_t> check_header(const char* bytes, uint64_t number) const;
  // The bytes that the node takes in its page, made even; 0 if it does not fit between `at` and the end.
  size_t extent(const char* bytes, size_t at, bool is_branch) const;
  Result<void> check_tiling(const char* bytes, size_t nodes, bool is_branch);
  Result<void> check_order(const TreePage& page, KeyOrder order) const;

  uint32_t page_bytes_;
  std::vector<uint16_t> node_bytes_;  // by half the place; all zero between two pages
};

// The key sizes and data sizes that LMDB itself keeps to: longer data goes to pages of its own.
inline constexpr size_t kLongestLmdbKey = 511;
size_t longest_node(uint32_t page_bytes);

}  // namespace quire::engine
