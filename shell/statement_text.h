// Where a statement ends in what a user types. Cosmos queries have no terminator, so a `;` ends one, and so
// does a blank line; on a terminal Enter does too, unless a quote, a bracket or a comment is open.
#pragma once

#include <string_view>

namespace quire::shell {

struct TextState {
  bool is_open = false;         // inside a quote, a bracket or a comment
  bool ends_statement = false;  // the last thing outside of those is a `;`
};
TextState examine(std::string_view text);

// Without white space around it and `;` behind it.
std::string_view trim_statement(std::string_view text);
std::string_view trim(std::string_view text);

}  // namespace quire::shell
