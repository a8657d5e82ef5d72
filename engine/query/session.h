// What the statements of one Database share beyond its containers: the transaction that BEGIN opened, the
// settings that PRAGMA changes, and the record of the queries that were run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "engine/advisor/workload.h"
#include "engine/container/long_work.h"
#include "engine/file/environment.h"
#include "engine/file/this_thread.h"
#include "engine/query/limits.h"
#include "engine/query/open_containers.h"
#include "engine/query/script_limits.h"
#include "engine/query/scripts.h"
#include "sql/error.h"
#include "sql/run/worker_pool.h"

namespace quire::engine {

// Thread-safe. Must not outlive the containers.
class Session {
 public:
  Session(OpenContainers& containers, Scripts& scripts, bool strict, const Limits& limits,
          const ScriptLimits& script_limits)
      : containers_(containers),
        scripts_(scripts),
        strict_(strict),
        reader_age_ms_(limits.reader_age_ms),
        limits_(limits),
        script_limits_(script_limits) {}

  // What PRAGMA reads and sets (pragmas.h); for the statements that start from then on.
  bool strict() const noexcept { return strict_.load(std::memory_order_relaxed); }
  void set_strict(bool strict) noexcept { strict_ = strict; }
  Limits limits() const;
  void set_limits(const Limits& limits);
  // Of Limits, for those who ask often: zero: none.
  std::chrono::milliseconds reader_age() const noexcept {
    return std::chrono::milliseconds(reader_age_ms_.load(std::memory_order_relaxed));
  }
  // How many threads may share the work of one query, where that pays.
  size_t threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
  void set_threads(size_t threads) noexcept { threads_ = threads; }
  sql::WorkerPool& workers() noexcept { return workers_; }
  // `statement`: of the statement that runs the script.
  ScriptLimits script_limits(const sql::TimeLimit& statement = {});
  void set_script_limits(const ScriptLimits& limits);

  Scripts& scripts() noexcept { return scripts_; }
  OpenContainers& containers() noexcept { return containers_; }

  // BEGIN, COMMIT, ROLLBACK. A transaction belongs to the thread that began it, and holds the file's write
  // lock: writes of other threads wait, and are busy in the end. Once its thread has ended, the next write
  // rolls it back. misuse for a second BEGIN, and for an end without one.
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
  // misuse while another thread, which has not ended, is within BEGIN: of LMDB's locks it alone can let go.
  Result<void> check_no_other_is_within_begin() const;

  // A user's write transaction of its own: Environment::write, within the limit of transaction_size.
  Result<void> write(const std::function<Result<void>(WriteTransaction&)>& work);
  // Likewise over several calls.
  Result<std::unique_ptr<ExplicitWrite>> begin_write();

  // The queries that were run, for the advisor.
  Workload& workload() noexcept { return workload_; }

  // Told how far long statements are, on the thread of each; false ends the statement. Null: nobody.
  using Progress = std::function<bool(uint64_t done, uint64_t all)>;
  void set_progress(Progress progress);
  Progress progress() const;
  // Of a statement that may take long: told to who set_progress() named.
  WorkOptions long_work(const std::atomic<uint64_t>* interrupts, std::chrono::milliseconds time_limit) const;

 private:
  Result<void> open_all_containers();
  Result<std::unique_ptr<ExplicitWrite>> take();
  void roll_back_what_nobody_can_end() noexcept;

  OpenContainers& containers_;
  Scripts& scripts_;
  std::atomic<bool> strict_;
  std::atomic<uint64_t> reader_age_ms_;
  // One a processor; queries read memory, which more than a few do not read faster.
  std::atomic<size_t> threads_ = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 4);
  sql::WorkerPool workers_;
  Workload workload_;

  mutable std::mutex mutex_;  // guards the members below
  Progress progress_;
  std::unique_ptr<ExplicitWrite> write_;
  std::atomic<ThreadNumber> owner_ = ThreadNumber::none;  // whose write_ is; changed under mutex_
  std::weak_ptr<const void> owners_life_;
  uint64_t openings_ = 0;
  Limits limits_;
  ScriptLimits script_limits_;
};

}  // namespace quire::engine
