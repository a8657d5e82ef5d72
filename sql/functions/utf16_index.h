// Positions in strings as the language counts them, in UTF-16 units, over strings that are UTF-8: a code
// point past U+FFFF counts twice. Half of such a pair cannot stand alone in UTF-8, so a cut through it leaves
// it out.
//
// Runs of ASCII, where a unit is a byte, are stepped over eight at a time. Text that is no UTF-8 (from a
// damaged document) gives some position within its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quire::sql {

uint64_t utf16_length(std::string_view text) noexcept;

// A place between two code points.
struct TextPosition {
  size_t bytes = 0;    // offset
  uint64_t units = 0;  // UTF-16 units before it
};

// The last place with at most `units` before it. (Its units are fewer where the text ends or a pair is cut.)
TextPosition position_before(std::string_view text, uint64_t units) noexcept;
// The first place with at least `units` before it, or the end.
TextPosition position_after(std::string_view text, uint64_t units) noexcept;

// The code points that lie wholly within [start, start + length).
std::string_view utf16_slice(std::string_view text, uint64_t start, uint64_t length) noexcept;

// The bytes of the code point at text[0]; at least 1 and at most what is left. `text` is not empty.
size_t code_point_size(std::string_view text) noexcept;

}  // namespace quire::sql
