// quire: the shell. `quire [OPTION]... [FILE [SQL | .COMMAND]...]`
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "shell/line_editor.h"
#include "shell/session.h"
#include "shell/statement_text.h"

namespace {

using namespace quire::shell;

void on_interrupt(int) {
  Session::interrupt();
}

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

int exit_code(Outcome outcome) {
  return static_cast<int>(outcome);
}

int run_arguments(Session& session, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (const Outcome outcome = session.run(text); outcome != Outcome::done) return exit_code(outcome);
    if (session.has_quit) break;
  }
  return 0;
}

// A script: a statement ends with `;` at a line's end, a blank line, a dot-command, or the end of input.
int run_script(Session& session) {
  std::string statement;
  size_t number = 0;
  size_t first_line = 1;
  const auto run = [&](const std::string& text) {
    const Outcome outcome = session.run(text);
    if (outcome != Outcome::done)
      fmt::print(stderr, "in the statement at line {} of the script\n", first_line);
    return outcome;
  };
  for (std::string line; !session.has_quit && std::getline(std::cin, line);) {
    ++number;
    const bool is_open = examine(statement).is_open;
    const std::string_view trimmed = trim(line);
    const bool is_command = !is_open && trimmed.starts_with('.');
    if (!is_open && (trimmed.empty() || is_command)) {
      if (const Outcome outcome = run(statement); outcome != Outcome::done) return exit_code(outcome);
      statement.clear();
      first_line = number;
      if (is_command)
        if (const Outcome outcome = run(line); outcome != Outcome::done) return exit_code(outcome);
      continue;
    }
    if (statement.empty()) first_line = number;
    statement += line + "\n";
    const TextState state = examine(statement);
    if (state.is_open || !state.ends_statement) continue;
    if (const Outcome outcome = run(statement); outcome != Outcome::done) return exit_code(outcome);
    statement.clear();
  }
  return session.has_quit ? 0 : exit_code(run(statement));
}

int run_prompt(Session& session) {
  fmt::print("Quire {} - {} - .help for help, Ctrl-D to leave\n", quire_version(), session.path());
  LineEditor editor;
  std::string statement;
  while (!session.has_quit) {
    const std::string name = session.container.empty() ? "quire" : session.container;
    const auto line = editor.read(statement.empty() ? name + "> " : std::string(name.size(), ' ') + "> ");
    if (!line) break;
    statement += *line;
    if (examine(statement).is_open && !trim(*line).empty()) {
      statement += "\n";
      continue;
    }
    if (!trim(statement).empty()) editor.remember(statement);
    session.run(statement);
    statement.clear();
  }
  return 0;
}

struct CommandLine {
  std::string path = ":memory:";
  std::vector<std::string> texts;
  quire::Options options;
  Mode mode = Mode::automatic;
};

// The exit code if the program is to end here.
std::optional<int> read_command_line(int argc, char** argv, CommandLine& line) {
  CLI::App app{
      "Quire: the SQLite of Cosmos DB. Opens FILE, or a database in memory, and runs each SQL statement and\n"
      ".command that follows; without any, a script on standard input, or a prompt on a terminal."};
  std::string mode = "auto";
  std::string durability = "full";
  app.set_version_flag("--version", std::string("quire ") + quire_version());
  app.add_option("FILE", line.path,
                 "the database; made if it is missing; :memory: (the default) for one in memory");
  app.add_option("SQL", line.texts, "SQL statements and .commands, run in turn");
  app.add_flag("--read-only", line.options.read_only, "open the file for reading only");
  app.add_flag("--strict", line.options.strict, "take only what Azure Cosmos DB takes");
  std::vector<std::string> names;
  for (const ModeRow& row : modes()) names.emplace_back(row.name);
  app.add_option("--mode", mode, "how rows are shown")->check(CLI::IsMember(names));
  app.add_option("--durability", durability,
                 "what a commit survives: full, relaxed (a power cut may undo the last), none")
      ->check(CLI::IsMember({"full", "relaxed", "none"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_code(Outcome::usage);
  }
  for (const ModeRow& row : modes())
    if (row.name == mode) line.mode = row.mode;
  if (durability == "relaxed") line.options.durability = quire::Durability::relaxed;
  if (durability == "none") line.options.durability = quire::Durability::none;
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  if (const auto code = read_command_line(argc, argv, line)) return *code;
  catch_interrupts();
  std::signal(SIGPIPE, SIG_IGN);
  Session session(line.options, line.mode);
  if (!session.open(line.path)) return exit_code(Outcome::failed);
  if (!line.texts.empty()) return run_arguments(session, line.texts);
  return isatty(STDIN_FILENO) == 1 ? run_prompt(session) : run_script(session);
}
