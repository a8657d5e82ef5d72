#include "engine/file/batch_get.h"

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "engine/file/file_state.h"
#include "engine/file/map_advice.h"
#include "engine/file/page_view.h"
#include "engine/file/pending_view.h"

namespace quire::engine {
namespace {

// Fewer pages lie in a processor's caches.
constexpr uint64_t kLeastPages = 512;
constexpr size_t kBranchLines = 3;  // a page's header and most of its node table; of a leaf it is short
constexpr size_t kLineBytes = 64;
// So many keys whose places nobody knew are noted in a row, each known one counting against so many; then so
// many are left alone.
constexpr size_t kMostStrange = 1024, kStrangersOfKnown = 3, kLeftAlone = 16384;
constexpr size_t kRecordLines = 12;  // longer ones are read in order, which the processor sees for itself

void ask_for_record(Bytes record) noexcept {
  ask_for(record.data(), std::min(record.size() / kLineBytes + 1, kRecordLines));
}

}  // namespace

inline bool WideKey::is_at_least(const char* node) const noexcept {
  const size_t node_bytes = layout::Node{node}.key_bytes();
  const char* const key = node + layout::kNodeHeader;
#if defined(__SSE2__)
  const auto equal = [&](size_t at) {
    const __m128i ours = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes_ + at));
    const __m128i theirs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key + at));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(ours, theirs)));
  };
  const uint64_t different = ~(uint64_t{equal(16)} << 16 | equal(0));
  const auto first = static_cast<size_t>(std::countr_zero(different));
  if (first < std::min(node_bytes, size_)) [[likely]]
    return static_cast<unsigned char>(key[first]) < static_cast<unsigned char>(bytes_[first]);
  return node_bytes <= size_;
#else
  const int order = std::memcmp(key, bytes_, std::min(node_bytes, size_));
  return order < 0 || (order == 0 && node_bytes <= size_);
#endif
}

BatchGet::BatchGet(const Transaction& transaction, Table table)
    : transaction_(&transaction), slot_(table.slot()) {
  if (transaction.snapshot() == nullptr) return;
  MDB_stat stat;
  if (mdb_stat(transaction.handle(), slot_, &stat) != MDB_SUCCESS ||
      stat.ms_leaf_pages + stat.ms_overflow_pages < kLeastPages)
    return;
  depth_ = stat.ms_depth;
  tree_ = TableTree::of(transaction, table);
}

struct BatchGet::Strangers {
  std::array<Bytes, kMost> keys, records;
  std::array<uint64_t, kMost> hashes;
  std::array<uint8_t, kMost> numbers;  // of the keys among those of the batch
  size_t count;
};

void BatchGet::find(std::span<const Bytes> keys, std::span<Bytes> records) noexcept {
  std::ranges::fill(records, Bytes());
  // A transaction that writes may be LMDB's by now.
  if (!tree_ || tree_->is_empty() || keys.empty() || transaction_->snapshot() == nullptr) return;
  keys = keys.first(std::min(keys.size(), kMost));
  const TreePlaces known = places_for(keys.size());
  if (!known) return go_down(keys, records, known, {});
  Strangers strangers;
  find_known(known, keys, records, strangers);
  if (strangers.count == 0) return;
  const auto left = std::span(strangers.records).first(strangers.count);
  go_down(std::span(strangers.keys).first(strangers.count), left, known, strangers.hashes);
  for (size_t i = 0; i < strangers.count; ++i) records[strangers.numbers[i]] = left[i];
}

// Keys that nobody looks up again are better not noted: a batch's notes take an eighth of its time.
TreePlaces BatchGet::places_for(size_t keys) noexcept {
  if (strange_ < kMostStrange) return tree_->places();
  strange_ += keys;
  if (strange_ >= kMostStrange + kLeftAlone) strange_ = 0;
  return {};
}

void BatchGet::find_known(const TreePlaces& known, std::span<const Bytes> keys, std::span<Bytes> records,
                          Strangers& strangers) noexcept {
  std::array<uint64_t, kMost> hashes;
  for (size_t i = 0; i < keys.size(); ++i) {
    hashes[i] = known.hash(keys[i]);
    known.ask_for(hashes[i]);
  }
  std::array<EntryPlace, kMost> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    places[i] = known.find(hashes[i]).value_or(EntryPlace{});
    if (places[i].page != 0) tree_->ask_for(places[i]);
  }
  size_t left = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (places[i].page != 0) {
      auto record = find_pending(keys[i]);
      if (!record) record = tree_->record_at(places[i], keys[i]);
      if (record) {
        records[i] = *record;
        ask_for_record(*record);
        continue;
      }
    }
    strangers.keys[left] = keys[i];
    strangers.hashes[left] = hashes[i];
    strangers.numbers[left++] = static_cast<uint8_t>(i);
  }
  strangers.count = left;
  strange_ = strange_ + left - std::min(strange_ + left, (keys.size() - left) * kStrangersOfKnown);
}

// The ways of all keys, a level at a time.
void BatchGet::go_down(std::span<const Bytes> keys, std::span<Bytes> records, const TreePlaces& known,
                       std::span<const uint64_t> hashes) const noexcept {
  std::array<Search, kMost> room;
  const std::span<Search> searches = std::span(room).first(keys.size());
  bool is_sorted = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    searches[i].page = tree_->root();
    searches[i].key.hold(keys[i]);
    is_sorted = is_sorted && (i == 0 || is_at_most(keys[i - 1], keys[i]));
  }
  // Of a file that is read exactly, the pages of a level are read from the disk side by side.
  const bool asks_disk = tree_->is_read_exactly() && has_waited_for_disk();
  for (size_t level = 1;; ++level) {
    search(searches, keys, is_sorted);
    if (level == depth_) break;
    for (Search& search : searches) {
      if (search.count == 0) continue;
      search.page = tree_->page(tree_->view(search.page).node(search.low).child());
      if (search.page != nullptr && asks_disk) tree_->ask_disk_for_page(search.page);
      if (search.page != nullptr) ask_for(search.page, level + 1 < depth_ ? kBranchLines : 1);
    }
  }
  for (size_t i = 0; i < keys.size(); ++i)
    records[i] = record_of(searches[i], keys[i], known, known ? hashes[i] : 0);
}

// To the last node of each page whose key is not greater, or the first one.
void BatchGet::search(std::span<Search> searches, std::span<const Bytes> keys,
                      bool is_sorted) const noexcept {
  for (Search& search : searches) {
    search.low = 0;
    search.count = search.page == nullptr ? 0 : tree_->view(search.page).size();
  }
  // On the upper pages, one pair of searches does for all that lie between.
  if (is_sorted && searches.front().page == searches.back().page && searches.front().count > 0) {
    const PageView view = tree_->view(searches.front().page);
    const size_t low = view.find(keys.front()), last = view.find(keys.back());
    for (Search& search : searches) search.low = low, search.count = std::max(last, low) + 1 - low;
  }
  size_t most = 0;
  for (Search& search : searches) {
    most = std::max(most, search.count);
    if (search.count > 0) ask_for_probe(search);
  }
  for (; most > 1; most -= most / 2)
    for (size_t i = 0; i < searches.size(); ++i)
      if (searches[i].count > 1) halve(searches[i], keys[i]);
}

// A node so near to the page's end that a whole WideKey cannot be read there is looked at by PageView: its
// probe is the page's start.
inline void BatchGet::ask_for_probe(Search& search) const noexcept {
  const PageView view = tree_->view(search.page);
  search.probe = view.node(search.low + search.count / 2, WideKey::kBytes).at;
  const char* const key = search.probe + layout::kNodeHeader;
  ask_for(key);
  ask_for(key + WideKey::kBytes - 1);
}

// Which half it goes on in is no jump: the processor could not guess it.
inline void BatchGet::halve(Search& search, Bytes key) const noexcept {
  const size_t half = search.count / 2;
  bool is_behind;
  if (search.probe != search.page && search.key.is_told()) [[likely]]
    is_behind = search.key.is_at_least(search.probe);
  else
    is_behind = is_at_most(tree_->view(search.page).key(search.low + half), key);
  search.low += half & -size_t{is_behind};
  search.count -= half;
  ask_for_probe(search);
}

std::optional<Bytes> BatchGet::find_pending(Bytes key) const noexcept {
  const PendingView* const pending = transaction_->pending();
  if (pending == nullptr) return std::nullopt;
  const auto change = transaction_->is_write() ? pending->find_at_hand(slot_, key)
                                               : pending->find(slot_, key, transaction_->upto());
  if (!change) return std::nullopt;
  return change->is_erased ? Bytes() : change->record;
}

Bytes BatchGet::record_of(const Search& search, Bytes key, const TreePlaces& known,
                          uint64_t hashed) const noexcept {
  if (const auto record = find_pending(key)) return *record;
  if (search.count == 0 || (layout::page_flags(search.page) & layout::kLeafPage) == 0) return {};
  const PageView leaf = tree_->view(search.page);
  if (leaf.key(search.low) != key) return {};
  if (known) known.note(hashed, TableTree::place_of(leaf, search.low));
  const Bytes record = tree_->record_of(leaf, search.low).value_or(Bytes());
  ask_for_record(record);
  return record;
}

}  // namespace quire::engine
