#include "engine/query/prepared_statement.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <new>
#include <utility>

#include "engine/maintenance/analyze.h"
#include "engine/maintenance/check.h"
#include "engine/query/advise_statement.h"
#include "engine/query/container_change.h"
#include "engine/query/index_change.h"
#include "engine/query/pragmas.h"
#include "engine/query/query_cache.h"
#include "engine/query/script_statement.h"
#include "sql/value/value_builder.h"

namespace quire::engine {
namespace {

Error never_current() {
  return {ErrorCode::busy, "the statement's containers were dropped and made again all the time; try again"};
}

// The containers, as they are, that a plan rests on: another number for others.
uint64_t basis_of(const SnapshotSource::Lookups& lookups) {
  uint64_t basis = 0;
  const auto add = [&](uint64_t number) { basis = (basis ^ number) * 0x9E3779B97F4A7C15U; };
  for (const auto& [name, lookup] : lookups) {
    add(lookup ? static_cast<uint64_t>(lookup->container) : UINT64_MAX);
    if (!lookup) continue;
    add(lookup->revision);
    add(lookup->indexes);
  }
  return basis;
}

std::string_view without_at(std::string_view name) {
  if (name.starts_with('@')) name.remove_prefix(1);
  return name;
}

}  // namespace

Result<std::unique_ptr<PreparedStatement>> PreparedStatement::prepare(OpenContainers& containers,
                                                                      std::string_view sql,
                                                                      const StatementOptions& options) {
  std::unique_ptr<PreparedStatement> statement(new PreparedStatement(containers, sql, options));
  QUIRE_ASSIGN(const auto source, SnapshotSource::begin(containers, options.scope));
  QUIRE_TRY(statement->plan_first(*source));
  statement->parameter_names_ = statement->query_->parameter_names();
  const size_t parameters = statement->parameter_names_.size();
  statement->bindings_.resize(parameters);
  statement->parameters_.resize(parameters);
  statement->is_bound_ = std::make_unique<bool[]>(parameters);
  return statement;
}

bool PreparedStatement::is_current(SnapshotSource& source) const {
  return has_planned_names() && source.agrees_with(lookups_) && query_->holds(source);
}

bool PreparedStatement::is_of_about_as_many(SnapshotSource& source) const {
  return are_about_as_many(item_counts_, item_counts(lookups_, source));
}

std::optional<std::string_view> PreparedStatement::member_name(uint32_t parameter) const {
  const Binding& binding = bindings_[parameter];
  return binding.is_bound && binding.value.is_string() ? std::optional(binding.value.as_string())
                                                       : std::nullopt;
}

bool PreparedStatement::has_planned_names() const {
  return std::ranges::equal(query_->member_parameters(), planned_names_,
                            [this](uint32_t parameter, const std::optional<std::string>& planned) {
                              return member_name(parameter) == planned;
                            });
}

// What must be a path, as what FULLTEXTSCORE looks into, is taken for one until the text is known.
Result<void> PreparedStatement::plan_first(SnapshotSource& source) {
  auto planned = plan_with(source, nullptr);
  if (planned || source.error()) return planned;
  if (!plan_with(source, [](std::string_view parameter) { return std::optional(parameter); })) return planned;
  return {};
}

Result<void> PreparedStatement::plan(SnapshotSource& source) {
  return plan_with(source, [this](std::string_view parameter) -> std::optional<std::string_view> {
    const auto at = std::ranges::find(parameter_names_, parameter);
    if (at == parameter_names_.end()) return std::nullopt;
    return member_name(static_cast<uint32_t>(at - parameter_names_.begin()));
  });
}

// One that is made again has the parameters of the first in their places.
Result<std::shared_ptr<const sql::PreparedQuery>> PreparedStatement::prepare_query(
    SnapshotSource& source, const sql::MemberNames& names) const {
  if (query_ == nullptr)
    return containers_.queries().prepare(
        {.sql = sql_, .scope = options_.scope.get(), .is_strict = options_.strict, .member_names = names},
        source, source);
  sql::PrepareOptions options{
      .strict = options_.strict, .scope = {}, .member_names = names, .parameters = parameter_names_};
  if (options_.scope != nullptr) options.scope = options_.scope->definition().name;
  auto query = sql::prepare_query(sql_, source, options);
  if (source.error()) return std::unexpected(*source.error());
  if (!query) return std::unexpected(std::move(query.error()));
  return std::shared_ptr<const sql::PreparedQuery>(std::move(*query));
}

Result<void> PreparedStatement::plan_with(SnapshotSource& source, const sql::MemberNames& names) {
  QUIRE_ASSIGN(query_, prepare_query(source, names));
  workload_entry_.reset();  // another plan has other facts
  may_be_limited_ = true;
  lookups_ = source.lookups();
  item_counts_ = item_counts(lookups_, source);
  planned_names_.clear();
  for (const uint32_t parameter : query_->member_parameters()) {
    const auto name = names != nullptr ? names(query_->parameter_names()[parameter]) : std::nullopt;
    planned_names_.push_back(name ? std::optional(std::string(*name)) : std::nullopt);
  }
  return {};
}

// ---- Parameters

Result<PreparedStatement::Binding*> PreparedStatement::binding(std::string_view name) {
  if (state_ != State::ready)
    return fail(ErrorCode::misuse, "the statement has been stepped; reset it before binding a parameter");
  name = without_at(name);
  const std::vector<std::string>& names = parameter_names();
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return &bindings_[i];
  NearestName nearest(name);
  for (const std::string& candidate : names) nearest.offer(candidate);
  return fail(ErrorCode::invalid_argument,
              fmt::format("the statement has no parameter @{}{}", name, nearest.hint()));
}

Result<void> PreparedStatement::bind(std::string_view name, const sql::Value& scalar) {
  QUIRE_ASSIGN(Binding* const bound, binding(name));
  sql::Value value = scalar;
  if (scalar.is_string()) {
    const std::string_view text = scalar.as_string();
    if (!simdjson::validate_utf8(text.data(), text.size()))
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the value of @{} is not valid UTF-8", without_at(name)));
    bound->arena->reset();
    value = sql::Value::string(bound->arena->copy_string(text));
  }
  bound->value = value;
  bound->is_bound = true;
  return {};
}

Result<void> PreparedStatement::bind_json(std::string_view name, std::string_view json) {
  QUIRE_ASSIGN(Binding* const bound, binding(name));
  if (json_reader_ == nullptr) json_reader_ = std::make_unique<sql::JsonReader>();
  auto arena = std::make_unique<sql::Arena>();
  QUIRE_ASSIGN(bound->value, json_reader_->to_value(json, *arena));
  bound->arena = std::move(arena);
  bound->is_bound = true;
  return {};
}

// ---- Running

Result<std::optional<sql::Value>> PreparedStatement::step() {
  if (state_ == State::ended)
    return fail(ErrorCode::misuse, "the statement has ended; reset it to run it again");
  if (state_ == State::ready) {
    state_ = State::running;
    if (auto started = start(); !started) {
      finish();
      forget_run();
      return std::unexpected(std::move(started.error()));
    }
    enter_workload();
  }
  auto row = next_row();
  // The snapshot ends here rather than at the reset, so that it keeps no old pages alive.
  if (!row || !*row) finish();
  return row;
}

Result<std::optional<sql::Value>> PreparedStatement::next_row() {
  if (execution_ != nullptr) return execution_->next();
  if (next_row_ < collected_.size()) return collected_[next_row_++];
  if (next_row_ >= rows_.size()) return std::nullopt;
  if (json_reader_ == nullptr) json_reader_ = std::make_unique<sql::JsonReader>();
  row_arena_ = std::make_unique<sql::Arena>();
  auto row = json_reader_->to_value(rows_[next_row_++], *row_arena_);
  if (row) return *row;
  row.error().position = {};  // in the text of the row, which a procedure may have left
  return std::unexpected(std::move(row.error()));
}

Result<void> PreparedStatement::start() {
  const sql::Statement& statement = query_->statement();
  const bool is_other = statement.query == nullptr && statement.change == nullptr;
  const Session::Current current =
      options_.session != nullptr ? options_.session->current() : Session::Current{};
  if (is_other) return start_other(statement);
  const bool is_query = statement.execute == nullptr && query_->change() == nullptr;
  if (is_query && current.transaction == nullptr) return start_query();
  QUIRE_TRY(admit());
  if (statement.execute != nullptr) return start_execute();
  if (current.transaction != nullptr) return start_in_transaction(current);
  return start_change();
}

// A statement draws on all physical partitions of its containers, also where it looks at one partition key.
Result<void> PreparedStatement::admit() {
  admitted_by_.clear();
  for (const auto& [name, lookup] : lookups_) {
    const auto store = lookup ? containers_.known(lookup->container).store : nullptr;
    if (store == nullptr || !store->throughput().is_limited()) continue;
    QUIRE_TRY(store->throughput().admit({}));
    admitted_by_.push_back(store);
  }
  may_be_limited_ = !admitted_by_.empty();
  return {};
}

StatementCharge PreparedStatement::charge() const {
  if (state_ == State::ready) return {};
  const sql::ExecutionStats counted = stats();
  const bool is_query = query_->change() != nullptr
                            ? counted.items_read > 0
                            : query_->statement().query != nullptr && query_->statement().execute == nullptr;
  return {.changes = change_charge_,
          .is_query = is_query,
          .items_read = counted.items_read,
          .rows = counted.rows_returned};
}

Result<void> PreparedStatement::start_other(const sql::Statement& statement) {
  if (options_.session == nullptr)
    return statement.definition != nullptr
               ? change_containers(containers_, statement, {nullptr, options_.interrupts, {}})
               : fail(ErrorCode::misuse, "there is no session to run this statement in");
  Session& session = *options_.session;
  const WorkOptions work = session.long_work(options_.interrupts, options_.time_limit);
  switch (statement.kind) {
    case sql::StatementKind::begin:
      return session.begin();
    case sql::StatementKind::commit:
      return session.commit();
    case sql::StatementKind::rollback:
      return session.rollback();
    case sql::StatementKind::pragma: {
      QUIRE_ASSIGN(std::string setting, run_pragma(session, *statement.pragma));
      rows_ = {std::move(setting)};
      stats_.rows_returned = 1;
      return {};
    }
    case sql::StatementKind::create_index:
    case sql::StatementKind::drop_index:
      QUIRE_TRY(session.check_outside_transaction("indexes cannot be made or dropped"));
      return change_indexes(containers_, statement, work);
    case sql::StatementKind::create_script:
    case sql::StatementKind::drop_script:
      return change_scripts(containers_, session, *statement.script,
                            statement.kind == sql::StatementKind::create_script, work.time_limit);
    case sql::StatementKind::advise: {
      QUIRE_ASSIGN(rows_, run_advise(containers_, session.workload(),
                                     {.container = statement.upkeep->container,
                                      .scope = options_.scope,
                                      .transaction = session.current(),
                                      .work = work}));
      stats_.rows_returned = rows_.size();
      return {};
    }
    case sql::StatementKind::check: {
      QUIRE_TRY(session.check_outside_transaction("CHECK cannot run"));
      QUIRE_ASSIGN(const CheckReport report,
                   check_database(containers_.environment(), statement.upkeep->container, work));
      rows_ = report.rows();
      stats_.items_read = report.items;
      stats_.rows_returned = rows_.size();
      return {};
    }
    case sql::StatementKind::analyze:
      QUIRE_TRY(session.check_outside_transaction("ANALYZE cannot run"));
      QUIRE_TRY(analyze_database(containers_.environment(), statement.upkeep->container, work));
      return {};
    default:
      QUIRE_TRY(session.check_outside_transaction("containers cannot be made, changed or dropped"));
      return change_containers(containers_, statement, work);
  }
}

// What the procedure is called with is worked out first, and kept while it changes what this was read from.
Result<sql::Value> PreparedStatement::arguments_of_call(sql::Arena& arena) {
  const auto work_out = [&](SnapshotSource& source) -> Result<sql::Value> {
    QUIRE_ASSIGN(const auto execution, sql::Execution::start(*query_, source, execution_options()));
    QUIRE_ASSIGN(const std::optional<sql::Value> given, execution->next());
    if (!given) return fail(ErrorCode::internal, "the arguments of a procedure gave no row");
    return sql::copy_value(*given, arena);
  };
  const Session::Current current = options_.session->current();
  if (current.transaction == nullptr) {
    QUIRE_ASSIGN(const auto source, begin_source());
    return work_out(*source);
  }
  sql::Value given;
  QUIRE_TRY(current.transaction->nested([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const auto source, begin_source_in(transaction, current.openings));
    QUIRE_ASSIGN(given, work_out(*source));
    return {};
  }));
  return given;
}

Result<void> PreparedStatement::start_execute() {
  if (options_.session == nullptr)
    return fail(ErrorCode::misuse, "there is no session to run this statement in");
  const WorkOptions work = options_.session->long_work(options_.interrupts, options_.time_limit);
  sql::Arena arena;
  QUIRE_ASSIGN(const sql::Value given, arguments_of_call(arena));
  const sql::Execute& call = *query_->statement().execute;
  ProcedureOutcome outcome;
  auto done = execute_statement(containers_, *options_.session, call, given, work, outcome);
  log_ = std::move(outcome.log);
  if (!done) {
    done.error().position = {};  // in the script, if anywhere; the message tells its line
    return done;
  }
  change_charge_ = outcome.charge;
  rows_ = {std::move(outcome.body)};
  stats_.rows_returned = 1;
  return {};
}

Result<void> PreparedStatement::start_in_transaction(const Session::Current& current) {
  forget_run();  // the plan may become another
  const bool only_reads = query_->change() == nullptr;
  WriteTransaction& view = only_reads ? current.transaction->innermost() : *current.transaction;
  return view.nested([&](WriteTransaction& transaction) -> Result<void> {
    QUIRE_ASSIGN(const auto source, begin_source_in(transaction, current.openings));
    if (only_reads) return collect_rows(*source);
    const double before = transaction.charged();
    QUIRE_ASSIGN(ChangeOutcome outcome,
                 change_items(*query_, transaction, *source, execution_options(), log_));
    change_charge_ = transaction.charged() - before;
    stats_ = outcome.stats;
    rows_ = std::move(outcome.rows);
    rows_memory_ = std::move(outcome.rows_memory);
    return {};
  });
}

Result<void> PreparedStatement::collect_rows(SnapshotSource& source) try {
  row_arena_ = std::make_unique<sql::Arena>(memory_.get());
  QUIRE_ASSIGN(const auto execution, sql::Execution::start(*query_, source, execution_options()));
  for (;;) {
    QUIRE_ASSIGN(const std::optional<sql::Value> row, execution->next());
    if (!row) break;
    collected_.push_back(sql::copy_value(*row, *row_arena_));
  }
  stats_ = execution->stats();
  return {};
} catch (const sql::MemoryLimitExceeded&) {
  return fail(
      ErrorCode::out_of_memory,
      fmt::format("within BEGIN a query's rows are kept, and these need more than the statement's memory "
                  "limit of {} bytes; narrow it, or raise the limit",
                  options_.memory_limit));
}

Result<void> PreparedStatement::start_query() {
  if (!has_planned_names()) {
    execution_.reset();
    source_.reset();
  }
  QUIRE_ASSIGN(const bool is_as_before, source_ != nullptr ? source_->resume() : Result<bool>(false));
  if (!is_as_before || may_be_limited_) QUIRE_TRY(admit());
  if (is_as_before) {
    const sql::ExecutionOptions options = query_options();
    if (execution_ != nullptr && execution_->suits(options.parameters)) return execution_->restart(options);
    execution_.reset();
    QUIRE_ASSIGN(execution_, sql::Execution::start(*query_, *source_, options));
    return {};
  }
  execution_.reset();
  source_.reset();
  // Before anything is read an index may be built that was left unfinished: what ends that is for the query.
  const uint64_t interrupts = execution_options().interrupts_at_start;
  QUIRE_ASSIGN(source_, begin_source());
  if (execution_options().interrupts_at_start != interrupts) {
    source_.reset();
    return std::unexpected(sql::statement_interrupted());
  }
  QUIRE_ASSIGN(execution_, sql::Execution::start(*query_, *source_, query_options()));
  return {};
}

Result<std::unique_ptr<SnapshotSource>> PreparedStatement::begin_source() {
  for (int starts = 0; starts < SnapshotSource::kMostStarts; ++starts) {
    QUIRE_ASSIGN(auto source, SnapshotSource::begin(containers_, options_.scope));
    source->use_functions(functions());
    const bool is_planned = is_current(*source) && is_of_about_as_many(*source);
    if (source->error()) return std::unexpected(*source->error());
    if (!is_planned && !source->is_outdated()) QUIRE_TRY(plan(*source));
    if (!source->is_outdated()) return source;
  }
  return std::unexpected(never_current());
}

Result<std::unique_ptr<SnapshotSource>> PreparedStatement::begin_source_in(WriteTransaction& transaction,
                                                                           uint64_t openings) {
  const auto begin = [&] {
    auto made = std::make_unique<SnapshotSource>(containers_, options_.scope, openings, transaction);
    made->use_functions(functions());
    return made;
  };
  auto source = begin();
  if (!is_current(*source) || !is_of_about_as_many(*source)) {
    source = begin();
    QUIRE_TRY(plan(*source));
  }
  if (source->error()) return std::unexpected(*source->error());
  if (source->is_outdated())
    return fail(ErrorCode::misuse, "the container was made after BEGIN: COMMIT or ROLLBACK first");
  return source;
}

Result<void> PreparedStatement::start_change() {
  const sql::ExecutionOptions options = execution_options();
  for (int starts = 0; starts < SnapshotSource::kMostStarts; ++starts) {
    const uint64_t openings = containers_.openings();
    bool is_planned = false;
    ChangeOutcome outcome;
    QUIRE_TRY(write([&](WriteTransaction& transaction) -> Result<void> {
      SnapshotSource source(containers_, options_.scope, openings, transaction);
      source.use_functions(functions());
      // Others may write meanwhile: once planned anew, it is taken.
      is_planned = is_current(source) && !source.is_outdated() && (starts > 0 || is_of_about_as_many(source));
      if (source.error()) return std::unexpected(*source.error());
      if (!is_planned) return {};
      const double before = transaction.charged();
      QUIRE_ASSIGN(outcome, change_items(*query_, transaction, source, options, log_));
      change_charge_ = transaction.charged() - before;
      return {};
    }));
    if (is_planned) {
      stats_ = outcome.stats;
      rows_ = std::move(outcome.rows);
      rows_memory_ = std::move(outcome.rows_memory);
      return {};
    }
    QUIRE_ASSIGN(const auto source, SnapshotSource::begin(containers_, options_.scope));
    QUIRE_TRY(plan(*source));
  }
  return std::unexpected(never_current());
}

Result<void> PreparedStatement::write(const std::function<Result<void>(WriteTransaction&)>& work) {
  return options_.session != nullptr ? options_.session->write(work) : containers_.environment().write(work);
}

sql::ExecutionOptions PreparedStatement::execution_options() {
  for (size_t i = 0; i < bindings_.size(); ++i) {
    parameters_[i] = bindings_[i].value;
    is_bound_[i] = bindings_[i].is_bound;
  }
  return {.parameters = parameters_,
          .is_bound = {is_bound_.get(), bindings_.size()},
          .memory = memory_,
          .threads = options_.threads,
          .workers = options_.workers,
          .interrupts = options_.interrupts,
          .interrupts_at_start = options_.interrupts != nullptr ? options_.interrupts->load() : 0,
          .time_limit = options_.time_limit,
          .result_limit = options_.result_limit,
          .omits_system_properties = omits_system_properties_};
}

sql::ExecutionOptions PreparedStatement::query_options() {
  sql::ExecutionOptions options = execution_options();
  options.snapshot_limit = options_.snapshot_limit;
  options.gives_stored_items = true;
  return options;
}

FunctionSource PreparedStatement::functions() const {
  if (options_.session == nullptr) return {};
  return {&options_.session->scripts(), options_.session->script_limits(), options_.interrupts};
}

void PreparedStatement::enter_workload() {
  const sql::StatementKind kind = query_->statement().kind;
  const bool counts = kind == sql::StatementKind::query || kind == sql::StatementKind::change;
  if (!counts || !is_recorded_ || options_.session == nullptr || workload_entry_ != nullptr) return;
  Workload& workload = options_.session->workload();
  const uint64_t basis = basis_of(lookups_);
  workload_entry_ = workload.recall(sql_, basis);
  if (workload_entry_ != nullptr) return;
  workload_entry_ = workload.enter(facts_of(query_->plan()));
  workload.remember(sql_, basis, workload_entry_);
}

void PreparedStatement::finish() noexcept {
  if (execution_ != nullptr) stats_ = execution_->stats();
  if (state_ == State::running && workload_entry_ != nullptr)
    workload_entry_->add_run(stats_.items_read, stats_.rows_returned, charge().units());
  for (const auto& store : admitted_by_)
    store->throughput().take({}, charge().units() / static_cast<double>(admitted_by_.size()));
  admitted_by_.clear();
  // While nothing is written, the next start knows the containers already, and has its operators.
  if (execution_ != nullptr && !execution_->is_restartable()) execution_.reset();
  if (source_ != nullptr) source_->rest();
  rows_.clear();
  rows_memory_ = sql::MemoryShare();
  collected_.clear();
  row_arena_.reset();
  next_row_ = 0;
  state_ = State::ended;
}

void PreparedStatement::forget_run() noexcept {
  execution_.reset();
  source_.reset();
}

void PreparedStatement::reset() noexcept {
  if (state_ == State::running) finish();
  stats_ = {};
  log_.clear();
  change_charge_ = 0;
  state_ = State::ready;
}

}  // namespace quire::engine
