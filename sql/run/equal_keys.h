// A partition holds the numbers whose doubles are the same, from 2^53 on several of them; a query that asks
// for one of these means that one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql/source.h"

namespace quire::sql {

// What a component of a partition key may be: nothing else is equal to one.
inline bool is_scalar(const Value& value) noexcept {
  return value.is_null() || value.is_boolean() || value.is_number() || value.is_string();
}

// Of the items of partitions, those whose partition keys, or what they begin with, are equal to one that was
// asked for.
class EqualKeys final : public Cursor {
 public:
  // Whether partitions that `access` leads to may hold items of other keys.
  static bool are_needed(const Access& access);
  // Copies the keys; `collection` stays.
  EqualKeys(std::unique_ptr<Cursor> items, const Collection& collection, const Access& access);

  Result<size_t> next(std::span<Value> items) override;

 private:
  bool has(const Value& item);

  std::unique_ptr<Cursor> items_;
  std::span<const std::vector<std::string>> paths_;  // those that were asked for
  std::vector<std::string> keys_;                    // encoded, in order
  std::string key_;                                  // of the item at hand
};

}  // namespace quire::sql
