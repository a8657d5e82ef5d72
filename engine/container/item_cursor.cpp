#include "engine/container/item_cursor.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/container/container.h"
#include "engine/container/item_key.h"
#include "sql/value/key_encoding.h"
#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

// Of a key: behind so many bytes it may go on with its id, or with a hash of it (item_key.h).
constexpr size_t kBytesBeforeHash = kLongestTableKey - kIdHashBytes;
// How many entries are taken from the cursor at once: a page of small items has more.
constexpr size_t kMostEntries = 32;

constexpr std::array<char, kLongestTableKey + 1> kGreatestBytes = [] {
  std::array<char, kLongestTableKey + 1> bytes{};
  bytes.fill('\xFF');
  return bytes;
}();
constexpr Bytes kBehindAllKeys(kGreatestBytes.data(), kGreatestBytes.size());

// The lines of a record behind its first hold the key numbers, the offsets and the first values, which the
// query is about to read: their way from memory runs beside the walk.
void prefetch(Bytes record) noexcept {
  constexpr size_t kLine = 64;
  constexpr size_t kLines = 3;
  for (size_t line = 1; line <= kLines; ++line)
    if (line * kLine < record.size()) sql::prefetch(record.data() + line * kLine);
}

}  // namespace

// The strings of the partition key are copied: a cursor outlives the call that opened it, and its caller's
// values.
ItemCursor::ItemCursor(const ContainerStore& store, FileCursor cursor,
                       std::span<const sql::Value> partition_key, const Lifetime& lifetime, uint32_t now)
    : store_(&store),
      cursor_(std::move(cursor)),
      lifetime_(lifetime),
      now_(now),
      epk_prefix_(store.effective_key(partition_key)),
      partition_key_(partition_key.begin(), partition_key.end()),
      range_from_(epk_prefix_),
      range_to_(sql::key_behind(epk_prefix_)) {
  size_t text_bytes = 0;
  for (const sql::Value& component : partition_key)
    if (component.is_string()) text_bytes += component.as_string().size();
  text_ = std::make_unique<char[]>(text_bytes);
  char* at = text_.get();
  for (sql::Value& component : partition_key_) {
    if (!component.is_string()) continue;
    const std::string_view text = component.as_string();
    component = sql::Value::string({at, text.copy(at, text.size())});
    at += text.size();
  }
}

void ItemCursor::confine(std::string from, std::string to) {
  range_from_ = std::move(from);
  range_to_ = std::move(to);
}

void ItemCursor::confine(const IdRange& range) {
  is_ordered_ = range.is_ordered;
  is_reverse_ = range.is_reverse;
  const size_t longest = kBytesBeforeHash - epk_prefix_.size();
  range_from_ = epk_prefix_;
  range_from_ += range.from.substr(0, longest);
  range_to_ = epk_prefix_;
  range_to_ += range.to.substr(0, longest);
  if (range.to.empty() || range.to.size() > longest) range_to_ = sql::key_behind(std::move(range_to_));
}

Result<size_t> ItemCursor::next(std::span<sql::Value> roots) {
  if (is_ordered_) return fill_in_order(roots);
  std::array<TreeEntry, kMostEntries> entries;
  size_t filled = 0;
  while (filled < roots.size() && !is_done_) {
    const size_t wanted = std::min(entries.size(), roots.size() - filled);
    QUIRE_ASSIGN(const size_t count, next_entries(std::span(entries).first(wanted)));
    is_done_ = count == 0;
    for (const TreeEntry& entry : std::span(entries).first(count)) {
      roots[filled] = store_->root_of(entry.record);
      if (roots[filled].is_undefined()) [[unlikely]]
        return std::unexpected(store_->damaged(entry.key));
      prefetch(entry.record);
      if (is_visible(entry.record) && is_wanted(roots[filled])) [[likely]]
        ++filled;
    }
  }
  return filled;
}

// Another partition key with the same hash is another's partition.
bool ItemCursor::is_wanted(const sql::Value& root) const {
  return partition_key_.empty() || store_->is_in_partition(root, partition_key_);
}

Result<size_t> ItemCursor::next_entries(std::span<TreeEntry> entries) {
  if (is_begun_ && !is_reverse_) {
    const Bytes end = range_to_.empty() ? kBehindAllKeys : Bytes(range_to_);
    QUIRE_ASSIGN(const size_t count, cursor_.read_before(end, entries));
    if (count != 0) return count;
  }
  QUIRE_ASSIGN(const bool is_there, step());
  if (is_there) entries[0] = {cursor_.key(), cursor_.record()};
  return is_there ? 1 : 0;
}

Result<bool> ItemCursor::step() {
  const bool is_first = !std::exchange(is_begun_, true);
  if (!is_reverse_) {
    QUIRE_ASSIGN(const bool is_there, is_first ? cursor_.seek(range_from_) : cursor_.next());
    return is_there && (range_to_.empty() || cursor_.key() < Bytes(range_to_));
  }
  bool is_there = false;
  if (is_first && !range_to_.empty()) {
    QUIRE_ASSIGN(is_there, cursor_.seek(range_to_));
    if (!is_there) {
      QUIRE_ASSIGN(is_there, cursor_.last());
      return is_there && cursor_.key() >= Bytes(range_from_);
    }
  }
  QUIRE_ASSIGN(is_there, cursor_.previous());  // of a fresh one, the last
  return is_there && cursor_.key() >= Bytes(range_from_);
}

// ---- In the order of ids

Result<sql::Value> ItemCursor::wanted_root() const {
  const Bytes record = cursor_.record();
  const sql::Value root = store_->root_of(record);
  if (root.is_undefined()) [[unlikely]]
    return std::unexpected(store_->damaged(cursor_.key()));
  prefetch(record);
  return is_visible(record) && is_wanted(root) ? root : sql::Value();
}

Result<size_t> ItemCursor::fill_in_order(std::span<sql::Value> roots) {
  size_t filled = 0;
  while (filled < roots.size()) {
    if (next_long_ < long_ids_.size()) {
      roots[filled++] = long_ids_[next_long_++];
      continue;
    }
    if (is_done_) break;
    if (!std::exchange(stands_, false)) {
      QUIRE_ASSIGN(const bool is_there, step());
      is_done_ = !is_there;
      if (is_done_) break;
    }
    if (cursor_.key().size() >= kBytesBeforeHash) [[unlikely]] {
      QUIRE_TRY(take_long_ids());
      continue;
    }
    QUIRE_ASSIGN(roots[filled], wanted_root());
    if (roots[filled].is_defined()) ++filled;
  }
  return filled;
}

// Those whose first bytes are those of the entry at hand: behind them, keys are in the order of hashes.
Result<void> ItemCursor::take_long_ids() {
  const std::string told(cursor_.key().substr(0, kBytesBeforeHash));
  long_ids_.clear();
  next_long_ = 0;
  do {
    QUIRE_ASSIGN(const sql::Value root, wanted_root());
    if (root.is_defined()) long_ids_.push_back(root);
    QUIRE_ASSIGN(stands_, step());
  } while (stands_ && cursor_.key().starts_with(told));
  is_done_ = !stands_;
  std::ranges::sort(long_ids_, [this](const sql::Value& a, const sql::Value& b) {
    const std::string_view first = a.member("id").as_string(), second = b.member("id").as_string();
    return is_reverse_ ? second < first : first < second;
  });
  return {};
}

}  // namespace quire::engine
