// Text that holds statements and dot-commands: an argument of the command line, or a script on standard
// input.
#pragma once

#include <string_view>

#include "shell/session.h"

namespace quire::shell {

// A dot-command, over several lines too, or a script.
Outcome run_argument(Session& session, std::string_view text);

// A statement ends with `;`, a blank line behind which another begins, a line that begins with a dot-command,
// or the end of input: half of a statement may be another one, a DELETE without its WHERE, say. The first
// error ends the script.
Outcome run_script(Session& session);

}  // namespace quire::shell
