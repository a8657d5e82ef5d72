// A hash table of tuples of Values under deep equality: the keys of GROUP BY, the values seen by DISTINCT,
// the constants of IN. Tuples are numbered in the order in which they came.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sql/value/limited_array.h"
#include "sql/value/value.h"

namespace quire::sql {

// Not thread-safe. Stores the Values as they are: retain() a new tuple's values with `replace` if they do not
// live as long as the table.
class TupleTable {
 public:
  // `memory` must outlive it.
  TupleTable(size_t arity, MemoryBudget& memory)
      : arity_(arity), values_(&memory), hashes_(&memory), places_(&memory) {}

  struct Inserted {
    uint32_t number;
    bool is_new;
  };
  // Throws MemoryLimitExceeded.
  Inserted insert(std::span<const Value> tuple);
  std::optional<uint32_t> find(std::span<const Value> tuple) const;

  size_t size() const { return hashes_.size(); }
  std::span<Value> tuple(uint32_t number) { return {values_.data() + number * arity_, arity_}; }
  void clear();

 private:
  size_t probe(std::span<const Value> tuple, uint64_t hash) const;
  void grow();

  size_t arity_;
  LimitedArray<Value> values_;     // arity_ values a tuple
  LimitedArray<uint64_t> hashes_;  // by tuple
  LimitedArray<uint32_t> places_;  // open addressing: tuple number + 1, or 0; a power of two long
};

}  // namespace quire::sql
