// The thread that ends scripts which do not end by themselves. A script is first asked to stop by the
// engine's own interrupts; what does not reach those, a long built-in function, is stopped here: its
// instance's stack limit is raised above all addresses, so that the next function that it enters traps.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

#include "sql/error.h"

namespace quire::engine {

// Thread-safe.
class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Before the first watch: begins the thread. out_of_memory where the system gives none.
  Result<void> start();

  // One run of a script. Made before the run, destroyed after it; from then on nothing is touched.
  class Watch {
   public:
    Watch(Watchdog& watchdog, Clock::time_point deadline, unsigned char*& stack_limit);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    bool has_struck() const noexcept;

   private:
    friend class Watchdog;
    Watchdog& watchdog_;
    Clock::time_point deadline_;
    unsigned char*& stack_limit_;
    bool has_struck_ = false;  // guarded by the watchdog's mutex
    std::list<Watch*>::iterator place_;
  };

 private:
  void run();

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::list<Watch*> watches_;
  bool is_asleep_ = false;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace quire::engine
