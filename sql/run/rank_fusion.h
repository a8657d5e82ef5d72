// Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): scores that cannot be compared with each other
// are joined by the ranks that they give. A row gets weight / (60 + rank) for each score.
#pragma once

#include <span>
#include <vector>

#include "sql/bind/bound.h"
#include "sql/run/frame.h"
#include "sql/value/value.h"

namespace quire::sql {

// A weight for each score. A failure goes to run.error.
std::vector<double> fusion_weights(const BoundFusion& fusion, size_t scores, RunState& run);

// `values` has `width` values a row, a score for each weight first; the greatest is the best, undefined the
// worst. Equal scores share a rank, and none is left out, as in the service. The first value of each row
// becomes its fused score.
void join_ranks(std::span<Value> values, size_t width, std::span<const double> weights, MemoryBudget& memory);

}  // namespace quire::sql
