// A container's throughput: the request units a second that it was given, as Azure has them. Who asks for
// more is refused with 429 and told when to come back, so that an application's answer to that can be tried
// without the service.
//
// The total is divided evenly among virtual physical partitions, each of which has a range of the hashes of
// partition keys: as many as the throughput or the bytes of the items call for. So one hot partition key is
// refused while others are served, as in the service. A request is admitted while its partition has units
// left, and what it costs is taken when it is done, also where that is more than was left: the debt is waited
// for. Units that were not used within their second are lost.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/catalog/container_definition.h"
#include "engine/file/table.h"
#include "sql/error.h"

namespace quire::engine {

// What a physical partition of the service has at most.
inline constexpr uint32_t kMostUnitsOfPartition = 10'000;
inline constexpr uint64_t kMostBytesOfPartition = uint64_t{50} << 30;

uint32_t physical_partitions(uint32_t units, uint64_t bytes) noexcept;

// Thread-safe. Of one process: another process has the same throughput once more.
class Throughput {
 public:
  using Clock = std::chrono::steady_clock;
  // Tests bring a clock of their own.
  explicit Throughput(Clock::time_point (*clock)() = Clock::now) : clock_(clock) {}

  // 0: no limit. If that is a change, all budgets are full again.
  void set(uint32_t units, uint64_t bytes);
  bool is_limited() const noexcept { return is_limited_.load(std::memory_order_relaxed); }

  // `epk`: of the partition key that the request is to; empty: to all. too_many_requests, with the time to
  // wait.
  Result<void> admit(Bytes epk);
  // The request is done and has cost that much.
  void take(Bytes epk, double charge);

 private:
  struct Budget {
    double units = 0;
    Clock::time_point at{};
  };
  // The budgets that a request draws on.
  struct Range {
    size_t first, last;
  };
  Range range_of(Bytes epk) const noexcept;
  void refill(Budget& budget, Clock::time_point now) const noexcept;

  Clock::time_point (*clock_)();
  std::atomic<bool> is_limited_ = false;
  std::mutex mutex_;  // guards all below
  uint32_t units_ = 0;
  double units_of_each_ = 0;
  std::vector<Budget> budgets_;
};

}  // namespace quire::engine
