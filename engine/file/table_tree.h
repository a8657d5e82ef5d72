// The tree of a table as a snapshot sees it, read where its pages lie in LMDB's map. When LMDB looks a key up
// it waits for memory some ten times, one after the other: for each key that it compares, for the record.
// Here the memory of many keys of a page is asked for at once, and a look-up takes three quarters of the
// time. And what is read lies in the map, whatever a damaged page says.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/file/known_places.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_view.h"
#include "engine/file/table.h"
#include "sql/error.h"

namespace quire::engine {

class FileState;
class Transaction;

// As good as the transaction's bytes.
class TableTree {
 public:
  // Nothing where LMDB has to be asked: in a transaction whose pages are not all in the map, or for a table
  // that it does not know.
  static std::optional<TableTree> of(const Transaction& transaction, Table table);

  // For estimates: in a transaction that writes that of the commit before, whose pages stay until it ends,
  // where somebody has looked at it.
  static std::optional<TableTree> before(const Transaction& transaction, Table table);

  // Nothing if the key is not there; corrupt. What is pending is not looked at. `lead`: which led to the key.
  Result<std::optional<Bytes>> find(Bytes key, const Lead& lead = {}) const;

  // find() in two steps, for who has something to do while the memory of the last page comes: the leaf that
  // the key belongs to, asked for and not looked at; null where it cannot be told without a look.
  const char* ask_for_leaf(Bytes key) const noexcept;
  Result<std::optional<Bytes>> find_in_leaf(const char* leaf, Bytes key) const;

  // Keys, rising, that part its entries into about so many ranges of about the same size: each but the first
  // begins with one. Fewer where the tree has fewer leaves, none where a page is damaged; up to twice as
  // many.
  std::vector<Bytes> divide(size_t parts) const;

  // About which share of the entries lies before a key; exact where the tree is one leaf.
  double share_before(Bytes key) const noexcept;

  // PageView::find() for a page that lies in no cache: asks for the memory of many keys at once.
  static size_t find_in(const PageView& page, Bytes key) noexcept;

  // Asks for what a search in a page below the root looks at first: the places of its nodes, and the nodes
  // that lie in the middle and at the other eighths, should it be a branch that an import has filled.
  void ask_for_search(const char* page) const noexcept;

  bool is_empty() const noexcept { return root_ == nullptr; }
  const char* root() const noexcept { return root_; }
  PageView view(const char* page) const noexcept { return {page, page_bytes_}; }
  size_t lines_of_page() const noexcept { return page_bytes_ / kMemoryLine; }
  // The page with that number; null if the file has none.
  const char* page(uint64_t number) const noexcept {
    return number < pages_ ? map_ + number * page_bytes_ : nullptr;
  }
  // Whether who walks it should ask for the pages that come, since the system does not (map_advice.h).
  bool is_read_exactly() const noexcept { return is_read_exactly_; }
  // Have a page, or the children of a branch from `begin` to before `end`, read from the disk meanwhile.
  void ask_disk_for_page(const char* page) const noexcept;
  void ask_disk_for_children(const PageView& branch, size_t begin, size_t end) const noexcept;
  // The data of a node of a leaf: nothing if that is not in the page, or not on pages of the file.
  std::optional<Bytes> record_of(const PageView& leaf, size_t number) const noexcept {
    return record_of(leaf.begin(), leaf.node(number));
  }
  std::optional<Bytes> record_of(const char* leaf, const layout::Node& node) const noexcept;

  // Where its entries lie, as far as that is known. Asked for with each look-up in a tree that is not empty.
  TreePlaces places() const noexcept {
    // Of one page there is no way down that could be spared.
    if ((layout::page_flags(root_) & layout::kLeafPage) != 0) return {};
    return places_->of(commit_, root_number_, pages_);
  }
  // The leaf that a place is on; null if the file has no such place.
  const char* leaf_of(const EntryPlace& place) const noexcept {
    return place.offset + layout::kNodeHeader <= page_bytes_ ? page(place.page) : nullptr;
  }
  static EntryPlace place_of(const PageView& leaf, size_t number) noexcept;

  void ask_for(const EntryPlace& place) const noexcept;
  // Nothing if it is not that key's.
  std::optional<Bytes> record_at(const EntryPlace& place, Bytes key) const noexcept;

 private:
  TableTree(FileState& state, uint64_t commit) noexcept;
  static std::optional<TableTree> rooted(FileState& state, uint64_t commit, uint64_t root);

  const char* map_;
  uint64_t pages_;
  uint32_t page_bytes_;
  bool is_read_exactly_;
  const char* root_ = nullptr;
  uint64_t root_number_ = 0;
  size_t depth_ = 0;  // maybe that of another commit: a hint
  KnownPlaces* places_;
  uint64_t commit_;
};

// That a page is not what its place in the tree asks for.
Error damaged_tree();

}  // namespace quire::engine
