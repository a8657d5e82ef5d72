// What a statement, a transaction and a reader may use. Each bound has an error of its own that names it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/file/map_advice.h"

namespace quire::engine {

struct Limits {
  // Bytes that one statement may hold. A small machine, or a container, ends who takes more than it has.
  uint64_t statement_memory = std::min(uint64_t{1} << 30, half_of_memory());
  uint64_t statement_time_ms = 0;                 // of a run; 0: none
  uint64_t result_size = 0;                       // bytes of JSON that a statement's rows may have; 0: none
  uint64_t transaction_size = uint64_t{1} << 30;  // bytes of the keys and records that one may write or erase
  uint64_t reader_age_ms = 0;                     // how long a snapshot may be held; 0: none
};

inline constexpr uint64_t kMostTimeMs = 86'400'000;  // a day

}  // namespace quire::engine
