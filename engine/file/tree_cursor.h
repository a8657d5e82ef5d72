// Walks a table's tree in a snapshot's map in the order of its keys, as TableTree looks keys up: without
// LMDB, and with the memory of what comes soon asked for, since each entry is far from the last. Without
// that, half of a scan's time is the first look at each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/file/table_tree.h"
#include "sql/error.h"

namespace quire::engine {

// As good as the transaction's bytes.
struct TreeEntry {
  Bytes key, record;
};

class TreeCursor {
 public:
  explicit TreeCursor(const TableTree& tree) noexcept : tree_(tree) {}
  TreeCursor(const TreeCursor& other) noexcept : tree_(other.tree_) { *this = other; }
  TreeCursor& operator=(const TreeCursor& other) noexcept;

  // As FileCursor's: each tells whether there is such an entry, and stands on it. Where next() and previous()
  // find none, they stay. corrupt: then it has to begin anew.
  Result<bool> first() { return go_to_end(false); }
  Result<bool> last() { return go_to_end(true); }
  Result<bool> next();
  Result<bool> previous();
  Result<bool> seek(Bytes key);  // if there is none, it stands behind the last
  // The key that seek() is to be asked for next: has what is known of it brought from memory meanwhile.
  void expect_seek(Bytes key) noexcept;
  // After a seek() that found an entry: to the entry of another table that is read because of it.
  Lead lead() const noexcept { return known_ ? Lead{known_.leads(), hashed_, lead_} : Lead(); }

  // It stands on an entry: as FileCursor's.
  Result<uint64_t> skip_before(Bytes end, uint64_t most);
  Result<size_t> read_before(Bytes end, std::span<TreeEntry> entries);

  Bytes key() const noexcept { return key_; }
  Bytes record() const noexcept { return record_; }

 private:
  // A page on the way from the root, and the node that the way takes there. In four bytes: with more, a walk
  // is too large for what the C library keeps at hand.
  struct Step {
    const char* page;
    uint32_t at, size;
  };

  Result<bool> go_to_end(bool is_last);
  Result<bool> descend(const char* page, bool is_last);
  // Whether the walk looks at all entries of a leaf, or at some.
  enum class Reads : uint8_t { few, all };
  Result<bool> next_leaf(Reads reads);
  Result<bool> seek_in_leaf(Bytes key);
  // Whether it stands on the first entry from `key` on now, by a place that was noted.
  bool seek_known(Bytes key) noexcept;
  // Finds the branches above the leaf at hand, where it was come to without them.
  Result<void> find_way();
  // Adds a page to the way; false if it cannot be one.
  bool add(const char* page) noexcept;
  bool is_at_leaf() const noexcept { return (layout::page_flags(leaf().page) & layout::kLeafPage) != 0; }
  Step& leaf() noexcept { return way_[depth_ - 1]; }
  const Step& leaf() const noexcept { return way_[depth_ - 1]; }
  void take(size_t node) noexcept { leaf().at = static_cast<uint32_t>(node); }
  const char* child(const Step& branch, size_t number) const noexcept {
    return tree_.page(tree_.view(branch.page).node(number).child());
  }
  Result<bool> stand();
  void ask_ahead(size_t from) noexcept;
  void ask_disk_ahead() noexcept;
  const char* next_branch() const noexcept;
  // The walk goes on somewhere else.
  void forget_leaves_ahead() noexcept {
    is_leaf_asked_ = false;
    asked_leaf_ = nullptr;
    leaves_ahead_ = kFirstAhead;
    asked_ = 0;
    has_asked_behind_ = false;
  }
  // It goes on in the next branch.
  void leave_parent() noexcept {
    const uint32_t size = depth_ < 2 ? 0 : way_[depth_ - 2].size;
    asked_ = asked_ > size ? asked_ - size : 0;
    has_asked_behind_ = false;
  }
  const char* sibling() const noexcept;
  void ask_for_next_leaf(Reads reads) noexcept;
  std::unexpected<Error> damaged();

  TableTree tree_;
  Bytes key_, record_;
  bool is_behind_ = false;
  bool has_way_ = true;  // false: the leaf at hand is all of it
  bool is_seek_expected_ = false;
  TreePlaces known_;  // of the last seek that asked them
  uint64_t hashed_ = 0;
  std::optional<EntryPlace> lead_;
  const char* asked_leaf_ = nullptr;  // the leaf all of whose memory has been asked for
  bool is_leaf_asked_ = false;        // that is the leaf at hand
  // Of a file that is read exactly: whether the branch behind the parent of the leaf at hand has been asked
  // for; how many leaves are next, the more the longer the walk is; and before which child of that parent, or
  // beyond these of the branch behind it, they have been.
  bool has_asked_behind_ = false;
  static constexpr uint16_t kFirstAhead = 4, kMostAhead = 128;
  uint16_t leaves_ahead_ = kFirstAhead;
  uint32_t asked_ = 0;
  size_t depth_ = 0;  // 0: it stands nowhere
  std::array<Step, layout::kMostDepth> way_;
};

inline Result<bool> TreeCursor::next() {
  if (depth_ == 0 || leaf().at + 1 == leaf().size) [[unlikely]]
    return next_leaf(Reads::all);
  ++leaf().at;
  if (!is_leaf_asked_) ask_ahead(leaf().at);
  return stand();
}

inline Result<bool> TreeCursor::stand() {
  const PageView page = tree_.view(leaf().page);
  const auto record = tree_.record_of(page, leaf().at);
  if (!record) [[unlikely]]
    return damaged();
  key_ = page.key(leaf().at);
  record_ = *record;
  return true;
}

}  // namespace quire::engine
