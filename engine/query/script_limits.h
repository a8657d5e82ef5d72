// What a script may use. Each bound has an error of its own that names it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "sql/run/time_limit.h"

namespace quire::engine {

struct ScriptLimits {
  uint32_t time_ms = 5000;
  // All that the script and the JavaScript engine have: code, objects, strings, buffers. At least
  // kLeastMemory.
  size_t memory_bytes = size_t{64} << 20;
  // Calls that read or write items. When they are used up, or most of the time is, calls are not accepted.
  uint32_t operations = 10'000;
  size_t result_bytes = size_t{4} << 20;  // of a response, and of one text given to the database
  size_t log_bytes = size_t{64} << 10;    // of console.log: what is past it is left out
  size_t query_memory = size_t{1} << 30;  // of one query of the script: the memory limit of statements
  sql::TimeLimit statement = {};          // of the statement that runs the script: it ends them both

  // When a run that begins at `start` must have ended.
  std::chrono::steady_clock::time_point end_of_run(std::chrono::steady_clock::time_point start) const {
    const auto end = start + std::chrono::milliseconds(time_ms);
    return statement.most.count() != 0 ? std::min(end, statement.end) : end;
  }
};

inline constexpr uint32_t kMostScriptTimeMs = 3'600'000;
inline constexpr size_t kLeastScriptMemory = size_t{4} << 20;
inline constexpr size_t kMostScriptMemory = size_t{1} << 30;

}  // namespace quire::engine
