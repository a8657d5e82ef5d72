// Whether two expressions are written alike, so that they always give the same.
#pragma once

#include <functional>

#include "sql/bind/bound.h"

namespace quire::sql {

// Whether a slot that the first expression reads is, to the second, the slot that it reads in the same place.
using SameSlot = std::function<bool(SlotNumber, SlotNumber)>;

// False, too, for what has subqueries or names of its own, and for functions of the user.
bool is_alike(const BoundExpression& a, const BoundExpression& b, const SameSlot& is_same_slot);

}  // namespace quire::sql
