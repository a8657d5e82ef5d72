// Ways by an index to the items of one partition, or of several, rather than of all.
#pragma once

#include "sql/plan/plan.h"
#include "sql/source.h"

namespace quire::sql {

// How many items the partitions have that an access path leads to: those that are named by constants are
// looked at; else as partitions have on the average, where an index over their key tells, or a guess.
double items_of_partitions(const AccessPath& access, Collection& collection);

// Whether a probe says what each part of the partition key is.
bool names_partition(const PlannedProbe& probe, const Collection& collection);
// Whether it says nothing else, so that its entries are as many as the partition's items.
bool names_partition_alone(const PlannedProbe& probe, const Collection& collection);
// Whether it says what each part of its index is, so that its entries lie in the order of their items.
bool names_all_values(const PlannedProbe& probe);

}  // namespace quire::sql
