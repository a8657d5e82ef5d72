// How many rows the nodes of a plan give, as far as item counts, entries and usual shares tell.
#pragma once

#include "sql/plan/plan.h"
#include "sql/source.h"

namespace quire::sql {

// Rows that come out of a tree.
double estimated_rows(const PlanNode& top, Source& source);
// Notes the estimate of each node, for EXPLAIN.
void estimate_rows(PlannedQuery& query, Source& source);

}  // namespace quire::sql
