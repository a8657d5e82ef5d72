// Text on a terminal: how many columns it takes, and parts of it that fit. Wide characters take two columns,
// combining ones none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quire::shell {

// Columns of the terminal that standard output is, or of $COLUMNS, or 80.
size_t terminal_width();
// Its lines, or 24.
size_t terminal_height();

size_t display_width(std::string_view text);

// With control characters, which would move the cursor, as blanks.
std::string printable(std::string_view text);

// The longest beginning of whole characters that takes at most `width` columns.
std::string_view beginning(std::string_view text, size_t width);

}  // namespace quire::shell
