// Which slots nodes fill, and which an expression reads, itself or through a subquery within it.
#pragma once

#include <vector>

#include "sql/plan/plan.h"

namespace quire::sql {

// A set of slots; slots are few and dense.
class SlotSet {
 public:
  explicit SlotSet(SlotNumber slot_count) : members_(slot_count, false) {}
  void add(SlotNumber slot) { members_[slot] = true; }
  void add(const SlotSet& other);
  bool contains(SlotNumber slot) const { return members_[slot]; }
  bool intersects(const SlotSet& other) const;
  bool is_subset_of(const SlotSet& other) const;
  SlotNumber capacity() const { return static_cast<SlotNumber>(members_.size()); }

 private:
  std::vector<bool> members_;
};

// The slot that a source fills; those of its right side for a join; none for other nodes.
void add_slots_bound(const PlanNode& node, SlotSet& slots);
// Of a node and all below it.
void add_all_slots_bound(const PlanNode& node, SlotSet& slots);
void add_slots_read(const BoundExpression& expression, SlotSet& slots);
// True for an expression that may give another value each time (RAND()).
bool is_volatile(const BoundExpression& expression);

}  // namespace quire::sql
