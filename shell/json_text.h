// JSON that the shell writes itself: names in container definitions and exported items.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "quire/quire.hpp"

namespace quire::shell {

// A JSON string. Not quoted(), which is std::quoted() too wherever <iomanip> comes along.
std::string json_string(std::string_view text);

// Whether a text is one JSON value.
using IsJson = std::function<bool(std::string_view)>;
IsJson json_check(const Database& database);

}  // namespace quire::shell
