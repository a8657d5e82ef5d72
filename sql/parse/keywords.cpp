#include "sql/parse/keywords.h"

#include <algorithm>

#include "sql/parse/grammar.h"

namespace quire::sql {
namespace {

// DIALECT.md, section 1. Words without a token of their own are reserved for the service's future.
constexpr Keyword kReservedWords[] = {
    {"AND", TOKEN_AND},
    {"ARRAY", TOKEN_ARRAY},
    {"AS", TOKEN_AS},
    {"ASC", TOKEN_ASC},
    {"BETWEEN", TOKEN_BETWEEN},
    {"BY", TOKEN_BY},
    {"CASE", TOKEN_CASE},
    {"CAST", TOKEN_RESERVED},
    {"CONVERT", TOKEN_RESERVED},
    {"CROSS", TOKEN_RESERVED},
    {"DESC", TOKEN_DESC},
    {"DISTINCT", TOKEN_DISTINCT},
    {"ELSE", TOKEN_ELSE},
    {"END", TOKEN_END},
    {"ESCAPE", TOKEN_ESCAPE},
    {"EXISTS", TOKEN_EXISTS},
    {"FALSE", TOKEN_FALSE},
    {"FOR", TOKEN_RESERVED},
    {"FROM", TOKEN_FROM},
    {"GROUP", TOKEN_GROUP},
    {"HAVING", TOKEN_HAVING},
    {"IN", TOKEN_IN},
    {"INNER", TOKEN_INNER},
    {"INSERT", TOKEN_RESERVED},
    {"INTO", TOKEN_RESERVED},
    {"IS", TOKEN_IS},
    {"JOIN", TOKEN_JOIN},
    {"LEFT", TOKEN_LEFT},
    {"LIKE", TOKEN_LIKE},
    {"LIMIT", TOKEN_LIMIT},
    {"NOT", TOKEN_NOT},
    {"NULL", TOKEN_NULL},
    {"OFFSET", TOKEN_OFFSET},
    {"ON", TOKEN_ON},
    {"OR", TOKEN_OR},
    {"ORDER", TOKEN_ORDER},
    {"OUTER", TOKEN_OUTER},
    {"OVER", TOKEN_RESERVED},
    {"RIGHT", TOKEN_RESERVED},
    {"SELECT", TOKEN_SELECT},
    {"SET", TOKEN_RESERVED},
    {"THEN", TOKEN_THEN},
    {"TOP", TOKEN_TOP},
    {"TRUE", TOKEN_TRUE},
    {"UDF", TOKEN_UDF},
    {"UNDEFINED", TOKEN_UNDEFINED},
    {"UPDATE", TOKEN_RESERVED},
    {"VALUE", TOKEN_VALUE},
    {"WHEN", TOKEN_WHEN},
    {"WHERE", TOKEN_WHERE},
    {"WITH", TOKEN_RESERVED},
};
static_assert(std::ranges::is_sorted(kReservedWords, {}, &Keyword::word));

constexpr size_t kLongestReservedWord = 9;  // UNDEFINED

constexpr char to_capital(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

std::span<const Keyword> reserved_words() noexcept {
  return kReservedWords;
}

const Keyword* find_reserved_word(std::string_view word) noexcept {
  if (word.size() < 2 || word.size() > kLongestReservedWord) return nullptr;
  char capitals[kLongestReservedWord];
  std::ranges::transform(word, capitals, to_capital);
  const std::string_view wanted(capitals, word.size());
  const auto first_letter = [](const Keyword& keyword) { return keyword.word[0]; };
  const auto alike = std::ranges::equal_range(kReservedWords, wanted[0], {}, first_letter);
  const auto* const found = std::ranges::find(alike, wanted, &Keyword::word);
  return found != alike.end() ? found : nullptr;
}

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && is_name_start(name[0]) && std::ranges::all_of(name, is_name_part) &&
         find_reserved_word(name) == nullptr;
}

bool equals_ignoring_case(std::string_view text, std::string_view capitals) noexcept {
  return std::ranges::equal(text, capitals, {}, to_capital);
}

}  // namespace quire::sql
