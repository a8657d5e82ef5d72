// What of ORDER BY the order of an index's entries gives: all of it, or only its first keys. Then a sort
// under a limit need not read on behind the last value of these that it wants.
#pragma once

#include <optional>

#include "sql/plan/plan.h"

namespace quire::sql {

struct IndexOrder {
  size_t keys = 0;          // of ORDER BY, from the first on
  size_t parts = 0;         // of the index, up to the last of these
  bool is_reverse = false;  // the entries come from the last to the first
  // Rows that are equal to ORDER BY come in the order of their items. Else further parts mix them.
  bool keeps_ties = false;
};

// Of entries behind parts that are each one value; nothing if they are in no order that is of use.
std::optional<IndexOrder> find_index_order(const PlannedProbe& probe, const BoundQuery& sort,
                                           SlotNumber slot);

// How many entries there are up to the last that has the same ordered values as the one at place `rows`;
// nothing: many, or that is told when the query runs.
std::optional<double> entries_to_sort(const PlannedProbe& probe, const IndexOrder& order, double rows,
                                      Collection& collection);

}  // namespace quire::sql
