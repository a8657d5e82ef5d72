// What a query says of the ids of items, for plans that walk them in their order.
#pragma once

#include "sql/plan/plan.h"

namespace quire::sql {

// The share of the items that a bound on their ids is taken to leave.
inline constexpr double kIdBoundShare = 0.3;

// Whether it leaves a range of ids.
bool bounds_id(const IndexBound& bound);
// Whether ORDER BY wants the ids of the items in `slot`, and nothing else.
bool is_ordered_by_id(const BoundQuery& query, SlotNumber slot);

}  // namespace quire::sql
