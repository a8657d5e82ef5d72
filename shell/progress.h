// How far an import, or another long statement, has come: one line on a terminal's standard error, written
// over itself; nothing elsewhere.
#pragma once

#include <chrono>
#include <cstdint>

namespace quire::shell {

class Progress {
 public:
  // `total_bytes` 0: not known, as of a pipe.
  explicit Progress(uint64_t total_bytes = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(uint64_t bytes, uint64_t items);
  // Of a statement: how much of its work is done.
  void show_share(uint64_t done, uint64_t all);
  // Leaves the line empty for what is written next.
  void clear();

 private:
  uint64_t total_bytes_;
  bool is_terminal_;
  bool is_on_screen_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace quire::shell
