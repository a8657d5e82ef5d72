#include "shell/delimited_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

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

// Digits with an e in them may be something else that is no number of JSON: a hash, say.
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
  double number = 0;
  return at == text.size() &&
         std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
}

// Numbers are 64-bit integers or doubles; a double is written with the fewest digits that tell it from
// others.
bool has_too_many_digits(std::string_view number) {
  if (number.find_first_not_of("-0123456789") != std::string_view::npos) return false;
  const char* const end = number.data() + number.size();
  int64_t integer = 0;
  if (std::from_chars(number.data(), end, integer).ec == std::errc()) return false;
  double real = 0;
  std::from_chars(number.data(), end, real);
  std::array<char, 32> buffer;
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), real, std::chars_format::scientific);
  std::string kept(buffer.data(), written.ptr);
  kept.erase(kept.find('e'));
  std::erase(kept, '.');
  return number.substr(0, number.find_last_not_of('0') + 1) != kept;
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

void DelimitedReader::end_cell() {
  cells_.push_back(std::move(cell_));
  cell_ = {};
}

bool DelimitedReader::next(std::string_view text, size_t& at, bool is_end,
                           std::vector<DelimitedCell>& record) {
  const auto give = [&] {
    end_cell();
    record.swap(cells_);
    cells_.clear();
    bytes_read_ = 0;
    is_open_ = false;
    return true;
  };
  for (; at < text.size(); ++at) {
    const char c = text[at];
    ++bytes_read_;
    lines_read_ += c == '\n' ? 1 : 0;
    if (is_open_) {
      if (c != '"') {
        cell_.text += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        cell_.text += text[++at];
      } else if (at + 1 == text.size() && !is_end) {
        return false;  // the next byte tells whether this quote is doubled
      } else {
        is_open_ = false;
      }
    } else if (c == '"' && cell_.text.empty() && !cell_.is_quoted) {
      cell_.is_quoted = is_open_ = true;
    } else if (c == '\n') {
      if (!cell_.is_quoted && cell_.text.ends_with('\r')) cell_.text.pop_back();
      ++at;
      return give();
    } else if (c == separator_) {
      end_cell();
    } else if (!(cell_.is_quoted && c == '\r')) {
      cell_.is_spoilt = cell_.is_spoilt || (cell_.is_quoted && c != ' ' && c != '\t');
      cell_.text += c;
    }
  }
  if (!is_end || bytes_read_ == 0) return false;
  cell_.is_cut = is_open_;
  return give();
}

}  // namespace quire::shell
