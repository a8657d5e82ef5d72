// What the shell says on standard error. Every message of failure begins with `error: `.
#pragma once

#include <string_view>

#include "shell/session.h"

namespace quire::shell {

void print_message(std::string_view message);

// With a place in `text`: its line and column, the line itself, and a caret below the place. `first_line`:
// the number of the text's first line in what the user gave.
void print_error(const Error& error, std::string_view text = {}, size_t first_line = 1);

// Says why the output takes no more; nothing where its reader has simply left (`| head`).
Outcome cannot_write_output(const Output& output);

}  // namespace quire::shell
