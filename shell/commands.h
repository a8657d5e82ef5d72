// The dot-commands: rows of one table that running, .help and completion read.
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

// The larger ones, each in a file of its own.
Outcome import_command(Session& session, const Words& words);
Outcome export_command(Session& session, const Words& words);
Outcome param_command(Session& session, const Words& words);

}  // namespace quire::shell
