#include "sql/parse/syntax_error.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sql/parse/grammar.h"
#include "sql/parse/keywords.h"

namespace quire::sql {
namespace {

// What a token is called in a list of what was expected. Those that begin an expression, or continue one, are
// named together where all of them may stand.
struct TokenName {
  int token;
  std::string_view name;
  bool begins_expression = false;
  bool is_operator = false;
  bool is_extension = false;  // not in strict mode
};

constexpr TokenName kTokenNames[] = {
    {TOKEN_DISTINCT, "DISTINCT"},
    {TOKEN_TOP, "TOP"},
    {TOKEN_STAR, "'*'", false, true},
    {TOKEN_VALUE, "VALUE"},
    {TOKEN_NAME, "a name", true},
    {TOKEN_INTEGER, "an integer", true},
    {TOKEN_STRING, "a string", true},
    {TOKEN_PARAMETER, "a parameter", true},
    {TOKEN_NULL, "NULL", true},
    {TOKEN_NOT, "NOT", true, true},
    {TOKEN_LEFT_PARENTHESIS, "'('", true, true},
    {TOKEN_LEFT_BRACKET, "'['", true, true},
    {TOKEN_DOT, "'.'", false, true},
    {TOKEN_EQUAL, "'='", false, true},
    {TOKEN_IN, "IN", false, true},
    {TOKEN_LIKE, "LIKE", false, true},
    {TOKEN_BETWEEN, "BETWEEN", false, true},
    {TOKEN_IS, "IS", false, true, true},
    {TOKEN_AND, "AND", false, true},
    {TOKEN_OR, "OR", false, true},
    {TOKEN_AS, "AS"},
    {TOKEN_COLON, "':'"},
    {TOKEN_COMMA, "','"},
    {TOKEN_RIGHT_PARENTHESIS, "')'"},
    {TOKEN_RIGHT_BRACKET, "']'"},
    {TOKEN_RIGHT_BRACE, "'}'"},
    {TOKEN_ESCAPE, "ESCAPE"},
    {TOKEN_WHEN, "WHEN"},
    {TOKEN_THEN, "THEN"},
    {TOKEN_ELSE, "ELSE"},
    {TOKEN_END, "END"},
    {TOKEN_SELECT, "SELECT"},
    {TOKEN_FROM, "FROM"},
    {TOKEN_JOIN, "JOIN"},
    {TOKEN_INNER, "INNER JOIN", false, false, true},
    {TOKEN_LEFT, "LEFT JOIN", false, false, true},
    {TOKEN_OUTER, "OUTER"},
    {TOKEN_ON, "ON", false, false, true},
    {TOKEN_WHERE, "WHERE"},
    {TOKEN_GROUP, "GROUP BY"},
    {TOKEN_HAVING, "HAVING", false, false, true},
    {TOKEN_ORDER, "ORDER BY"},
    {TOKEN_BY, "BY"},
    {TOKEN_ASC, "ASC"},
    {TOKEN_DESC, "DESC"},
    {TOKEN_OFFSET, "OFFSET"},
    {TOKEN_LIMIT, "LIMIT"},
    {TOKEN_UNION, "UNION", false, false, true},
    {TOKEN_INTO, "INTO"},
    {TOKEN_VALUES, "VALUES"},
    {TOKEN_SET, "SET"},
    {TOKEN_UNSET, "UNSET"},
    {TOKEN_RETURNING, "RETURNING"},
    {TOKEN_CONTAINER, "CONTAINER"},
    {TOKEN_IF, "IF"},
    {TOKEN_PARTITION, "PARTITION KEY"},
    {TOKEN_KEY, "KEY"},
    {TOKEN_WITH, "WITH"},
    {TOKEN_TRANSACTION, "TRANSACTION"},
    {TOKEN_SLASH, "'/'", false, true},
    {TOKEN_AST, "AST"},
    {TOKEN_LOGICAL, "LOGICAL"},
    {TOKEN_PHYSICAL, "PHYSICAL"},
    {0, "the end of the query"},
};

// Slips that the tokens around them show: `token` right after `before`. The first row that fits counts.
constexpr int kAny = -1;
constexpr int kClosing = -2;  // whatever cannot begin an item of a list
struct Slip {
  int before;
  int token;
  std::string_view hint;
};
constexpr Slip kSlips[] = {
    {kAny, TOKEN_DOUBLE_EQUAL, "write = to compare"},
    {kAny, TOKEN_DOUBLE_AMPERSAND, "write AND"},
    {kAny, TOKEN_EXCLAMATION, "write NOT, with its operand in parentheses: NOT (x)"},
    {TOKEN_EQUAL, TOKEN_GREATER, "write >="},
    {TOKEN_EQUAL, TOKEN_LESS, "write <="},
    {TOKEN_DOT, TOKEN_STAR, "a whole item is SELECT *, or SELECT VALUE c"},
    {TOKEN_STAR, TOKEN_COMMA, "'*' stands alone in a select list"},
    {TOKEN_COMMA, TOKEN_STAR, "'*' stands alone in a select list"},
    {TOKEN_INTEGER, TOKEN_DISTINCT, "DISTINCT stands before TOP"},
    {TOKEN_PARAMETER, TOKEN_DISTINCT, "DISTINCT stands before TOP"},
    {TOKEN_IN, TOKEN_PARAMETER, "for an array write ARRAY_CONTAINS(@list, x)"},
    {TOKEN_IN, TOKEN_NAME, "IN takes a list in parentheses; for an array write ARRAY_CONTAINS(array, x)"},
    {TOKEN_LEFT_PARENTHESIS, TOKEN_SELECT,
     "a subquery here needs its own parentheses, or EXISTS or ARRAY before them"},
    {TOKEN_ESCAPE, TOKEN_PARAMETER, "ESCAPE takes a string literal alone"},
    {kAny, TOKEN_LIMIT, "write both, in this order: OFFSET 0 LIMIT n"},
    {kAny, TOKEN_SEMICOLON, "one statement at a time"},
    {TOKEN_COMMA, kClosing, "remove the comma before it"},
};

constexpr int kClosingTokens[] = {0,
                                  TOKEN_FROM,
                                  TOKEN_WHERE,
                                  TOKEN_ORDER,
                                  TOKEN_GROUP,
                                  TOKEN_OFFSET,
                                  TOKEN_COMMA,
                                  TOKEN_RIGHT_PARENTHESIS,
                                  TOKEN_RIGHT_BRACKET,
                                  TOKEN_RIGHT_BRACE};

bool fits(int wanted, int kind) {
  if (wanted == kClosing) return std::ranges::find(kClosingTokens, kind) != std::end(kClosingTokens);
  return wanted == kAny || wanted == kind;
}

class Description {
 public:
  explicit Description(const UnexpectedToken& unexpected)
      : text_(unexpected.text),
        tokens_(unexpected.tokens),
        index_(unexpected.index),
        token_(tokens_[index_]),
        expected_(unexpected.expected),
        strict_(unexpected.strict) {}

  Error make() const {
    std::string message =
        token_.kind == 0 ? "the query ends too early" : fmt::format("unexpected {}", shown(token_));
    if (const std::vector<std::string_view> names = expected_names(); !names.empty()) {
      message += ": expected ";
      for (size_t i = 0; i < names.size(); ++i) {
        if (i != 0) message += i + 1 == names.size() ? " or " : ", ";
        message += names[i];
      }
    }
    if (const std::string hint = find_hint(); !hint.empty()) message += fmt::format(" ({})", hint);
    return {ErrorCode::syntax, std::move(message), position_of(text_, token_.offset)};
  }

 private:
  // Longer tokens are cut in messages.
  static constexpr size_t kMostShown = 40;

  // The token in quotes.
  std::string shown(const Token& token) const {
    std::string_view word = token.text(text_);
    if (word.size() <= kMostShown) return fmt::format("'{}'", word);
    size_t cut = kMostShown;
    while ((static_cast<unsigned char>(word[cut]) & 0xC0) == 0x80) --cut;
    return fmt::format("'{}...'", word.substr(0, cut));
  }

  int kind(int ahead) const {
    const size_t i = index_ + static_cast<size_t>(ahead);
    return i < tokens_.size() ? tokens_[i].kind : 0;
  }

  std::vector<std::string_view> expected_names() const {
    std::vector<std::string_view> names;
    // A brace can only begin an expression, a percent sign only continue one.
    const bool any_expression = expected_[TOKEN_LEFT_BRACE];
    const bool any_operator = expected_[TOKEN_PERCENT];
    if (any_expression) names.push_back("an expression");
    if (any_operator) names.push_back("an operator");
    for (const TokenName& row : kTokenNames) {
      const bool is_grouped = (row.begins_expression && any_expression) || (row.is_operator && any_operator);
      if (expected_[static_cast<size_t>(row.token)] && !is_grouped && !(row.is_extension && strict_))
        names.push_back(row.name);
    }
    return names;
  }

  std::string find_hint() const {
    for (const Slip& slip : kSlips)
      if (fits(slip.token, token_.kind) && (slip.before == kAny || fits(slip.before, kind(-1))))
        return std::string(slip.hint);
    if (token_.kind == TOKEN_NAME && follows_number_directly())
      return "a number ends in a digit; there are no hexadecimal numbers";
    if (token_.kind == TOKEN_COMMA && expected_[TOKEN_JOIN])
      return "sources are joined with JOIN, not with commas";
    if (kind(-1) == TOKEN_NAME && kind(-2) == TOKEN_DOT && token_.kind == TOKEN_LEFT_PARENTHESIS)
      return "values have no methods: the value is the function's argument, f(c.x)";
    if (std::string hint = misspelt_keyword(); !hint.empty()) return hint;
    if (std::string hint = reserved_word_hint(); !hint.empty()) return hint;
    const bool was_compared =
        kind(-2) == TOKEN_EQUAL || kind(-2) == TOKEN_NOT_EQUAL || kind(-2) == TOKEN_LIKE;
    if (token_.kind == TOKEN_NAME && kind(-1) == TOKEN_NAME && was_compared)
      return "a string needs quotes: 'text'";
    return misspelt_clause();
  }

  bool follows_number_directly() const {
    const bool after_number = kind(-1) == TOKEN_INTEGER || kind(-1) == TOKEN_REAL;
    return after_number && tokens_[index_ - 1].end() == token_.offset;
  }

  std::string reserved_word_hint() const {
    const std::string_view word = token_.text(text_);
    if (find_reserved_word(word) == nullptr) return {};
    if (kind(-1) == TOKEN_DOT)
      return fmt::format("{0} is a reserved word: write [\"{0}\"] without the dot", word);
    if (kind(1) == TOKEN_COLON && expected_[TOKEN_STRING]) return fmt::format("write \"{}\" in quotes", word);
    if (kind(-1) == TOKEN_AS && expected_[TOKEN_STRING])
      return fmt::format("{0} is a reserved word: write AS \"{0}\"", word);
    if (token_.kind == TOKEN_RESERVED || kind(-1) == TOKEN_AS)
      return fmt::format("{} is a reserved word", word);
    return {};
  }

  // A name that is nearly a keyword which could stand there.
  std::string misspelt_keyword() const {
    if (token_.kind != TOKEN_NAME) return {};
    const std::string_view word = token_.text(text_);
    NearestName nearest(word);
    for (const Keyword& keyword : reserved_words()) {
      if (!expected_[static_cast<size_t>(keyword.token)]) continue;
      if (is_anagram(word, keyword.word)) return did_you_mean(keyword.word);
      nearest.offer(keyword.word);
    }
    return nearest.best().empty() ? std::string() : did_you_mean(nearest.best());
  }

  // The name before was taken for an alias, as FORM in: SELECT c.id FORM c.
  std::string misspelt_clause() const {
    static constexpr std::string_view kClauses[] = {"FROM", "WHERE",  "GROUP", "ORDER",
                                                    "JOIN", "OFFSET", "LIKE"};
    if (kind(-1) != TOKEN_NAME) return {};
    const std::string_view word = tokens_[index_ - 1].text(text_);
    NearestName nearest(word);
    for (const std::string_view clause : kClauses) {
      if (is_anagram(word, clause)) return did_you_mean(clause);
      nearest.offer(clause);
    }
    return nearest.best().empty() ? std::string() : did_you_mean(nearest.best());
  }

  static std::string did_you_mean(std::string_view word) { return fmt::format("did you mean {}?", word); }

  // Letters in another order: the commonest slip, and two edits away.
  static bool is_anagram(std::string_view word, std::string_view capitals) {
    std::string upper(word);
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return upper.size() == capitals.size() && std::ranges::is_permutation(upper, capitals);
  }

  std::string_view text_;
  std::span<const Token> tokens_;
  const size_t index_;
  const Token& token_;
  const std::vector<bool>& expected_;
  const bool strict_;
};

}  // namespace

Error describe_unexpected(const UnexpectedToken& unexpected) {
  return Description(unexpected).make();
}

}  // namespace quire::sql
