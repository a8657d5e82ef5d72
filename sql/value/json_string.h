// The text between the quotes of a JSON string: searching it by vectors, taking escapes out, putting them in.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace quire::sql {

// Whether `text` holds a backslash. `readable` bytes from its first may be read (at least its length), so
// that a short text takes one comparison.
inline bool contains_backslash(std::string_view text, size_t readable) noexcept {
  size_t i = 0;
#if defined(__SSE2__)
  for (; i < text.size() && i + 16 <= readable; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
    auto hits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    if (text.size() - i < 16) hits &= (1U << (text.size() - i)) - 1;
    if (hits != 0) return true;
  }
  if (i >= text.size()) return false;
#endif
  (void)readable;
  return std::memchr(text.data() + i, '\\', text.size() - i) != nullptr;
}

// Replaces `out` by `escaped` with its escapes resolved. npos, or the offset of the first invalid escape: an
// unknown one, or a \u that is half of a surrogate pair.
size_t unescape_json(std::string_view escaped, std::string& out);

// How many bytes at the front of [at, end) stand in a JSON string as they are. Reads no byte outside: what is
// left of a stretch is looked at together with bytes before it that are known to be plain.
inline size_t plain_prefix(const char* at, const char* end) noexcept {
  const char* const begin = at;
  const ptrdiff_t size = end - begin;
#if defined(__SSE2__)
  const auto hits = [](const char* sixteen) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash))));
  };
  if (size >= 16) {
    const char* const last = end - 16;
    uint32_t found = 0;
    for (; at < last && found == 0; at += 16) found = hits(at);
    if (found != 0)
      return static_cast<size_t>(at - 16 - begin) + static_cast<size_t>(std::countr_zero(found));
    found = hits(last);
    return static_cast<size_t>(last - begin) +
           (found == 0 ? 16 : static_cast<size_t>(std::countr_zero(found)));
  }
#endif
  const auto is_plain = [](uint64_t word) {
    constexpr uint64_t kOnes = 0x0101010101010101;
    constexpr uint64_t kHighs = 0x8080808080808080;
    const auto has_zero = [](uint64_t x) { return (x - kOnes) & ~x; };
    const uint64_t found =
        ((word - kOnes * 0x20) & ~word) | has_zero(word ^ kOnes * '"') | has_zero(word ^ kOnes * '\\');
    return (found & kHighs) == 0;
  };
  const auto load = [](auto word, const char* from) {
    std::memcpy(&word, from, sizeof word);
    return word;
  };
  while (end - at >= 8 && is_plain(load(uint64_t{}, at))) at += 8;
  if (end - at < 8 && size >= 8 && is_plain(load(uint64_t{}, end - 8))) return static_cast<size_t>(size);
  if (size >= 4 && size < 8 && is_plain(uint64_t{load(uint32_t{}, begin)} << 32 | load(uint32_t{}, end - 4)))
    return static_cast<size_t>(size);
  while (at != end && static_cast<unsigned char>(*at) >= 0x20 && *at != '"' && *at != '\\') ++at;
  return static_cast<size_t>(at - begin);
}

// The longest escape of one byte, \u001f.
constexpr size_t kLongestEscape = 6;
// Writes the escape of a byte that plain_prefix stops at; returns past it.
char* put_json_escape(char byte, char* out) noexcept;

}  // namespace quire::sql
