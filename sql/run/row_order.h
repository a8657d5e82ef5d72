// The order of many rows by their keys, for a full sort. Comparing two rows costs two visits to memory that
// no cache holds, since strings lie where they are stored. So rows are sorted by chunks of their keys
// instead: 64 bits that order as the first bytes of the first key do, laid beside the row's number. Rows with
// equal chunks are sorted by their next chunks, and so on; when few are left they are compared.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "sql/value/limited_array.h"
#include "sql/value/value.h"

namespace quire::sql {

// By keys alone: `a` and `b` point at the first key of a row. By key, whether it descends.
std::strong_ordering compare_keys(const Value* a, const Value* b, const std::vector<bool>& descending);

class RowOrder {
 public:
  // What sorting takes beside the row numbers, for each row.
  static constexpr size_t kBytesPerRow = 16;

  // `values`: `width` a row, the keys first. All must outlive this.
  RowOrder(std::span<const Value> values, size_t width, const std::vector<bool>& descending,
           MemoryBudget& memory)
      : values_(values), width_(width), descending_(descending), entries_(&memory), ranges_(&memory) {}

  // `rows` rises, and rows whose keys are equal keep that order.
  void sort(std::span<uint32_t> rows);

 private:
  struct Entry {
    uint64_t chunk;
    uint32_t row;
  };
  static_assert(sizeof(Entry) == kBytesPerRow);
  // Rows that are equal up to a chunk of a key.
  struct Range {
    size_t first;
    size_t end;
    size_t key;
    size_t depth;
  };

  void sort_range(const Range& range);
  void load_chunks(const Range& range);
  // Asks for what load_chunks() comes to look at, which lies anywhere.
  void ask_ahead(const Range& range, size_t at) const;
  void push_equal_runs(const Range& range);
  bool is_before(uint32_t a, uint32_t b) const;
  const Value* keys_of(uint32_t row) const { return values_.data() + row * width_; }

  std::span<const Value> values_;
  size_t width_;
  const std::vector<bool>& descending_;
  LimitedArray<Entry> entries_;
  LimitedArray<Range> ranges_;  // still to be sorted
};

}  // namespace quire::sql
