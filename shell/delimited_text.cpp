#include "shell/delimited_text.h"

namespace quire::shell {
namespace {

size_t skip_digits(std::string_view text, size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at;
}

bool is_bare_value(std::string_view text) {
  return text.empty() || text == "true" || text == "false" || text == "null" || is_json_number(text) ||
         text.front() == '[' || text.front() == '{' || text.front() == ' ' || text.back() == ' ';
}

}  // namespace

bool is_json_number(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const size_t digits = skip_digits(text, at);
  if (digits == at || (text[at] == '0' && digits > at + 1)) return false;
  at = digits;
  if (at < text.size() && text[at] == '.') {
    const size_t end = skip_digits(text, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const size_t end = skip_digits(text, at);
    if (end == at) return false;
    at = end;
  }
  return at == text.size();
}

std::string quoted_cell(std::string_view text) {
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

std::string delimited_name(std::string_view text, char separator) {
  const bool needs_quotes =
      text.empty() || text.find_first_of("\"\r\n") != std::string_view::npos || text.contains(separator);
  return needs_quotes ? quoted_cell(text) : std::string(text);
}

std::string delimited_string(std::string_view text, char separator) {
  return is_bare_value(text) ? quoted_cell(text) : delimited_name(text, separator);
}

bool DelimitedReader::next(std::string_view text, size_t& at, bool is_end,
                           std::vector<DelimitedCell>& record) const {
  record.clear();
  DelimitedCell cell;
  bool is_open = false;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (is_open) {
      if (c != '"') {
        cell.text += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell.text += text[++i];
      } else if (i + 1 == text.size() && !is_end) {
        return false;  // the next byte tells whether this quote is doubled
      } else {
        is_open = false;
      }
    } else if (c == '"' && cell.text.empty() && !cell.is_quoted) {
      cell.is_quoted = is_open = true;
    } else if (c == separator_ || c == '\n') {
      if (c == '\n' && !cell.is_quoted && cell.text.ends_with('\r')) cell.text.pop_back();
      record.push_back(std::move(cell));
      cell = {};
      if (c == '\n') {
        at = i + 1;
        return true;
      }
    } else if (!(cell.is_quoted && c == '\r')) {
      cell.text += c;
    }
  }
  if (!is_end || at == text.size()) return false;
  at = text.size();
  cell.is_cut = is_open;
  record.push_back(std::move(cell));
  return true;
}

}  // namespace quire::shell
