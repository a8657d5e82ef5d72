// How long who wants to write waits for others: until a time, or until he is interrupted.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/file/reader_pool.h"
#include "sql/error.h"

namespace quire::engine {

struct Patience {
  Clock::time_point deadline;
  // Another number here than at the start ends the wait. May be null.
  const std::atomic<uint64_t>* interrupts = nullptr;
  uint64_t interrupts_at_start = 0;

  static Patience heeding(const std::atomic<uint64_t>* interrupts, Clock::time_point deadline) noexcept {
    return {deadline, interrupts, interrupts != nullptr ? interrupts->load(std::memory_order_relaxed) : 0};
  }
  bool is_interrupted() const noexcept {
    return interrupts != nullptr && interrupts->load(std::memory_order_relaxed) != interrupts_at_start;
  }
  bool is_over() const noexcept { return is_interrupted() || Clock::now() >= deadline; }
  // Of who has waited long enough; `what` he waited for, where the time was over.
  std::unexpected<Error> error(const char* what) const {
    return is_interrupted() ? fail(ErrorCode::interrupted, "interrupted while others were writing")
                            : fail(ErrorCode::busy, what);
  }
};

}  // namespace quire::engine
