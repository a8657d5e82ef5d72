#include "shell/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "shell/commands.h"
#include "shell/statement_text.h"

namespace quire::shell {
namespace {

// What the signal handler may touch.
std::atomic<quire_database*> g_running = nullptr;

std::string_view line_of(std::string_view text, uint32_t number) {
  for (uint32_t line = 1; line < number; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// The line that an error stands in, cut to a window around its column, and a caret under the column.
std::string excerpt(std::string_view line, uint32_t column) {
  constexpr uint32_t kBefore = 60;
  constexpr size_t kMost = 120;
  size_t start = 0;
  size_t place = 0;
  uint32_t at = 1;
  for (; place < line.size() && at < column; ++place) {
    if ((static_cast<unsigned char>(line[place]) & 0xC0) == 0x80) continue;
    ++at;
    if (column - at == kBefore) start = place + 1;
  }
  while (place < line.size() && (static_cast<unsigned char>(line[place]) & 0xC0) == 0x80) ++place;
  while (start < line.size() && (static_cast<unsigned char>(line[start]) & 0xC0) == 0x80) ++start;
  const std::string shown(line.substr(start, kMost));
  const size_t indent = display_width(line.substr(start, place > start ? place - start : 0));
  return fmt::format("  {}\n  {}^\n", shown, std::string(indent, ' '));
}

}  // namespace

void print_message(std::string_view message) {
  fmt::print(stderr, "error: {}\n", message);
}

void print_error(const Error& error, std::string_view text) {
  std::fflush(stdout);
  if (error.line == 0) {
    print_message(error.message);
    return;
  }
  fmt::print(stderr, "error: line {}, column {}: {}\n", error.line, error.column, error.message);
  const std::string_view line = line_of(text, error.line);
  if (!line.empty()) fmt::print(stderr, "{}", excerpt(line, error.column));
}

Session::Session(Options options, Mode mode) : mode(mode), options_(options) {}
Session::~Session() {
  g_running = nullptr;
}

void Session::interrupt() noexcept {
  if (quire_database* database = g_running.load(); database != nullptr) quire_interrupt(database);
}

bool Session::open(const std::string& path) {
  auto opened = Database::open(path, options_);
  if (!opened) {
    print_error(opened.error());
    return false;
  }
  database_.emplace(std::move(*opened));
  g_running = database_->c_handle();
  path_ = path;
  container.clear();
  return true;
}

Outcome Session::run(std::string_view text) {
  const std::string_view trimmed = trim(text);
  if (trimmed.empty()) return Outcome::done;
  if (trimmed.starts_with('.')) return run_command(*this, trimmed);
  const std::string_view statement = trim_statement(text);
  return statement.empty() ? Outcome::done : run_query(statement);
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

Outcome Session::run_query(std::string_view sql) {
  const auto start = std::chrono::steady_clock::now();
  auto statement = prepare(sql);
  if (!statement) {
    print_error(statement.error(), sql);
    return Outcome::failed;
  }
  if (auto bound = bind_parameters(*statement); !bound) {
    print_error(bound.error());
    return Outcome::failed;
  }
  RowWriter writer(mode, isatty(STDOUT_FILENO) == 1);
  while (true) {
    auto has_row = statement->step();
    if (has_row && *has_row) {
      if (auto added = writer.add(statement->row()); !added) {
        print_error(added.error());
        return Outcome::failed;
      }
      continue;
    }
    const bool is_written = writer.finish();
    if (!has_row) {
      print_error(has_row.error(), sql);
      return Outcome::failed;
    }
    if (!is_written) return Outcome::failed;
    break;
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const uint64_t changed = statement->stats().items_changed;
  if (changed > 0 && isatty(STDERR_FILENO) == 1)
    fmt::print(stderr, "{} item{} changed\n", changed, changed == 1 ? "" : "s");
  if (shows_time) show_statistics(*statement, taken.count());
  return Outcome::done;
}

void Session::show_statistics(const Statement& statement, double seconds) const {
  const quire_statement_stats stats = statement.stats();
  fmt::print(stderr, "{:.3f} s, {} items read, {} rows\n", seconds, stats.items_read, stats.rows_returned);
}

}  // namespace quire::shell
