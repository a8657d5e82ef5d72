// How many entries of an index a probe visits: an estimate, for the choice between paths.
#pragma once

#include <memory>

#include "sql/plan/key_ranges.h"
#include "sql/plan/plan.h"
#include "sql/source.h"

namespace quire::sql {

// `items`: of the collection. Looks at entries where the operands are constants.
double estimate_entries(const PlannedProbe& probe, Collection& collection, double items);

// Over the entries of a probe's ranges; null if there is none to be had.
std::unique_ptr<IndexCursor> open_ranges(const PlannedProbe& probe, const KeyRanges& ranges,
                                         Collection& collection, bool is_reverse = false);

// Of a probe, where constants tell its ranges and the index serves them: a cursor over them; else null.
std::unique_ptr<IndexCursor> open_constant_probe(const PlannedProbe& probe, Collection& collection,
                                                 bool is_reverse);

}  // namespace quire::sql
