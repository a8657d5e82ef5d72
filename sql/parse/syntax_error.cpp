#include "sql/parse/syntax_error.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "sql/parse/grammar.h"
#include "sql/parse/slips.h"

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
    {TOKEN_PRE, "PRE TRIGGER"},
    {TOKEN_POST, "POST TRIGGER"},
    {TOKEN_RETURNING, "RETURNING"},
    {TOKEN_CONTAINER, "CONTAINER"},
    {TOKEN_INDEX, "INDEX"},
    {TOKEN_UNIQUE, "UNIQUE"},
    {TOKEN_PROCEDURE, "PROCEDURE"},
    {TOKEN_FUNCTION, "FUNCTION"},
    {TOKEN_TRIGGER, "TRIGGER"},
    {TOKEN_REPLACING, "REPLACE"},
    {TOKEN_IF, "IF"},
    {TOKEN_PARTITION, "PARTITION"},
    {TOKEN_KEY, "KEY"},
    {TOKEN_WITH, "WITH"},
    {TOKEN_TRANSACTION, "TRANSACTION"},
    {TOKEN_SLASH, "'/'", false, true},
    {TOKEN_AST, "AST"},
    {TOKEN_JSON, "JSON"},
    {TOKEN_LOGICAL, "LOGICAL"},
    {TOKEN_PHYSICAL, "PHYSICAL"},
    {0, "the end of the query"},
};

class Description {
 public:
  explicit Description(const UnexpectedToken& unexpected)
      : unexpected_(unexpected),
        text_(unexpected.text),
        token_(unexpected.tokens[unexpected.index]),
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
    if (const std::string hint = find_slip(unexpected_); !hint.empty()) message += fmt::format(" ({})", hint);
    return {ErrorCode::syntax, std::move(message), position_of(text_, token_.offset)};
  }

 private:
  std::string shown(const Token& token) const { return fmt::format("'{}'", shortened(token.text(text_))); }

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

  const UnexpectedToken& unexpected_;
  std::string_view text_;
  const Token& token_;
  const std::vector<bool>& expected_;
  const bool strict_;
};

}  // namespace

Error describe_unexpected(const UnexpectedToken& unexpected) {
  return Description(unexpected).make();
}

}  // namespace quire::sql
