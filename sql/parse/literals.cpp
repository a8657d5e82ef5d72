#include "sql/parse/literals.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "sql/parse/keywords.h"

namespace quire::sql {
namespace {

std::optional<uint32_t> four_hex_digits(std::string_view text) noexcept {
  uint32_t unit = 0;
  if (text.size() < 4) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, unit, 16);
  if (error != std::errc() || end != text.data() + 4) return std::nullopt;
  return unit;
}

constexpr bool is_high_surrogate(uint32_t unit) noexcept {
  return unit >= 0xD800 && unit < 0xDC00;
}
constexpr bool is_low_surrogate(uint32_t unit) noexcept {
  return unit >= 0xDC00 && unit < 0xE000;
}

char* append_utf8(char* out, uint32_t code_point) noexcept {
  if (code_point < 0x80) {
    *out++ = static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    *out++ = static_cast<char>(0xC0 | code_point >> 6);
    *out++ = static_cast<char>(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    *out++ = static_cast<char>(0xE0 | code_point >> 12);
    *out++ = static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    *out++ = static_cast<char>(0x80 | (code_point & 0x3F));
  } else {
    *out++ = static_cast<char>(0xF0 | code_point >> 18);
    *out++ = static_cast<char>(0x80 | (code_point >> 12 & 0x3F));
    *out++ = static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    *out++ = static_cast<char>(0x80 | (code_point & 0x3F));
  }
  return out;
}

std::unexpected<Error> fail_at(size_t offset, std::string message) {
  return fail(ErrorCode::syntax, std::move(message), Position{offset, 0, 0});
}

// The code point of \uXXXX at `at` (of the backslash), a surrogate pair taken together; moves `at` past it.
Result<uint32_t> read_unicode_escape(std::string_view token, size_t& at) {
  const size_t start = at;
  const auto first = four_hex_digits(token.substr(at + 2));
  if (!first) return fail_at(start, "\\u needs four hexadecimal digits");
  at += 6;
  if (is_low_surrogate(*first)) return fail_at(start, "a low surrogate without its high one before it");
  if (!is_high_surrogate(*first)) return *first;
  const auto second =
      token.substr(at).starts_with("\\u") ? four_hex_digits(token.substr(at + 2)) : std::nullopt;
  if (!second || !is_low_surrogate(*second))
    return fail_at(start, "a high surrogate without its low one after it");
  at += 6;
  return 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00);
}

// The character of a one-letter escape, or NUL if there is no such escape.
constexpr char simple_escape(char letter) noexcept {
  switch (letter) {
    case '"':
    case '\'':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

// Of a number out of a double's range: whether it is too small to differ from 0, not too large. By the power
// of ten of its first digit that is not 0.
bool is_below_one(std::string_view number) noexcept {
  const size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, e);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(digits.find_first_not_of("0."));
  const int64_t power = first < point ? point - first - 1 : point - first;
  std::string_view exponent = number.substr(std::min(e + 1, number.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  int32_t value = 0;
  const auto [stop, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
  if (error == std::errc::result_out_of_range) return exponent.starts_with('-');
  return power + value < 0;
}

}  // namespace

Result<std::string_view> unquote(std::string_view token, bool strict, Arena& arena) {
  if (strict) {
    for (size_t i = 0; i < token.size(); ++i)
      if (static_cast<unsigned char>(token[i]) < 0x20)
        return fail_at(i, "a control character in a string; write it as an escape, such as \\n");
  }
  const std::string_view body = token.substr(1, token.size() - 2);
  if (body.find('\\') == std::string_view::npos) return body;

  // No escape stands for more bytes than it is written with.
  char* const first = static_cast<char*>(arena.allocate(body.size(), 1));
  char* out = first;
  size_t at = 1;
  const size_t end = token.size() - 1;
  while (at < end) {
    if (token[at] != '\\') {
      *out++ = token[at++];
    } else if (token[at + 1] == 'u') {
      QUIRE_ASSIGN(const uint32_t code_point, read_unicode_escape(token, at));
      out = append_utf8(out, code_point);
    } else if (const char c = simple_escape(token[at + 1])) {
      *out++ = c;
      at += 2;
    } else {
      // The service's lexer lets unknown escapes pass. The backslash stays, so that "\d+" is the pattern it
      // looks like.
      *out++ = token[at++];
      *out++ = token[at++];
    }
  }
  return std::string_view(first, static_cast<size_t>(out - first));
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        else
          out += c;
    }
  }
  out += '"';
}

std::optional<Value> number_of(std::string_view token) noexcept {
  const char* const end = token.data() + token.size();
  int64_t integer = 0;
  if (const auto [stop, error] = std::from_chars(token.data(), end, integer);
      error == std::errc() && stop == end)
    return Value::integer(integer);
  double real = 0;
  const auto [stop, error] = std::from_chars(token.data(), end, real);
  if (error == std::errc::result_out_of_range && is_below_one(token)) return Value::integer(0);
  if (error != std::errc() || stop != end) return std::nullopt;
  return Value::number(real);
}

void append_number(std::string& out, const Value& number) {
  if (number.kind() == Kind::integer) {
    fmt::format_to(std::back_inserter(out), "{}", number.as_integer());
  } else if (std::isnan(number.as_real())) {
    out += "NaN";
  } else if (std::isinf(number.as_real())) {
    out += "Infinity";
  } else {
    const size_t start = out.size();
    fmt::format_to(std::back_inserter(out), "{}", number.as_real());
    // A whole number past int64 would otherwise read back as one that is merely too long.
    if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
  }
}

void append_name(std::string& out, std::string_view name) {
  if (is_plain_name(name))
    out += name;
  else
    append_quoted(out, name);
}

}  // namespace quire::sql
