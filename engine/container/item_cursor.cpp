#include "engine/container/item_cursor.h"

#include <utility>

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
      epk_prefix_(store.effective_key(partition_key)),
      partition_key_(partition_key.begin(), partition_key.end()) {
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
  is_confined_ = true;
}

Result<size_t> ItemCursor::next(std::span<sql::Value> roots) {
  if (is_done_ || roots.empty()) return size_t{0};
  const auto all = [](const sql::Value&) { return true; };
  if (is_confined_)
    return fill(
        roots,
        [this]() -> Result<bool> {
          QUIRE_ASSIGN(const bool is_there, step_from(range_from_));
          return is_there && (range_to_.empty() || cursor_.key().substr(0, range_to_.size()) < range_to_);
        },
        all);
  if (partition_key_.empty()) return fill(roots, [this] { return cursor_.next(); }, all);
  return fill(
      roots,
      [this]() -> Result<bool> {
        QUIRE_ASSIGN(const bool is_there, step_from(epk_prefix_));
        return is_there && cursor_.key().starts_with(epk_prefix_);
      },
      // Another partition key with the same hash is another's partition.
      [this](const sql::Value& root) { return store_->is_in_partition(root, partition_key_); });
}

Result<bool> ItemCursor::step_from(const std::string& start) {
  if (std::exchange(is_begun_, true)) return cursor_.next();
  return cursor_.seek(start);
}

// `step` goes to the next entry; false behind the last. `is_wanted` is asked of what is visible.
template <typename Step, typename IsWanted>
Result<size_t> ItemCursor::fill(std::span<sql::Value> roots, const Step& step, const IsWanted& is_wanted) {
  for (size_t filled = 0; filled < roots.size();) {
    QUIRE_ASSIGN(const bool is_there, step());
    if (!is_there) {
      is_done_ = true;
      return filled;
    }
    const Bytes record = cursor_.record();
    roots[filled] = store_->root_of(record);
    if (roots[filled].is_undefined()) [[unlikely]]
      return std::unexpected(store_->damaged(cursor_.key()));
    prefetch(record);
    if (is_visible(record) && is_wanted(roots[filled])) [[likely]]
      ++filled;
  }
  return roots.size();
}

}  // namespace quire::engine
