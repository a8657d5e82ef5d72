// Preparing and running a statement: what the engine calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/error.h"
#include "sql/plan/plan.h"
#include "sql/source.h"
#include "sql/value/memory_budget.h"
#include "sql/value/value.h"

namespace quire::sql {

struct PrepareOptions {
  bool strict = false;
  std::string_view
      scope;  // the container that FROM's first identifier stands for; empty: they name containers
  MemberNames member_names = {};                 // as BindOptions has them
  std::span<const std::string> parameters = {};  // of the same text, prepared before
};

// A statement, parsed, bound and planned. Immutable: executions share it.
class PreparedQuery {
 public:
  static Result<std::unique_ptr<PreparedQuery>> prepare(std::string_view sql, Source& source,
                                                        const PrepareOptions& options);
  ~PreparedQuery();

  // Without @, in order of first use.
  const std::vector<std::string>& parameter_names() const;
  // By number: with other texts in their place it would be another query.
  std::span<const uint32_t> member_parameters() const { return plan_->statement->member_parameters; }
  const Plan& plan() const { return *plan_; }
  // Whether the collections are still such that its plans give its rows.
  bool holds(Source& source) const;
  const Statement& statement() const { return plan_->statement->parsed->statement; }
  // What a statement that changes items does with the values of its rows; null for others, and for EXPLAIN.
  const BoundChange* change() const {
    const auto& change = plan_->statement->change;
    return change && statement().kind != StatementKind::explain ? &*change : nullptr;
  }

 private:
  friend class Execution;
  PreparedQuery();

  // That for the values of these parameters.
  const Plan& plan_for(Source& source, std::span<const Value> parameters,
                       std::span<const bool> is_bound) const;

  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Plan> other_plan_;       // where plan_->choice is made otherwise; null: there is no choice
  std::vector<std::string> logical_plan_;  // printed before the rules ran; for EXPLAIN (LOGICAL) alone
};

inline Result<std::unique_ptr<PreparedQuery>> prepare_query(std::string_view sql, Source& source,
                                                            const PrepareOptions& options) {
  return PreparedQuery::prepare(sql, source, options);
}

class WorkerPool;

struct ExecutionOptions {
  // By parameter; they must outlive the execution.
  std::span<const Value> parameters;
  std::span<const bool> is_bound;
  // What it may hold, together with others of the same statement.
  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>(size_t{1} << 30);
  // How many threads may share the work of a scan, one of them the caller's, the others the pool's, which
  // must outlive the execution; below 2, or without a pool: the caller's alone.
  size_t threads = 1;
  WorkerPool* workers = nullptr;
  // The execution ends with ErrorCode::interrupted once this is another number than when the statement began,
  // which a transaction that is run again may have done long before. May be null.
  const std::atomic<uint64_t>* interrupts = nullptr;
  uint64_t interrupts_at_start = 0;
  // The execution ends with ErrorCode::timeout when it has lasted so long; zero: never.
  std::chrono::milliseconds time_limit{0};
  // It ends with ErrorCode::snapshot_too_old when the source's snapshot has been held so long; zero: never.
  std::chrono::milliseconds snapshot_limit{0};
  // It ends with ErrorCode::result_too_large when its rows have more bytes of JSON; zero: any number.
  uint64_t result_limit = 0;
  // Runs the query of RETURNING, over these items, which the statement has changed. Its subqueries read their
  // containers as they are now. Null: runs the statement's own query.
  Collection* changed = nullptr;
  // An item as a whole is its own members alone, without what the database sets.
  bool omits_system_properties = false;
  // Rows that are items as a whole come as they are stored; Execution::stored_items() says so.
  bool gives_stored_items = false;
};

struct ExecutionStats {
  uint64_t items_read = 0;
  uint64_t rows_returned = 0;
  uint64_t items_changed = 0;
};

// One run of a prepared query over a source, both of which must outlive it. Belongs to one thread at a time.
class Execution {
 public:
  static Result<std::unique_ptr<Execution>> start(const PreparedQuery& query, Source& source,
                                                  const ExecutionOptions& options);
  ~Execution();

  // Whether restart() may be used: what was made of the plan serves with other parameters too.
  bool is_restartable() const noexcept;
  // Whether it serves with these as well as what would be made for them.
  bool suits(std::span<const Value> parameters) const;
  // Runs the query again from its start, over the same source and with the same limits.
  Result<void> restart(const ExecutionOptions& options);

  // The next row's value, good until the next call; nothing at the end. EXPLAIN gives its lines as strings.
  Result<std::optional<Value>> next();
  // The same, of a row that lies ready: rows come in batches. Null where there is none, or next() has more to
  // say than its value.
  const Value* next_at_hand() noexcept;
  // If the rows are items as they are stored, without their system properties, of which collection: it writes
  // them (write_item), or makes them whole (whole_item). Otherwise null.
  const Collection* stored_items() const noexcept;
  // The row's JSON, if it was written ahead, as threads that share the work may do once it was asked for;
  // good as long as the row. Empty: it was not.
  std::string_view row_text() noexcept;
  ExecutionStats stats() const;

 private:
  struct State;
  explicit Execution(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace quire::sql
