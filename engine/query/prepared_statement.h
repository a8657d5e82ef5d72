// A statement from text to rows: parsed, bound and planned when prepared, run as often as asked, each run
// over a snapshot of its own, or, if it changes something, in a write transaction of its own that the first
// step makes and ends. The plan rests on what the containers were when it was made; should one have
// been dropped or made anew since, the next run plans again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/container/container.h"
#include "engine/container/request_charge.h"
#include "engine/query/data_change.h"
#include "engine/query/open_containers.h"
#include "engine/query/session.h"
#include "engine/query/snapshot_source.h"
#include "sql/error.h"
#include "sql/run/execution.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"
#include "sql/value/limited_array.h"
#include "sql/value/value.h"

namespace quire::engine {

struct StatementOptions {
  bool strict = false;
  // The container that FROM's first identifier stands for; null: identifiers name containers.
  std::shared_ptr<ContainerStore> scope;
  // What a run of it may hold. Its bindings are the caller's, and no part of it.
  size_t memory_limit = size_t{1} << 30;
  size_t threads = 1;  // that may share the work of one query, where there are workers
  sql::WorkerPool* workers = nullptr;
  std::chrono::milliseconds time_limit{0};      // of a run; zero: none
  uint64_t result_limit = 0;                    // bytes of JSON that its rows may have; zero: any number
  std::chrono::milliseconds snapshot_limit{0};  // for how long it may hold its snapshot; zero: any time
  // Whose transactions and settings the statement takes part in; null: none.
  Session* session = nullptr;
  // The run ends with ErrorCode::interrupted when this changes. May be null.
  const std::atomic<uint64_t>* interrupts = nullptr;
};

// Belongs to one thread at a time. Must not outlive `containers`, `options.workers` and
// `options.interrupts`.
class PreparedStatement {
 public:
  static Result<std::unique_ptr<PreparedStatement>> prepare(OpenContainers& containers, std::string_view sql,
                                                            const StatementOptions& options);

  // Without @, in order of first use. They stay where they are when a run plans again.
  const std::vector<std::string>& parameter_names() const { return parameter_names_; }

  // Both copy the value. `name` with or without its @. misuse while the statement runs, invalid_argument for
  // a name that it does not have and for text that is not UTF-8, invalid_json.
  Result<void> bind(std::string_view name, const sql::Value& scalar);
  Result<void> bind_json(std::string_view name, std::string_view json);

  // The next row's value, good until the next step or reset; nothing at the end. The first step takes the
  // snapshot. After the end or an error: misuse, until reset.
  Result<std::optional<sql::Value>> step();
  // As Execution has it: the row that the next step would give; null where it is to be stepped.
  const sql::Value* next_at_hand() noexcept {
    return state_ == State::running && execution_ != nullptr ? execution_->next_at_hand() : nullptr;
  }
  // As Execution has it, of the row at hand.
  const sql::Collection* stored_items() const noexcept {
    return execution_ != nullptr ? execution_->stored_items() : nullptr;
  }
  std::string_view row_text() noexcept {
    return execution_ != nullptr ? execution_->row_text() : std::string_view();
  }
  // Ends the snapshot; bindings stay.
  void reset() noexcept;
  // Its runs are nothing for the advisor.
  void leave_unrecorded() noexcept { is_recorded_ = false; }
  // Its items come without what the database sets; from the next run on.
  void omit_system_properties() noexcept { omits_system_properties_ = true; }
  // What Azure would charge for it, in request units (request_charge.h), since the last reset.
  StatementCharge charge() const;
  // What the scripts of the run wrote with console.log, a line each; also where the run failed.
  const ScriptLog& log() const noexcept { return log_; }
  // Since the last reset.
  sql::ExecutionStats stats() const {
    return state_ == State::running && execution_ != nullptr ? execution_->stats() : stats_;
  }

 private:
  // A value that was bound, and the memory that its bytes lie in.
  struct Binding {
    std::unique_ptr<sql::Arena> arena = std::make_unique<sql::Arena>();
    sql::Value value;
    bool is_bound = false;
  };
  enum class State : uint8_t { ready, running, ended };

  PreparedStatement(OpenContainers& containers, std::string_view sql, const StatementOptions& options)
      : containers_(containers),
        sql_(sql),
        options_(options),
        memory_(std::make_shared<sql::MemoryBudget>(options.memory_limit)) {}

  Result<void> plan(SnapshotSource& source);
  // The first plan: no parameter has a value yet.
  Result<void> plan_first(SnapshotSource& source);
  Result<void> plan_with(SnapshotSource& source, const sql::MemberNames& names);
  Result<std::shared_ptr<const sql::PreparedQuery>> prepare_query(SnapshotSource& source,
                                                                  const sql::MemberNames& names) const;
  // The text that is bound to a parameter; nothing if it is none.
  std::optional<std::string_view> member_name(uint32_t parameter) const;
  // Whether the texts in brackets are those that the plan was made for.
  bool has_planned_names() const;
  // Whether what the plan rests on still is so.
  bool is_current(SnapshotSource& source) const;
  // Whether the plan was made for about as many items.
  bool is_of_about_as_many(SnapshotSource& source) const;
  Result<Binding*> binding(std::string_view name);
  Result<void> start();
  // A source over a snapshot of its own, or within a transaction, by which the plan is current: the statement
  // is planned again if need be.
  Result<std::unique_ptr<SnapshotSource>> begin_source();
  Result<std::unique_ptr<SnapshotSource>> begin_source_in(WriteTransaction& transaction, uint64_t openings);
  Result<void> start_query();
  Result<void> start_change();
  // Statements that are no query and change no items.
  Result<void> start_other(const sql::Statement& statement);
  Result<void> start_execute();
  Result<sql::Value> arguments_of_call(sql::Arena& arena);
  // Within BEGIN: to the end at once, since a later write ends what rows would point to.
  Result<void> start_in_transaction(const Session::Current& current);
  Result<void> collect_rows(SnapshotSource& source);
  Result<void> write(const std::function<Result<void>(WriteTransaction&)>& work);
  sql::ExecutionOptions execution_options();
  // Of a query over a snapshot of its own.
  sql::ExecutionOptions query_options();
  FunctionSource functions() const;
  Result<std::optional<sql::Value>> next_row();
  // Asks the containers that have a throughput whether they take the statement; too_many_requests.
  Result<void> admit();
  void finish() noexcept;
  // Finds the entry of the statement's shape in the record of queries.
  void enter_workload();
  void forget_run() noexcept;

  OpenContainers& containers_;
  std::string sql_;
  StatementOptions options_;
  std::shared_ptr<sql::MemoryBudget> memory_;  // of all that a run holds
  std::shared_ptr<const sql::PreparedQuery> query_;
  // What the plan rests on: containers, and the texts of parameters in brackets, by
  // PreparedQuery::member_parameters().
  SnapshotSource::Lookups lookups_;
  std::vector<uint64_t> item_counts_;  // of these, when the plan was made
  std::vector<std::optional<std::string>> planned_names_;
  std::vector<std::string> parameter_names_;
  std::vector<Binding> bindings_;
  std::unique_ptr<sql::JsonReader> json_reader_;  // made when first needed

  // Of a run, in order of construction: each stands on those above it.
  State state_ = State::ready;
  std::vector<sql::Value> parameters_;
  std::unique_ptr<bool[]> is_bound_;
  std::unique_ptr<SnapshotSource> source_;
  std::unique_ptr<sql::Execution> execution_;
  sql::ExecutionStats stats_;
  ScriptLog log_;
  std::shared_ptr<Workload::Entry> workload_entry_;  // of queries and changes, from their first run on
  double change_charge_ = 0;
  std::vector<std::shared_ptr<ContainerStore>> admitted_by_;  // and to be told the charge
  bool may_be_limited_ = true;     // false: admit() found no limit in what the plan rests on
  std::vector<std::string> rows_;  // as JSON, of what was run to its end at once
  sql::MemoryShare rows_memory_;
  sql::LimitedArray<sql::Value> collected_{memory_.get()};  // of a query within BEGIN
  size_t next_row_ = 0;
  bool is_recorded_ = true;
  bool omits_system_properties_ = false;
  std::unique_ptr<sql::Arena> row_arena_;  // of the row at hand, or of all that were collected
};

}  // namespace quire::engine
