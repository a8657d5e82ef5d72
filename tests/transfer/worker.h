// A process that moves money until it is killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "quire/quire.hpp"

namespace quire::transfer {

inline constexpr int kMostWorkers = 64;
inline constexpr int kMostThreads = 16;

// In memory that all processes share: how many transfers a thread of a worker was told are done. What it was
// told when it is killed is at most one less than what it has done.
struct Acknowledged {
  std::atomic<uint64_t> transfers[kMostWorkers][kMostThreads];
  std::atomic<uint64_t> looks;       // at the sum
  std::atomic<uint64_t> given_up;    // writes that the deadline ended
  std::atomic<uint32_t> has_failed;  // a worker saw what must not be
};

struct WorkerPlan {
  std::string path;
  std::string name;  // of this start of the worker, in the ledger
  int number;
  int threads;
  uint64_t seed;
  Durability durability;
};
// Does not return.
[[noreturn]] void run_worker(const WorkerPlan& plan, Acknowledged& acknowledged);

}  // namespace quire::transfer
