#include "shell/statement_text.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace quire::shell {
namespace {

// As errors count columns: code points.
size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// The end of the comment that the text begins with; 0 if it begins with none.
size_t comment_end(std::string_view text) {
  const bool is_line = text.starts_with("--");
  if (!is_line && !text.starts_with("/*")) return 0;
  const size_t end = text.find(is_line ? "\n" : "*/", 2);
  return end == std::string_view::npos ? text.size() : end + (is_line ? 1 : 2);
}

// The $$ or $name$ that the text begins with, and a script between two of them; empty if it begins with none.
std::string_view script_mark(std::string_view text) {
  if (!text.starts_with('$')) return {};
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  size_t end = 1;
  while (end < text.size() && is_of_name(text[end])) ++end;
  const bool is_mark =
      end < text.size() && text[end] == '$' && std::isdigit(static_cast<unsigned char>(text[1])) == 0;
  return is_mark ? text.substr(0, end + 1) : std::string_view();
}

std::string_view past_comments(std::string_view text) {
  text = trim(text);
  while (const size_t end = comment_end(text)) text = trim(text.substr(end));
  return text;
}

}  // namespace

std::string_view first_word(std::string_view text) {
  text = past_comments(text);
  size_t end = 0;
  while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])) != 0) ++end;
  return text.substr(0, end);
}

bool is_query(std::string_view text) {
  constexpr std::string_view kSelect = "select";
  text = past_comments(text);
  if (text.size() < kSelect.size()) return false;
  const auto same = [](unsigned char a, char b) { return std::tolower(a) == b; };
  return std::ranges::equal(text.substr(0, kSelect.size()), kSelect, same);
}

std::vector<StatementText> StatementReader::add_line(std::string_view line) {
  ++line_;
  if (is_blank_ && place_ == Place::code) {
    text_.clear();
    first_line_ = line_;
    columns_before_ = 0;
  }
  if (!past_comments(line).empty()) is_past_blank_line_ = false;
  const bool is_blank_line = trim(line).empty() && !is_open() && !is_blank_;
  std::vector<StatementText> complete;
  size_t start = 0;
  for (size_t at = 0; at < line.size();) {
    const size_t place = at;
    if (!step(line, at)) continue;
    text_ += line.substr(start, place - start);
    if (!is_blank_)
      complete.push_back(take());
    else
      take();
    start = at;
    columns_before_ = count_characters(line.substr(0, at));
  }
  if (place_ == Place::line_comment) place_ = Place::code;
  text_ += line.substr(start);
  text_ += '\n';
  is_past_blank_line_ = is_past_blank_line_ || is_blank_line;
  return complete;
}

StatementText StatementReader::take() {
  StatementText taken{std::exchange(text_, {}), first_line_, columns_before_};
  place_ = Place::code;
  depth_ = 0;
  is_blank_ = true;
  is_past_blank_line_ = false;
  first_line_ = line_;
  return taken;
}

bool StatementReader::step(std::string_view line, size_t& at) {
  const char c = line[at];
  switch (place_) {
    case Place::code:
      if (c == ';') {
        ++at;
        return true;
      }
      step_code(line, at);
      return false;
    case Place::single_quoted:
    case Place::double_quoted:
      if (c == '\\' && at + 1 < line.size())
        ++at;
      else if (c == (place_ == Place::single_quoted ? '\'' : '"'))
        place_ = Place::code;
      break;
    case Place::line_comment:
      at = line.size();
      return false;
    case Place::script:
      if (line.substr(at).starts_with(script_mark_)) {
        place_ = Place::code;
        at += script_mark_.size() - 1;
      }
      break;
    case Place::block_comment:
      if (line.substr(at, 2) == "*/") {
        place_ = Place::code;
        ++at;
      }
      break;
  }
  ++at;
  return false;
}

void StatementReader::step_code(std::string_view line, size_t& at) {
  const std::string_view pair = line.substr(at, 2);
  if (pair == "--" || pair == "/*") {
    place_ = pair == "--" ? Place::line_comment : Place::block_comment;
    at += 2;
    return;
  }
  if (const std::string_view mark = script_mark(line.substr(at)); !mark.empty()) {
    place_ = Place::script;
    script_mark_ = mark;
    is_blank_ = false;
    at += mark.size();
    return;
  }
  const char c = line[at++];
  if (c == ' ' || c == '\t' || c == '\r') return;
  is_blank_ = false;
  if (c == '\'') place_ = Place::single_quoted;
  if (c == '"') place_ = Place::double_quoted;
  if (c == '(' || c == '[' || c == '{') ++depth_;
  if (c == ')' || c == ']' || c == '}') depth_ = std::max(0, depth_ - 1);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace quire::shell
