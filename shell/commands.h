// The dot-commands: rows of one table that running, .help, completion and the tests read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/session.h"

namespace quire::shell {

using Words = std::vector<std::string>;

struct Command {
  std::string_view name;       // ".import"
  std::string_view arguments;  // "FILE CONTAINER [OPTION]..."
  std::string_view summary;
  std::string_view details;  // more for `.help NAME`, or empty
  // How many words may follow the name. A command with options counts them itself.
  size_t least;
  size_t most;
  // `words` are those behind the name.
  Outcome (*run)(Session& session, const Words& words);
};

std::span<const Command> all_commands();
// By its name with the dot; nullptr if there is none.
const Command* find_command(std::string_view name);

// Runs a line that starts with a dot.
Outcome run_command(Session& session, std::string_view line);
// `error: .import: what is wrong`, and how it is right.
Outcome wrong_usage(std::string_view command, std::string_view what);
// Tells the error.
Outcome failed(const Error& error);

// What runs the rows of the table, by the file that each is in.
// session_commands.cpp
Outcome open_command(Session& session, const Words& words);
Outcome use_command(Session& session, const Words& words);
Outcome mode_command(Session& session, const Words& words);
Outcome width_command(Session& session, const Words& words);
Outcome output_command(Session& session, const Words& words);
Outcome once_command(Session& session, const Words& words);
Outcome pager_command(Session& session, const Words& words);
Outcome timer_command(Session& session, const Words& words);
Outcome stats_command(Session& session, const Words& words);
Outcome explain_command(Session& session, const Words& words);
Outcome read_command(Session& session, const Words& words);
Outcome edit_command(Session& session, const Words& words);
Outcome quit_command(Session& session, const Words& words);
// information_commands.cpp
Outcome help_command(Session& session, const Words& words);
Outcome version_command(Session& session, const Words& words);
Outcome containers_command(Session& session, const Words& words);
Outcome create_command(Session& session, const Words& words);
Outcome functions_command(Session& session, const Words& words);
Outcome status_command(Session& session, const Words& words);
Outcome backup_command(Session& session, const Words& words);
Outcome recover_command(Session& session, const Words& words);
Outcome compact_command(Session& session, const Words& words);
Outcome check_command(Session& session, const Words& words);
// Each in a file of its own.
Outcome describe_command(Session& session, const Words& words);
Outcome partitions_command(Session& session, const Words& words);
Outcome dump_command(Session& session, const Words& words);
Outcome import_command(Session& session, const Words& words);
Outcome export_command(Session& session, const Words& words);
Outcome feed_command(Session& session, const Words& words);
Outcome generate_command(Session& session, const Words& words);
Outcome script_command(Session& session, const Words& words);
Outcome scripts_command(Session& session, const Words& words);
Outcome param_command(Session& session, const Words& words);
Outcome advise_command(Session& session, const Words& words);
Outcome indexes_command(Session& session, const Words& words);

}  // namespace quire::shell
