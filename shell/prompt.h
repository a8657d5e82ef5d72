// The prompt: statements typed on a terminal, until .quit or Ctrl-D.
#pragma once

#include "shell/session.h"

namespace quire::shell {

// Enter ends a statement, unless it plainly goes on: a quote, a bracket or a comment is open, or the grammar
// expects more at its end. A `;` ends one in any case, and so does an empty line. Lines that are pasted in
// one go belong together until one of these two, the empty line where another statement begins behind it.
void run_prompt(Session& session);

}  // namespace quire::shell
