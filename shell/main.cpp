// quire: the shell. `quire [OPTION]... [FILE [SQL | .COMMAND]...]`
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <clocale>
#include <csignal>
#include <iostream>
#include <optional>

#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/messages.h"
#include "shell/output.h"
#include "shell/prompt.h"
#include "shell/script.h"
#include "shell/session.h"
#include "shell/version.h"

namespace {

using namespace quire::shell;

int exit_code(Outcome outcome) {
  return static_cast<int>(outcome);
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
      "Quire: the SQLite of Cosmos DB. Opens FILE, or a database in "
      "memory, and runs each SQL statement and\n"
      ".command that follows; without any, a script on standard "
      "input, or a prompt on a terminal."};
  std::string mode = "auto";
  std::string durability = "full";
  app.set_version_flag("--version", version_text());
  app.add_option("FILE", line.path,
                 "the database; made if it is missing; :memory: (the default) "
                 "for one in memory");
  app.add_option("SQL", line.texts, "SQL statements and .commands, run in turn");
  app.add_flag("--read-only", line.options.read_only, "open the file for reading only");
  app.add_flag("--strict", line.options.strict, "take only what Azure Cosmos DB takes");
  bool is_untrusted = false;
  app.add_flag(
      "--untrusted", is_untrusted,
      "check every page before the file is used, and every item that is read: for a file from elsewhere");
  app.add_flag("--trust-scripts", line.options.trust_scripts,
               "run JavaScript that came with the file from elsewhere, too");
  std::vector<std::string> names;
  for (const ModeRow& row : modes()) names.emplace_back(row.name);
  app.add_option("--mode", mode, "how rows are shown")->check(CLI::IsMember(names));
  app.add_option("--durability", durability,
                 "what a commit survives: full, relaxed (a power cut may undo "
                 "those of the last second or so), none")
      ->check(CLI::IsMember({"full", "relaxed", "none"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return exit_code(Outcome::usage);
    if (std::cout.flush()) return 0;
    return exit_code(cannot_write_output(Output()));
  }
  if (find_command(line.path) != nullptr) {
    print_message(fmt::format("'{}' is a command: the file comes before it, as in `quire my.quire {}`",
                              line.path, line.path));
    return exit_code(Outcome::usage);
  }
  line.mode = find_mode(mode)->mode;
  line.options.untrusted = line.options.verify_checksums = is_untrusted;
  if (durability == "relaxed") line.options.durability = quire::Durability::relaxed;
  if (durability == "none") line.options.durability = quire::Durability::none;
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");  // libedit asks it which bytes are characters
  CommandLine line;
  if (const auto code = read_command_line(argc, argv, line)) return *code;
  const bool has_prompt = line.texts.empty() && isatty(STDIN_FILENO) == 1;
  catch_interrupts(has_prompt);
  // Writing fails and says why, rather than ends the program: no reader, a file as long as ulimit -f allows.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  Session session(line.options, line.mode);
  if (!session.open(line.path)) return exit_code(Outcome::failed);
  if (has_prompt) {
    session.output.uses_pager = isatty(STDOUT_FILENO) == 1;
    run_prompt(session);
    return 0;
  }
  if (line.texts.empty()) return exit_code(run_script(session));
  for (const std::string& text : line.texts) {
    if (const Outcome outcome = run_argument(session, text); outcome != Outcome::done)
      return exit_code(outcome);
    if (session.has_quit) break;
  }
  return 0;
}
