#include "engine/query/item_list.h"

#include <algorithm>

namespace quire::engine {
namespace {

class ItemListCursor final : public sql::Cursor {
 public:
  explicit ItemListCursor(std::span<const sql::Value> items) : items_(items) {}
  Result<size_t> next(std::span<sql::Value> items) override {
    const size_t count = std::min(items.size(), items_.size());
    std::copy_n(items_.begin(), count, items.begin());
    items_ = items_.subspan(count);
    return count;
  }

 private:
  std::span<const sql::Value> items_;
};

}  // namespace

Result<std::unique_ptr<sql::Cursor>> ItemList::open(const sql::Access&) {
  return std::make_unique<ItemListCursor>(items_);
}

}  // namespace quire::engine
