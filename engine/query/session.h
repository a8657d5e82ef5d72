// What the statements of one Database share beyond its containers: the transaction that BEGIN opened, the
// settings that PRAGMA changes, and the record of the queries that were run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "engine/advisor/workload.h"
#include "engine/file/environment.h"
#include "engine/query/open_containers.h"
#include "engine/query/script_limits.h"
#include "engine/query/scripts.h"
#include "sql/error.h"

namespace quire::engine {

// Thread-safe. Must not outlive the containers.
class Session {
 public:
  Session(OpenContainers& containers, Scripts& scripts, bool strict, size_t statement_memory)
      : containers_(containers), scripts_(scripts), strict_(strict), statement_memory_(statement_memory) {}

  // What PRAGMA reads and sets (pragmas.h); for the statements that start from then on.
  bool strict() const noexcept { return strict_.load(std::memory_order_relaxed); }
  void set_strict(bool strict) noexcept { strict_ = strict; }
  size_t statement_memory() const noexcept { return statement_memory_.load(std::memory_order_relaxed); }
  void set_statement_memory(size_t bytes) noexcept { statement_memory_ = bytes; }
  // Milliseconds that a run may take; 0: as many as it likes.
  uint64_t statement_time() const noexcept { return statement_time_.load(std::memory_order_relaxed); }
  void set_statement_time(uint64_t milliseconds) noexcept { statement_time_ = milliseconds; }
  // How many threads may share the work of one query.
  size_t threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
  void set_threads(size_t threads) noexcept { threads_ = threads; }
  ScriptLimits script_limits();
  void set_script_limits(const ScriptLimits& limits);

  Scripts& scripts() noexcept { return scripts_; }
  OpenContainers& containers() noexcept { return containers_; }

  // BEGIN, COMMIT, ROLLBACK. A transaction belongs to the thread that began it, and holds the file's write
  // lock: writes of other threads wait, and are busy in the end. misuse for a second BEGIN, and for an end
  // without one.
  Result<void> begin();
  Result<void> commit();
  Result<void> rollback();
  // The calling thread's; null if it has none. Containers that were opened before `openings` are known to it.
  struct Current {
    WriteTransaction* transaction = nullptr;
    uint64_t openings = 0;
  };
  Current current();
  // misuse if the calling thread is within BEGIN: it would wait for itself.
  Result<void> check_outside_transaction(std::string_view what);

  // The queries that were run, for the advisor.
  Workload& workload() noexcept { return workload_; }

  // Told how far long statements are, on the thread of each; false ends the statement. Null: nobody.
  using Progress = std::function<bool(uint64_t done, uint64_t all)>;
  void set_progress(Progress progress);
  Progress progress() const;

 private:
  Result<void> open_all_containers();
  Result<std::unique_ptr<ExplicitWrite>> take();

  OpenContainers& containers_;
  Scripts& scripts_;
  std::atomic<bool> strict_;
  std::atomic<size_t> statement_memory_;
  std::atomic<uint64_t> statement_time_ = 0;
  std::atomic<size_t> threads_ = 1;
  Workload workload_;

  mutable std::mutex mutex_;  // guards the members below
  Progress progress_;
  std::unique_ptr<ExplicitWrite> write_;
  std::thread::id owner_;
  uint64_t openings_ = 0;
  ScriptLimits script_limits_;
};

}  // namespace quire::engine
