// The lower end of a plan, where rules choose how items are reached.
#pragma once

#include <memory>
#include <vector>

#include "sql/plan/plan.h"

namespace quire::sql {

using Place = std::unique_ptr<PlanNode>;

// The scan at the bottom of a tree, and the places above it.
struct Bottom {
  Place* scan = nullptr;
  Place* filter = nullptr;
  Place* sort = nullptr;  // of this scan's rows, or of what joins and filters make of them in their order
  std::vector<const PlanNode*> above;  // what stands above scan and filter, from below
};

Bottom find_bottom(Place& root);
// How many conditions rows have to pass between scan and filter, and the sort.
size_t conditions_below_sort(const Bottom& bottom);
// One without conditions right above the scan, where there is none.
void add_filter(Plan& plan, Bottom& bottom);
// Puts what is below a node in its place.
void take_out(Place& node);

}  // namespace quire::sql
