#include "engine/file/page_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace quire::engine {

using layout::kMostDepth;
using layout::kNoPage;
using layout::Node;
using layout::Tree;

std::string place_of(const PageFault& fault) {
  if (fault.table.empty()) return fmt::format("page {}", fault.page);
  return fmt::format("page {} of table '{}'", fault.page, fault.table);
}

void PageWalk::add(uint64_t page, std::string what) {
  if (!is_done()) faults_.push_back({page, name_, std::move(what)});
}

Result<void> PageWalk::noted(Result<void> step, uint64_t page) {
  if (step || step.error().code != ErrorCode::corrupt) return step;
  add(page, std::move(step.error().message));
  return {};
}

Result<std::vector<PageFault>> PageWalk::run() {
  // Pages may lie past the end of the file as long as they are free, and the list that says so is in the
  // file.
  if (meta_.last_page / reader_.page_bytes() > reader_.pages()) {
    add(0, fmt::format("the last page is said to be {}", meta_.last_page));
    return std::move(faults_);
  }
  claimed_.assign(std::max(meta_.last_page + 1, reader_.pages()), false);
  levels_.resize(kMostDepth);
  QUIRE_TRY(walk_tree(Kind::main, "", meta_.main));
  for (NamedTree& table : tables_) {
    if (is_done()) break;
    QUIRE_TRY(walk_tree(Kind::table, std::move(table.name), table.tree));
  }
  if (!is_done()) QUIRE_TRY(walk_tree(Kind::free_list, "", meta_.free_list));
  return std::move(faults_);
}

// ---- Trees

Result<void> PageWalk::walk_tree(Kind kind, std::string name, const Tree& tree) {
  kind_ = kind;
  name_ = std::move(name);
  const size_t faults_before = faults_.size();
  const uint64_t page = tree.root == kNoPage ? 0 : tree.root;
  Tree found{.root = tree.root};
  auto walked = check_root(tree);
  if (walked && tree.root != kNoPage) walked = walk_levels(tree, found);
  QUIRE_TRY(noted(std::move(walked), page));
  if (faults_.size() == faults_before && options_.extent == Options::Extent::whole) compare(tree, found);
  return {};
}

Result<void> PageWalk::check_root(const Tree& tree) {
  // The free list's flags stand beside those that the file was opened with.
  const uint16_t wanted = kind_ == Kind::free_list ? layout::kIntegerKeys : 0;
  const uint16_t ignored = kind_ == Kind::free_list ? 0x4000 : 0;
  if ((tree.flags & ~ignored) != wanted)
    return fail(ErrorCode::corrupt, fmt::format("a tree with unknown flags {:#x} begins here", tree.flags));
  if (tree.depth > kMostDepth || (tree.depth == 0) != (tree.root == kNoPage))
    return fail(ErrorCode::corrupt, fmt::format("a tree that is {} pages deep begins here", tree.depth));
  return {};
}

Result<void> PageWalk::walk_levels(const Tree& tree, Tree& found) {
  levels_[0].has_low = levels_[0].has_high = false;
  QUIRE_TRY(enter(0, tree.root, tree, found));
  if (kind_ != Kind::main && options_.extent == Options::Extent::roots) return {};
  for (size_t depth = 0; !is_done();) {
    Level& level = levels_[depth];
    if (!level.page.is_branch() || level.next == level.page.nodes()) {
      if (depth-- == 0) break;
      continue;
    }
    ask_ahead(level);
    narrow(level, levels_[depth + 1]);
    const uint64_t child = level.page.node(level.next++).child();
    auto entered = enter(depth + 1, child, tree, found);
    if (entered)
      ++depth;
    else
      QUIRE_TRY(noted(std::move(entered), child));
  }
  return {};
}

// Pages that follow each other in a tree lie anywhere, and the disk gives many at once sooner than one after
// the other: those behind the node to look at are asked for, as many as lie in a row by one call.
void PageWalk::ask_ahead(const Level& level) const {
  constexpr size_t kStep = 32;
  if (level.next % kStep != 0 || !reader_.is_reading_disk()) return;
  const size_t end = std::min(level.next + 2 * kStep, level.page.nodes());
  uint64_t first = 0, count = 0;
  for (size_t i = level.next == 0 ? 0 : level.next + kStep; i < end; ++i) {
    const uint64_t child = level.page.node(i).child();
    if (child != first + count) {
      if (count > 0) reader_.ask_for(first, count);
      first = child;
      count = 0;
    }
    ++count;
  }
  if (count > 0) reader_.ask_for(first, count);
}

// The part of the keys that the node to look at leads to.
void PageWalk::narrow(const Level& parent, Level& child) const {
  const bool is_first = parent.next == 0, is_last = parent.next + 1 == parent.page.nodes();
  child.has_low = parent.has_low || !is_first;
  child.low = is_first ? parent.low : parent.page.node(parent.next).key();
  child.has_high = parent.has_high || !is_last;
  child.high = is_last ? parent.high : parent.page.node(parent.next + 1).key();
}

Result<void> PageWalk::enter(size_t depth, uint64_t number, const Tree& tree, Tree& found) {
  Level& level = levels_[depth];
  QUIRE_TRY(claim(number));
  QUIRE_TRY(reader_.read(number, 1, level.bytes));
  QUIRE_ASSIGN(level.page, checker_.check(level.bytes.data(), number, order()));
  level.number = number;
  level.next = 0;
  if (level.page.is_branch() != (depth + 1 < tree.depth))
    return fail(ErrorCode::corrupt,
                fmt::format("a {} page cannot be at depth {} of {}",
                            level.page.is_branch() ? "branch" : "leaf", depth + 1, tree.depth));
  QUIRE_TRY(check_bounds(level));
  found.depth = tree.depth;
  ++(level.page.is_branch() ? found.branch_pages : found.leaf_pages);
  return level.page.is_branch() ? Result<void>() : check_leaf(level, found);
}

// Keys are in their order within the page: the first and the last are enough.
Result<void> PageWalk::check_bounds(const Level& level) const {
  const size_t first = level.page.is_branch() ? 1 : 0;
  const std::string_view least = level.page.node(first).key();
  const std::string_view greatest = level.page.node(level.page.nodes() - 1).key();
  // A branch's first child holds the keys before its first key: there must be room for one.
  const int lowest = level.page.is_branch() ? 1 : 0;
  if ((level.has_low && compare_keys(least, level.low, order()) < lowest) ||
      (level.has_high && compare_keys(greatest, level.high, order()) >= 0))
    return fail(ErrorCode::corrupt, "its keys are not between those of the page that leads to it");
  return {};
}

void PageWalk::compare(const Tree& said, const Tree& found) {
  const std::array<std::pair<std::string_view, std::pair<uint64_t, uint64_t>>, 4> counts = {
      {{"branch pages", {said.branch_pages, found.branch_pages}},
       {"leaf pages", {said.leaf_pages, found.leaf_pages}},
       {"overflow pages", {said.overflow_pages, found.overflow_pages}},
       {"entries", {said.entries, found.entries}}}};
  for (const auto& [what, numbers] : counts)
    if (numbers.first != numbers.second)
      add(said.root == kNoPage ? 0 : said.root,
          fmt::format("its tree is said to have {} {}; there are {}", numbers.first, what, numbers.second));
}

// ---- Leaves

Result<void> PageWalk::check_leaf(const Level& level, Tree& found) {
  for (size_t i = 0; i < level.page.nodes() && !is_done(); ++i) {
    auto checked = check_data(level.page.node(i), found);
    if (!checked && checked.error().code == ErrorCode::corrupt)
      checked.error().message = fmt::format("the data of node {}: {}", i, checked.error().message);
    QUIRE_TRY(noted(std::move(checked), level.number));
  }
  found.entries += level.page.nodes();
  return {};
}

Result<void> PageWalk::check_data(const Node& node, Tree& found) {
  if (kind_ == Kind::main && node.flags() == layout::kDataIsTree) {
    if (node.data_bytes() != layout::kTreeBytes) return fail(ErrorCode::corrupt, "it is no table");
    tables_.push_back({std::string(node.key()), layout::parse_tree(node.data())});
    return {};
  }
  if (node.flags() != 0 && !node.is_on_pages())
    return fail(ErrorCode::corrupt, fmt::format("it has unknown flags {:#x}", node.flags()));
  if (node.is_on_pages())
    QUIRE_TRY(check_overflow(node, found));
  else if (layout::kNodeHeader + node.key_bytes() + node.data_bytes() > longest_node(reader_.page_bytes()))
    return fail(ErrorCode::corrupt, "it is too long for a page of a tree");
  return kind_ == Kind::free_list ? check_free_pages(node) : Result<void>();
}

Result<void> PageWalk::check_overflow(const Node& node, Tree& found) {
  const uint64_t first = node.first_page();
  std::array<char, layout::kPageHeader> head;
  if (auto read = reader_.read_head(first, head); !read) {
    read.error().message = fmt::format("page {}: {}", first, read.error().message);
    return read;
  }
  const uint64_t count = layout::overflow_run(head.data());
  if (layout::page_number(head.data()) != first || layout::page_flags(head.data()) != layout::kOverflowPage ||
      count < layout::overflow_pages(node.data_bytes(), reader_.page_bytes()) ||
      count > reader_.pages() - first)
    return fail(ErrorCode::corrupt,
                fmt::format("page {} does not begin {} bytes of long data", first, node.data_bytes()));
  if (options_.asks_for_long_data) reader_.ask_for(first, count);
  for (uint64_t page = first; page < first + count; ++page) QUIRE_TRY(claim(page));
  found.overflow_pages += count;
  return {};
}

// By the commit that freed them: a count, then the page numbers from the highest down.
Result<void> PageWalk::check_free_pages(const Node& node) {
  const auto commit = layout::load<uint64_t>(node.key().data());
  if (commit == 0 || commit > meta_.transaction)
    return fail(ErrorCode::corrupt,
                fmt::format("its pages were freed by commit {} of {}", commit, meta_.transaction));
  const uint64_t size = node.data_bytes();
  const char* list = node.data();
  if (node.is_on_pages()) {
    QUIRE_TRY(reader_.read(node.first_page(), layout::overflow_pages(size, reader_.page_bytes()), data_));
    list = data_.data() + layout::kPageHeader;
  }
  if (size < sizeof(uint64_t) || layout::load<uint64_t>(list) > size / sizeof(uint64_t) - 1)
    return fail(ErrorCode::corrupt, "it is no list of free pages");
  const uint64_t count = layout::load<uint64_t>(list);
  for (uint64_t i = 1, before = kNoPage; i <= count; ++i) {
    const auto page = layout::load<uint64_t>(list + sizeof(uint64_t) * i);
    if (page >= before) return fail(ErrorCode::corrupt, "its free pages are not in their order");
    QUIRE_TRY(claim(page));
    before = page;
  }
  return {};
}

Result<void> PageWalk::claim(uint64_t page) {
  if (page < layout::kMetaPages || page > meta_.last_page)
    return fail(ErrorCode::corrupt, fmt::format("page {} is not one that can be used: they go from {} to {}",
                                                page, layout::kMetaPages, meta_.last_page));
  if (claimed_[page]) return fail(ErrorCode::corrupt, fmt::format("page {} is used elsewhere too", page));
  claimed_[page] = true;
  return {};
}

}  // namespace quire::engine
