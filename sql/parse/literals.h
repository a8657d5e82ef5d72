// Literals between their spelling in the text and their value, both ways.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql/error.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

// What a string token, quotes included, stands for: a part of the token where it has no escapes, else bytes
// in `arena`. An error's position holds only the offset within `token`.
Result<std::string_view> unquote(std::string_view token, bool strict, Arena& arena);

// Appends `text` as a string literal in double quotes.
void append_quoted(std::string& out, std::string_view text);
// A name as it stands in a statement: quoted where it is no plain one.
void append_name(std::string& out, std::string_view name);

// The value of an integer or real token: exact within int64, else the nearest double. Nothing if it is out
// of a double's range.
std::optional<Value> number_of(std::string_view token) noexcept;

// Appends a literal that reads back as `number`, which is not negative.
void append_number(std::string& out, const Value& number);

}  // namespace quire::sql
