// The scripted work, again and again, with one fault in each run, at another place.
#pragma once

#include <cstdint>

namespace quire::tests {

struct FaultPlan {
  uint64_t runs = 0;           // so many, their places evenly spread; 0: every place
  uint64_t first = 1;          // the first place
  uint64_t last = UINT64_MAX;  // the last, of those that there are
};

// Requests for memory fail: one, or it and all that follow until the step has ended.
bool survive_memory_faults(const FaultPlan& plan);
// Calls of the system fail: likewise.
bool survive_call_faults(const FaultPlan& plan);

}  // namespace quire::tests
