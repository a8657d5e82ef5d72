// One run of the shell: the open database, what `.use`, `.mode` and the like have set, and how a statement is
// run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "quire/quire.hpp"
#include "shell/output.h"
#include "shell/progress.h"
#include "shell/row_format.h"
#include "shell/standard_input.h"

namespace quire::shell {

// What a statement came to. The numbers are the exit codes of the program.
enum class Outcome { done = 0, failed = 1, usage = 2 };

class Session {
 public:
  Session(Options options, Mode mode);

  // The database that was open stays so if this one cannot be opened.
  bool open(const std::string& path);
  // Closes the database, has its file rewritten without free pages, and opens it again.
  Result<quire_compaction> compact();
  // One SQL statement, or one dot-command. Errors go to standard error, with lines counted from `first_line`,
  // of which `columns_before` characters come before the text.
  Outcome run(std::string_view text, size_t first_line = 1, size_t columns_before = 0);
  // Whether the text is the beginning of a statement: all that the grammar misses is behind its end.
  bool is_cut_off(std::string_view text);
  // Whether a line behind an empty one begins a statement, and the text before it is not cut off.
  bool ends_before(std::string_view text, std::string_view line);

  // Shows the elements of a JSON array as rows, in the mode of the session.
  Outcome show_rows(std::string_view json_array);

  // The values of `.param`.
  Result<void> bind_parameters(Statement& statement);
  // Whether the path leads to the open database or its lock file, where no rows may be written.
  bool is_own_file(const std::string& path) const;

  // What a statement that is over has left on the screen.
  void clear_progress() { progress_.clear(); }
  // For a call that has no database to interrupt: Ctrl-C ends it.
  std::function<bool(uint64_t done, uint64_t all)> progress_of_call();

  Database& database() { return *database_; }
  const Options& options() const { return options_; }
  const std::string& path() const { return path_; }
  // What is being read: standard input, or the file of a `.read`.
  StandardInput& input() { return *input_; }
  // Reads from there from now on; what it read before.
  StandardInput* read_from(StandardInput* input) { return std::exchange(input_, input); }

  Output output;
  bool has_quit = false;
  Mode mode;
  size_t width = 0;                               // of tables; 0: the terminal's
  std::string insert_into = "items";              // of the mode `insert`
  bool shows_time = false;                        // `.timer`
  bool shows_statistics = false;                  // `.stats`
  bool shows_plan = false;                        // `.explain`
  std::string container;                          // of `.use`; empty: the database's scope
  std::map<std::string, std::string> parameters;  // name without @, JSON
  std::string last_statement;                     // for `.edit`

 private:
  Outcome run_query(std::string_view sql, size_t first_line, size_t columns_before);
  // Runs the statement and writes its rows. False if the output takes no more.
  Result<bool> write_rows(Statement& statement);
  Result<Statement> prepare(std::string_view sql);
  Result<quire_compaction> compact_closed();
  // On the terminal, from here on.
  void show_progress();
  void show_plan(std::string_view sql);

  Options options_;
  std::string path_;
  StandardInput standard_input_;
  StandardInput* input_ = &standard_input_;
  Progress progress_;  // of the statement that runs
  std::optional<Database> database_;
};

}  // namespace quire::shell
