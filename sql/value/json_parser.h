// From the structure of a JSON text to calls of a sink. simdjson's first stage has found where each token
// starts and has checked the UTF-8 and that strings end and hold no control characters; this walks the
// tokens, checks the grammar, and tells the sink what it meets, without a tree in between. Private to
// json_reader.cpp.
//
// A sink has: null(), boolean(b), integer(n), real(d), decimal(d, digits, places), string(text), and for
// containers begin_array(), begin_object() (false: too deep), element() before each element, key(name) before
// each member, end(). Two calls are tried first, and may refuse: take_likely_key(json, readable) in place of
// key(name), where the text goes on with a name and its colon as the sink expects, and take_string(text,
// readable) in place of string(text), where the text between quotes is what they mean. `readable` says how
// many bytes may be read from there on.
#pragma once

#include <cctype>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "sql/value/json_number.h"
#include "sql/value/json_string.h"
#include "sql/value/short_bytes.h"

namespace quire::sql {

struct JsonFault {
  size_t offset = 0;
  const char* message = nullptr;
};

template <typename Sink>
class JsonParser {
 public:
  // `starts`: offsets of the tokens in `text`, rising. `scratch` is for strings with escapes.
  JsonParser(std::string_view text, std::span<const uint32_t> starts, Sink& sink, std::string& scratch)
      : text_(text),
        first_(starts.data()),
        end_(starts.data() + starts.size()),
        sink_(sink),
        scratch_(scratch) {}

  // False: fault() says what is wrong.
  bool parse() {
    const Token behind = value(first_);
    if (behind == nullptr) return false;
    return behind == end_ || wrong(*behind, "only white space may follow the value") != nullptr;
  }
  const JsonFault& fault() const noexcept { return fault_; }

 private:
  // Where in starts a token stands. What takes some gives the one behind them, or null where something is
  // wrong: handed on so, rather than kept here, it stays in a register.
  using Token = const uint32_t*;

  Token wrong(size_t offset, const char* message) {
    fault_ = {offset, message};
    return nullptr;
  }
  // The character that a token starts with; 0 at the end.
  char peek(Token token) const noexcept { return token != end_ ? text_[*token] : '\0'; }
  size_t offset_of(Token token) const noexcept { return token != end_ ? *token : text_.size(); }

  // Most values are strings, and are taken where their container is.
  [[gnu::always_inline]] Token value(Token token) {
    return peek(token) == '"' ? string(token) : other_value(token);
  }
  Token string(Token token) {
    std::string_view text;
    if (!quoted(token, text)) return nullptr;
    if (sink_.take_string(text, readable(text.data()))) [[likely]]
      return token + 1;
    if (!unescape(text)) return nullptr;
    sink_.string(text);
    return token + 1;
  }

  // The recursion is bounded by the sink, which refuses nesting past its limit.
  [[gnu::noinline]] Token other_value(Token token) {
    if (token == end_) return wrong(text_.size(), "the text ends where a value is expected");
    switch (text_[*token]) {
      case '{':
        return object(token);
      case '[':
        return array(token);
      case 't':
        return literal(token, "true") ? (sink_.boolean(true), token + 1) : nullptr;
      case 'f':
        return literal(token, "false") ? (sink_.boolean(false), token + 1) : nullptr;
      case 'n':
        return literal(token, "null") ? (sink_.null(), token + 1) : nullptr;
      default:
        return number(token);
    }
  }

  [[gnu::noinline]] Token object(Token token) {
    if (!sink_.begin_object()) return wrong(*token, "nesting is deeper than 128 levels");
    ++token;
    if (peek(token) == '}') {
      sink_.end();
      return token + 1;
    }
    for (;;) {
      token = member_name(token);
      if (token == nullptr) return nullptr;
      token = value(token);
      if (token == nullptr) return nullptr;
      const char next = peek(token);
      if (next != ',' && next != '}') return wrong(offset_of(token), "expected ',' or '}' in an object");
      ++token;
      if (next == '}') break;
    }
    sink_.end();
    return token;
  }

  // With its colon.
  Token member_name(Token token) {
    if (peek(token) != '"') return wrong(offset_of(token), "expected a property name in double quotes");
    const char* const at = text_.data() + *token;
    if (sink_.take_likely_key(at, readable(at))) [[likely]]
      return token + 2;
    std::string_view name;
    if (!quoted(token, name)) return nullptr;
    if (contains_backslash(name, readable(name.data())) && !unescape(name)) return nullptr;
    sink_.key(name);
    ++token;
    if (peek(token) != ':') return wrong(offset_of(token), "expected ':' after a property name");
    return token + 1;
  }

  [[gnu::noinline]] Token array(Token token) {
    if (!sink_.begin_array()) return wrong(*token, "nesting is deeper than 128 levels");
    ++token;
    if (peek(token) == ']') {
      sink_.end();
      return token + 1;
    }
    for (;;) {
      sink_.element();
      token = value(token);
      if (token == nullptr) return nullptr;
      const char next = peek(token);
      if (next != ',' && next != ']') return wrong(offset_of(token), "expected ',' or ']' in an array");
      ++token;
      if (next == ']') break;
    }
    sink_.end();
    return token;
  }

  // What stands between the quotes, of which the first begins the token. The closing one is the last
  // character before the next token that is no white space: nothing is searched for.
  bool quoted(Token token, std::string_view& text) {
    const size_t at = *token;
    size_t end = offset_of(token + 1) - 1;
    while (is_white_space(text_[end])) --end;
    if (end == at || text_[end] != '"') return wrong(at, "a string is not closed") != nullptr;
    text = {text_.data() + at + 1, end - at - 1};
    return true;
  }
  size_t readable(const char* at) const noexcept {
    return static_cast<size_t>(text_.data() + text_.size() - at);
  }
  // \ud800 to \udfff
  static bool is_surrogate(std::string_view escape) noexcept {
    const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    return escape.size() >= 6 && escape[1] == 'u' && (escape[2] == 'd' || escape[2] == 'D') &&
           is_hex(escape[3]) && escape[3] > '7' && is_hex(escape[4]) && is_hex(escape[5]);
  }
  [[gnu::noinline]] bool unescape(std::string_view& text) {
    const auto at = static_cast<size_t>(text.data() - text_.data());
    const size_t bad = unescape_json(text, scratch_);
    if (bad != std::string_view::npos)
      return wrong(at + bad, is_surrogate(text_.substr(at + bad))
                                 ? "a string holds half of a surrogate pair, which UTF-8 cannot"
                                 : "invalid escape in a string") != nullptr;
    text = scratch_;
    return true;
  }

  bool literal(Token token, std::string_view word) {
    const size_t at = *token;
    if (text_.substr(at, word.size()) == word && ends_token(at + word.size())) return true;
    wrong(at, "expected a value");
    return false;
  }

  Token number(Token token) {
    const size_t at = *token;
    const char* const end = text_.data() + text_.size();
    const ParsedNumber parsed = parse_json_number(text_.data() + at, end);
    const auto stop = static_cast<size_t>(parsed.end - text_.data());
    if (parsed.is_too_large) return wrong(at, "the number is too large for a double");
    if (parsed.value.is_undefined())
      return wrong(stop == at ? at : stop, stop == at ? "expected a value" : "invalid number");
    if (!ends_token(stop)) return wrong(stop, "invalid number");
    if (parsed.value.kind() == Kind::integer)
      sink_.integer(parsed.value.as_integer());
    else if (parsed.places != 0)
      sink_.decimal(parsed.value.as_real(), parsed.digits, parsed.places);
    else
      sink_.real(parsed.value.as_real());
    return token + 1;
  }

  static bool is_white_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  bool ends_token(size_t offset) const noexcept {
    if (offset >= text_.size()) return true;
    const char c = text_[offset];
    return c == ',' || c == '}' || c == ']' || is_white_space(c) || c == ':' || c == '{' || c == '[';
  }

  std::string_view text_;
  Token first_, end_;
  Sink& sink_;
  std::string& scratch_;
  JsonFault fault_;
};

}  // namespace quire::sql
