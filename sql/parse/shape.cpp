#include "sql/parse/shape.h"

#include "sql/error.h"
#include "sql/parse/grammar.h"
#include "sql/parse/lexer.h"

namespace quire::sql {
namespace {

bool is_literal(int kind) {
  return kind == TOKEN_STRING || kind == TOKEN_INTEGER || kind == TOKEN_REAL;
}

bool joins_what_is_before(int kind) {
  return kind == TOKEN_DOT || kind == TOKEN_COMMA || kind == TOKEN_RIGHT_PARENTHESIS ||
         kind == TOKEN_RIGHT_BRACKET || kind == TOKEN_LEFT_BRACKET;
}

bool joins_what_follows(int kind) {
  return kind == TOKEN_DOT || kind == TOKEN_LEFT_PARENTHESIS || kind == TOKEN_LEFT_BRACKET;
}

}  // namespace

std::string shape_of(std::string_view text) {
  constexpr std::string_view kLiteral = "?";
  std::string shape;
  int before = TOKEN_DOT;
  for (const Token& token : read_tokens(text).tokens) {
    if (token.kind == 0 || token.kind == TOKEN_SEMICOLON || token.kind == TOKEN_UNREADABLE) break;
    const bool is_name = token.kind == TOKEN_STRING && before == TOKEN_LEFT_BRACKET;
    const bool is_hidden = is_literal(token.kind) && !is_name;
    // "?, ?" is one "?".
    if (is_hidden && shape.ends_with("?,")) {
      shape.pop_back();
      before = token.kind;
      continue;
    }
    const bool calls = token.kind == TOKEN_LEFT_PARENTHESIS && before == TOKEN_NAME;
    if (!shape.empty() && !joins_what_is_before(token.kind) && !joins_what_follows(before) && !calls)
      shape += ' ';
    shape += is_hidden ? kLiteral : token.text(text);
    before = token.kind;
    if (shape.size() > kLongestShape) break;
  }
  return shape.size() > kLongestShape ? shortened(shape, kLongestShape - 3) : shape;
}

}  // namespace quire::sql
