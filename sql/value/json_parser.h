// From the structure of a JSON text to calls of a sink. simdjson's first stage has found where each token
// starts and has checked the UTF-8 and that strings end and hold no control characters; this walks the
// tokens, checks the grammar, and tells the sink what it meets, without a tree in between. Private to
// json_reader.cpp.
//
// A sink has: null(), boolean(b), integer(n), real(d), decimal(is_negative, digits, places), string(text),
// and for containers begin_array(), begin_object() (false: too deep), element() before each element,
// key(name) before each member, end_array(), end_object(). Two calls are tried first, and may refuse:
// take_likely_key(json, readable) in place of key(name), where the text goes on with a name and its colon as
// the sink expects, and take_string(text, readable) in place of string(text), where the text between quotes
// is what they mean. `readable` says how many bytes may be read from there on.
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
  // `starts`: offsets of the tokens in `text`, rising, at least one; behind the last stands the first again.
  // `scratch` is for strings with escapes.
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
  // The character that a token starts with. At the end, where that is within a container, its first bracket
  // or brace, which is no name, colon, comma or closing one. A value has to be told from the end.
  char peek(Token token) const noexcept { return text_[*token]; }
  size_t offset_of(Token token) const noexcept { return token != end_ ? *token : text_.size(); }

  // Most values are strings, and are taken where their container is.
  [[gnu::always_inline]] Token value(Token token) {
    return peek(token) == '"' ? string(token) : other_value(token);
  }
  [[gnu::always_inline]] Token string(Token token) {
    const std::string_view text = quoted(token);
    if (text.data() != nullptr && sink_.take_string(text, readable(text.data()))) [[likely]]
      return token + 1;
    return other_string(token, text);
  }
  [[gnu::noinline]] Token other_string(Token token, std::string_view text) {
    if (text.data() == nullptr || !unescape(text)) return nullptr;
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
      case 'f':
      case 'n':
        return literal(token);
      default:
        return number(token);
    }
  }

  [[gnu::noinline]] Token object(Token token) {
    if (!sink_.begin_object()) return wrong(*token, "nesting is deeper than 128 levels");
    ++token;
    if (peek(token) == '}') {
      sink_.end_object();
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
    sink_.end_object();
    return token;
  }

  // With its colon.
  Token member_name(Token token) {
    if (peek(token) != '"') return wrong(offset_of(token), "expected a property name in double quotes");
    const char* const at = text_.data() + *token;
    if (sink_.take_likely_key(at, readable(at))) [[likely]]
      return token + 2;
    return other_name(token);
  }
  [[gnu::noinline]] Token other_name(Token token) {
    std::string_view name = quoted(token);
    if (name.data() == nullptr) return nullptr;
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
      sink_.end_array();
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
    sink_.end_array();
    return token;
  }

  // What stands between the quotes, of which the first begins the token. The closing one is the last
  // character before the next token that is no white space: nothing is searched for.
  // Without data() where there is something wrong.
  [[gnu::always_inline]] std::string_view quoted(Token token) {
    const size_t at = *token;
    const size_t end = offset_of(token + 1) - 1;
    if (text_[end] == '"' && end != at) [[likely]]
      return {text_.data() + at + 1, end - at - 1};
    return quoted_before_blanks(at, end);
  }
  [[gnu::noinline]] std::string_view quoted_before_blanks(size_t at, size_t end) {
    while (is_white_space(text_[end])) --end;
    if (text_[end] == '"' && end != at) return {text_.data() + at + 1, end - at - 1};
    wrong(at, "a string is not closed");
    return {};
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

  [[gnu::noinline]] Token literal(Token token) {
    const std::string_view rest = text_.substr(*token);
    const auto is = [&](std::string_view word) {
      return rest.starts_with(word) && ends_token(*token + word.size());
    };
    if (is("true"))
      sink_.boolean(true);
    else if (is("false"))
      sink_.boolean(false);
    else if (is("null"))
      sink_.null();
    else
      return wrong(*token, "expected a value");
    return token + 1;
  }

  [[gnu::noinline]] Token number(Token token) {
    if (text_.size() - *token >= LongText::kReadable) [[likely]]
      return short_number(token, LongText());
    return number_near_end(token);
  }
  [[gnu::noinline]] Token number_near_end(Token token) {
    if (text_.size() < TextNearEnd::kBytes) return other_number(token);
    return short_number(token, TextNearEnd{text_.data() + text_.size()});
  }
  // Most are short.
  template <typename Text>
  [[gnu::always_inline]] Token short_number(Token token, const Text& text) {
    ShortNumber number;
    if (!number.take(text_.data() + *token, text) || !ends_token(*token + number.length)) [[unlikely]]
      return other_number(token);
    if (number.places == 0)
      sink_.integer(number.integer());
    else
      sink_.decimal(number.is_negative, number.digits, number.places);
    return token + 1;
  }

  [[gnu::noinline]] Token other_number(Token token) {
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
      sink_.decimal(text_[at] == '-', parsed.digits, parsed.places);
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
