#include "sql/functions/text_search.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

// In time that grows with the sum of the lengths; but it looks at a byte at a time where the needle is short.
size_t find_linear(std::string_view text, std::string_view needle, size_t from) noexcept {
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return found != nullptr ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : kNotFound;
}

#if defined(__SSE2__)

constexpr size_t kPlacesAtOnce = 16;

// At sixteen places at once: whether the needle's first byte is there, and its last one where it would end.
// Where it then seldom is the needle, in a text made of its ends, the rest goes the linear way. There are at
// least sixteen places behind `from`, and the needle has two bytes.
size_t find_by_ends(std::string_view text, std::string_view needle, size_t from) noexcept {
  constexpr size_t kMostCompared = 4;  // bytes for each byte of the text
  const size_t last = text.size() - needle.size() + 1 - kPlacesAtOnce;
  const __m128i first_byte = _mm_set1_epi8(needle.front()), last_byte = _mm_set1_epi8(needle.back());
  size_t compared = 0;
  for (size_t at = from;; at = std::min(at + kPlacesAtOnce, last)) {
    const char* const place = text.data() + at;
    const __m128i begins = _mm_loadu_si128(reinterpret_cast<const __m128i*>(place));
    const __m128i ends = _mm_loadu_si128(reinterpret_cast<const __m128i*>(place + needle.size() - 1));
    const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(begins, first_byte), _mm_cmpeq_epi8(ends, last_byte));
    for (auto hits = static_cast<uint32_t>(_mm_movemask_epi8(both)); hits != 0; hits &= hits - 1) {
      const auto hit = static_cast<size_t>(std::countr_zero(hits));
      if (std::memcmp(place + hit, needle.data(), needle.size()) == 0) return at + hit;
      compared += needle.size();
    }
    if (at == last) return kNotFound;
    if (compared > kMostCompared * (at - from + kPlacesAtOnce)) return find_linear(text, needle, at);
  }
}

#endif

}  // namespace

size_t find_first(std::string_view text, std::string_view needle, size_t from) noexcept {
  if (from > text.size() || needle.size() > text.size() - from) return kNotFound;
  if (needle.empty()) return from;
#if defined(__SSE2__)
  if (needle.size() > 1 && text.size() - from - needle.size() + 1 >= kPlacesAtOnce)
    return find_by_ends(text, needle, from);
#endif
  return find_linear(text, needle, from);
}

size_t find_last(std::string_view text, std::string_view needle, Arena& arena) {
  if (needle.size() > text.size()) return kNotFound;
  if (needle.size() <= kShortNeedle) return text.rfind(needle);
  const ArenaScope scope(arena);
  return find_last_linear(text, needle, arena);
}

}  // namespace quire::sql
