#include "engine/file/batch_get.h"

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <string>

#include "engine/file/file_state.h"
#include "engine/file/page_reader.h"
#include "engine/file/page_view.h"
#include "engine/file/pending_view.h"

namespace quire::engine {
namespace {

// Fewer pages lie in a processor's caches.
constexpr uint64_t kLeastPages = 512;
constexpr size_t kLine = 64;
constexpr uint32_t kCheckedBytes = 4096;
constexpr size_t kBranchLines = 3;   // a page's header and most of its node table; of a leaf it is short
constexpr size_t kEntryLines = 2;    // of an entry: its key and the start of its record
constexpr size_t kRecordLines = 12;  // longer ones are read in order, which the processor sees for itself

void ask_for_lines(const char* at, size_t lines) {
  for (size_t line = 0; line < lines; ++line) __builtin_prefetch(at + line * kLine);
}

}  // namespace

BatchGet::BatchGet(const Transaction& transaction, Table table)
    : transaction_(&transaction), slot_(table.slot()) {
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

const char* BatchGet::page(uint64_t number) const noexcept {
  return number < pages_ ? map_ + number * page_bytes_ : nullptr;
}

void BatchGet::find(std::span<const Bytes> keys, std::span<Bytes> records) const noexcept {
  std::ranges::fill(records, Bytes());
  if (map_ == nullptr || keys.empty()) return;
  keys = keys.first(std::min(keys.size(), kMost));
  std::array<Search, kMost> room;
  const std::span<Search> searches = std::span(room).first(keys.size());
  std::ranges::fill(searches, Search{page(tree_.root), 0, 0});
  const bool is_sorted = std::ranges::is_sorted(keys);
  for (size_t level = 1;; ++level) {
    search(searches, keys, is_sorted);
    if (level == tree_.depth) break;
    for (Search& search : searches) {
      if (search.high == 0) continue;
      search.page = page(PageView(search.page, page_bytes_).node(search.low).child());
      if (search.page != nullptr) ask_for_lines(search.page, level + 1 < tree_.depth ? kBranchLines : 1);
    }
  }
  for (size_t i = 0; i < keys.size(); ++i) records[i] = record_of(searches[i], keys[i]);
}

// To the last node of each page whose key is not greater, or the first one: a step of each, then the next.
void BatchGet::search(std::span<Search> searches, std::span<const Bytes> keys,
                      bool is_sorted) const noexcept {
  for (Search& search : searches) {
    search.low = 0;
    search.high = search.page == nullptr ? 0 : PageView(search.page, page_bytes_).size();
  }
  // On the upper pages, one pair of searches does for all that lie between.
  if (is_sorted && searches.front().page == searches.back().page && searches.front().high > 0) {
    const PageView view(searches.front().page, page_bytes_);
    const size_t low = view.find(keys.front()), high = view.find(keys.back()) + 1;
    for (Search& search : searches) search = {search.page, low, high};
  }
  for (const Search& search : searches)
    if (search.high > 0) ask_for_lines(PageView(search.page, page_bytes_).node(search.middle()).at, 1);
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (size_t i = 0; i < searches.size(); ++i) {
      Search& search = searches[i];
      if (search.is_done()) continue;
      const PageView view(search.page, page_bytes_);
      const size_t middle = search.middle();
      (is_at_most(view.key(middle), keys[i]) ? search.low : search.high) = middle;
      const bool is_last = search.is_done();
      ask_for_lines(view.node(is_last ? search.low : search.middle()).at, is_last ? kEntryLines : 1);
      is_done &= is_last;
    }
  }
}

Bytes BatchGet::record_of(const Search& search, Bytes key) const noexcept {
  if (search.high == 0 || (layout::page_flags(search.page) & layout::kLeafPage) == 0) return {};
  const PageView leaf(search.page, page_bytes_);
  const layout::Node node = leaf.node(search.low);
  if (leaf.key(search.low) != key || node.key_bytes() != key.size()) return {};
  if (const PendingView* const pending = transaction_->pending();
      pending != nullptr && pending->find(slot_, key, transaction_->upto()))
    return {};
  const size_t bytes = node.data_bytes();
  const auto room = static_cast<size_t>(leaf.begin() + page_bytes_ - node.data());
  Bytes record;
  if (node.is_on_pages() && room >= sizeof(uint64_t))
    record = record_on_pages(node.first_page(), bytes);
  else if (node.flags() == 0 && room >= bytes)
    record = {node.data(), bytes};
  ask_for_lines(record.data(), std::min(record.size() / kLine + 1, kRecordLines));
  return record;
}

Bytes BatchGet::record_on_pages(uint64_t first, size_t bytes) const noexcept {
  const uint64_t count = layout::overflow_pages(bytes, page_bytes_);
  if (first >= pages_ || count > pages_ - first) return {};
  return {page(first) + layout::kPageHeader, bytes};
}

}  // namespace quire::engine
