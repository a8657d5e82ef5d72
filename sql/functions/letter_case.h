// Upper and lower case by Unicode's simple mappings, which take one code point to one (so not 'ß' to "SS"),
// and comparison that ignores case, by upper case, as .NET's ordinal comparison does.
#pragma once

#include <string_view>

#include "sql/value/arena.h"

namespace quire::sql {

// Allocated in `arena`.
std::string_view to_upper(std::string_view text, Arena& arena);
std::string_view to_lower(std::string_view text, Arena& arena);

bool equals_but_for_case(std::string_view a, std::string_view b) noexcept;
bool starts_with_but_for_case(std::string_view text, std::string_view prefix) noexcept;

}  // namespace quire::sql
