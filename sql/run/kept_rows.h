// Rows that are kept by key, those of each key chained in the order in which they came: the right side of a
// hash join, the rows that a correlated subquery looks up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sql/run/frame.h"
#include "sql/run/tuple_table.h"
#include "sql/value/comparison.h"
#include "sql/value/limited_array.h"

namespace quire::sql {

// Not thread-safe.
class KeptRows {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // `width`: values a row. `memory` must outlive it.
  KeptRows(size_t keys, size_t width, MemoryBudget& memory)
      : width_(width),
        arena_(&memory),
        keys_(keys, memory),
        chains_(&memory),
        next_(&memory),
        values_(&memory) {}

  void clear() {
    keys_.clear();
    chains_.clear();
    next_.clear();
    values_.clear();
    arena_.reset();
  }

  // Throws MemoryLimitExceeded. What is not stable is copied.
  void add(std::span<const Value> key, bool keys_are_stable, std::span<const Value> values,
           const std::vector<bool>& is_stable) {
    if (std::ranges::any_of(key, equals_nothing)) return;
    const TupleTable::Inserted inserted = keys_.insert(key);
    const auto row = static_cast<uint32_t>(next_.size());
    if (inserted.is_new) {
      if (!keys_are_stable)
        for (Value& value : keys_.tuple(inserted.number)) value = retain(value, arena_);
      chains_.push_back({row, row});
    } else {
      next_[chains_[inserted.number].last] = row;
      chains_[inserted.number].last = row;
    }
    next_.push_back(kNone);
    for (size_t i = 0; i < width_; ++i)
      values_.push_back(is_stable[i] ? values[i] : retain(values[i], arena_));
    if (next_.size() == kNone) throw MemoryLimitExceeded{};
  }

  // The first row with this key, or kNone; next() gives the others in turn.
  uint32_t find(std::span<const Value> key) const {
    const std::optional<uint32_t> number = keys_.find(key);
    return number ? chains_[*number].first : kNone;
  }
  uint32_t next(uint32_t row) const { return next_[row]; }
  const Value* values(uint32_t row) const { return values_.data() + row * width_; }
  bool empty() const { return next_.empty(); }
  size_t key_count() const { return chains_.size(); }
  std::span<const Value> key(uint32_t number) { return keys_.tuple(number); }

 private:
  struct Chain {
    uint32_t first;
    uint32_t last;
  };
  size_t width_;
  Arena arena_;
  TupleTable keys_;
  LimitedArray<Chain> chains_;   // by number of the key
  LimitedArray<uint32_t> next_;  // by row: the next of its key
  LimitedArray<Value> values_;   // width_ a row
};

}  // namespace quire::sql
