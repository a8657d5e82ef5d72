// A walk over all pages that one commit leads to, before LMDB is asked to walk them: LMDB trusts what it
// reads. Afterwards each page of a tree is known to be within the file, in one place of one tree, of the
// right kind, sound in itself (tree_page.h), with keys between those that lead to it; trees are as deep and
// as large as is written of them; long data is whole; and a page in the free list is in no tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/page_fault.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_reader.h"
#include "engine/file/tree_page.h"
#include "sql/error.h"

namespace quire::engine {

class PageWalk {
 public:
  struct Options {
    // roots: the tree of tables, and of each table and the free list the first page.
    enum class Extent : uint8_t { whole, roots } extent = Extent::whole;
    size_t most_faults = 1;           // the walk ends when it has found so many
    bool asks_for_long_data = false;  // has the disk read it, for who reads it next; the walk needs not
  };

  // Of the commit that `meta` stands for: nobody may reuse its pages meanwhile. The reader must stay.
  PageWalk(const PageReader& reader, const layout::Meta& meta, Options options)
      : reader_(reader), meta_(meta), options_(options), checker_(reader.page_bytes()) {}

  // What is wrong. io; errors of the reader's on_bytes.
  Result<std::vector<PageFault>> run();

 private:
  enum class Kind : uint8_t { free_list, main, table };
  struct Level {
    std::vector<char> bytes;
    TreePage page;
    uint64_t number = 0;
    size_t next = 0;  // node to look at
    // Where the keys below must be; they lie in the pages above. `low` is in, `high` is out.
    std::string_view low, high;
    bool has_low = false, has_high = false;
  };
  struct NamedTree {
    std::string name;
    layout::Tree tree;
  };

  bool is_done() const { return faults_.size() >= options_.most_faults; }
  KeyOrder order() const { return kind_ == Kind::free_list ? KeyOrder::numbers : KeyOrder::bytes; }
  void add(uint64_t page, std::string what);
  // A fault of this page goes to the list; any other error ends the walk.
  Result<void> noted(Result<void> step, uint64_t page);

  Result<void> walk_tree(Kind kind, std::string name, const layout::Tree& tree);
  Result<void> check_root(const layout::Tree& tree);
  Result<void> walk_levels(const layout::Tree& tree, layout::Tree& found);
  Result<void> enter(size_t depth, uint64_t number, const layout::Tree& tree, layout::Tree& found);
  void ask_ahead(const Level& level) const;
  void narrow(const Level& parent, Level& child) const;
  Result<void> check_bounds(const Level& level) const;
  Result<void> check_leaf(const Level& level, layout::Tree& found);
  Result<void> check_data(const layout::Node& node, layout::Tree& found);
  Result<void> check_overflow(const layout::Node& node, layout::Tree& found);
  Result<void> check_free_pages(const layout::Node& node);
  void compare(const layout::Tree& said, const layout::Tree& found);
  Result<void> claim(uint64_t page);

  const PageReader& reader_;
  layout::Meta meta_;
  Options options_;
  TreePageChecker checker_;
  std::vector<PageFault> faults_;
  std::vector<bool> claimed_;  // by page
  std::vector<NamedTree> tables_;
  std::vector<Level> levels_;
  std::vector<char> data_;  // of long data
  // The tree that is being walked.
  Kind kind_{};
  std::string name_;
};

}  // namespace quire::engine
