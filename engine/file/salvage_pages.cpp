#include "engine/file/salvage_pages.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace quire::engine {

using layout::kNodeHeader;
using layout::kPageHeader;
using layout::Node;

bool is_missing(const Error& error) noexcept {
  return error.code == ErrorCode::corrupt || error.code == ErrorCode::io;
}

// ---- A tree

Result<uint64_t> SalvageWalk::run(uint64_t root, const OnNode& on_node) {
  uint64_t lost = 0;
  if (root == layout::kNoPage) return lost;
  if (root >= reader_.pages()) return uint64_t{1};
  to_visit_ = {root};
  seen_[root] = true;
  while (!to_visit_.empty()) {
    const uint64_t number = to_visit_.back();
    to_visit_.pop_back();
    QUIRE_TRY(visit(number, on_node, lost));
  }
  return lost;
}

Result<void> SalvageWalk::visit(uint64_t number, const OnNode& on_node, uint64_t& lost) {
  if (auto read = reader_.read(number, 1, page_); !read) {
    ++lost;
    return is_missing(read.error()) ? Result<void>() : read;
  }
  const auto page = checker_.check(page_.data(), number, KeyOrder::bytes);
  if (!page) {
    ++lost;
    return guess_nodes(on_node);
  }
  if (!page->is_branch()) {
    for (size_t i = 0; i < page->nodes(); ++i) QUIRE_TRY(on_node(page->node(i), true));
    return {};
  }
  for (size_t i = page->nodes(); i-- > 0;) {
    const uint64_t child = page->node(i).child();
    // A page that two lead to belongs to one of them at most: it is read once.
    if (child >= reader_.pages() || child < layout::kMetaPages)
      ++lost;
    else if (!seen_[child])
      to_visit_.push_back(child);
    if (child < seen_.size()) seen_[child] = true;
  }
  return {};
}

Result<void> SalvageWalk::guess_nodes(const OnNode& on_node) {
  for (size_t at = kPageHeader; at + kNodeHeader < page_.size(); at += 2) {
    const Node node{page_.data() + at};
    const size_t size = kNodeHeader + node.key_bytes() + (node.is_on_pages() ? 8 : node.data_bytes());
    const bool is_possible = node.key_bytes() != 0 && node.key_bytes() <= kLongestLmdbKey &&
                             (node.flags() == 0 || node.is_on_pages()) && node.data_bytes() != 0 &&
                             size <= page_.size() - at;
    if (is_possible) QUIRE_TRY(on_node(node, false));
  }
  return {};
}

Result<bool> SalvageWalk::read_leaf(uint64_t number, const OnNode& on_node) {
  if (auto read = reader_.read(number, 1, page_); !read)
    return is_missing(read.error()) ? Result<bool>(false) : std::unexpected(std::move(read.error()));
  const auto page = checker_.check(page_.data(), number, KeyOrder::bytes);
  if (!page) {
    QUIRE_TRY(guess_nodes(on_node));
    return false;
  }
  if (page->is_branch()) return false;
  for (size_t i = 0; i < page->nodes(); ++i) QUIRE_TRY(on_node(page->node(i), true));
  return true;
}

// ---- Data

Result<void> SalvageData::give(const Node& node, bool is_sound, const PageSalvage::Visitor& visitor) {
  if (!node.is_on_pages())
    return visitor({node.key(), {node.data(), node.data_bytes()}, is_sound && node.flags() == 0});
  const uint64_t first = node.first_page();
  const uint64_t count = layout::overflow_pages(node.data_bytes(), reader_.page_bytes());
  if (auto read = reader_.read(first, count, data_); !read)
    return is_missing(read.error()) ? Result<void>() : read;
  const bool is_run =
      layout::page_number(data_.data()) == first && layout::page_flags(data_.data()) == layout::kOverflowPage;
  for (uint64_t page = first; is_run && page < first + count; ++page) seen_[page] = true;
  return visitor({node.key(), {data_.data() + kPageHeader, node.data_bytes()}, is_sound && is_run});
}

Result<bool> SalvageData::give_run(uint64_t first, const PageSalvage::Visitor& visitor) {
  std::array<char, kPageHeader> head;
  if (auto read = reader_.read_head(first, head); !read)
    return is_missing(read.error()) ? Result<bool>(false) : std::unexpected(std::move(read.error()));
  const uint64_t count = layout::overflow_run(head.data());
  if (layout::page_number(head.data()) != first || layout::page_flags(head.data()) != layout::kOverflowPage ||
      count == 0)
    return false;
  if (auto read = reader_.read(first, count, data_); !read)
    return is_missing(read.error()) ? Result<bool>(false) : std::unexpected(std::move(read.error()));
  QUIRE_TRY(visitor({{}, Bytes(data_.data(), data_.size()).substr(kPageHeader), false}));
  return true;
}

}  // namespace quire::engine
