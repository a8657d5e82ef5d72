// How many entries of an index a probe visits: an estimate, for the choice between paths.
#pragma once

#include "sql/plan/plan.h"
#include "sql/source.h"

namespace quire::sql {

// `items`: of the collection. Looks at entries where the operands are constants.
double estimate_entries(const PlannedProbe& probe, Collection& collection, double items);

}  // namespace quire::sql
