// How many rows the nodes of a plan give, as far as item counts, entries and usual shares tell.
#pragma once

#include <optional>

#include "sql/plan/plan.h"
#include "sql/source.h"

namespace quire::sql {

// How many rows TOP, or OFFSET and LIMIT, ask for at most, those that OFFSET drops among them; nothing: all.
std::optional<double> row_limit(const BoundQuery& query);
// How many of these OFFSET drops.
double row_offset(const BoundQuery& query);
// Rows that come out of a tree.
double estimated_rows(const PlanNode& top, Source& source);
// Notes the estimate of each node, for EXPLAIN.
void estimate_rows(PlannedQuery& query, Source& source);

}  // namespace quire::sql
