// Where statements end in text that comes line by line. Queries of Cosmos have no terminator, so a `;`
// outside of quotes and comments ends one wherever it stands; what else may end one (a blank line with
// another statement behind it, Enter) is for the reader of the lines to say, who asks here whether a quote, a
// bracket or a comment is open.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quire::shell {

struct StatementText {
  std::string text;           // without the `;`
  size_t line = 1;            // where it begins
  size_t columns_before = 0;  // characters of that line that come before it
};

// Each character is looked at once, however many lines a statement has.
class StatementReader {
 public:
  // The statements that the line completes.
  std::vector<StatementText> add_line(std::string_view line);
  // What has been gathered since, and starts anew.
  StatementText take();
  // Counts a line that is no part of a statement.
  void skip_line() { ++line_; }

  // Nothing is gathered but white space and comments.
  bool is_blank() const { return is_blank_; }
  // Inside a quote, a bracket, a comment or a script between $$ or $name$.
  bool is_open() const { return place_ != Place::code || depth_ > 0; }
  // What has been gathered ends in a blank line, or in comments behind one.
  bool is_past_blank_line() const { return is_past_blank_line_; }
  // Lines added so far.
  size_t line() const { return line_; }
  const std::string& text() const { return text_; }

 private:
  enum class Place { code, single_quoted, double_quoted, line_comment, block_comment, script };

  // Moves over one character or pair; true at the `;` that ends a statement.
  bool step(std::string_view line, size_t& at);
  void step_code(std::string_view line, size_t& at);

  std::string text_;
  Place place_ = Place::code;
  std::string script_mark_;  // that ends the script it is in
  int depth_ = 0;
  bool is_blank_ = true;
  bool is_past_blank_line_ = false;
  size_t line_ = 0;
  size_t first_line_ = 1;
  size_t columns_before_ = 0;
};

// Whether it begins as a query does, past white space and comments.
bool is_query(std::string_view text);

// The word that it begins with, past white space and comments; empty: none.
std::string_view first_word(std::string_view text);

// Without the white space around it.
std::string_view trim(std::string_view text);

}  // namespace quire::shell
