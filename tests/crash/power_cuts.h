// One run on tape, and the file looked at after a power cut at its writes, syncs, truncations and renames.
#pragma once

#include <cstdint>

namespace quire::tests {

struct PowerCutPlan {
  uint64_t steps = 25;  // of each writer in each part of the run
  uint64_t looks = 0;   // at so many states, evenly spread; 0: at all
  uint64_t seed = 1;
};

// Prints what it did; false where a state was not as it must be.
bool survive_power_cuts(const PowerCutPlan& plan);

}  // namespace quire::tests
