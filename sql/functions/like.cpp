// A pattern becomes a list of tokens, and the tokens the cheapest matcher that serves. Literals between runs
// of % are found one after another, each as early as it occurs, which decides such a pattern in one pass.
// What holds _ or a set of characters goes to RE2, as an expression without captures.
#include "sql/functions/like.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sql/functions/text_search.h"
#include "sql/functions/utf16_index.h"

namespace quire::sql {
namespace {

// Bytes of a pattern that needs RE2, whose work grows with the product of text and pattern in the worst case.
constexpr size_t kLongestExpressionPattern = size_t{64} << 10;

enum class TokenKind : uint8_t { literal, any_run, any_one, set };

struct Token {
  TokenKind kind;
  std::string text;  // literal: itself; set: an expression for RE2
};

// One code point at the start of `text`, which is taken off.
std::string_view take_character(std::string_view& text) {
  const std::string_view character = text.substr(0, code_point_size(text));
  text.remove_prefix(character.size());
  return character;
}

class LikeParser {
 public:
  LikeParser(std::string_view pattern, std::optional<std::string_view> escape)
      : rest_(pattern), escape_(escape.value_or(std::string_view())) {}

  std::vector<Token> parse() {
    while (!rest_.empty()) {
      const bool is_escaped = take_escape();
      if (!is_escaped && rest_.front() == '%') {
        rest_.remove_prefix(1);
        if (tokens_.empty() || tokens_.back().kind != TokenKind::any_run)
          tokens_.push_back({TokenKind::any_run, {}});
      } else if (!is_escaped && rest_.front() == '_') {
        rest_.remove_prefix(1);
        tokens_.push_back({TokenKind::any_one, {}});
      } else if (is_escaped || rest_.front() != '[' || !take_set()) {
        add_literal(take_character(rest_));
      }
    }
    return std::move(tokens_);
  }

 private:
  // Takes the escape character off, if something follows that it can escape.
  bool take_escape() {
    if (escape_.empty() || !rest_.starts_with(escape_) || rest_.size() == escape_.size()) return false;
    rest_.remove_prefix(escape_.size());
    return true;
  }

  void add_literal(std::string_view text) {
    if (tokens_.empty() || tokens_.back().kind != TokenKind::literal)
      tokens_.push_back({TokenKind::literal, {}});
    tokens_.back().text += text;
  }

  // [abc], [a-f], [^abc]. Takes nothing and gives false if the bracket is not closed.
  bool take_set() {
    const std::string_view start = rest_;
    rest_.remove_prefix(1);
    const bool is_negated = rest_.starts_with('^');
    if (is_negated) rest_.remove_prefix(1);
    std::vector<std::pair<std::string_view, std::string_view>> ranges;
    while (!rest_.empty() && (rest_.front() != ']' || ranges.empty())) {
      take_escape();
      const std::string_view first = take_character(rest_);
      std::string_view last = first;
      if (rest_.size() > 1 && rest_.front() == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        take_escape();
        last = take_character(rest_);
      }
      ranges.emplace_back(first, last);
    }
    if (rest_.empty()) {
      rest_ = start;
      return false;
    }
    rest_.remove_prefix(1);
    add_set(is_negated, ranges);
    return true;
  }

  void add_set(bool is_negated, std::span<const std::pair<std::string_view, std::string_view>> ranges) {
    if (!is_negated && ranges.size() == 1 && ranges[0].first == ranges[0].second)
      return add_literal(ranges[0].first);
    std::string expression;
    for (const auto& [first, last] : ranges) {
      // UTF-8 sorts as the code points do. A range that goes backwards holds nothing, and RE2 would refuse
      // it.
      if (first > last) continue;
      expression += fmt::format("{}-{}", re2::RE2::QuoteMeta(re2::StringPiece(first.data(), first.size())),
                                re2::RE2::QuoteMeta(re2::StringPiece(last.data(), last.size())));
    }
    if (expression.empty()) {
      if (is_negated)
        tokens_.push_back({TokenKind::any_one, {}});
      else
        tokens_.push_back({TokenKind::set, R"([^\x00-\x{10FFFF}])"});
      return;
    }
    tokens_.push_back({TokenKind::set, fmt::format("[{}{}]", is_negated ? "^" : "", expression)});
  }

  std::string_view rest_;
  std::string_view escape_;
  std::vector<Token> tokens_;
};

class EqualityPattern final : public LikePattern {
 public:
  explicit EqualityPattern(std::string text) : text_(std::move(text)) {}
  bool matches(std::string_view text) const noexcept override { return text == text_; }

 private:
  std::string text_;
};

class PrefixPattern final : public LikePattern {
 public:
  explicit PrefixPattern(std::string prefix) : prefix_(std::move(prefix)) {}
  bool matches(std::string_view text) const noexcept override { return text.starts_with(prefix_); }

 private:
  std::string prefix_;
};

class SuffixPattern final : public LikePattern {
 public:
  explicit SuffixPattern(std::string suffix) : suffix_(std::move(suffix)) {}
  bool matches(std::string_view text) const noexcept override { return text.ends_with(suffix_); }

 private:
  std::string suffix_;
};

// prefix % part % part % suffix; each may be empty. One part alone is the search for a substring.
class PartsPattern final : public LikePattern {
 public:
  PartsPattern(std::string prefix, std::vector<std::string> parts, std::string suffix)
      : prefix_(std::move(prefix)), parts_(std::move(parts)), suffix_(std::move(suffix)) {}

  bool matches(std::string_view text) const noexcept override {
    if (text.size() < prefix_.size() + suffix_.size()) return false;
    if (!text.starts_with(prefix_) || !text.ends_with(suffix_)) return false;
    text.remove_prefix(prefix_.size());
    text.remove_suffix(suffix_.size());
    for (const std::string& part : parts_) {
      const size_t found = find_first(text, part);
      if (found == kNotFound) return false;
      text.remove_prefix(found + part.size());
    }
    return true;
  }

 private:
  std::string prefix_;
  std::vector<std::string> parts_;
  std::string suffix_;
};

class RegexPattern final : public LikePattern {
 public:
  explicit RegexPattern(std::unique_ptr<re2::RE2> regex) : regex_(std::move(regex)) {}
  bool matches(std::string_view text) const noexcept override {
    return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *regex_);
  }

 private:
  std::unique_ptr<re2::RE2> regex_;
};

std::unique_ptr<LikePattern> match_literals(std::vector<Token> tokens) {
  if (tokens.empty()) return std::make_unique<EqualityPattern>("");
  const bool has_prefix = tokens.front().kind == TokenKind::literal;
  const bool has_suffix = tokens.back().kind == TokenKind::literal;
  if (tokens.size() == 1 && has_prefix) return std::make_unique<EqualityPattern>(std::move(tokens[0].text));
  if (tokens.size() == 2 && has_prefix) return std::make_unique<PrefixPattern>(std::move(tokens[0].text));
  if (tokens.size() == 2 && has_suffix) return std::make_unique<SuffixPattern>(std::move(tokens[1].text));
  std::vector<std::string> parts;
  for (size_t i = 1; i + 1 < tokens.size(); ++i)
    if (tokens[i].kind == TokenKind::literal) parts.push_back(std::move(tokens[i].text));
  return std::make_unique<PartsPattern>(has_prefix ? std::move(tokens.front().text) : std::string(),
                                        std::move(parts),
                                        has_suffix ? std::move(tokens.back().text) : std::string());
}

Result<std::unique_ptr<LikePattern>> match_expression(std::span<const Token> tokens) {
  std::string expression;
  for (const Token& token : tokens) {
    switch (token.kind) {
      case TokenKind::literal:
        expression += re2::RE2::QuoteMeta(token.text);
        break;
      case TokenKind::any_run:
        expression += ".*";
        break;
      case TokenKind::any_one:
        expression += '.';
        break;
      case TokenKind::set:
        expression += token.text;
        break;
    }
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  options.set_never_capture(true);
  auto regex = std::make_unique<re2::RE2>(expression, options);
  if (!regex->ok())
    return fail(ErrorCode::limit_exceeded,
                fmt::format("the pattern of LIKE is too large: {}", regex->error()));
  return std::make_unique<RegexPattern>(std::move(regex));
}

}  // namespace

std::string_view text_before_wildcards(std::string_view pattern) noexcept {
  return pattern.substr(0, std::min(pattern.find_first_of("%_["), pattern.size()));
}

Result<std::unique_ptr<LikePattern>> LikePattern::compile(std::string_view pattern,
                                                          std::optional<std::string_view> escape) {
  if (escape && (escape->empty() || code_point_size(*escape) != escape->size()))
    return fail(ErrorCode::semantic, fmt::format("ESCAPE takes one character, not '{}'", shortened(*escape)));
  std::vector<Token> tokens = LikeParser(pattern, escape).parse();
  const bool is_literal = std::all_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.kind == TokenKind::literal || token.kind == TokenKind::any_run;
  });
  if (is_literal) return match_literals(std::move(tokens));
  if (pattern.size() > kLongestExpressionPattern)
    return fail(ErrorCode::limit_exceeded,
                fmt::format("the pattern of LIKE has {} bytes; with _ or [ ] it may have {}", pattern.size(),
                            kLongestExpressionPattern));
  return match_expression(tokens);
}

}  // namespace quire::sql
