#include "sql/functions/text_search.h"

#include <cstdint>
#include <cstring>

namespace quire::sql {
namespace {

// Up to this length of a needle the plain search backwards costs no more than a factor of this.
constexpr size_t kShortNeedle = 32;

// Knuth, Morris and Pratt, from the end: borders[i] is the length of the longest proper suffix of the
// needle's last i + 1 bytes that also ends the needle.
size_t find_last_linear(std::string_view text, std::string_view needle, Arena& arena) {
  const size_t length = needle.size();
  const auto reversed = [](std::string_view s, size_t i) { return s[s.size() - 1 - i]; };
  const std::span<uint32_t> borders = arena.make_array<uint32_t>(length);
  for (size_t i = 1, matched = 0; i < length; ++i) {
    while (matched > 0 && reversed(needle, i) != reversed(needle, matched)) matched = borders[matched - 1];
    if (reversed(needle, i) == reversed(needle, matched)) ++matched;
    borders[i] = static_cast<uint32_t>(matched);
  }
  for (size_t i = 0, matched = 0; i < text.size(); ++i) {
    while (matched > 0 && reversed(text, i) != reversed(needle, matched)) matched = borders[matched - 1];
    if (reversed(text, i) == reversed(needle, matched)) ++matched;
    if (matched == length) return text.size() - 1 - i;
  }
  return kNotFound;
}

}  // namespace

size_t find_first(std::string_view text, std::string_view needle, size_t from) noexcept {
  if (from > text.size() || needle.size() > text.size() - from) return kNotFound;
  if (needle.empty()) return from;
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return found != nullptr ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : kNotFound;
}

size_t find_last(std::string_view text, std::string_view needle, Arena& arena) {
  if (needle.size() > text.size()) return kNotFound;
  if (needle.size() <= kShortNeedle) return text.rfind(needle);
  const ArenaScope scope(arena);
  return find_last_linear(text, needle, arena);
}

}  // namespace quire::sql
