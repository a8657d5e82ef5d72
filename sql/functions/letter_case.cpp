#include "sql/functions/letter_case.h"

#include <utf8proc.h>

#include <cstdint>
#include <limits>

namespace quire::sql {
namespace {

constexpr bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

constexpr char ascii_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
}
constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// The code point at text[0] and its bytes; the size is negative where the text is no UTF-8.
struct CodePoint {
  utf8proc_int32_t value = 0;
  utf8proc_ssize_t size = 0;
};

CodePoint decode(std::string_view text) noexcept {
  CodePoint decoded;
  decoded.size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                  static_cast<utf8proc_ssize_t>(text.size()), &decoded.value);
  return decoded;
}

// Unicode's simple mapping leaves 'ß' alone; utf8proc makes it U+1E9E, the capital that hardly anyone writes.
utf8proc_int32_t upper(utf8proc_int32_t code_point) {
  constexpr utf8proc_int32_t sharp_s = 0xDF;
  return code_point == sharp_s ? sharp_s : utf8proc_toupper(code_point);
}

// The small letter of a capital that is in turn that letter's capital; anything else is itself. So 'ς', 'ı'
// and 'ſ', whose capitals have another small letter, and the Kelvin sign, whose small letter has another
// capital, match themselves alone.
utf8proc_int32_t folded(utf8proc_int32_t code_point) {
  const utf8proc_int32_t small = utf8proc_tolower(code_point);
  return upper(small) == code_point ? small : code_point;
}

// The mapping may lengthen a code point, but by no more than half ('Ⱥ' is 2 bytes, 'ⱥ' 3).
constexpr size_t most_mapped_size(size_t size) {
  return size + size / 2;
}

template <utf8proc_int32_t (*map)(utf8proc_int32_t), char (*map_ascii)(char)>
std::string_view map_case(std::string_view text, Arena& arena) {
  size_t ascii = 0;
  while (ascii < text.size() && is_ascii(text[ascii])) ++ascii;
  const size_t capacity = ascii + most_mapped_size(text.size() - ascii);
  if (capacity > std::numeric_limits<uint32_t>::max()) throw MemoryLimitExceeded{};
  char* const mapped = static_cast<char*>(arena.allocate(capacity, 1));
  for (size_t i = 0; i < ascii; ++i) mapped[i] = map_ascii(text[i]);
  char* out = mapped + ascii;
  for (size_t i = ascii; i < text.size();) {
    const CodePoint from = decode(text.substr(i));
    if (from.size <= 0) {
      *out++ = text[i++];
      continue;
    }
    out += utf8proc_encode_char(map(from.value), reinterpret_cast<utf8proc_uint8_t*>(out));
    i += static_cast<size_t>(from.size);
  }
  return {mapped, static_cast<size_t>(out - mapped)};
}

// Steps over one code point of each text if they are the same but for case.
bool step_if_alike(std::string_view& a, std::string_view& b) noexcept {
  if (is_ascii(a.front()) && is_ascii(b.front())) {
    if (ascii_lower(a.front()) != ascii_lower(b.front())) return false;
    a.remove_prefix(1);
    b.remove_prefix(1);
    return true;
  }
  const CodePoint left = decode(a);
  const CodePoint right = decode(b);
  if (left.size <= 0 || right.size <= 0) return false;
  if (left.value != right.value && folded(left.value) != folded(right.value)) return false;
  a.remove_prefix(static_cast<size_t>(left.size));
  b.remove_prefix(static_cast<size_t>(right.size));
  return true;
}

}  // namespace

std::string_view to_upper(std::string_view text, Arena& arena) {
  return map_case<upper, ascii_upper>(text, arena);
}

std::string_view to_lower(std::string_view text, Arena& arena) {
  return map_case<utf8proc_tolower, ascii_lower>(text, arena);
}

std::string_view to_folded(std::string_view text, Arena& arena) {
  return map_case<folded, ascii_lower>(text, arena);
}

bool starts_with_but_for_case(std::string_view text, std::string_view prefix) noexcept {
  while (!prefix.empty())
    if (text.empty() || !step_if_alike(text, prefix)) return false;
  return true;
}

bool equals_but_for_case(std::string_view a, std::string_view b) noexcept {
  while (!a.empty() && !b.empty())
    if (!step_if_alike(a, b)) return false;
  return a.empty() && b.empty();
}

}  // namespace quire::sql
