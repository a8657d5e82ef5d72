// One run of the shell: the open database, what `.use`, `.mode` and `.param` have set, and how a statement is
// run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "quire/quire.hpp"
#include "shell/row_writer.h"
#include "shell/standard_input.h"

namespace quire::shell {

// What a statement came to. The numbers are the exit codes of the program.
enum class Outcome { done = 0, failed = 1, usage = 2 };

class Session {
 public:
  Session(Options options, Mode mode);

  // The database that was open stays so if this one cannot be opened.
  bool open(const std::string& path);
  // One SQL statement, or one dot-command. Errors go to standard error, with lines counted from `first_line`.
  Outcome run(std::string_view text, size_t first_line = 1);
  // Whether the text is the beginning of a statement: all that the grammar misses is behind its end.
  bool is_cut_off(std::string_view text);

  Database& database() { return *database_; }
  const std::string& path() const { return path_; }
  StandardInput& input() { return input_; }

  bool has_quit = false;
  Mode mode;
  bool shows_time = false;
  std::string container;                          // of `.use`; empty: the database's scope
  std::map<std::string, std::string> parameters;  // name without @, JSON

 private:
  Outcome run_query(std::string_view sql, size_t first_line);
  Result<Statement> prepare(std::string_view sql);
  Result<void> bind_parameters(Statement& statement);

  Options options_;
  std::string path_;
  StandardInput input_;
  std::optional<Database> database_;
};

}  // namespace quire::shell
