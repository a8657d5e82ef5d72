// Whether what has a file open is still in the process that opened it, or a copy in a child of fork(). The
// two share descriptors, locks and the places in LMDB's reader table: what the copy gives back, its parent no
// longer has, and others would take pages from reuse, or the whole file, that the parent reads.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "sql/error.h"

namespace quire::engine {

class OwnProcess {
 public:
  OwnProcess() noexcept {
    static const int kIsCounted = pthread_atfork(nullptr, nullptr, [] { ++forks_; });
    static_cast<void>(kIsCounted);
  }

  bool is_this() const noexcept { return forks_.load(std::memory_order_relaxed) == forks_before_; }
  // misuse in a child.
  Result<void> check() const {
    if (is_this()) [[likely]]
      return {};
    return fail(ErrorCode::misuse,
                "the database was opened by the parent of this process: a child of fork() opens its own");
  }

 private:
  // Those that this process has come out of. Asked for at each snapshot: getpid() is a call of the system.
  static inline std::atomic<uint32_t> forks_ = 0;
  uint32_t forks_before_ = forks_.load(std::memory_order_relaxed);
};

}  // namespace quire::engine
