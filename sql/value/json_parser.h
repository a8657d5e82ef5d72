// From the structure of a JSON text to calls of a sink. simdjson's first stage has found where each token
// starts and has checked the UTF-8 and that strings end and hold no control characters; this walks the
// tokens, checks the grammar, and tells the sink what it meets, without a tree in between. Private to
// json_reader.cpp.
//
// A sink has: null(), boolean(b), integer(n), real(d), string(text), and for containers begin_array(),
// begin_object() (false: too deep), element() before each element, key(name) before each member, end(). Where
// likely_key() gives the name that it expects next, as it stands in JSON with its colon, take_likely_key()
// may be called in place of key(name).
#pragma once

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
      : text_(text), starts_(starts), sink_(sink), scratch_(scratch) {}

  // False: fault() says what is wrong.
  bool parse() {
    if (!value()) return false;
    return cursor_ == starts_.size() || wrong(starts_[cursor_], "only white space may follow the value");
  }
  const JsonFault& fault() const noexcept { return fault_; }

 private:
  bool wrong(size_t offset, const char* message) {
    fault_ = {offset, message};
    return false;
  }
  // The character that the next token starts with; 0 at the end.
  char peek() const noexcept { return cursor_ < starts_.size() ? text_[starts_[cursor_]] : '\0'; }
  size_t here() const noexcept { return cursor_ < starts_.size() ? starts_[cursor_] : text_.size(); }

  // The recursion is bounded by the sink, which refuses nesting past its limit.
  bool value() {
    if (cursor_ == starts_.size()) return wrong(text_.size(), "the text ends where a value is expected");
    const size_t at = starts_[cursor_++];
    switch (text_[at]) {
      case '"': {
        std::string_view text;
        if (!string_at(at, text)) return false;
        sink_.string(text);
        return true;
      }
      case '{':
        return object(at);
      case '[':
        return array(at);
      case 't':
        return literal(at, "true") && (sink_.boolean(true), true);
      case 'f':
        return literal(at, "false") && (sink_.boolean(false), true);
      case 'n':
        return literal(at, "null") && (sink_.null(), true);
      default:
        return number(at);
    }
  }

  bool object(size_t at) {
    if (!sink_.begin_object()) return wrong(at, "nesting is deeper than 128 levels");
    if (peek() == '}') {
      ++cursor_;
      sink_.end();
      return true;
    }
    for (;;) {
      if (!member_name()) return false;
      if (!value()) return false;
      const char next = peek();
      if (next != ',' && next != '}') return wrong(here(), "expected ',' or '}' in an object");
      ++cursor_;
      if (next == '}') break;
    }
    sink_.end();
    return true;
  }

  // With its colon.
  bool member_name() {
    if (peek() != '"') return wrong(here(), "expected a property name in double quotes");
    const std::string_view likely = sink_.likely_key();
    const size_t at = starts_[cursor_++];
    if (!likely.empty() && likely.size() <= text_.size() - at &&
        equal_bytes(likely.data(), text_.data() + at, likely.size())) [[likely]] {
      ++cursor_;
      sink_.take_likely_key();
      return true;
    }
    std::string_view name;
    if (!string_at(at, name)) return false;
    sink_.key(name);
    if (peek() != ':') return wrong(here(), "expected ':' after a property name");
    ++cursor_;
    return true;
  }

  bool array(size_t at) {
    if (!sink_.begin_array()) return wrong(at, "nesting is deeper than 128 levels");
    if (peek() == ']') {
      ++cursor_;
      sink_.end();
      return true;
    }
    for (;;) {
      sink_.element();
      if (!value()) return false;
      const char next = peek();
      if (next != ',' && next != ']') return wrong(here(), "expected ',' or ']' in an array");
      ++cursor_;
      if (next == ']') break;
    }
    sink_.end();
    return true;
  }

  // The string whose opening quote is at `at`; the cursor stands past it. Its closing quote is the last
  // character before the next token that is no white space: nothing is searched for.
  bool string_at(size_t at, std::string_view& text) {
    size_t end = here();
    while (is_white_space(text_[end - 1])) --end;
    if (end < at + 2 || text_[end - 1] != '"') return wrong(at, "a string is not closed");
    text = text_.substr(at + 1, end - at - 2);
    const size_t readable = text_.size() - (at + 1);
    if (!contains_backslash(text, readable)) [[likely]]
      return true;
    const size_t bad = unescape_json(text, scratch_);
    if (bad != std::string_view::npos) return wrong(at + 1 + bad, "invalid escape in a string");
    text = scratch_;
    return true;
  }

  bool literal(size_t at, std::string_view word) {
    if (text_.substr(at, word.size()) != word || !ends_token(at + word.size()))
      return wrong(at, "expected a value");
    return true;
  }

  bool number(size_t at) {
    const char* const end = text_.data() + text_.size();
    const ParsedNumber parsed = parse_json_number(text_.data() + at, end);
    const auto stop = static_cast<size_t>(parsed.end - text_.data());
    if (parsed.is_too_large) return wrong(at, "the number is too large for a double");
    if (parsed.value.is_undefined())
      return wrong(stop == at ? at : stop, stop == at ? "expected a value" : "invalid number");
    if (!ends_token(stop)) return wrong(stop, "invalid number");
    if (parsed.value.kind() == Kind::integer)
      sink_.integer(parsed.value.as_integer());
    else
      sink_.real(parsed.value.as_real());
    return true;
  }

  static bool is_white_space(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  bool ends_token(size_t offset) const noexcept {
    if (offset >= text_.size()) return true;
    const char c = text_[offset];
    return c == ',' || c == '}' || c == ']' || is_white_space(c) || c == ':' || c == '{' || c == '[';
  }

  std::string_view text_;
  std::span<const uint32_t> starts_;
  size_t cursor_ = 0;
  Sink& sink_;
  std::string& scratch_;
  JsonFault fault_;
};

}  // namespace quire::sql
