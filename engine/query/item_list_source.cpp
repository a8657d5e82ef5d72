#include "engine/query/item_list_source.h"

#include <algorithm>

namespace quire::engine {
namespace {

class ItemList final : public sql::Cursor {
 public:
  explicit ItemList(std::span<const sql::Value> items) : items_(items) {}
  Result<size_t> next(std::span<sql::Value> items) override {
    const size_t count = std::min(items.size(), items_.size());
    std::copy_n(items_.begin(), count, items.begin());
    items_ = items_.subspan(count);
    return count;
  }

 private:
  std::span<const sql::Value> items_;
};

class ItemListCollection final : public sql::Collection {
 public:
  ItemListCollection(sql::Collection& base, std::span<const sql::Value> items) : base_(base), items_(items) {}

  std::string_view name() const override { return base_.name(); }
  const std::vector<std::vector<std::string>>& partition_key_paths() const override {
    return base_.partition_key_paths();
  }
  std::string_view definition_property(std::string_view name) const override {
    return base_.definition_property(name);
  }
  sql::DictionaryNumber dictionary() const override { return base_.dictionary(); }
  Result<std::unique_ptr<sql::Cursor>> open(const sql::Access&) override {
    return std::make_unique<ItemList>(items_);
  }
  bool finds_by_key() const override { return false; }
  uint64_t item_count() const override { return items_.size(); }
  sql::Value system_property(const sql::Value& item, sql::SystemProperty property,
                             sql::Arena& arena) const override {
    return base_.system_property(item, property, arena);
  }
  int64_t document_id(const sql::Value& item) const override { return base_.document_id(item); }

 private:
  sql::Collection& base_;
  std::span<const sql::Value> items_;
};

}  // namespace

ItemListSource::ItemListSource(sql::Source& base, std::string_view name, std::span<const sql::Value> items)
    : base_(base),
      name_(name),
      collection_(std::make_unique<ItemListCollection>(*base.collection(name), items)) {}
ItemListSource::~ItemListSource() = default;

sql::Collection* ItemListSource::collection(std::string_view name) {
  return name == name_ ? collection_.get() : base_.collection(name);
}
std::vector<std::string> ItemListSource::collection_names() const {
  return base_.collection_names();
}

}  // namespace quire::engine
