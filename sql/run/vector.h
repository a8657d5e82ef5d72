// Batches. A batch is up to kBatchSize rows; each slot has a Vector, a column of Values by row. Which rows of
// the batch are still in play is a list of row numbers, so that a filter moves no value.
#pragma once

#include <algorithm>
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

// Memory for one column, had when it is used and as long as is needed: to clear a batch's room for each
// column would be most of the work of a query for few rows. What is not written is undefined: all zero bytes.
class Column {
 public:
  // Room for so many values. What was there is gone if it has to grow.
  Value* reserve(size_t count) {
    if (count > capacity_) {
      const size_t capacity = std::max(count, std::min(2 * capacity_, kBatchSize));
      values_.reset(static_cast<Value*>(std::calloc(capacity, sizeof(Value))));
      capacity_ = values_ != nullptr ? capacity : 0;
      if (values_ == nullptr) throw std::bad_alloc();
    }
    return values_.get();
  }
  // Room for a value of each of the rows, whose numbers rise, and for one that stands for all.
  Value* reserve(Rows rows) { return reserve(rows.empty() ? 1 : size_t{rows.back()} + 1); }
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
