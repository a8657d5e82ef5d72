#include "engine/file/tree_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace quire::engine {

using layout::kBranchPage;
using layout::kDataOnPages;
using layout::kLeafPage;
using layout::kNodeHeader;
using layout::kPageHeader;
using layout::load;
using layout::Node;

int compare_keys(std::string_view a, std::string_view b, KeyOrder order) {
  if (order == KeyOrder::bytes) return a.compare(b);
  const auto left = load<uint64_t>(a.data()), right = load<uint64_t>(b.data());
  return left < right ? -1 : left > right ? 1 : 0;
}

size_t longest_node(uint32_t page_bytes) {
  constexpr size_t kFewestNodes = 2;
  return (((page_bytes - kPageHeader) / kFewestNodes) & ~size_t{1}) - sizeof(uint16_t);
}

Result<TreePage> TreePageChecker::check(const char* bytes, uint64_t number, KeyOrder order) {
  QUIRE_ASSIGN(const size_t nodes, check_header(bytes, number));
  const TreePage page(bytes, nodes, layout::page_flags(bytes) == kBranchPage);
  auto tiled = check_tiling(bytes, nodes, page.is_branch());
  if (!tiled) {
    std::ranges::fill(node_bytes_, uint16_t{0});
    return std::unexpected(std::move(tiled.error()));
  }
  QUIRE_TRY(check_order(page, order));
  return page;
}

// The number of nodes.
Result<size_t> TreePageChecker::check_header(const char* bytes, uint64_t number) const {
  if (layout::page_number(bytes) != number)
    return fail(ErrorCode::corrupt, fmt::format("it says that it is page {}", layout::page_number(bytes)));
  const uint16_t flags = layout::page_flags(bytes);
  if (flags != kBranchPage && flags != kLeafPage)
    return fail(ErrorCode::corrupt, fmt::format("it is no page of a tree: its flags are {:#x}", flags));
  if (load<uint16_t>(bytes + 8) != 0)
    return fail(ErrorCode::corrupt, "its header is not zero where it should");
  const size_t lower = load<uint16_t>(bytes + 12), upper = load<uint16_t>(bytes + 14);
  if (lower < kPageHeader || lower % 2 != 0 || lower > upper || upper > page_bytes_)
    return fail(ErrorCode::corrupt,
                fmt::format("its table of nodes ends at {} and its nodes begin at {}", lower, upper));
  const size_t nodes = (lower - kPageHeader) / 2;
  const size_t fewest = flags == kBranchPage ? 2 : 1;
  if (nodes < fewest) return fail(ErrorCode::corrupt, fmt::format("it has {} nodes", nodes));
  return nodes;
}

size_t TreePageChecker::extent(const char* bytes, size_t at, bool is_branch) const {
  const size_t room = page_bytes_ - at;
  if (room < kNodeHeader) return 0;
  const Node node{bytes + at};
  size_t size = kNodeHeader + node.key_bytes();
  if (!is_branch) size += node.is_on_pages() ? sizeof(uint64_t) : node.data_bytes();
  size += size % 2;
  return size <= room ? size : 0;
}

// Each node's size is noted at its place; from the start of the nodes on, one must lead to the next, up to
// the page's end, so that each is met once.
Result<void> TreePageChecker::check_tiling(const char* bytes, size_t nodes, bool is_branch) {
  const size_t upper = load<uint16_t>(bytes + 14);
  for (size_t i = 0; i < nodes; ++i) {
    const size_t at = load<uint16_t>(bytes + kPageHeader + 2 * i);
    if (at % 2 != 0 || at < upper || at >= page_bytes_)
      return fail(ErrorCode::corrupt, fmt::format("node {} is said to be at {}", i, at));
    const size_t size = extent(bytes, at, is_branch);
    if (size == 0) return fail(ErrorCode::corrupt, fmt::format("node {} reaches past the page", i));
    if (node_bytes_[at / 2] != 0)
      return fail(ErrorCode::corrupt, fmt::format("node {} is where another one is", i));
    node_bytes_[at / 2] = static_cast<uint16_t>(size / 2);
  }
  size_t at = upper, met = 0;
  for (; at < page_bytes_ && node_bytes_[at / 2] != 0; ++met)
    at += 2 * size_t{std::exchange(node_bytes_[at / 2], uint16_t{0})};
  if (at != page_bytes_ || met != nodes)
    return fail(ErrorCode::corrupt, fmt::format("its nodes overlap or leave a gap before {}", at));
  return {};
}

Result<void> TreePageChecker::check_order(const TreePage& page, KeyOrder order) const {
  // What stands as key of a branch page's first node means nothing.
  const size_t first = page.is_branch() ? 1 : 0;
  for (size_t i = first; i < page.nodes(); ++i) {
    const size_t size = page.node(i).key_bytes();
    if (order == KeyOrder::numbers ? size != sizeof(uint64_t) : size == 0 || size > kLongestLmdbKey)
      return fail(ErrorCode::corrupt, fmt::format("the key of node {} has {} bytes", i, size));
    if (i > first && compare_keys(page.node(i - 1).key(), page.node(i).key(), order) >= 0)
      return fail(ErrorCode::corrupt, fmt::format("the key of node {} is not behind the one before it", i));
  }
  return {};
}

}  // namespace quire::engine
