#include "sql/functions/words.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace quire::sql {
namespace {

enum class Role : uint8_t {
  none,
  letter,
  digit,
  extender,  // marks, the underscore: continues a word, begins none
  ideograph,
};

struct Character {
  int32_t code_point = 0;
  size_t size = 0;  // bytes; 0 at the end
  Role role = Role::none;
};

bool is_ideograph(int32_t code_point) noexcept {
  struct Range {
    int32_t first, last;
  };
  static constexpr Range kRanges[] = {
      {0x3041, 0x309F},    // Hiragana
      {0x3400, 0x4DBF},    // Han, extension A
      {0x4E00, 0x9FFF},    // Han
      {0xF900, 0xFAFF},    // Han, compatibility
      {0x20000, 0x3FFFF},  // Han, the further extensions
  };
  return std::any_of(std::begin(kRanges), std::end(kRanges), [code_point](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

Role role_of(int32_t code_point) noexcept {
  if (is_ideograph(code_point)) return Role::ideograph;
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Role::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Role::digit;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_PC:
      return Role::extender;
    default:
      return Role::none;
  }
}

Role ascii_role(char c) noexcept {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Role::letter;
  if (c >= '0' && c <= '9') return Role::digit;
  return c == '_' ? Role::extender : Role::none;
}

Character first_of(std::string_view text) noexcept {
  if (text.empty()) return {};
  if (static_cast<unsigned char>(text[0]) < 0x80) return {text[0], 1, ascii_role(text[0])};
  utf8proc_int32_t code_point = 0;
  const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                 static_cast<utf8proc_ssize_t>(text.size()), &code_point);
  if (size <= 0) return {0, 1, Role::none};
  return {code_point, static_cast<size_t>(size), role_of(code_point)};
}

bool joins_letters(int32_t code_point) noexcept {
  constexpr int32_t kRightQuote = 0x2019;
  return code_point == '\'' || code_point == '.' || code_point == kRightQuote;
}

bool joins_digits(int32_t code_point) noexcept {
  return code_point == ',' || code_point == '.';
}

// Whether a word that ended with `before` goes on past `joiner` to `after`.
bool is_joined(Role before, const Character& joiner, Role after) noexcept {
  return (before == Role::letter && after == Role::letter && joins_letters(joiner.code_point)) ||
         (before == Role::digit && after == Role::digit && joins_digits(joiner.code_point));
}

bool begins_word(Role role) noexcept {
  return role == Role::letter || role == Role::digit || role == Role::ideograph;
}

}  // namespace

std::optional<std::string_view> WordReader::next() noexcept {
  Character at = first_of(rest_);
  while (at.size > 0 && !begins_word(at.role)) {
    rest_.remove_prefix(at.size);
    at = first_of(rest_);
  }
  if (at.size == 0) return std::nullopt;
  const std::string_view start = rest_;
  const bool is_ideograph = at.role == Role::ideograph;
  Role before = at.role;  // of the last character that is no extender
  rest_.remove_prefix(at.size);
  for (at = first_of(rest_); at.size > 0; at = first_of(rest_)) {
    const bool continues =
        at.role == Role::extender || (!is_ideograph && (at.role == Role::letter || at.role == Role::digit));
    if (!continues && !is_joined(before, at, first_of(rest_.substr(at.size)).role)) break;
    if (continues && at.role != Role::extender) before = at.role;
    rest_.remove_prefix(at.size);
  }
  return start.substr(0, start.size() - rest_.size());
}

}  // namespace quire::sql
