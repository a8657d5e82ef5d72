// The condition of a partial index at work: whether it is true for an item.
#pragma once

#include <memory>
#include <string_view>

#include "sql/error.h"
#include "sql/value/resolved_key.h"
#include "sql/value/value.h"

namespace quire::sql {

// Belongs to one thread at a time.
class ItemCondition {
 public:
  // `text` as index_condition_text() gives it. `dictionary`: of the items; must know every name that the
  // condition reads and that it can know.
  static Result<std::unique_ptr<ItemCondition>> make(std::string_view text, DictionaryNumber dictionary);
  ~ItemCondition();

  // An item for which the condition fails to say anything has no entry.
  bool is_true_for(const Value& item);

 private:
  struct State;
  explicit ItemCondition(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace quire::sql
