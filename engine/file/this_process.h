// Which process this is, among all that have had its number: in a container an application has the same one
// each time that it is started.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <random>

namespace quire::engine {

struct ProcessIdentity {
  uint32_t number = 0;
  uint64_t incarnation = 0;  // by chance; 0: written by a version that had none

  bool operator==(const ProcessIdentity&) const = default;
};

inline ProcessIdentity this_process() {
  static const uint64_t incarnation = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random() | 1;
  }();
  return {static_cast<uint32_t>(getpid()), incarnation};
}

}  // namespace quire::engine
