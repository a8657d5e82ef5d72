#include "shell/statement_text.h"

#include <algorithm>

namespace quire::shell {
namespace {

// The place behind a quoted string that starts at `at`, or npos if it is not closed.
size_t skip_quoted(std::string_view text, size_t at) {
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == quote)
      return i + 1;
  }
  return std::string_view::npos;
}

// The place behind a comment that starts at `at`, npos if it is not closed, `at` if there is none.
size_t skip_comment(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("--")) return std::min(text.find('\n', at), text.size());
  if (!rest.starts_with("/*")) return at;
  const size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? end : end + 2;
}

}  // namespace

TextState examine(std::string_view text) {
  TextState state;
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (const size_t next = skip_comment(text, at); next != at) {
      if (next == std::string_view::npos) return {.is_open = true};
      at = next;
      continue;
    }
    if (c == '\'' || c == '"') {
      at = skip_quoted(text, at);
      if (at == std::string_view::npos) return {.is_open = true};
      state.ends_statement = false;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') state.ends_statement = c == ';';
    ++at;
  }
  state.is_open = depth > 0;
  return state;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view trim_statement(std::string_view text) {
  text = trim(text);
  while (text.ends_with(';')) text = trim(text.substr(0, text.size() - 1));
  return text;
}

}  // namespace quire::shell
