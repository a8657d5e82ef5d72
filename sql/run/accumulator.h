// Accumulators: one aggregate over all groups. They take a batch at a time: the rows, the group of each row,
// and the argument's values (DIALECT.md 6).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sql/functions/function.h"
#include "sql/run/vector.h"
#include "sql/value/arena.h"

namespace quire::sql {

class Accumulator {
 public:
  virtual ~Accumulator() = default;
  // There are no groups any more.
  virtual void clear() = 0;
  // There are now `count` groups, no fewer than before; new ones start empty.
  virtual void set_group_count(size_t count) = 0;
  // group_of[row] is the group of each of the rows.
  virtual void add(Rows rows, const uint32_t* group_of, Vector values) = 0;
  virtual Value result(size_t group, Arena& arena) const = 0;
};

// `arena` keeps values that must outlive their batch; `stable` says that none has to. Both `arena` and
// `memory` must outlive the accumulator, which throws MemoryLimitExceeded past the latter.
std::unique_ptr<Accumulator> make_accumulator(Aggregate aggregate, bool distinct, bool stable, Arena& arena,
                                              MemoryBudget& memory);

}  // namespace quire::sql
