#include "shell/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "shell/commands.h"
#include "shell/display_width.h"
#include "shell/interrupt.h"
#include "shell/messages.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

void show_statistics(const Statement& statement) {
  const quire_statement_stats stats = statement.stats();
  tell("{} items read, {} rows, {} items changed, {:.2f} request units\n", stats.items_read,
       stats.rows_returned, stats.items_changed, stats.request_charge);
}

FormatOptions format_of(const Session& session) {
  return {.mode = session.mode,
          .is_terminal = session.output.is_terminal(),
          .has_colour = session.output.has_colour(),
          .width = session.width != 0 ? session.width : terminal_width(),
          .insert_into = session.insert_into,
          .columns = {}};
}

// What PRAGMA has set, which is the open database's, not its file's. Durability first grows.
using Settings = std::vector<std::pair<std::string_view, std::string>>;
constexpr std::string_view kSettings[] = {"durability",    "reader_age",        "result_size",
                                          "script_memory", "script_operations", "script_result",
                                          "script_time",   "statement_memory",  "statement_time",
                                          "strict",        "threads",           "transaction_size"};

// The one row of a statement, if it has one; else nothing is left of it either.
Result<std::string> run_alone(Database& database, const std::string& sql) {
  auto statement = database.prepare(sql);
  if (!statement) return Failure(std::move(statement.error()));
  auto has_row = statement->step();
  if (!has_row) return Failure(std::move(has_row.error()));
  return *has_row ? std::string(statement->row_json().value_or("")) : std::string();
}

Result<Settings> settings_of(Database& database) {
  Settings settings;
  for (const std::string_view name : kSettings) {
    auto value = run_alone(database, fmt::format("PRAGMA {}", name));
    if (!value) return Failure(std::move(value.error()));
    settings.emplace_back(name, std::move(*value));
  }
  return settings;
}

Result<void> set(Database& database, const Settings& settings) {
  for (const auto& [name, value] : settings)
    if (auto done = run_alone(database, fmt::format("PRAGMA {} = {}", name, value)); !done)
      return Failure(std::move(done.error()));
  return {};
}

// Its end would be lost with the database that is closed.
Result<void> check_outside_transaction(Database& database) {
  if (const auto begun = database.begin_transaction(); begun || begun.error().code != QUIRE_MISUSE) return {};
  return Failure(
      Error{QUIRE_MISUSE, 400, "the file cannot be compacted within BEGIN; COMMIT or ROLLBACK first"});
}

}  // namespace

Session::Session(Options options, Mode mode) : mode(mode), options_(options) {}

bool Session::open(const std::string& path) {
  auto opened = Database::open(path, options_);
  if (!opened) {
    print_error(opened.error());
    return false;
  }
  database_.emplace(std::move(*opened));
  show_progress();
  path_ = path;
  container.clear();
  return true;
}

Result<quire_compaction> Session::compact_closed() {
  const Interruptible interruptible;
  return Database::compact(path_, progress_of_call());
}

Result<quire_compaction> Session::compact() {
  if (path_ == ":memory:")
    return Failure(Error{QUIRE_INVALID_ARGUMENT, 400, "a database in memory has no file to compact"});
  if (options_.read_only)
    return Failure(Error{QUIRE_READ_ONLY, 500, "the database is open for reading only"});
  if (auto outside = check_outside_transaction(*database_); !outside)
    return Failure(std::move(outside.error()));
  const auto settings = settings_of(*database_);
  if (!settings) return Failure(settings.error());
  if (auto closed = database_->close(); !closed) return Failure(std::move(closed.error()));
  database_.reset();
  auto done = compact_closed();
  clear_progress();
  auto opened = Database::open(path_, options_);
  if (!opened) {
    // The session goes on, without the file.
    static_cast<void>(open(":memory:"));
    return Failure(std::move(opened.error()));
  }
  database_.emplace(std::move(*opened));
  show_progress();
  if (auto again = set(*database_, *settings); !again) return Failure(std::move(again.error()));
  return done;
}

void Session::show_progress() {
  database_->set_progress(progress_of_call());
}

std::function<bool(uint64_t, uint64_t)> Session::progress_of_call() {
  return [this](uint64_t done, uint64_t all) {
    progress_.show_share(done, all);
    return !is_interrupted();
  };
}

bool Session::is_own_file(const std::string& path) const {
  std::error_code failure;
  const std::filesystem::path own = std::filesystem::canonical(path_, failure);
  if (path_ == ":memory:" || failure) return false;
  return std::filesystem::equivalent(path, own, failure) ||
         std::filesystem::equivalent(path, own.string() + "-lock", failure);
}

// What was begun is undone: half of an export leaves no file.
Outcome Session::run(std::string_view text, size_t first_line, size_t columns_before) try {
  const std::string_view trimmed = trim(text);
  if (trimmed.empty()) return Outcome::done;
  if (trimmed.starts_with('.')) return run_command(*this, trimmed);
  return run_query(text.substr(0, text.find(trimmed) + trimmed.size()), first_line, columns_before);
} catch (const std::bad_alloc&) {
  print_message("memory ran out");
  return Outcome::failed;
}

bool Session::is_cut_off(std::string_view text) {
  text = trim(text);
  const auto statement = prepare(text);
  return !statement && statement.error().code == QUIRE_SYNTAX && statement.error().offset >= text.size();
}

bool Session::ends_before(std::string_view text, std::string_view line) {
  const std::string_view word = first_word(line);
  if (word.empty()) return false;
  const auto begun = database_->prepare(word);
  const bool begins = begun || (begun.error().code == QUIRE_SYNTAX && begun.error().offset >= word.size());
  return begins && !is_cut_off(text);
}

Result<Statement> Session::prepare(std::string_view sql) {
  if (container.empty()) return database_->prepare(sql);
  auto used = database_->container(container);
  if (!used) return Failure(std::move(used.error()));
  return used->prepare(sql);
}

Result<void> Session::bind_parameters(Statement& statement) {
  for (const std::string_view name : statement.parameter_names()) {
    const auto set = parameters.find(std::string(name));
    if (set == parameters.end()) continue;
    if (auto bound = statement.bind(name, Json{set->second}); !bound) return bound;
  }
  return {};
}

Result<bool> Session::write_rows(Statement& statement) {
  const auto format = make_format(format_of(*this));
  output.begin();
  std::string text;
  while (true) {
    auto has_row = statement.step();
    progress_.clear();
    text.clear();
    auto added = !has_row || !*has_row ? format->finish(text) : format->add(statement.row(), text);
    output.write(text);
    // What came before an error is shown before it.
    if (has_row && *has_row && added && !output.has_failed()) continue;
    const bool is_written = output.finish();
    if (!has_row) return Failure(std::move(has_row.error()));
    if (!added) return Failure(std::move(added.error()));
    return is_written;
  }
}

Outcome Session::show_rows(std::string_view json_array) {
  auto statement = database_->prepare("SELECT VALUE c FROM c IN (SELECT VALUE @list)");
  auto bound =
      statement ? statement->bind("list", Json{json_array}) : Result<void>(Failure(statement.error()));
  auto written = bound ? write_rows(*statement) : Result<bool>(Failure(bound.error()));
  if (written) return *written ? Outcome::done : cannot_write_output(output);
  print_error(written.error());
  return Outcome::failed;
}

void Session::show_plan(std::string_view sql) {
  auto plan = prepare("EXPLAIN " + std::string(sql));
  // What has no plan, or does not bind, says so itself when it runs.
  if (!plan || !bind_parameters(*plan)) return;
  output.begin();
  for (const Value line : plan->rows()) output.write(std::string(line.as_string()) + "\n");
  static_cast<void>(output.finish());
}

Outcome Session::run_query(std::string_view sql, size_t first_line, size_t columns_before) {
  const auto start = std::chrono::steady_clock::now();
  const auto failed = [&](const Error& error) {
    print_error(error, sql, first_line, columns_before);
    return Outcome::failed;
  };
  last_statement = sql;
  auto statement = prepare(sql);
  if (!statement) return failed(statement.error());
  if (auto bound = bind_parameters(*statement); !bound) return failed(bound.error());
  if (shows_plan) show_plan(sql);

  const Interruptible interruptible(*database_);
  if (is_interrupted()) return failed({QUIRE_INTERRUPTED, 499, "the statement was interrupted"});
  const auto written = write_rows(*statement);
  // What scripts said, between their result and their error.
  tell("{}", statement->log());
  if (!written) return failed(written.error());
  if (!*written) return cannot_write_output(output);
  const uint64_t changed = statement->stats().items_changed;
  if (changed > 0 && isatty(STDERR_FILENO) == 1)
    tell("{} item{} changed\n", changed, changed == 1 ? "" : "s");
  if (shows_statistics) show_statistics(*statement);
  if (shows_time)
    tell("{:.3f} s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return Outcome::done;
}

}  // namespace quire::shell
