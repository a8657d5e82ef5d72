#include "sql/functions/utf16_index.h"

#include <algorithm>
#include <cstring>

namespace quire::sql {
namespace {

constexpr unsigned kFirstFourByteLead = 0xF0;

bool continues(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool is_ascii_word(const char* bytes) noexcept {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0x8080808080808080ULL) == 0;
}

}  // namespace

size_t code_point_size(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < kFirstFourByteLead ? 3 : 4;
  return std::min(size, text.size());
}

uint64_t utf16_length(std::string_view text) noexcept {
  uint64_t units = 0;
  for (const char c : text) units += !continues(c) + (static_cast<unsigned char>(c) >= kFirstFourByteLead);
  return units;
}

TextPosition position_before(std::string_view text, uint64_t units) noexcept {
  TextPosition at;
  while (at.bytes < text.size() && at.units < units) {
    const std::string_view rest = text.substr(at.bytes);
    if (rest.size() >= 8 && units - at.units >= 8 && is_ascii_word(rest.data())) {
      at.bytes += 8;
      at.units += 8;
      continue;
    }
    const uint64_t width = static_cast<unsigned char>(rest.front()) >= kFirstFourByteLead ? 2 : 1;
    if (width > units - at.units) break;
    at.bytes += code_point_size(rest);
    at.units += width;
  }
  return at;
}

TextPosition position_after(std::string_view text, uint64_t units) noexcept {
  TextPosition at = position_before(text, units);
  if (at.units < units && at.bytes < text.size()) {
    at.bytes += code_point_size(text.substr(at.bytes));
    at.units += 2;
  }
  return at;
}

std::string_view utf16_slice(std::string_view text, uint64_t start, uint64_t length) noexcept {
  const TextPosition first = position_after(text, start);
  const uint64_t skipped = first.units > start ? first.units - start : 0;
  if (skipped >= length) return {};
  const std::string_view rest = text.substr(first.bytes);
  return rest.substr(0, position_before(rest, length - skipped).bytes);
}

}  // namespace quire::sql
