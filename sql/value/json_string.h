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

constexpr size_t kPlainStep = 16;

#if defined(__SSE2__)
// Copies so many bytes. Ones for each that does not stand in a JSON string as it is, else zeros.
inline __m128i copy_marked(const char* from, char* to) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  return _mm_or_si128(control, _mm_or_si128(quote, backslash));
}
// A bit for each such byte.
inline uint32_t copy_step(const char* from, char* to) noexcept {
  return static_cast<uint32_t>(_mm_movemask_epi8(copy_marked(from, to)));
}
#endif

// Copies a text of at most kPlainStep bytes where that many may be read, and written at `to`. False where it
// has to be copied in another way: some byte takes an escape.
inline bool copy_short_plain(std::string_view text, char* to) noexcept {
#if defined(__SSE2__)
  return (copy_step(text.data(), to) & ((1U << text.size()) - 1)) == 0;
#else
  (void)text, (void)to;
  return false;
#endif
}

// Copies a text of at least kPlainStep bytes, and reads and writes no others. False where it has to be copied
// in another way: some byte takes an escape.
inline bool copy_long_plain(const char* from, size_t size, char* to) noexcept {
#if defined(__SSE2__)
  const size_t last = size - kPlainStep;
  __m128i marked = copy_marked(from + last, to + last);
  for (size_t done = 0; done < last; done += kPlainStep)
    marked = _mm_or_si128(marked, copy_marked(from + done, to + done));
  return _mm_movemask_epi8(marked) == 0;
#else
  (void)from, (void)size, (void)to;
  return false;
#endif
}

// Copies the bytes at the front of [from, from + size) that stand in a JSON string as they are, and returns
// how many. `to` has room for `size` bytes; those past the ones that count are left as anything. Reads no
// byte outside: what is left of a stretch is taken together with bytes before it that are known to be plain.
inline size_t copy_plain(const char* from, size_t size, char* to) noexcept {
  size_t done = 0;
#if defined(__SSE2__)
  if (size >= kPlainStep) {
    const size_t last = size - kPlainStep;
    // One look at two steps, and where there is something, one at each.
    for (; done + kPlainStep < last; done += 2 * kPlainStep)
      if (_mm_movemask_epi8(_mm_or_si128(copy_marked(from + done, to + done),
                                         copy_marked(from + done + kPlainStep, to + done + kPlainStep))) != 0)
          [[unlikely]]
        break;
    for (; done < last; done += kPlainStep)
      if (const uint32_t found = copy_step(from + done, to + done); found != 0) [[unlikely]]
        return done + static_cast<size_t>(std::countr_zero(found));
    const uint32_t found = copy_step(from + last, to + last);
    return found == 0 ? size : last + static_cast<size_t>(std::countr_zero(found));
  }
#endif
  const auto copy_word = [&]<typename Word>(Word word, size_t at) {
    std::memcpy(&word, from + at, sizeof word);
    std::memcpy(to + at, &word, sizeof word);
    constexpr Word kOnes = static_cast<Word>(0x0101010101010101), kHighs = static_cast<Word>(kOnes << 7);
    const auto has_zero = [](Word x) { return static_cast<Word>((x - kOnes) & ~x); };
    const auto found = static_cast<Word>(((word - kOnes * 0x20) & ~word) | has_zero(word ^ kOnes * '"') |
                                         has_zero(word ^ kOnes * '\\'));
    return (found & kHighs) == 0;
  };
  while (size - done >= 8 && copy_word(uint64_t{}, done)) done += 8;
  if (size - done < 8) {
    if (size >= 8 && copy_word(uint64_t{}, size - 8)) return size;
    if (size >= 4 && size < 8 && copy_word(uint32_t{}, 0) && copy_word(uint32_t{}, size - 4)) return size;
  }
  for (; done < size; ++done) {
    const char c = from[done];
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') break;
    to[done] = c;
  }
  return done;
}

// The longest escape of one byte, \u001f.
constexpr size_t kLongestEscape = 6;
// Writes the escape of a byte that copy_plain stops at; returns past it.
char* put_json_escape(char byte, char* out) noexcept;

}  // namespace quire::sql
