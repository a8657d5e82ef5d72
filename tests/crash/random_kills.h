// A run of several writers that is killed again and again, at random moments, and goes on from what it finds.
#pragma once

#include <cstdint>

namespace quire::tests {

struct KillPlan {
  uint64_t kills = 60;
  uint64_t seed = 1;
};

// Prints what it did; false where the file was not as it must be.
bool survive_random_kills(const KillPlan& plan);

}  // namespace quire::tests
