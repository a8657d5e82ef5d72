// The parts of PageSalvage: a file's pages, its views, and a walk over a tree that goes on where a page is
// bad.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/file/anchor.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_reader.h"
#include "engine/file/page_salvage.h"
#include "engine/file/tree_page.h"
#include "sql/error.h"

namespace quire::engine {

struct SalvageView {
  struct Table {
    std::string name;
    layout::Tree tree;
  };
  std::optional<layout::Meta> meta;
  std::vector<Table> tables;
  bool is_newest = false;    // that of the newer of two whole meta pages
  uint64_t lost_pages = 0;   // of the tree of tables
  uint64_t sound_roots = 0;  // of tables
};

// A page that the disk cannot give is as good as missing.
bool is_missing(const Error& error) noexcept;

// Walks a tree as far as it is there.
class SalvageWalk {
 public:
  using OnNode = std::function<Result<void>(const layout::Node& node, bool is_sound)>;

  explicit SalvageWalk(const PageReader& reader)
      : reader_(reader), checker_(reader.page_bytes()), seen_(reader.pages()) {}

  // Calls for each node of its leaves; how many pages are damaged or missing. Of a damaged page every place
  // that could be a node is tried.
  Result<uint64_t> run(uint64_t root, const OnNode& on_node);
  // The nodes of one page; false if it is no sound leaf: then every place that could be a node is tried.
  Result<bool> read_leaf(uint64_t number, const OnNode& on_node);
  const std::vector<bool>& seen() const { return seen_; }

 private:
  Result<void> visit(uint64_t number, const OnNode& on_node, uint64_t& lost);
  Result<void> guess_nodes(const OnNode& on_node);

  const PageReader& reader_;
  TreePageChecker checker_;
  std::vector<bool> seen_;
  std::vector<uint64_t> to_visit_;
  std::vector<char> page_;
};

// Gives what a node stands for to the visitor, its data from other pages if need be. Marks those.
class SalvageData {
 public:
  SalvageData(const PageReader& reader, std::vector<bool>& seen) : reader_(reader), seen_(seen) {}

  Result<void> give(const layout::Node& node, bool is_sound, const PageSalvage::Visitor& visitor);
  // A run of overflow pages without a node; false if there is none at this page.
  Result<bool> give_run(uint64_t first, const PageSalvage::Visitor& visitor);

 private:
  const PageReader& reader_;
  std::vector<bool>& seen_;
  std::vector<char> data_;
};

// Of a file's pages, those that lead to tables: those of an anchor with a log, whose pages were on the disk,
// and what followed is in the log; of the meta pages, the newer one first; and, unless these lead to the root
// of each table, of others that do, which are of any age.
Result<std::vector<SalvageView>> find_views(int descriptor, const PageReader& reader,
                                            const AnchorRecord& anchor);
// The size of a file's pages, from its meta pages, or else from the numbers that pages bear; nothing if
// they bear none.
Result<std::optional<uint32_t>> find_page_bytes(int descriptor, uint64_t file_bytes);

}  // namespace quire::engine
