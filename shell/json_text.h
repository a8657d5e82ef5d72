// JSON that the shell writes itself: names in container definitions and exported items.
#pragma once

#include <string>
#include <string_view>

namespace quire::shell {

// A JSON string.
std::string quoted(std::string_view text);

}  // namespace quire::shell
