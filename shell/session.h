// One run of the shell: the open database, what `.use`, `.mode` and `.param` have set, and how a line is run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "quire/quire.hpp"
#include "shell/output.h"

namespace quire::shell {

// What a line came to. The numbers are the exit codes of the program.
enum class Outcome { done = 0, failed = 1, usage = 2 };

class Session {
 public:
  Session(Options options, Mode mode);
  ~Session();

  bool open(const std::string& path);
  // One statement, or one dot-command. Errors go to standard error.
  Outcome run(std::string_view text);
  Outcome run_query(std::string_view sql);

  // From a signal handler: ends the running statement or import.
  static void interrupt() noexcept;

  Database& database() { return *database_; }
  const std::string& path() const { return path_; }

  bool has_quit = false;
  Mode mode;
  bool shows_time = false;
  std::string container;                          // of `.use`; empty: the database's scope
  std::map<std::string, std::string> parameters;  // name without @, JSON

 private:
  Result<Statement> prepare(std::string_view sql);
  Result<void> bind_parameters(Statement& statement);
  void show_statistics(const Statement& statement, double seconds) const;

  Options options_;
  std::string path_;
  std::optional<Database> database_;
};

// `error: message`, and for a place in `text` the line with a caret below it.
void print_error(const Error& error, std::string_view text = {});
void print_message(std::string_view message);

}  // namespace quire::shell
