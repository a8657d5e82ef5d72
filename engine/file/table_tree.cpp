#include "engine/file/table_tree.h"

#include <lmdb.h>

#include <algorithm>
#include <functional>
#include <string>

#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/map_advice.h"
#include "engine/file/page_reader.h"
#include "engine/file/transaction.h"

namespace quire::engine {
namespace {

constexpr uint32_t kCheckedBytes = 4096;
// So many requests for memory are under way at a time.
constexpr size_t kMostAtOnce = 16;
// Of an entry; longer ones are read in order, which the processor sees for itself.
constexpr size_t kLinesOfEntry = 6;
// Of each entry that may be the one: its key, and where its record begins.
constexpr size_t kLinesOfKey = 2;
// Of a page: its header, and the places of as many nodes as a branch has of keys of 30 bytes.
constexpr size_t kLinesOfPlaces = 4;

// A search first looks at the keys of three steps.
constexpr size_t kParts = 8;

// Smaller files are always read ahead.
constexpr uint64_t kSmallFile = uint64_t{64} << 20;

// Once the file has outgrown the memory, it is read exactly from then on.
void choose_advice(FileState& state, const MDB_envinfo& info, const char* map) {
  const uint64_t bytes = (info.me_last_pgno + 1) * state.facts.page_bytes;
  KnownMap& known = state.readers().map();
  const uint64_t asked_for = state.most_read_ahead();
  if (known.is_read_exactly() || state.is_in_memory() ||
      (asked_for == 0 ? bytes <= kSmallFile || bytes <= half_of_memory() : bytes <= asked_for))
    return;
  read_exactly(map, info.me_mapsize);
  known.note_read_exactly();
}

// What the tree of tables says, and where the map is.
std::optional<uint64_t> look_up_root(MDB_txn* snapshot, FileState& state, Table table, uint64_t commit) {
  std::string name = state.tables().name_of(table.slot());
  MDB_val key{name.size(), name.data()}, value;
  if (name.empty() || mdb_get(snapshot, state.facts.main, &key, &value) != MDB_SUCCESS ||
      value.mv_size != layout::kTreeBytes)
    return std::nullopt;
  const layout::Tree tree = layout::parse_tree(static_cast<const char*>(value.mv_data));
  if (tree.flags != 0) return std::nullopt;
  // The page that tells of the tree also tells where the map begins.
  const uint32_t page_bytes = state.facts.page_bytes;
  const char* const page = PageView::around(static_cast<const char*>(value.mv_data), page_bytes).begin();
  const char* const map = page - layout::page_number(page) * page_bytes;
  if (map != state.readers().map().begin() &&
      !is_in_place(state.data_descriptor(), {page, std::min(page_bytes, kCheckedBytes)}, page_bytes))
    return std::nullopt;
  // The newest commit has no fewer pages than the snapshot's; but another process may have made it, and the
  // map be too small for it.
  MDB_envinfo info;
  mdb_env_info(state.environment(), &info);
  state.readers().map().note(map, std::min<uint64_t>(info.me_last_pgno + 1, info.me_mapsize / page_bytes));
  choose_advice(state, info, map);
  state.roots().note(table, commit, tree.root, tree.depth);
  return tree.root & TreeRoots::kNone;
}

}  // namespace

TableTree::TableTree(FileState& state, uint64_t commit) noexcept
    : map_(state.readers().map().begin()),
      pages_(state.readers().map().pages()),
      page_bytes_(state.facts.page_bytes),
      is_read_exactly_(state.readers().map().is_read_exactly()),
      places_(&state.places()),
      commit_(commit) {}

std::optional<TableTree> TableTree::of(const Transaction& transaction, Table table) {
  MDB_txn* const snapshot = transaction.snapshot();
  FileState& state = transaction.state();
  if (snapshot == nullptr || !state.tables().is_current(table)) return std::nullopt;
  const uint64_t commit = mdb_txn_id(snapshot);
  const KnownMap& map = state.readers().map();
  auto root = state.roots().find(table, commit);
  if (!root || map.begin() == nullptr) [[unlikely]]
    root = look_up_root(snapshot, state, table, commit);
  auto tree = root ? rooted(state, commit, *root) : std::nullopt;
  if (tree) tree->depth_ = state.roots().depth(table);
  return tree;
}

std::optional<TableTree> TableTree::before(const Transaction& transaction, Table table) {
  if (transaction.snapshot() != nullptr) return of(transaction, table);
  FileState& state = transaction.state();
  if (!state.tables().is_current(table) || state.readers().map().begin() == nullptr) return std::nullopt;
  const uint64_t commit = mdb_txn_id(transaction.handle()) - 1;
  const auto root = state.roots().find(table, commit);
  return root ? rooted(state, commit, *root) : std::nullopt;
}

std::optional<TableTree> TableTree::rooted(FileState& state, uint64_t commit, uint64_t root) {
  TableTree tree(state, commit);
  if (root == TreeRoots::kNone) return tree;
  tree.root_ = tree.page(root);
  tree.root_number_ = root;
  if (tree.root_ == nullptr) return std::nullopt;
  return tree;
}

Result<std::optional<Bytes>> TableTree::find(Bytes key, const Lead& lead) const {
  if (is_empty()) return std::nullopt;
  if (lead.place)
    if (const auto record = record_at(*lead.place, key)) return record;
  const TreePlaces known = places();
  const uint64_t hashed = known ? known.hash(key) : 0;
  if (known) known.ask_for(hashed);
  const char* at = root_;
  for (size_t depth = 1; (layout::page_flags(at) & layout::kLeafPage) == 0; ++depth) {
    const PageView branch = view(at);
    // The root lies in the caches; the pages below it need not.
    at = page(branch.node(depth == 1 ? branch.find(key) : find_in(branch, key)).child());
    if (at == nullptr || depth == layout::kMostDepth) return std::unexpected(damaged_tree());
    ask_for_search(at);
    // What is known of it has come from memory by now.
    if (known && depth == 1)
      if (const auto place = known.find(hashed))
        if (const auto record = record_at(*place, key)) {
          if (lead) lead.note(*place);
          return record;
        }
  }
  const PageView leaf = view(at);
  if (leaf.size() == 0) return std::unexpected(damaged_tree());
  const size_t number = find_in(leaf, key);
  if (leaf.key(number) != key) return std::nullopt;
  engine::ask_for(leaf.node(number).at, kLinesOfEntry);
  if (lead)
    lead.note(place_of(leaf, number));
  else if (known)
    known.note(hashed, place_of(leaf, number));
  const auto record = record_of(leaf, number);
  if (!record) return std::unexpected(damaged_tree());
  return record;
}

// Only branches lead on, and find_in_leaf() sees whether the last page is a leaf.
const char* TableTree::ask_for_leaf(Bytes key) const noexcept {
  if (depth_ < 2 || depth_ > layout::kMostDepth) return nullptr;
  const char* at = root_;
  for (size_t depth = 1; depth < depth_ && at != nullptr; ++depth) {
    if ((layout::page_flags(at) & layout::kBranchPage) == 0) return nullptr;
    const PageView branch = view(at);
    at = page(branch.node(depth == 1 ? branch.find(key) : find_in(branch, key)).child());
  }
  if (at != nullptr) engine::ask_for(at);
  return at;
}

Result<std::optional<Bytes>> TableTree::find_in_leaf(const char* leaf, Bytes key) const {
  const PageView page = view(leaf);
  if ((layout::page_flags(leaf) & layout::kLeafPage) == 0 || page.size() == 0) return find(key);
  const size_t number = find_in(page, key);
  if (page.key(number) != key) return std::nullopt;
  const auto record = record_of(page, number);
  if (!record) return std::unexpected(damaged_tree());
  return record;
}

void TableTree::ask_for(const EntryPlace& place) const noexcept {
  if (const char* const leaf = leaf_of(place)) engine::ask_for(leaf + place.offset, kLinesOfEntry);
}

// No look at the page's header and table, which would be one more wait: what stands there was looked at when
// the place was noted, and no page of a snapshot changes.
std::optional<Bytes> TableTree::record_at(const EntryPlace& place, Bytes key) const noexcept {
  const char* const leaf = leaf_of(place);
  if (leaf == nullptr) return std::nullopt;
  const layout::Node node{leaf + place.offset};
  engine::ask_for(node.at, kLinesOfEntry);
  const size_t room = page_bytes_ - place.offset - layout::kNodeHeader;
  if (node.key_bytes() != key.size() || key.size() > room || node.key() != key) return std::nullopt;
  return record_of(leaf, node);
}

EntryPlace TableTree::place_of(const PageView& leaf, size_t number) noexcept {
  return {.page = layout::page_number(leaf.begin()),
          .offset = static_cast<uint32_t>(leaf.place(number)),
          .number = static_cast<uint32_t>(number)};
}

// All leaves lie equally deep, so that pages of one level stand for about as many entries each. Of the last
// level that is looked at some pages may be left out, each of which goes with the one before it.
std::vector<Bytes> TableTree::divide(size_t parts) const {
  struct Subtree {
    Bytes start;
    const char* page;
  };
  std::vector<Subtree> level, below;
  if (!is_empty()) level.push_back({{}, root_});
  bool is_whole = true;
  for (size_t depth = 1; is_whole && !level.empty() && level.size() < parts; ++depth) {
    if ((layout::page_flags(level[0].page) & layout::kLeafPage) != 0) break;
    const size_t most_of_page = (parts + level.size() - 1) / level.size();
    below.clear();
    for (const Subtree& subtree : level) {
      const PageView branch = view(subtree.page);
      const bool is_branch = (layout::page_flags(subtree.page) & layout::kBranchPage) != 0;
      if (!is_branch || branch.size() == 0 || depth == layout::kMostDepth) return {};
      const size_t taken = std::min(branch.size(), most_of_page);
      is_whole = is_whole && taken == branch.size();
      for (size_t i = 0; i < taken; ++i) {
        const size_t number = i * branch.size() / taken;
        const char* const child = page(branch.node(number).child());
        if (child == nullptr) return {};
        below.push_back({number == 0 ? subtree.start : branch.key(number), child});
      }
    }
    level.swap(below);
  }
  std::vector<Bytes> starts;
  starts.reserve(level.size());
  for (const Subtree& subtree : level)
    if (!subtree.start.empty()) starts.push_back(subtree.start);
  const bool is_rising = std::ranges::adjacent_find(starts, std::ranges::greater_equal{}) == starts.end();
  return is_rising ? starts : std::vector<Bytes>();
}

// All leaves lie equally deep, so that the children of a branch stand for as many entries each.
double TableTree::share_before(Bytes key) const noexcept {
  double before = 0, width = 1;
  const char* at = root_;
  for (size_t depth = 1; at != nullptr && depth <= layout::kMostDepth; ++depth) {
    const PageView page_view = view(at);
    if (page_view.size() == 0) break;
    const auto size = static_cast<double>(page_view.size());
    const size_t number = page_view.find(key);
    const bool is_branch = (layout::page_flags(at) & layout::kBranchPage) != 0;
    const bool is_behind = !is_branch && page_view.key(number) < key;
    before += width * static_cast<double>(number + (is_behind ? 1 : 0)) / size;
    width /= size;
    at = is_branch ? page(page_view.node(number).child()) : nullptr;
  }
  return before;
}

// Keys of a tree are about as long as those of its root. What is appended fills a page from its end, and of a
// branch the first node has no key: so the places of a full one are known before they have been read.
void TableTree::ask_for_search(const char* page) const noexcept {
  engine::ask_for(page, kLinesOfPlaces);
  const PageView root = view(root_);
  if (root.size() < 2) return;
  const size_t node = (layout::kNodeHeader + root.node(1).key_bytes() + 1) & ~size_t{1};
  const size_t nodes = (page_bytes_ - layout::kPageHeader - layout::kNodeHeader) / (node + sizeof(uint16_t));
  const char* const end = page + page_bytes_ - layout::kNodeHeader;
  for (size_t i = 1; i < kParts; ++i) engine::ask_for(end - i * (nodes / kParts) * node);
}

size_t TableTree::find_in(const PageView& page, Bytes key) noexcept {
  size_t low = 0, high = page.size();
  while (high - low > kMostAtOnce) {
    const size_t part = (high - low) / kParts, begin = low;
    for (size_t i = 1; i < kParts; ++i) page.ask_for_node(begin + i * part, 1);
    for (size_t step = kParts / 2 * part; step >= part; step /= 2) {
      if (is_at_most(page.key(low + step), key))
        low += step;
      else
        high = low + step;
    }
  }
  for (size_t number = low; number < high; ++number) page.ask_for_node(number, kLinesOfKey);
  return page.find(key, low, high);
}

void TableTree::ask_disk_for_page(const char* page) const noexcept {
  ask_disk_for(page, page_bytes_);
}

// Those that lie beside each other, as an import leaves them, at once.
void TableTree::ask_disk_for_children(const PageView& branch, size_t begin, size_t end) const noexcept {
  uint64_t first = 0, count = 0;
  const auto ask = [&] {
    if (count != 0 && first < pages_)
      ask_disk_for(page(first), std::min(count, pages_ - first) * page_bytes_);
  };
  for (size_t i = begin; i < end; ++i) {
    const uint64_t number = branch.node(i).child();
    if (count == 0 || number != first + count) {
      ask();
      first = number;
      count = 0;
    }
    ++count;
  }
  ask();
}

std::optional<Bytes> TableTree::record_of(const char* leaf, const layout::Node& node) const noexcept {
  const size_t bytes = node.data_bytes();
  const size_t begin = static_cast<size_t>(node.at - leaf) + layout::kNodeHeader + node.key_bytes();
  if (begin > page_bytes_) return std::nullopt;
  const size_t room = page_bytes_ - begin;
  if (node.flags() == 0) return bytes <= room ? std::optional(Bytes(node.data(), bytes)) : std::nullopt;
  if (!node.is_on_pages() || room < sizeof(uint64_t)) return std::nullopt;
  const uint64_t first = node.first_page(), count = layout::overflow_pages(bytes, page_bytes_);
  if (first >= pages_ || count > pages_ - first) return std::nullopt;
  if (is_read_exactly_ && count > 1) ask_disk_for(page(first), count * page_bytes_);
  return Bytes(page(first) + layout::kPageHeader, bytes);
}

Error damaged_tree() {
  return lmdb_error(MDB_CORRUPTED, "read the file");
}

}  // namespace quire::engine
