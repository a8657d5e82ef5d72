// A collection that holds the given items alone: what RETURNING and the condition of a patch are queries
// over.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/source.h"
#include "sql/value/value.h"

namespace quire::engine {

// `base` and `items`, which are items of it, must outlive it.
class ItemList final : public sql::Collection {
 public:
  ItemList(sql::Collection& base, std::span<const sql::Value> items) : base_(base), items_(items) {}

  std::string_view name() const override { return base_.name(); }
  const std::vector<std::vector<std::string>>& partition_key_paths() const override {
    return base_.partition_key_paths();
  }
  std::string_view definition_property(std::string_view name) const override {
    return base_.definition_property(name);
  }
  sql::DictionaryNumber dictionary() const override { return base_.dictionary(); }
  Result<std::unique_ptr<sql::Cursor>> open(const sql::Access& access) override;
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

// A source in which one collection is such a list.
class ItemListSource final : public sql::Source {
 public:
  // `base` and `items`, which are items of its collection `name`, must outlive it.
  ItemListSource(sql::Source& base, std::string_view name, std::span<const sql::Value> items)
      : base_(base), name_(name), list_(*base.collection(name), items) {}

  sql::Collection* collection(std::string_view name) override {
    return name == name_ ? &list_ : base_.collection(name);
  }
  std::vector<std::string> collection_names() const override { return base_.collection_names(); }
  Result<std::unique_ptr<sql::UserFunction>> user_function(std::string_view name) override {
    return base_.user_function(name);
  }

 private:
  sql::Source& base_;
  std::string_view name_;
  ItemList list_;
};

}  // namespace quire::engine
