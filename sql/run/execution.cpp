#include "sql/run/execution.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <utility>

#include "sql/parse/ast.h"
#include "sql/plan/plan.h"
#include "sql/plan/plan_choice.h"
#include "sql/run/operator.h"
#include "sql/value/json.h"
#include "sql/value/prefetch.h"

namespace quire::sql {
namespace {

// Operators that keep rows, and subqueries, which may keep their result, are made anew in each run.
bool keeps_no_rows(const PlanNode& node) {
  using enum PlanKind;
  switch (node.kind) {
    case one_row:
    case scan:
    case filter:
    case project:
    case limit:
      return true;
    case group:
      return node.bound->group_by.empty() &&
             std::ranges::all_of(node.bound->aggregates, [](const BoundAggregate& aggregate) {
               return !aggregate.distinct && aggregate.aggregate != Aggregate::make_list &&
                      aggregate.aggregate != Aggregate::make_set;
             });
    default:
      return false;
  }
}

bool keeps_no_rows(const Plan& plan) {
  if (!plan.subqueries.empty()) return false;
  for (const PlanNode* node = plan.query.root.get(); node != nullptr; node = node->input.get())
    if (!keeps_no_rows(*node)) return false;
  return true;
}

// 100 ns ticks since the Unix epoch.
int64_t ticks_now() {
  using Tick = std::chrono::duration<int64_t, std::ratio<1, 10'000'000>>;
  return std::chrono::duration_cast<Tick>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Of the machine, or of what the process may have: less than the statement might.
Error memory_ran_out() {
  return {ErrorCode::out_of_memory, "memory ran out; narrow the statement, or give the process more"};
}

Error out_of_memory(size_t limit) {
  return {ErrorCode::out_of_memory, "the statement needs more than its memory limit of " +
                                        std::to_string(limit) + " bytes; narrow it, or raise the limit"};
}

Error result_too_large(uint64_t limit) {
  return {ErrorCode::result_too_large,
          "the statement's rows have more than the " + std::to_string(limit) +
              " bytes of PRAGMA result_size; narrow it, ask for fewer rows (TOP, "
              "OFFSET LIMIT), or raise the limit"};
}

// Rows that a batch may hold. Each computed expression has a column of them, so that a very long statement
// takes shorter batches.
size_t batch_capacity(const BoundStatement& statement) {
  constexpr size_t kMostColumnBytes = size_t{64} << 20;
  const size_t columns = std::max<size_t>(statement.computed_count, 1);
  return std::clamp<size_t>(kMostColumnBytes / sizeof(Value) / columns, 1, kBatchSize);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

PreparedQuery::PreparedQuery() = default;
PreparedQuery::~PreparedQuery() = default;

const std::vector<std::string>& PreparedQuery::parameter_names() const {
  return plan_->statement->parameters;
}

namespace {

// As it is written.
Result<std::unique_ptr<Plan>> plan_as_written(std::string_view sql, Source& source,
                                              const PrepareOptions& options) {
  QUIRE_ASSIGN(auto parsed, parse(sql, options.strict));
  QUIRE_ASSIGN(auto bound, bind(std::move(parsed), source,
                                {.strict = options.strict,
                                 .scope = options.scope,
                                 .member_names = options.member_names,
                                 .parameters = options.parameters}));
  return build_plan(std::move(bound));
}

}  // namespace

Result<std::unique_ptr<PreparedQuery>> PreparedQuery::prepare(std::string_view sql, Source& source,
                                                              const PrepareOptions& options) {
  std::unique_ptr<PreparedQuery> prepared(new PreparedQuery);
  QUIRE_ASSIGN(prepared->plan_, plan_as_written(sql, source, options));
  const Statement& statement = prepared->plan_->statement->parsed->statement;
  if (statement.kind == StatementKind::explain && statement.explain_stage == ExplainStage::logical)
    prepared->logical_plan_ = print_plan(*prepared->plan_);
  optimize(*prepared->plan_, source);
  if (prepared->plan_->choice) {
    QUIRE_ASSIGN(prepared->other_plan_, plan_as_written(sql, source, options));
    prepared->other_plan_->expects_few = !prepared->plan_->choice->expects_few;
    optimize(*prepared->other_plan_, source);
    // Nothing to look for in each run.
    if (print_plan(*prepared->plan_) == print_plan(*prepared->other_plan_)) {
      prepared->plan_->choice.reset();
      prepared->other_plan_.reset();
    }
  }
  return prepared;
}

bool PreparedQuery::holds(Source& source) const {
  return index_needs_hold(*plan_, source) &&
         (other_plan_ == nullptr || index_needs_hold(*other_plan_, source));
}

const Plan& PreparedQuery::plan_for(Source& source, std::span<const Value> parameters,
                                    std::span<const bool> is_bound) const {
  const bool are_bound = std::ranges::all_of(is_bound, std::identity());
  if (other_plan_ == nullptr || !are_bound || parameters.size() < parameter_names().size()) return *plan_;
  const bool is_few = leads_to_few(*plan_->choice, source, [&](const BoundExpression& operand) {
    return operand.kind == BoundKind::parameter ? parameters[operand.parameter] : operand.constant;
  });
  return is_few == plan_->choice->expects_few ? *plan_ : *other_plan_;
}

struct Execution::State {
  State(const PreparedQuery& prepared, const Plan& plan, Source& source, const ExecutionOptions& options)
      : prepared(prepared),
        changed(options.changed),
        result_limit(options.result_limit),
        gives_stored_items(options.gives_stored_items),
        memory(options.memory),
        run{.plan = plan,
            .source = source,
            .parameters = options.parameters,
            .is_bound = options.is_bound,
            .omits_system_properties = options.omits_system_properties,
            .memory = *memory,
            .interrupts = options.interrupts,
            .interrupts_at_start = options.interrupts_at_start,
            .clock = {ticks_now()},
            .arena = Arena(memory.get()),
            .item_collections = std::vector<Collection*>(plan.slot_count),
            .counters = std::vector<NodeCounters>(plan.node_count),
            .items_read = 0,
            .workers = options.workers,
            .threads = options.workers != nullptr ? options.threads : 1,
            .time_limit = TimeLimit::from_now(options.time_limit),
            .snapshot_limit = TimeLimit::from_now(options.snapshot_limit),
            .error = std::nullopt} {}

  const PreparedQuery& prepared;
  Collection* changed;
  uint64_t result_limit;
  bool gives_stored_items;
  std::shared_ptr<MemoryBudget> memory;
  const Collection* items = nullptr;  // whose items the rows are, as they are stored
  uint64_t result_bytes = 0;          // of the rows given, where they are limited
  std::string row_text;               // likewise, of one row
  std::string_view text_ahead;        // of the row at hand
  RunState run;
  bool keeps_nothing = false;  // that the next run must not find
  std::unique_ptr<Pipeline> pipeline;
  Rows rows;  // of the batch at hand, those still to give
  uint64_t rows_returned = 0;
  bool is_explain = false;
  std::vector<std::string> lines;  // EXPLAIN's rows
  size_t next_line = 0;
  Value explained;  // EXPLAIN (JSON)'s one row; undefined once it is given

  Result<void> check_parameters() {
    const auto& names = prepared.parameter_names();
    for (size_t i = 0; i < names.size(); ++i)
      if (i >= run.is_bound.size() || !run.is_bound[i])
        return fail(ErrorCode::unbound_parameter,
                    "the parameter @" + names[i] + " has no value; bind it before the first step",
                    position_of(run.plan.statement->parsed->text, run.plan.statement->parameter_offsets[i]));
    return {};
  }

  Result<void> find_collections() {
    for (SlotNumber slot = 0; slot < run.plan.slot_count; ++slot) {
      const std::string& name = run.plan.item_slots[slot];
      if (name.empty()) continue;
      run.item_collections[slot] = run.source.collection(name);
      if (run.item_collections[slot] == nullptr)
        return fail(ErrorCode::container_not_found, "there is no container '" + name + "' any more");
    }
    if (changed != nullptr) run.item_collections[run.plan.returning->bound->sources.front().slot] = changed;
    return {};
  }

  Result<void> start_rows() {
    QUIRE_TRY(check_parameters());
    QUIRE_TRY(find_collections());
    const PlannedQuery& query = changed != nullptr ? *run.plan.returning : run.plan.query;
    if (gives_stored_items) find_stored_items(query);
    pipeline = std::make_unique<Pipeline>(run, query, batch_capacity(*run.plan.statement), true);
    keeps_nothing = !is_explain && changed == nullptr && keeps_no_rows(run.plan);
    if (run.error) return std::unexpected(*run.error);
    return {};
  }

  // Where the last thing that happens to an item is that its row is made of it.
  void find_stored_items(const PlannedQuery& query) {
    const PlanNode* node = query.root.get();
    while (node != nullptr && node->kind == PlanKind::limit) node = node->input.get();
    if (node == nullptr || node->kind != PlanKind::project) return;
    const BoundExpression& value = *node->bound->value;
    if (value.kind != BoundKind::slot) return;
    items = run.item_collections[value.slot];
    if (items != nullptr) run.stored_items = node;
  }

  // The lines of EXPLAIN ANALYZE are none, whatever has run.
  const Collection* stored_items() const {
    return run.omits_system_properties || is_explain ? nullptr : items;
  }

  bool is_restartable() const {
    return keeps_nothing && run.is_restartable && !run.error && pipeline != nullptr;
  }

  Result<void> restart(const ExecutionOptions& options) {
    run.parameters = options.parameters;
    run.is_bound = options.is_bound;
    run.omits_system_properties = options.omits_system_properties;
    run.interrupts_at_start = options.interrupts_at_start;
    run.time_limit = TimeLimit::from_now(options.time_limit);
    run.snapshot_limit = TimeLimit::from_now(options.snapshot_limit);
    result_limit = options.result_limit;
    result_bytes = 0;
    run.clock = {ticks_now()};
    std::ranges::fill(run.counters, NodeCounters{});
    run.items_read = 0;
    rows = {};
    rows_returned = 0;
    QUIRE_TRY(check_parameters());
    pipeline->rewind();
    return {};
  }

  Result<void> run_to_end() {
    while (!pipeline->next().empty()) {
    }
    if (run.error) return std::unexpected(*run.error);
    return {};
  }

  Result<void> explain(const Statement& statement) {
    is_explain = true;
    switch (statement.explain_stage) {
      case ExplainStage::ast:
        lines = lines_of(outline(statement));
        return {};
      case ExplainStage::logical:
        lines = prepared.logical_plan_;
        return {};
      case ExplainStage::physical:
      case ExplainStage::json:
        break;
    }
    const bool is_json = statement.explain_stage == ExplainStage::json;
    if (statement.analyze) {
      run.measures_time = true;
      QUIRE_TRY(start_rows());
      QUIRE_TRY(run_to_end());
    }
    if (is_json) return explain_as_json(statement.analyze);
    const std::vector<std::string>& notes = run.plan.statement->notes;
    lines = statement.analyze ? print_plan(run.plan, run.counters) : print_plan(run.plan);
    if (statement.analyze) {
      const uint64_t returned = run.counters[run.plan.query.root->number].rows;
      lines.push_back("items read " + std::to_string(run.items_read) + ", rows returned " +
                      std::to_string(returned));
    }
    if (const auto& choice = run.plan.choice)
      lines.push_back("with " + std::string(choice->expects_few ? "more than " : "at most ") +
                      std::to_string(static_cast<uint64_t>(choice->most_entries)) + " entries of " +
                      choice->probe.index.name + " another plan is taken");
    lines.insert(lines.end(), notes.begin(), notes.end());
    if (!run.plan.advice.empty()) lines.push_back("an index would help: " + run.plan.advice);
    return {};
  }

  Result<void> explain_as_json(bool has_run) {
    const std::string text = has_run ? print_plan_json(run.plan, run.counters) : print_plan_json(run.plan);
    JsonReader reader;
    auto value = reader.to_value(text, run.arena);
    if (!value && value.error().code != ErrorCode::invalid_json) return std::unexpected(value.error());
    if (!value)
      return fail(ErrorCode::limit_exceeded,
                  "the plan is nested more deeply than JSON may be; EXPLAIN without (JSON) shows it");
    explained = *value;
    return {};
  }

  void count_bytes(const Value& row) {
    row_text.clear();
    const Collection* const incomplete = stored_items();
    incomplete != nullptr ? incomplete->write_item(row, row_text) : write_json(row, row_text);
    result_bytes += row_text.size();
    if (result_bytes > result_limit) run.set_error(result_too_large(result_limit));
  }

  // Whoever gets an item reads all of it, and each lies far from the last.
  void ask_for_item_ahead() const {
    constexpr size_t kAhead = 3, kMostBytes = 1024, kLine = 64;
    if (rows.size() <= kAhead) return;
    const Value& item = pipeline->value(rows[kAhead]);
    if (!item.is_encoded()) return;
    const std::span<const std::byte> bytes = item.encoded_bytes();
    prefetch(bytes.data() - kLine);  // what storage keeps before it
    for (size_t at = 0; at < std::min(bytes.size(), kMostBytes); at += kLine) prefetch(bytes.data() + at);
  }

  Result<std::optional<Value>> next_row() {
    // Between two batches nobody else asks, however long the reader of the rows takes.
    if (run.snapshot_limit.is_over()) [[unlikely]]
      run.set_error(snapshot_too_old("the statement", run.snapshot_limit.most));
    if (run.is_interrupted()) [[unlikely]]
      run.set_error(statement_interrupted());
    if (run.error) return std::unexpected(*run.error);
    if (rows.empty()) {
      rows = pipeline->next();
      if (run.error) return std::unexpected(*run.error);
      if (rows.empty()) return std::nullopt;
    }
    if (result_limit != 0) [[unlikely]] {
      count_bytes(pipeline->value(rows.front()));
      if (run.error) return std::unexpected(*run.error);
    }
    return take_row();
  }

  bool has_row_at_hand() const {
    return !rows.empty() && !run.error && !run.is_interrupted() && result_limit == 0 &&
           !run.snapshot_limit.is_over();
  }
  // Of the batch.
  const Value& take_row() {
    const Value& value = pipeline->value(rows.front());
    text_ahead = rows.front() < run.texts.size() ? run.texts[rows.front()] : std::string_view();
    if (items != nullptr && text_ahead.empty()) ask_for_item_ahead();
    rows = rows.subspan(1);
    ++rows_returned;
    return value;
  }
};

Execution::Execution(std::unique_ptr<State> state) : state_(std::move(state)) {}
Execution::~Execution() = default;

Result<std::unique_ptr<Execution>> Execution::start(const PreparedQuery& query, Source& source,
                                                    const ExecutionOptions& options) try {
  const Plan& plan = query.plan_for(source, options.parameters, options.is_bound);
  auto state = std::make_unique<State>(query, plan, source, options);
  const Statement& statement = query.plan_->statement->parsed->statement;
  if (statement.kind == StatementKind::explain)
    QUIRE_TRY(state->explain(statement));
  else
    QUIRE_TRY(state->start_rows());
  return std::unique_ptr<Execution>(new Execution(std::move(state)));
} catch (const MemoryLimitExceeded&) {
  return std::unexpected(out_of_memory(options.memory->limit()));
} catch (const std::bad_alloc&) {
  return std::unexpected(memory_ran_out());
}

bool Execution::is_restartable() const noexcept {
  return state_->is_restartable();
}

bool Execution::suits(std::span<const Value> parameters) const {
  const auto is_for_these = [&] {
    RunState& run = state_->run;
    return &run.plan == &state_->prepared.plan_for(run.source, parameters, run.is_bound);
  };
  return is_for_these() && std::ranges::none_of(state_->run.short_arrays, [&](uint32_t number) {
           return is_worth_table(parameters[number]);
         });
}

Result<void> Execution::restart(const ExecutionOptions& options) {
  return state_->restart(options);
}

Result<std::optional<Value>> Execution::next() try {
  State& state = *state_;
  if (!state.is_explain) return state.next_row();
  if (state.run.error) return std::unexpected(*state.run.error);
  if (state.explained.is_defined()) {
    ++state.rows_returned;
    return std::exchange(state.explained, Value());
  }
  if (state.next_line == state.lines.size()) return std::nullopt;
  ++state.rows_returned;
  return Value::string(state.lines[state.next_line++]);
} catch (const MemoryLimitExceeded&) {
  state_->run.set_error(out_of_memory(state_->run.memory.limit()));
  return std::unexpected(*state_->run.error);
} catch (const std::bad_alloc&) {
  state_->run.set_error(memory_ran_out());
  return std::unexpected(*state_->run.error);
}

const Value* Execution::next_at_hand() noexcept {
  return state_->has_row_at_hand() ? &state_->take_row() : nullptr;
}

const Collection* Execution::stored_items() const noexcept {
  return state_->stored_items();
}

std::string_view Execution::row_text() noexcept {
  state_->run.reads_text = true;
  return state_->text_ahead;
}

ExecutionStats Execution::stats() const {
  return {.items_read = state_->run.items_read, .rows_returned = state_->rows_returned, .items_changed = 0};
}

}  // namespace quire::sql
