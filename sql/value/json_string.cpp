#include "sql/value/json_string.h"

#include <algorithm>

namespace quire::sql {
namespace {

constexpr uint32_t kNoCodeUnit = UINT32_MAX;

// The four hexadecimal digits at `at` as a number.
uint32_t code_unit(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return kNoCodeUnit;
  uint32_t unit = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const char c = text[i];
    uint32_t digit;
    if (c >= '0' && c <= '9')
      digit = static_cast<uint32_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<uint32_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<uint32_t>(c - 'A' + 10);
    else
      return kNoCodeUnit;
    unit = unit * 16 + digit;
  }
  return unit;
}

void append_utf8(uint32_t point, std::string& out) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

// The \u escape at `at` (its backslash); returns its length, two escapes for a pair, or 0 if it is invalid.
size_t take_unicode_escape(std::string_view text, size_t at, std::string& out) {
  const uint32_t unit = code_unit(text, at + 2);
  if (unit == kNoCodeUnit || (unit >= 0xDC00 && unit < 0xE000)) return 0;
  if (unit < 0xD800 || unit >= 0xE000) {
    append_utf8(unit, out);
    return 6;
  }
  if (text.substr(at + 6, 2) != "\\u") return 0;
  const uint32_t low = code_unit(text, at + 8);
  if (low < 0xDC00 || low >= 0xE000) return 0;
  append_utf8(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), out);
  return 12;
}

constexpr std::string_view kEscapes = "\"\\/bfnrt";
constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";

}  // namespace

size_t unescape_json(std::string_view escaped, std::string& out) {
  out.clear();
  for (size_t at = 0;;) {
    const size_t backslash = escaped.find('\\', at);
    out.append(escaped.substr(at, backslash - at));
    if (backslash == std::string_view::npos) return backslash;
    if (backslash + 1 == escaped.size()) return backslash;
    if (escaped[backslash + 1] == 'u') {
      const size_t length = take_unicode_escape(escaped, backslash, out);
      if (length == 0) return backslash;
      at = backslash + length;
    } else {
      const size_t which = kEscapes.find(escaped[backslash + 1]);
      if (which == std::string_view::npos) return backslash;
      out.push_back(kMeanings[which]);
      at = backslash + 2;
    }
  }
}

char* put_json_escape(char byte, char* out) noexcept {
  *out++ = '\\';
  const size_t which = kMeanings.find(byte);
  if (which != std::string_view::npos) {
    *out++ = kEscapes[which];
    return out;
  }
  constexpr char kHexadecimal[] = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(byte);
  out = std::ranges::copy(std::string_view("u00"), out).out;
  *out++ = kHexadecimal[code >> 4];
  *out++ = kHexadecimal[code & 15];
  return out;
}

}  // namespace quire::sql
