// What the works on indexes ask for, the same on every side.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/bench/must.h"

namespace quire::bench {

inline constexpr uint64_t kProbes = 100'000;
inline constexpr uint64_t kProbeStep = 7919;  // a prime: neighbours in one round are far apart in the file
inline constexpr double kRangeFrom = 10.0;    // of metricValue, from -20 to 120: one item in a hundred
inline constexpr double kRangeTo = 11.4;
inline constexpr uint64_t kBatch = 1'000;  // of insert_indexed
inline constexpr uint64_t kInserted = 50'000;

// A line of the readings at a time, up to `most`.
template <typename Act>
void for_lines(const std::string& path, uint64_t most, Act act) {
  const File file = open_file(path, "rb");
  char line[4096];
  for (uint64_t i = 0; i < most && std::fgets(line, sizeof line, file.get()) != nullptr; ++i)
    act(std::string_view(line, std::strlen(line) - 1));
}

}  // namespace quire::bench
