// A set of values by deep equality, in an arena: for the functions on sets. Open addressing over the order of
// arrival, at most half full, so that n values take about n comparisons.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "sql/value/arena.h"
#include "sql/value/comparison.h"
#include "sql/value/value.h"

namespace quire::sql {

class ValueSet {
 public:
  // Takes up to `capacity` values.
  ValueSet(Arena& arena, size_t capacity)
      : values_(arena.make_array<Value>(capacity)),
        hashes_(arena.make_array<uint64_t>(capacity)),
        slots_(arena.make_array<uint32_t>(std::bit_ceil(2 * capacity + 1))) {}

  // True if the value is new.
  bool add(const Value& value) {
    const uint64_t hash = deep_hash(value);
    const size_t slot = find(value, hash);
    if (slots_[slot] != 0) return false;
    values_[size_] = value;
    hashes_[size_] = hash;
    slots_[slot] = static_cast<uint32_t>(++size_);
    return true;
  }

  bool contains(const Value& value) const { return slots_[find(value, deep_hash(value))] != 0; }

  // In the order in which they came.
  std::span<const Value> values() const { return values_.first(size_); }
  size_t size() const { return size_; }

 private:
  // The slot of an equal value, or the free one where it would go.
  size_t find(const Value& value, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    while (slots_[slot] != 0) {
      const uint32_t place = slots_[slot] - 1;
      if (hashes_[place] == hash && deep_equal(values_[place], value)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  std::span<Value> values_;
  std::span<uint64_t> hashes_;
  std::span<uint32_t> slots_;  // place in values_ + 1; 0: free
  size_t size_ = 0;
};

}  // namespace quire::sql
