// A source in which one collection holds the given items alone: what RETURNING and the condition of a patch
// are queries over.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/source.h"
#include "sql/value/value.h"

namespace quire::engine {

// `base` and `items`, which are items of its collection `name`, must outlive it.
class ItemListSource final : public sql::Source {
 public:
  ItemListSource(sql::Source& base, std::string_view name, std::span<const sql::Value> items);
  ~ItemListSource() override;

  sql::Collection* collection(std::string_view name) override;
  std::vector<std::string> collection_names() const override;
  Result<std::unique_ptr<sql::UserFunction>> user_function(std::string_view name) override {
    return base_.user_function(name);
  }

 private:
  sql::Source& base_;
  std::string_view name_;
  std::unique_ptr<sql::Collection> collection_;
};

}  // namespace quire::engine
