#include "shell/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "shell/messages.h"

namespace quire::shell {

Progress::Progress(uint64_t total_bytes)
    : total_bytes_(total_bytes), is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  clear();
}

void Progress::show(uint64_t bytes, uint64_t items) {
  if (!is_terminal_) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  const double rate = static_cast<double>(items) / std::max(taken.count(), 1e-3);
  const std::string share =
      total_bytes_ == 0 ? "" : fmt::format("{:3}%, ", std::min<uint64_t>(100, bytes * 100 / total_bytes_));
  std::string left;
  if (total_bytes_ > 0 && bytes > 0 && taken.count() > 1) {
    const double part = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total_bytes_));
    left = fmt::format(", {:.0f} s left", taken.count() / part - taken.count());
  }
  tell("\r\033[K{}{:.1f} MB, {} items, {:.0f} items/s{}", share, static_cast<double>(bytes) / 1e6, items,
       rate, left);
  is_on_screen_ = true;
}

void Progress::show_share(uint64_t done, uint64_t all) {
  if (!is_terminal_ || all == 0) return;
  tell("\r\033[K{:3}%", std::min<uint64_t>(100, done * 100 / all));
  is_on_screen_ = true;
}

void Progress::clear() {
  if (is_on_screen_) tell("\r\033[K");
  is_on_screen_ = false;
}

}  // namespace quire::shell
