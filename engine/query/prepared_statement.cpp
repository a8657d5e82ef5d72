#include "engine/query/prepared_statement.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

namespace quire::engine {
namespace {

// How often a start may find that a container was opened, dropped or made by others meanwhile.
constexpr int kMostStarts = 16;

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
  QUIRE_TRY(statement->plan(*source));
  const size_t parameters = statement->parameter_names().size();
  statement->bindings_.resize(parameters);
  statement->parameters_.resize(parameters);
  statement->is_bound_ = std::make_unique<bool[]>(parameters);
  return statement;
}

Result<void> PreparedStatement::plan(SnapshotSource& source) {
  sql::PrepareOptions options{.strict = options_.strict, .scope = {}};
  if (options_.scope != nullptr) options.scope = options_.scope->definition().name;
  auto query = sql::prepare_query(sql_, source, options);
  // A failure of storage shows as a container that is not there: the cause comes first.
  if (source.error()) return std::unexpected(*source.error());
  if (!query) return std::unexpected(std::move(query.error()));
  query_ = std::move(*query);
  lookups_ = source.lookups();
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
      return std::unexpected(std::move(started.error()));
    }
  }
  auto row = execution_->next();
  // The snapshot ends here rather than at the reset, so that it keeps no old pages alive.
  if (!row || !*row) finish();
  return row;
}

Result<void> PreparedStatement::start() {
  for (int starts = 0; starts < kMostStarts; ++starts) {
    source_.reset();
    QUIRE_ASSIGN(source_, SnapshotSource::begin(containers_, options_.scope));
    const bool is_current = source_->agrees_with(lookups_);
    if (source_->error()) return std::unexpected(*source_->error());
    if (!is_current && !source_->is_outdated()) QUIRE_TRY(plan(*source_));
    if (!source_->is_outdated()) return execute();
  }
  return fail(ErrorCode::busy,
              "the statement's containers were dropped and made again all the time; try again");
}

Result<void> PreparedStatement::execute() {
  for (size_t i = 0; i < bindings_.size(); ++i) {
    parameters_[i] = bindings_[i].value;
    is_bound_[i] = bindings_[i].is_bound;
  }
  const sql::ExecutionOptions options{.parameters = parameters_,
                                      .is_bound = {is_bound_.get(), bindings_.size()},
                                      .memory_limit = options_.memory_limit,
                                      .interrupts = options_.interrupts};
  QUIRE_ASSIGN(execution_, sql::Execution::start(*query_, *source_, options));
  return {};
}

void PreparedStatement::finish() noexcept {
  if (execution_ != nullptr) stats_ = execution_->stats();
  execution_.reset();
  source_.reset();
  state_ = State::ended;
}

void PreparedStatement::reset() noexcept {
  finish();
  stats_ = {};
  state_ = State::ready;
}

}  // namespace quire::engine
