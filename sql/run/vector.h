// Batches. A batch is up to kBatchSize rows; each slot has a Vector, a column of Values by row. Which rows of
// the batch are still in play is a list of row numbers, so that a filter moves no value.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "sql/value/value.h"

namespace quire::sql {

// Enough rows to make the cost of a virtual call vanish, few enough that their documents (half a kilobyte
// each) stay in the second-level cache from the scan to the last expression.
constexpr size_t kBatchSize = 1024;

using RowNumber = uint16_t;
using Rows = std::span<const RowNumber>;

// 0, 1, 2, ... up to kBatchSize.
Rows first_rows(size_t count);

// A column, or one value that stands for every row.
struct Vector {
  const Value* values = nullptr;
  uint32_t mask = 0;  // 0: one value; all ones: a value a row

  static Vector column(const Value* values) { return {values, UINT32_MAX}; }
  static Vector single(const Value* value) { return {value, 0}; }
  const Value& operator[](RowNumber row) const { return values[row & mask]; }
  bool is_single() const { return mask == 0; }
};

// Memory for one column, had at its first use. What is not written is undefined: all zero bytes, which a
// query for one row has at once where making a batch of values would take most of its time.
class Column {
 public:
  Value* reserve(size_t capacity) {
    if (capacity > capacity_) {
      values_.reset(static_cast<Value*>(std::calloc(capacity, sizeof(Value))));
      capacity_ = values_ != nullptr ? capacity : 0;
      if (values_ == nullptr) throw std::bad_alloc();
    }
    return values_.get();
  }
  Value* data() { return values_.get(); }

 private:
  static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);
  struct Free {
    void operator()(Value* values) const noexcept { std::free(values); }
  };
  std::unique_ptr<Value, Free> values_;
  size_t capacity_ = 0;
};

}  // namespace quire::sql
