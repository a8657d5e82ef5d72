// Upper and lower case by Unicode's simple mappings, which take one code point to one (so not 'ß' to "SS"),
// and comparison that ignores case: a capital and a small letter are alike if each is the other's. That is
// what Azure's emulators agree on; where a letter has no such partner ('ς', 'ı', 'ſ', 'ß') it is like itself
// alone.
#pragma once

#include <string_view>

#include "sql/value/arena.h"

namespace quire::sql {

// Allocated in `arena`.
std::string_view to_upper(std::string_view text, Arena& arena);
std::string_view to_lower(std::string_view text, Arena& arena);
// Two texts are the same but for case if these are equal.
std::string_view to_folded(std::string_view text, Arena& arena);

bool equals_but_for_case(std::string_view a, std::string_view b) noexcept;
bool starts_with_but_for_case(std::string_view text, std::string_view prefix) noexcept;

}  // namespace quire::sql
