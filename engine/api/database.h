// An open database: its file, the containers that are open in it, and what its threads share. The C functions
// of quire.h are thin over this class and those below it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/file/environment.h"
#include "engine/maintenance/check.h"
#include "engine/query/advise_statement.h"
#include "engine/query/open_containers.h"
#include "engine/query/prepared_statement.h"
#include "engine/query/session.h"
#include "engine/script/script_engine.h"
#include "sql/error.h"

namespace quire::engine {

struct DatabaseOptions {
  bool strict = false;
  bool verify_checksums = false;
  bool trusts_all_scripts = false;
  Limits limits;
  ScriptLimits script_limits;
};

// Thread-safe.
class Database {
 public:
  Database(std::unique_ptr<Environment> environment, const DatabaseOptions& options)
      : environment_(std::move(environment)),
        containers_(*environment_, {.verify_checksums = options.verify_checksums}),
        scripts_(make_scripts(containers_, natives_, options.trusts_all_scripts)),
        session_(containers_, *scripts_, options.strict, options.limits, options.script_limits) {
    environment_->heed(interrupts_);
    containers_.use_triggers(scripts_.get());
    containers_.use_building_options([this] { return session_.long_work(&interrupts_, {}); });
    scripts_->use_limits([this] { return session_.script_limits(); }, &interrupts_);
  }

  Environment& environment() noexcept { return *environment_; }
  OpenContainers& containers() noexcept { return containers_; }
  NativeProcedures& native_procedures() noexcept { return natives_; }
  Session& session() noexcept { return session_; }

  // Statements and imports that run now end with ErrorCode::interrupted. Also from a signal handler.
  void interrupt() noexcept { interrupts_.fetch_add(1, std::memory_order_relaxed); }
  const std::atomic<uint64_t>& interrupts() const noexcept { return interrupts_; }

  // Of a statement prepared on a container, or on the database where `scope` is null.
  StatementOptions statement_options(std::shared_ptr<ContainerStore> scope) {
    const Limits limits = session_.limits();
    return {.strict = session_.strict(),
            .scope = std::move(scope),
            .memory_limit = limits.statement_memory,
            .threads = session_.threads(),
            .workers = &session_.workers(),
            .time_limit = std::chrono::milliseconds(limits.statement_time_ms),
            .result_limit = limits.result_size,
            .snapshot_limit = std::chrono::milliseconds(limits.reader_age_ms),
            .session = &session_,
            .interrupts = &interrupts_};
  }

  // Of the condition of a patch, which begins now: a query like those of statements.
  sql::ExecutionOptions condition_options() {
    const Limits limits = session_.limits();
    return {.parameters = {},
            .is_bound = {},
            .memory = std::make_shared<sql::MemoryBudget>(limits.statement_memory),
            .interrupts = &interrupts_,
            .interrupts_at_start = interrupts_.load(),
            .time_limit = std::chrono::milliseconds(limits.statement_time_ms)};
  }

  // Of one container, or of all where the name is empty.
  Result<CheckReport> check(std::string_view container) {
    return check_database(*environment_, container, long_work());
  }

  // No statement: it takes its time.
  Result<void> copy_to(const std::string& path) {
    const WorkOptions options = session_.long_work(&interrupts_, {});
    LongWork work(options, "the copy was interrupted");
    QUIRE_ASSIGN(const FileFacts facts, environment_->facts());
    work.expect(2 * facts.used_bytes);
    return environment_->copy_to(path, [&](uint64_t bytes) { return work.advance_by_pages(bytes); });
  }

  // Appends what quire_status() gives.
  Result<void> describe_file(std::string& out) const;

  // Appends a JSON array of all containers' definitions with "itemCount" and "bytes", from one snapshot.
  Result<void> describe_containers(std::string& out);

  // The rows of ADVISE, as JSON.
  Result<std::vector<std::string>> advise(std::string_view container) {
    return run_advise(
        containers_, session_.workload(),
        {.container = container, .scope = nullptr, .transaction = session_.current(), .work = long_work()});
  }

  // Containers, statements, snapshots and transactions that callers hold.
  size_t open_handles() const noexcept { return open_handles_.load(std::memory_order_acquire); }

 private:
  friend class OpenHandle;
  Result<bool> try_to_describe(std::string& out);
  WorkOptions long_work() const {
    return session_.long_work(&interrupts_, std::chrono::milliseconds(session_.limits().statement_time_ms));
  }

  static_assert(std::atomic<uint64_t>::is_always_lock_free, "interrupt() is called from signal handlers");

  std::unique_ptr<Environment> environment_;
  OpenContainers containers_;
  NativeProcedures natives_;
  std::unique_ptr<Scripts> scripts_;
  Session session_;
  std::atomic<uint64_t> interrupts_ = 0;
  std::atomic<size_t> open_handles_ = 0;
};

// Counts as one open handle of the database while it lives.
class OpenHandle {
 public:
  explicit OpenHandle(Database& database) noexcept : database_(database) {
    database_.open_handles_.fetch_add(1, std::memory_order_relaxed);
  }
  ~OpenHandle() { database_.open_handles_.fetch_sub(1, std::memory_order_release); }
  OpenHandle(const OpenHandle&) = delete;
  OpenHandle& operator=(const OpenHandle&) = delete;

  // misuse in a child of fork(), where it stands for what its parent has.
  Result<void> check_process() const { return database_.environment().check_process(); }

 private:
  Database& database_;
};

}  // namespace quire::engine
