// Which slots nodes fill, and which an expression reads, itself or through a subquery within it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sql/plan/plan.h"

namespace quire::sql {

// A set of slots; slots are few and dense. The sets of one operation have the same capacity.
class SlotSet {
 public:
  explicit SlotSet(SlotNumber slot_count) : capacity_(slot_count), words_((slot_count + 63) / 64) {}
  void add(SlotNumber slot) { words_[slot / 64] |= uint64_t{1} << slot % 64; }
  void add(const SlotSet& other);
  void remove(const SlotSet& other);
  // Leaves those that `other` has as well.
  void keep(const SlotSet& other);
  bool contains(SlotNumber slot) const { return (words_[slot / 64] >> slot % 64 & 1) != 0; }
  bool intersects(const SlotSet& other) const;
  bool is_subset_of(const SlotSet& other) const;
  std::optional<SlotNumber> first() const;
  size_t count() const;
  SlotNumber capacity() const { return capacity_; }

 private:
  SlotNumber capacity_;
  std::vector<uint64_t> words_;
};

// The slot that a source fills; those of its right side for a join; none for other nodes.
void add_slots_bound(const PlanNode& node, SlotSet& slots);
// Of a node and all below it.
void add_all_slots_bound(const PlanNode& node, SlotSet& slots);
void add_slots_read(const BoundExpression& expression, SlotSet& slots);
// By all that a source, a filter or a scan's way to its items evaluates, here and below.
void add_slots_read_below(const PlanNode& top, SlotSet& slots);
// True for an expression that may give another value each time (RAND()).
bool is_volatile(const BoundExpression& expression);
// Whether it gives the same wherever it stands, and no query runs for it.
bool may_be_asked_twice(const BoundExpression& expression);

}  // namespace quire::sql
