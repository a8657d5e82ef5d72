// What the shell says on standard error. Every message of failure begins with `error: `.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "shell/session.h"

namespace quire::shell {

// What standard error does not take (its reader has left, its disk is full) is lost, and nothing fails for
// it.
void tell_text(std::string_view text);
template <typename... Arguments>
void tell(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  tell_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

void print_message(std::string_view message);

// With a place in `text`: its line and column, the line itself, and a caret below the place. `first_line`:
// the number of the text's first line in what the user gave, where `columns_before` characters come before
// it.
void print_error(const Error& error, std::string_view text = {}, size_t first_line = 1,
                 size_t columns_before = 0);

// Text on standard output that is no rows of a statement.
Outcome print_text(std::string_view text);

// Says why the output takes no more; nothing where its reader has simply left (`| head`).
Outcome cannot_write_output(const Output& output);

}  // namespace quire::shell
