// Text to tree: the checks of the text as a whole, then tokens, then the grammar.
#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <simdjson.h>

#include "sql/parse/ast.h"
#include "sql/parse/ast_builder.h"
#include "sql/parse/grammar.h"
#include "sql/parse/keywords.h"
#include "sql/parse/lexer.h"
#include "sql/parse/parser.h"
#include "sql/parse/syntax_error.h"

namespace quire::sql {
namespace {

// The offset of the first byte that is not part of a well-formed code point; `text` has one.
size_t first_invalid_byte(std::string_view text) {
  // Halves the prefix that is known to be bad, then looks at its last few bytes one by one.
  size_t good = 0;
  size_t bad = text.size();
  while (bad - good > 8) {
    size_t middle = good + (bad - good) / 2;
    while (middle > good && (static_cast<unsigned char>(text[middle]) & 0xC0) == 0x80) --middle;
    if (middle == good) break;
    (simdjson::validate_utf8(text.data() + good, middle - good) ? good : bad) = middle;
  }
  for (size_t at = good; at < bad;) {
    size_t length = 1;
    while (length <= 4 && at + length <= text.size() && !simdjson::validate_utf8(text.data() + at, length))
      ++length;
    if (length > 4 || at + length > text.size()) return at;
    at += length;
  }
  return bad;
}

Result<void> check_text(std::string_view text) {
  if (text.size() > kMostQueryText)
    return fail(ErrorCode::limit_exceeded, fmt::format("the statement has {} bytes; at most {} are allowed",
                                                       text.size(), kMostQueryText));
  if (!simdjson::validate_utf8(text.data(), text.size()))
    return fail(ErrorCode::syntax, "the statement is not valid UTF-8",
                position_of(text, first_invalid_byte(text)));
  return {};
}

Error explain(std::string_view text, std::span<const Token> tokens, const Token& unexpected, bool strict) {
  const auto at = std::ranges::lower_bound(tokens, unexpected.offset, {}, &Token::offset);
  const auto index = static_cast<size_t>(at - tokens.begin());
  ParsedStatement scratch{.text = std::string(text), .arena = Arena(), .statement = {}};
  AstBuilder builder(scratch, strict);
  const std::vector<bool> expected = tokens_taken_after(tokens.first(index), builder);
  return describe_unexpected({text, tokens, index, expected, strict});
}

Result<std::unique_ptr<ParsedStatement>> parse_text(std::string_view text, bool strict) {
  QUIRE_TRY(check_text(text));
  auto parsed = std::make_unique<ParsedStatement>();
  parsed->text = text;
  TokenList list = read_tokens(parsed->text);

  AstBuilder builder(*parsed, strict);
  run_grammar(list.tokens, builder);
  if (!builder.has_failed()) return parsed;
  if (const auto& unexpected = builder.unexpected_token()) {
    if (unexpected->kind == TOKEN_UNREADABLE) return std::unexpected(std::move(*list.unreadable));
    return std::unexpected(explain(parsed->text, list.tokens, *unexpected, strict));
  }
  return std::unexpected(builder.take_error());
}

}  // namespace

Result<std::unique_ptr<ParsedStatement>> parse(std::string_view text, bool strict) {
  try {
    auto parsed = parse_text(text, strict);
    const bool is_of_grammar = !parsed && (parsed.error().code == ErrorCode::syntax ||
                                           parsed.error().code == ErrorCode::not_in_strict_mode);
    // The service finds all of these with its grammar.
    if (strict && is_of_grammar) parsed.error().message += " (SC1001)";
    return parsed;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "no memory to parse the statement");
  }
}

}  // namespace quire::sql
