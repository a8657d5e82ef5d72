#include "engine/file/tree_cursor.h"

#include <utility>

#include "engine/file/map_advice.h"

namespace quire::engine {
namespace {

constexpr size_t kLinesOfNode = 2;  // its key and the start of its record

// How many of the keys behind `first`, before `last`, which is not, are less than `end`.
size_t keys_before(const PageView& page, size_t first, size_t last, Bytes end) {
  size_t low = first, high = last;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (page.key(middle) < end ? low : high) = middle;
  }
  return low - first;
}

}  // namespace

TreeCursor& TreeCursor::operator=(const TreeCursor& other) noexcept {
  if (this == &other) return *this;
  tree_ = other.tree_;
  key_ = other.key_;
  record_ = other.record_;
  is_behind_ = other.is_behind_;
  has_way_ = other.has_way_;
  asked_leaf_ = other.asked_leaf_;
  is_leaf_asked_ = other.is_leaf_asked_;
  has_asked_behind_ = other.has_asked_behind_;
  leaves_ahead_ = other.leaves_ahead_;
  asked_ = other.asked_;
  // What is known is of one commit: of a tree that was walked before it would lead to pages that are others'.
  known_ = other.known_;
  hashed_ = other.hashed_;
  lead_ = other.lead_;
  is_seek_expected_ = other.is_seek_expected_;
  depth_ = other.depth_;
  std::copy_n(other.way_.begin(), depth_, way_.begin());
  return *this;
}

std::unexpected<Error> TreeCursor::damaged() {
  depth_ = 0;
  return std::unexpected(damaged_tree());
}

bool TreeCursor::add(const char* page) noexcept {
  constexpr uint16_t kKinds = layout::kBranchPage | layout::kLeafPage;
  if (page == nullptr || depth_ == way_.size() || (layout::page_flags(page) & kKinds) == 0) return false;
  way_[depth_++] = {page, 0, static_cast<uint32_t>(tree_.view(page).size())};
  return leaf().size != 0;
}

Result<bool> TreeCursor::go_to_end(bool is_last) {
  depth_ = 0;
  has_way_ = true;
  is_behind_ = false;
  forget_leaves_ahead();
  if (tree_.is_empty()) return false;
  return descend(tree_.root(), is_last);
}

Result<bool> TreeCursor::descend(const char* page, bool is_last) {
  for (;;) {
    if (!add(page)) return damaged();
    if (is_last) leaf().at = leaf().size - 1;
    if (is_at_leaf()) return stand();
    page = child(leaf(), leaf().at);
  }
}

Result<bool> TreeCursor::next_leaf(Reads reads) {
  if (depth_ == 0) return is_behind_ ? Result<bool>(false) : first();
  if (!has_way_) QUIRE_TRY(find_way());
  size_t level = depth_ - 1;
  while (level > 0 && way_[level - 1].at + 1 == way_[level - 1].size) --level;
  if (level == 0) return false;
  if (level + 1 != depth_) leave_parent();
  depth_ = level;
  ++leaf().at;
  const char* const next = child(leaf(), leaf().at);
  is_leaf_asked_ = next != nullptr && next == asked_leaf_;
  QUIRE_TRY(descend(next, false));
  if (tree_.is_read_exactly()) [[unlikely]]
    ask_disk_ahead();
  ask_for_next_leaf(reads);
  return true;
}

Result<bool> TreeCursor::previous() {
  if (depth_ == 0) return last();
  if (leaf().at == 0 && !has_way_) QUIRE_TRY(find_way());
  size_t level = depth_;
  while (level > 0 && way_[level - 1].at == 0) --level;
  if (level == 0) return false;
  --way_[level - 1].at;
  if (level == depth_) return stand();
  depth_ = level;
  forget_leaves_ahead();
  return descend(child(leaf(), leaf().at), true);
}

void TreeCursor::expect_seek(Bytes key) noexcept {
  is_seek_expected_ = true;
  known_ = tree_.is_empty() ? TreePlaces() : tree_.places();
  if (!known_) return;
  hashed_ = known_.hash(key);
  known_.ask_for(hashed_);
}

Result<bool> TreeCursor::seek(Bytes key) {
  is_behind_ = false;
  const bool was_expected = std::exchange(is_seek_expected_, false);
  // Often it is near.
  if (depth_ != 0) {
    const PageView page = tree_.view(leaf().page);
    if (page.key(0) <= key && key <= page.key(leaf().size - 1)) {
      known_ = {};
      return seek_in_leaf(key);
    }
  }
  depth_ = 0;
  has_way_ = true;
  forget_leaves_ahead();
  if (tree_.is_empty()) {
    is_behind_ = true;
    return false;
  }
  if (!was_expected) expect_seek(key);
  is_seek_expected_ = false;
  lead_ = {};
  if (was_expected && seek_known(key)) return stand();
  for (const char* page = tree_.root();; page = child(leaf(), leaf().at)) {
    if (depth_ != 0 && page != nullptr) tree_.ask_for_search(page);
    // As in TableTree::find().
    if (!was_expected && depth_ == 1 && seek_known(key)) return stand();
    if (!add(page)) return damaged();
    if (is_at_leaf()) break;
    const PageView branch = tree_.view(page);
    take(depth_ == 1 ? branch.find(key) : TableTree::find_in(branch, key));
  }
  QUIRE_ASSIGN(const bool is_there, seek_in_leaf(key));
  if (known_ && is_there) known_.note(hashed_, TableTree::place_of(tree_.view(leaf().page), leaf().at));
  return is_there;
}

// The entry and the one that it led to come from memory at the same time. A leaf's first entry may not be the
// first from there on in the tree.
bool TreeCursor::seek_known(Bytes key) noexcept {
  if (!known_) return false;
  const auto place = known_.find(hashed_);
  lead_ = known_.leads().find(hashed_);
  const char* const page = place && place->number != 0 ? tree_.leaf_of(*place) : nullptr;
  if (page != nullptr) ask_for(page + place->offset - kMemoryLine, kLinesOfNode + 1);
  if (lead_) tree_.ask_for(*lead_);
  if (page == nullptr) return false;
  const PageView view = tree_.view(page);
  if (place->number >= view.size() || view.key(place->number - 1) >= key || view.key(place->number) < key)
    return false;
  way_[0] = {page, place->number, static_cast<uint32_t>(view.size())};
  depth_ = 1;
  has_way_ = false;
  return true;
}

// If a page is damaged it stays as it is.
Result<void> TreeCursor::find_way() {
  const Step at = leaf();
  const Bytes key = tree_.view(at.page).key(at.at);
  depth_ = 0;
  const char* page = tree_.root();
  while (page != at.page && add(page) && !is_at_leaf()) {
    take(tree_.view(page).find(key));
    page = child(leaf(), leaf().at);
  }
  has_way_ = page == at.page && add(page);
  if (!has_way_) depth_ = 1;
  leaf() = at;
  if (!has_way_) return std::unexpected(damaged_tree());
  return {};
}

Result<bool> TreeCursor::seek_in_leaf(Bytes key) {
  const PageView page = tree_.view(leaf().page);
  take(TableTree::find_in(page, key));
  if (page.key(leaf().at) >= key) return stand();
  if (leaf().at + 1 < leaf().size) {
    ++leaf().at;
    return stand();
  }
  QUIRE_ASSIGN(const bool is_there, next_leaf(Reads::few));
  if (!is_there) depth_ = 0;
  is_behind_ = !is_there;
  return is_there;
}

// Of one whose entries are read, all: lines one after the other come faster than those of the nodes alone.
void TreeCursor::ask_for_next_leaf(Reads reads) noexcept {
  if (!has_way_ && !find_way()) return;
  const char* const page = sibling();
  if (page != nullptr) ask_for(page, reads == Reads::all ? tree_.lines_of_page() : 1);
  asked_leaf_ = reads == Reads::all ? page : nullptr;
}

// The leaf behind the one at hand, if it has the same parent.
const char* TreeCursor::sibling() const noexcept {
  if (depth_ < 2) return nullptr;
  const Step& parent = way_[depth_ - 2];
  return parent.at + 1 < parent.size ? child(parent, parent.at + 1) : nullptr;
}

// The branch behind the parent of the leaf at hand, if both have the same parent.
const char* TreeCursor::next_branch() const noexcept {
  if (depth_ < 3) return nullptr;
  const Step& above = way_[depth_ - 3];
  return above.at + 1 < above.size ? child(above, above.at + 1) : nullptr;
}

// Half of them are on their way while the other half is walked. The first leaves of the next branch come as
// if they were the last of this one: the branch itself has been asked for when the walk came to this one.
void TreeCursor::ask_disk_ahead() noexcept {
  if (depth_ < 2) return;
  const Step& parent = way_[depth_ - 2];
  if (asked_ > parent.at + leaves_ahead_ / 2u) return;
  if (!has_waited_for_disk()) {
    leaves_ahead_ = kFirstAhead;
    asked_ = parent.at + 2 * kFirstAhead;  // to look again then
    return;
  }
  const PageView branch = tree_.view(parent.page);
  const char* const behind = next_branch();
  if (behind != nullptr && !std::exchange(has_asked_behind_, true)) tree_.ask_disk_for_page(behind);
  const uint32_t begin = std::max(asked_, parent.at + 1), end = parent.at + 1 + leaves_ahead_;
  tree_.ask_disk_for_children(branch, begin, std::min(end, parent.size));
  asked_ = std::min(end, parent.size);
  if (end > parent.size && behind != nullptr) {
    const PageView next = tree_.view(behind);
    asked_ = std::min(end, parent.size + static_cast<uint32_t>(next.size()));
    tree_.ask_disk_for_children(next, std::max(begin, parent.size) - parent.size, asked_ - parent.size);
  }
  leaves_ahead_ = std::min<uint16_t>(leaves_ahead_ * 2, kMostAhead);
}

// In a leaf whose memory nobody has asked for: a seek may well want but the one entry.
void TreeCursor::ask_ahead(size_t from) noexcept {
  constexpr size_t kAhead = 4;
  const size_t wanted = from + kAhead;
  if (wanted < leaf().size)
    ask_for(tree_.view(leaf().page).node(wanted).at, kLinesOfNode);
  else if (asked_leaf_ == nullptr)
    ask_for_next_leaf(Reads::all);
}

// A page at a time: the place of its last key tells how many there are before it.
Result<uint64_t> TreeCursor::skip_before(Bytes end, uint64_t most) {
  uint64_t skipped = 0;
  while (skipped < most) {
    const PageView page = tree_.view(leaf().page);
    size_t ahead = std::min<uint64_t>(leaf().size - 1 - leaf().at, most - skipped);
    if (ahead == 0) {
      QUIRE_ASSIGN(const bool is_there, next_leaf(Reads::few));
      if (!is_there) break;
      if (key_ >= end) {
        QUIRE_TRY(previous());
        break;
      }
      ++skipped;
      continue;
    }
    const bool is_end = page.key(leaf().at + ahead) >= end;
    if (is_end) ahead = keys_before(page, leaf().at, leaf().at + ahead, end);
    take(leaf().at + ahead);
    skipped += ahead;
    if (is_end) break;
  }
  QUIRE_TRY(stand());
  return skipped;
}

// Those on the page at hand, or, behind its last, on the next one.
Result<size_t> TreeCursor::read_before(Bytes end, std::span<TreeEntry> entries) {
  size_t filled = 0;
  if (leaf().at + 1 == leaf().size && !entries.empty()) {
    QUIRE_ASSIGN(const bool is_there, next_leaf(Reads::all));
    if (!is_there) return 0;
    if (key_ >= end) {
      QUIRE_TRY(previous());
      return 0;
    }
    entries[filled++] = {key_, record_};
  }
  const PageView page = tree_.view(leaf().page);
  const size_t first = leaf().at + 1;
  size_t count = std::min<size_t>(leaf().size - first, entries.size() - filled);
  if (count > 0 && page.key(leaf().at + count) >= end)
    count = keys_before(page, leaf().at, leaf().at + count, end);
  for (size_t i = 0; i < count; ++i) {
    if (!is_leaf_asked_) ask_ahead(first + i);
    const auto record = tree_.record_of(page, first + i);
    if (!record) [[unlikely]]
      return damaged();
    entries[filled++] = {page.key(first + i), *record};
  }
  take(leaf().at + count);
  if (filled > 0) {
    key_ = entries[filled - 1].key;
    record_ = entries[filled - 1].record;
  }
  return filled;
}

}  // namespace quire::engine
