// Which of two plans is the better one for the values of parameters: by an index that leads to few items, or
// without. Where a parameter bounds a range, or is a value that may be frequent, the text does not tell. So
// such a statement is planned twice, and each run looks how many entries there are, as far as it matters.
#pragma once

#include <functional>

#include "sql/plan/plan.h"
#include "sql/source.h"

namespace quire::sql {

// Whether a probe may lead to more than `most` entries for some values of the parameters that it reads; false
// where it reads none.
bool may_lead_to_more(const PlannedProbe& probe, Collection& collection, double most);

// Whether it leads to so few for the values at hand. Counts entries up to there.
bool leads_to_few(const PlanChoice& choice, Source& source,
                  const std::function<Value(const BoundExpression&)>& value_of);

}  // namespace quire::sql
