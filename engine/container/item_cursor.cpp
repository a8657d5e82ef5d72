#include "engine/container/item_cursor.h"

#include "engine/container/container.h"

namespace quire::engine {
namespace {

// The lines of a record behind its first hold the key numbers, the offsets and the first values, which the
// query is about to read: their way from memory runs beside the walk.
void prefetch(Bytes record) noexcept {
  constexpr size_t kLine = 64;
  constexpr size_t kLines = 3;
  for (size_t line = 1; line <= kLines; ++line)
    if (line * kLine < record.size()) __builtin_prefetch(record.data() + line * kLine);
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
      partition_key_(partition_key.begin(), partition_key.end()) {
  size_t text_bytes = 0;
  for (const sql::Value& component : partition_key)
    if (component.is_string()) text_bytes += component.as_string().size();
  text_ = std::make_unique<char[]>(text_bytes);
  char* at = text_.get();
  for (sql::Value& component : partition_key_) {
    char epk[kEpkBytes];
    store.hash()(component, epk);
    epk_prefix_.append(epk, kEpkBytes);
    if (!component.is_string()) continue;
    const std::string_view text = component.as_string();
    component = sql::Value::string({at, text.copy(at, text.size())});
    at += text.size();
  }
}

Result<size_t> ItemCursor::next(std::span<sql::Value> roots) {
  if (is_done_ || roots.empty()) return size_t{0};
  if (is_confined_) return fill_range(roots);
  return partition_key_.empty() ? fill_all(roots) : fill_partition(roots);
}

void ItemCursor::confine(std::string from, std::string to) {
  range_from_ = std::move(from);
  range_to_ = std::move(to);
  is_confined_ = true;
}

Result<size_t> ItemCursor::fill_range(std::span<sql::Value> roots) {
  for (size_t filled = 0; filled < roots.size();) {
    QUIRE_ASSIGN(const bool is_there, is_begun_ ? cursor_.next() : cursor_.seek(range_from_));
    is_begun_ = true;
    if (!is_there || (!range_to_.empty() && cursor_.key().substr(0, range_to_.size()) >= range_to_)) {
      is_done_ = true;
      return filled;
    }
    const Bytes record = cursor_.record();
    roots[filled] = store_->root_of(record);
    if (roots[filled].is_undefined()) [[unlikely]]
      return std::unexpected(store_->damaged(cursor_.key()));
    prefetch(record);
    if (is_visible(record)) [[likely]]
      ++filled;
  }
  return roots.size();
}

Result<size_t> ItemCursor::fill_all(std::span<sql::Value> roots) {
  for (size_t filled = 0; filled < roots.size();) {
    QUIRE_ASSIGN(const bool is_there, cursor_.next());
    if (!is_there) {
      is_done_ = true;
      return filled;
    }
    const Bytes record = cursor_.record();
    roots[filled] = store_->root_of(record);
    if (roots[filled].is_undefined()) [[unlikely]]
      return std::unexpected(store_->damaged(cursor_.key()));
    prefetch(record);
    if (is_visible(record)) [[likely]]
      ++filled;
  }
  return roots.size();
}

Result<size_t> ItemCursor::fill_partition(std::span<sql::Value> roots) {
  for (size_t filled = 0; filled < roots.size();) {
    QUIRE_ASSIGN(const bool is_there, is_begun_ ? cursor_.next() : cursor_.seek(epk_prefix_));
    is_begun_ = true;
    if (!is_there || !cursor_.key().starts_with(epk_prefix_)) {
      is_done_ = true;
      return filled;
    }
    const sql::Value root = store_->root_of(cursor_.record());
    if (root.is_undefined()) [[unlikely]]
      return std::unexpected(store_->damaged(cursor_.key()));
    // Another partition key with the same hash is another's partition.
    if (store_->is_in_partition(root, partition_key_) && is_visible(cursor_.record())) [[likely]]
      roots[filled++] = root;
  }
  return roots.size();
}

}  // namespace quire::engine
