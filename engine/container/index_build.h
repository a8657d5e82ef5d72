// Makes the entries of indexes that a container got when it had items already, or that an import left to the
// end. Readers go on meanwhile, without these indexes; other writers may come in between. What a crash leaves
// unfinished the next open of the container goes on with.
//
// Each index is made alone: its entries are collected from a snapshot and sorted, as many at a time as there
// is memory for, by one thread or two, and appended by one in several commits (build_schedule.h). Should
// somebody write to the container meanwhile, the snapshot is not the truth any more; the rest is then made in
// steps that each look at the items within their own write transaction. The same where somebody changes the
// set of indexes: that has the building begin anew, for old and new ones.
#pragma once

#include <functional>

#include "engine/container/container.h"
#include "engine/container/long_work.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

// Memory for entries: four lists of this are at work at a time (build_schedule.h). What fits into one is
// appended, which is faster, and has statistics.
inline constexpr size_t kIndexListBytes = size_t{48} << 20;

// Called in the transaction that drops indexes which cannot be made, with what is left.
using OnDroppedIndexes = std::function<Result<void>(WriteTransaction& transaction, const IndexSet& left)>;

// Nothing happens if no index waits. interrupted; conflict, naming the items, if a unique index cannot be
// made: it is dropped.
Result<void> build_indexes(Environment& environment, ContainerStore& store, const WorkOptions& options = {},
                           const OnDroppedIndexes& on_dropped = nullptr, size_t list_bytes = kIndexListBytes);

// Has the indexes of an empty container that are not unique wait for build_indexes(), so that an import need
// not keep them up to date while the set of indexes has the version that is returned: who changes it has them
// built from the first item on, and wants them kept up to date. 0 if there is none, or if the container has
// items.
Result<uint64_t> defer_indexes(Environment& environment, ContainerStore& store);

// Whether indexes wait, and no process that has the file open has begun to build them.
Result<bool> has_abandoned_build(const Environment& environment, const Transaction& transaction,
                                 ContainerStore& store);

}  // namespace quire::engine
