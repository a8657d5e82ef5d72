#include "engine/file/look_ahead.h"

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <string>

#include "engine/file/file_state.h"
#include "engine/file/page_reader.h"
#include "engine/file/page_view.h"

namespace quire::engine {
namespace {

// Fewer pages lie in a processor's caches.
constexpr uint64_t kLeastPages = 512;
constexpr size_t kLine = 64;
constexpr uint32_t kCheckedBytes = 4096;
constexpr size_t kEntryLines = 2;  // of an entry: its key and the start of its record

void ask_for_lines(const char* at, size_t lines) {
  for (size_t line = 0; line < lines; ++line) __builtin_prefetch(at + line * kLine);
}

}  // namespace

LookAhead::LookAhead(const Transaction& transaction, Table table) {
  const FileState& state = transaction.state();
  if (transaction.is_write() || transaction.handle() == nullptr) return;
  std::string name = transaction.state().tables().name_of(table.slot());
  MDB_val key{name.size(), name.data()}, value;
  if (mdb_get(transaction.handle(), state.facts.main, &key, &value) != MDB_SUCCESS ||
      value.mv_size != layout::kTreeBytes)
    return;
  MDB_envinfo info;
  mdb_env_info(state.environment(), &info);
  tree_ = layout::parse_tree(static_cast<const char*>(value.mv_data));
  if (tree_.leaf_pages + tree_.overflow_pages < kLeastPages || tree_.depth < 2 ||
      tree_.depth > layout::kMostDepth)
    return;
  page_bytes_ = state.facts.page_bytes;
  pages_ = info.me_last_pgno + 1;
  // The page that tells of the tree also tells where the map begins.
  const char* const start = PageView::around(static_cast<const char*>(value.mv_data), page_bytes_).begin();
  if (!is_in_place(state.data_descriptor(), {start, std::min(page_bytes_, kCheckedBytes)}, page_bytes_))
    return;
  map_ = start - layout::page_number(start) * page_bytes_;
}

const char* LookAhead::page(uint64_t number) const noexcept {
  return number < pages_ ? map_ + number * page_bytes_ : nullptr;
}

size_t LookAhead::ask_for(std::span<const Bytes> keys) const noexcept {
  if (map_ == nullptr) return 0;
  keys = keys.first(std::min(keys.size(), kMost));
  std::array<const char*, kMost> at;
  at.fill(page(tree_.root));
  for (size_t level = 1; level < tree_.depth; ++level) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (at[i] == nullptr) continue;
      const PageView branch(at[i], page_bytes_);
      at[i] = branch.size() == 0 ? nullptr : page(branch.node(branch.find(keys[i])).child());
      if (at[i] != nullptr) ask_for_lines(at[i], 1);
    }
  }
  return search_leaves({at.data(), keys.size()}, keys);
}

// Each search goes a step at a time: what one compares was asked for while the others took their last step.
size_t LookAhead::search_leaves(std::span<const char* const> leaves,
                                std::span<const Bytes> keys) const noexcept {
  struct Search {
    size_t low, high;
  };
  std::array<Search, kMost> searches;
  size_t found = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    searches[i] = {0, leaves[i] == nullptr ? 0 : PageView(leaves[i], page_bytes_).size()};
    if (searches[i].high == 0) continue;
    ask_for_lines(PageView(leaves[i], page_bytes_).node(searches[i].high / 2).at, 1);
    ++found;
  }
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (size_t i = 0; i < keys.size(); ++i) {
      auto& [low, high] = searches[i];
      if (high - low <= 1) continue;
      const PageView leaf(leaves[i], page_bytes_);
      const size_t middle = low + (high - low) / 2;
      (leaf.key(middle) <= keys[i] ? low : high) = middle;
      const bool is_last = high - low <= 1;
      ask_for_lines(leaf.node(is_last ? low : low + (high - low) / 2).at, is_last ? kEntryLines : 1);
      is_done &= is_last;
    }
  }
  return found;
}

}  // namespace quire::engine
