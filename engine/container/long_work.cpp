#include "engine/container/long_work.h"

#include <string>

namespace quire::engine {

// Once the work has been ended each step looks, and is told so again.
Result<void> LongWork::look() {
  constexpr auto kBetweenReports = std::chrono::milliseconds(200);
  if (end_) return std::unexpected(*end_);
  bool goes_on = options_.interrupts == nullptr ||
                 options_.interrupts->load(std::memory_order_relaxed) == interrupts_at_start_;
  const auto now = std::chrono::steady_clock::now();
  if (goes_on && options_.progress && now - last_report_ >= kBetweenReports) {
    last_report_ = now;
    goes_on = options_.progress(done_, all_);
  }
  if (goes_on && !options_.time_limit.is_over()) {
    steps_ = 0;
    return {};
  }
  end_ = goes_on ? options_.time_limit.error() : Error{ErrorCode::interrupted, std::string(interrupted_)};
  return std::unexpected(*end_);
}

}  // namespace quire::engine
