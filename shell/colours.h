// Escape sequences that colour text on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace quire::shell {

// Names, strings, numbers and words each in a colour of their own.
std::string coloured_json(std::string_view json);

}  // namespace quire::shell
