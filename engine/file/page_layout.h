// The bytes of LMDB's pages, as version 1 of its format (LMDB 0.9) has them, all little-endian. Quire's own
// look at a file, before LMDB is trusted with it or where LMDB cannot be, goes by these alone.
//
//   page      0..7 its number | 8..9 zero | 10..11 flags | 12..13 end of the node table | 14..15 start of the
//             nodes | 16.. the node table: the place of each node, 2 bytes, in the order of the keys
//   overflow  the same first 12 bytes | 12..15 how many pages belong together | 16.. data
//   meta      pages 0 and 1, behind the header: 0..3 magic | 4..7 version | 8..23 map | 24..71 the free
//             list's tree (its first 4 bytes: the page size) | 72..119 the main tree | 120..127 last page |
//             128..135 transaction
//   tree      0..3 zero | 4..5 flags | 6..7 depth | 8..31 branch, leaf and overflow pages | 32..39 entries |
//             40..47 root
//   node      0..3 size of the data (leaf), or low part of a page number (branch) | 4..5 flags (leaf), or
//             high part (branch) | 6..7 size of the key | key | data, or the number of its first overflow
//             page
//
// Nodes fill a page from their start to its end without gaps, each at an even place. The main tree's entries
// are the named tables: a tree each. The free list's are transactions (8 bytes) with a count and page
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace quire::engine::layout {

constexpr uint32_t kMagic = 0xBEEFC0DE;
constexpr uint32_t kLmdbVersion = 1;
constexpr size_t kPageHeader = 16;
constexpr size_t kMetaBytes = 136;
constexpr size_t kTreeBytes = 48;
constexpr size_t kNodeHeader = 8;
constexpr uint64_t kMetaPages = 2;
// LMDB has commit N there. Both pages are of one commit in a new file, and where an anchor was gone back to.
constexpr uint64_t meta_page_of(uint64_t commit) noexcept {
  return commit % kMetaPages;
}
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr uint32_t kUsualPage = 4096;
constexpr uint32_t kSmallestPage = 256;
constexpr uint32_t kLargestPage = 32768;
constexpr uint64_t kMostCommits = ~uint64_t{0} / 2;  // more than anybody makes
constexpr size_t kMostDepth = 32;                    // of a tree: LMDB's cursors have so many places

constexpr uint16_t kBranchPage = 1, kLeafPage = 2, kOverflowPage = 4, kMetaPage = 8;
constexpr uint16_t kDataOnPages = 1, kDataIsTree = 2;
constexpr uint16_t kIntegerKeys = 8;  // of the free list's tree

template <typename Number>
Number load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

struct Tree {
  uint16_t flags = 0;
  uint16_t depth = 0;
  uint64_t branch_pages = 0;
  uint64_t leaf_pages = 0;
  uint64_t overflow_pages = 0;
  uint64_t entries = 0;
  uint64_t root = kNoPage;
};

inline Tree parse_tree(const char* at) {
  return {.flags = load<uint16_t>(at + 4),
          .depth = load<uint16_t>(at + 6),
          .branch_pages = load<uint64_t>(at + 8),
          .leaf_pages = load<uint64_t>(at + 16),
          .overflow_pages = load<uint64_t>(at + 24),
          .entries = load<uint64_t>(at + 32),
          .root = load<uint64_t>(at + 40)};
}

struct Meta {
  uint32_t page_bytes = 0;
  Tree free_list;
  Tree main;
  uint64_t last_page = 0;
  uint64_t transaction = 0;
};

// Of the kMetaBytes bytes that a meta page has behind its header; nothing if that is not what they are.
inline std::optional<Meta> parse_meta_content(const char* meta) {
  if (load<uint32_t>(meta) != kMagic || load<uint32_t>(meta + 4) != kLmdbVersion) return std::nullopt;
  const Meta parsed{.page_bytes = load<uint32_t>(meta + 24),
                    .free_list = parse_tree(meta + 24),
                    .main = parse_tree(meta + 72),
                    .last_page = load<uint64_t>(meta + 120),
                    .transaction = load<uint64_t>(meta + 128)};
  const bool is_power_of_two = (parsed.page_bytes & (parsed.page_bytes - 1)) == 0;
  if (!is_power_of_two || parsed.page_bytes < kSmallestPage || parsed.page_bytes > kLargestPage)
    return std::nullopt;
  return parsed;
}
// Of the first kPageHeader + kMetaBytes bytes of a page; nothing if it is no meta page.
inline std::optional<Meta> parse_meta(const char* page) {
  if ((load<uint16_t>(page + 10) & kMetaPage) == 0) return std::nullopt;
  return parse_meta_content(page + kPageHeader);
}

// Of a page's header.
inline uint64_t page_number(const char* page) {
  return load<uint64_t>(page);
}
inline uint16_t page_flags(const char* page) {
  return load<uint16_t>(page + 10);
}
inline uint32_t overflow_run(const char* page) {
  return load<uint32_t>(page + 12);
}

// A node, read where it lies. Whoever asks has checked that it is within its page.
struct Node {
  const char* at = nullptr;

  uint32_t data_bytes() const { return load<uint32_t>(at); }
  uint16_t flags() const { return load<uint16_t>(at + 4); }
  size_t key_bytes() const { return load<uint16_t>(at + 6); }
  uint64_t child() const { return data_bytes() | uint64_t{flags()} << 32; }
  std::string_view key() const { return {at + kNodeHeader, key_bytes()}; }
  const char* data() const { return at + kNodeHeader + key_bytes(); }
  bool is_on_pages() const { return flags() == kDataOnPages; }
  uint64_t first_page() const { return load<uint64_t>(data()); }
};

// How many pages data of that size takes on overflow pages.
inline uint64_t overflow_pages(uint64_t bytes, uint32_t page_bytes) {
  return (kPageHeader - 1 + bytes) / page_bytes + 1;
}

}  // namespace quire::engine::layout
