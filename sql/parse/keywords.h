// The words of the language. Most are reserved everywhere. The others are names, except in the one
// place where they mean something; the lexer tells by the tokens around them.
#pragma once

#include <span>
#include <string_view>

namespace quire::sql {

struct Keyword {
  std::string_view word;  // in capitals
  int token;              // TOKEN_RESERVED: reserved by the service, without a use in the grammar
};

// Sorted by word.
std::span<const Keyword> reserved_words() noexcept;

// Any case matches; nullptr if `word` is not reserved.
const Keyword* find_reserved_word(std::string_view word) noexcept;

// Whether `name` can be written without brackets or quotes: [A-Za-z_][A-Za-z0-9_]* and not reserved.
bool is_plain_name(std::string_view name) noexcept;

bool equals_ignoring_case(std::string_view text, std::string_view capitals) noexcept;

constexpr bool is_name_start(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_name_part(char c) noexcept {
  return is_name_start(c) || is_digit(c);
}

}  // namespace quire::sql
