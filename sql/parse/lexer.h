// Query text to tokens. White space and comments vanish. The whole text is read before the grammar sees it,
// since some words (LET, RANK, ALL, FIRST, LAST, UNION, LEFT, ...) are names unless the tokens after them say
// otherwise. What cannot be read becomes a TOKEN_UNREADABLE that ends the list, so that a slip of
// grammar before it is reported first.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sql/error.h"
#include "sql/parse/token.h"

namespace quire::sql {

struct TokenList {
  std::vector<Token> tokens;        // ends in an end token (kind 0) or in TOKEN_UNREADABLE
  std::optional<Error> unreadable;  // why, if the last token is TOKEN_UNREADABLE
};

// `text` is valid UTF-8 of at most kMostQueryText bytes.
TokenList read_tokens(std::string_view text);

}  // namespace quire::sql
