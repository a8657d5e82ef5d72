#include "shell/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/messages.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

void show_statistics(const Statement& statement, std::chrono::duration<double> taken) {
  const quire_statement_stats stats = statement.stats();
  fmt::print(stderr, "{:.3f} s, {} items read, {} rows\n", taken.count(), stats.items_read,
             stats.rows_returned);
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
  path_ = path;
  container.clear();
  return true;
}

Outcome Session::run(std::string_view text, size_t first_line) {
  const std::string_view trimmed = trim(text);
  if (trimmed.empty()) return Outcome::done;
  if (trimmed.starts_with('.')) return run_command(*this, trimmed);
  return run_query(text.substr(0, text.find(trimmed) + trimmed.size()), first_line);
}

bool Session::is_cut_off(std::string_view text) {
  text = trim(text);
  const auto statement = prepare(text);
  return !statement && statement.error().code == QUIRE_SYNTAX && statement.error().offset >= text.size();
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

Outcome Session::run_query(std::string_view sql, size_t first_line) {
  const auto start = std::chrono::steady_clock::now();
  const auto failed = [&](const Error& error) {
    print_error(error, sql, first_line);
    return Outcome::failed;
  };
  auto statement = prepare(sql);
  if (!statement) return failed(statement.error());
  if (auto bound = bind_parameters(*statement); !bound) return failed(bound.error());

  const Interruptible interruptible(*database_);
  if (is_interrupted()) return failed({QUIRE_INTERRUPTED, 499, "the statement was interrupted"});
  RowWriter writer(mode);
  while (true) {
    auto has_row = statement->step();
    // What came before an error is shown before it.
    if (!has_row || !*has_row) {
      const bool is_written = writer.finish();
      if (!has_row) return failed(has_row.error());
      if (!is_written) return cannot_write_output();
      break;
    }
    if (auto added = writer.add(statement->row()); !added) return failed(added.error());
    if (writer.has_failed()) return cannot_write_output();
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const uint64_t changed = statement->stats().items_changed;
  if (changed > 0 && isatty(STDERR_FILENO) == 1)
    fmt::print(stderr, "{} item{} changed\n", changed, changed == 1 ? "" : "s");
  if (shows_time) show_statistics(*statement, taken);
  return Outcome::done;
}

}  // namespace quire::shell
