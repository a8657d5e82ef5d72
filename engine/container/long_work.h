// Work that takes long tells how far it has come, and can be ended meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "sql/error.h"
#include "sql/run/time_limit.h"

namespace quire::engine {

struct WorkOptions {
  // Called a few times a second, by the thread that the work was asked of: how much is done, of how much;
  // false ends the work. May be null.
  std::function<bool(uint64_t done, uint64_t all)> progress;
  const std::atomic<uint64_t>* interrupts = nullptr;  // the work ends when this changes
  sql::TimeLimit time_limit = {};                     // of the statement that the work is part of
};

// Belongs to one thread. Must not outlive the options.
class LongWork {
 public:
  // `interrupted`: what the error says if the work is ended.
  LongWork(const WorkOptions& options, std::string_view interrupted)
      : options_(options),
        interrupted_(interrupted),
        interrupts_at_start_(options.interrupts != nullptr ? options.interrupts->load() : 0) {}

  void expect(uint64_t amount) noexcept { all_ += amount; }
  // interrupted if somebody wants it, timeout past the limit, and so ever after. Cheap for small amounts: it
  // looks at the clock now and then, the more often the greater the effort.
  Result<void> advance(uint64_t amount) { return advance(amount, amount); }
  Result<void> advance(uint64_t amount, uint64_t effort) {
    done_ += amount;
    steps_ += effort > 0 ? effort : 1;
    if (steps_ < kStepsBetweenLooks) [[likely]]
      return {};
    return look();
  }

  // The same for what was read from the disk, or written to it.
  Result<void> advance_by_pages(uint64_t bytes) { return advance(bytes, kStepsOfPages); }

 private:
  Result<void> look();

  static constexpr uint64_t kStepsBetweenLooks = 1024, kStepsOfPages = 64;

  const WorkOptions& options_;
  std::string_view interrupted_;
  uint64_t interrupts_at_start_;
  uint64_t done_ = 0;
  uint64_t all_ = 0;
  uint64_t steps_ = 0;                                   // since the last look
  std::optional<Error> end_;                             // what was told when the work was ended
  std::chrono::steady_clock::time_point last_report_{};  // so the first look reports
};

}  // namespace quire::engine
