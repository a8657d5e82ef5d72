#include "sql/parse/slips.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "sql/parse/grammar.h"
#include "sql/parse/keywords.h"

namespace quire::sql {
namespace {

constexpr int kAny = -1;
constexpr int kClosing = -2;  // whatever cannot begin an item of a list

// `token` right after `before`, and after `earlier` before that. The first row that fits counts.
struct Slip {
  int earlier;
  int before;
  int token;
  std::string_view hint;
};
constexpr Slip kSlips[] = {
    {kAny, kAny, TOKEN_DOUBLE_EQUAL, "write = to compare"},
    {kAny, kAny, TOKEN_DOUBLE_AMPERSAND, "write AND"},
    {kAny, kAny, TOKEN_EXCLAMATION, "write NOT, with its operand in parentheses: NOT (x)"},
    {kAny, TOKEN_EQUAL, TOKEN_GREATER, "write >="},
    {kAny, TOKEN_EQUAL, TOKEN_LESS, "write <="},
    {kAny, TOKEN_MINUS, TOKEN_GREATER, "a property is written with a dot: c.name"},
    {kAny, TOKEN_DOT, TOKEN_STAR, "a whole item is SELECT *, or SELECT VALUE c"},
    {kAny, TOKEN_DOT, TOKEN_LEFT_BRACKET, "no dot stands before a bracket: c[\"name\"]"},
    {kAny, TOKEN_DOT, TOKEN_STRING, "a name in quotes goes in brackets, without a dot: c[\"name\"]"},
    {kAny, TOKEN_DOT, TOKEN_FROM, "a name is missing after the dot"},
    {kAny, TOKEN_AS, TOKEN_FROM, "the alias is missing after AS"},
    {kAny, TOKEN_FROM, TOKEN_PARAMETER, "a parameter is a value; it cannot name a container"},
    {kAny, TOKEN_FROM, TOKEN_LEFT_BRACKET, "an array goes in a subquery: FROM x IN (SELECT VALUE [1, 2])"},
    {kAny, TOKEN_SLASH, TOKEN_SLASH, "comments begin with -- or stand between /* and */"},
    {kAny, TOKEN_STAR, TOKEN_COMMA, "'*' stands alone in a select list"},
    {kAny, TOKEN_COMMA, TOKEN_STAR, "'*' stands alone in a select list"},
    {kAny, TOKEN_SELECT, TOKEN_FROM, "SELECT * takes whole items"},
    {kAny, TOKEN_INTEGER, TOKEN_DISTINCT, "DISTINCT stands before TOP"},
    {kAny, TOKEN_PARAMETER, TOKEN_DISTINCT, "DISTINCT stands before TOP"},
    {kAny, TOKEN_TOP, TOKEN_LEFT_PARENTHESIS, "write TOP 5, without parentheses"},
    {kAny, TOKEN_LEFT_BRACKET, TOKEN_STAR, "to go through an array write JOIN x IN c.array"},
    {kAny, TOKEN_LEFT_BRACKET, TOKEN_RIGHT_BRACKET, "to go through an array write JOIN x IN c.array"},
    {kAny, TOKEN_IN, TOKEN_PARAMETER, "for an array write ARRAY_CONTAINS(@list, x)"},
    {kAny, TOKEN_IN, TOKEN_NAME,
     "IN takes a list in parentheses; for an array write ARRAY_CONTAINS(array, x)"},
    {TOKEN_IN, TOKEN_LEFT_PARENTHESIS, TOKEN_RIGHT_PARENTHESIS, "the list of IN needs a value"},
    {TOKEN_EXISTS, TOKEN_LEFT_PARENTHESIS, kAny,
     "EXISTS takes a query; whether a property is there asks IS_DEFINED(c.x)"},
    {TOKEN_ARRAY, TOKEN_LEFT_PARENTHESIS, kAny, "ARRAY takes a query; an array of values is [a, b]"},
    {kAny, TOKEN_LEFT_PARENTHESIS, TOKEN_SELECT,
     "a subquery here needs its own parentheses, or EXISTS or ARRAY before them"},
    {TOKEN_BETWEEN, kAny, TOKEN_COMMA, "write BETWEEN low AND high"},
    {TOKEN_BETWEEN, kAny, TOKEN_NAME, "write BETWEEN low AND high"},
    {kAny, TOKEN_LIKE, TOKEN_PERCENT, "a pattern is a string: LIKE '%text%'"},
    {kAny, TOKEN_OR, TOKEN_EQUAL, "OR joins whole comparisons: c.x = 1 OR c.x = 2"},
    {kAny, TOKEN_AND, TOKEN_EQUAL, "AND joins whole comparisons: c.x = 1 AND c.y = 2"},
    {kAny, TOKEN_NOT, TOKEN_IN, "write x NOT IN (...)"},
    {kAny, TOKEN_NOT, TOKEN_EXISTS, "write NOT EXISTS(...) by itself, joined with AND"},
    {kAny, TOKEN_IS, TOKEN_UNDEFINED, "write NOT IS_DEFINED(x)"},
    {TOKEN_IS, TOKEN_NOT, TOKEN_UNDEFINED, "write IS_DEFINED(x)"},
    {kAny, TOKEN_IS, TOKEN_TRUE, "write x = true"},
    {kAny, TOKEN_IS, TOKEN_FALSE, "write x = false"},
    {kAny, TOKEN_BY, TOKEN_DESC, "the direction stands after the expression: ORDER BY x DESC"},
    {kAny, TOKEN_BY, TOKEN_ASC, "the direction stands after the expression: ORDER BY x ASC"},
    {kAny, TOKEN_ESCAPE, TOKEN_PARAMETER, "ESCAPE takes a string literal alone"},
    {kAny, kAny, TOKEN_SEMICOLON, "one statement at a time"},
    {kAny, TOKEN_SEMICOLON, kAny, "one statement at a time"},
    {kAny, TOKEN_COMMA, kClosing, "remove the comma before it"},
};

// Words of other databases, where the grammar takes no word or after a name that it took for an alias.
struct ForeignWord {
  std::string_view word;
  std::string_view hint;
};
constexpr ForeignWord kForeignWords[] = {
    {"CAST", "there are no casts; TOSTRING(x) and STRINGTONUMBER(x) convert"},
    {"CONTAINS", "CONTAINS is a function: CONTAINS(text, part)"},
    {"CONVERT", "there are no casts; TOSTRING(x) and STRINGTONUMBER(x) convert"},
    {"CROSS", "write JOIN x IN c.array"},
    {"DEFINED", "whether a property is there says IS_DEFINED(x)"},
    {"DESCENDING", "write DESC"},
    {"ASCENDING", "write ASC"},
    {"DIV", "write TRUNC(a / b), or INTDIV(a, b)"},
    {"ENDSWITH", "ENDSWITH is a function: ENDSWITH(text, suffix)"},
    {"EXCEPT", "there is no EXCEPT; of two arrays SETDIFFERENCE(a, b)"},
    {"FETCH", "write OFFSET 0 LIMIT n"},
    {"ILIKE", "to ignore case write CONTAINS(text, part, true), or LOWER(text) LIKE pattern"},
    {"INTERVAL", "dates are moved by DATETIMEADD(part, count, date)"},
    {"ISNULL", "write IS NULL, or IS_NULL(x)"},
    {"NOTNULL", "write IS NOT NULL, or NOT IS_NULL(x)"},
    {"INTERSECT", "there is no INTERSECT; of two arrays SETINTERSECT(a, b)"},
    {"MISSING", "whether a property is there says IS_DEFINED(x)"},
    {"MOD", "write a % b"},
    {"NULLS", "undefined and null come first, with DESC last"},
    {"OVER", "there are no window functions"},
    {"REGEXP", "write REGEXMATCH(text, pattern)"},
    {"RLIKE", "write REGEXMATCH(text, pattern)"},
    {"STARTSWITH", "STARTSWITH is a function: STARTSWITH(text, prefix)"},
    {"UNION", "UNION stands between two queries"},
    {"WITH", "there is no WITH; a query may stand in FROM: FROM (SELECT ...) x"},
    {"XOR", "write != for booleans, ^ for bits"},
};

// Words that begin statements: of other databases, and ours, of which most are no reserved words.
constexpr ForeignWord kForeignStatements[] = {
    {"ABORT", "write ROLLBACK"},
    {"CALL", "write EXECUTE name(...) ON container IN PARTITION key"},
    {"DESC", "in the shell: .describe NAME"},
    {"DESCRIBE", "in the shell: .describe NAME"},
    {"EXEC", "write EXECUTE name(...) ON container IN PARTITION key"},
    {"EXIT", "in the shell: .quit"},
    {"HELP", "in the shell: .help"},
    {"MERGE", "write UPSERT INTO c ..."},
    {"QUIT", "in the shell: .quit"},
    {"SET", "write PRAGMA name = value"},
    {"SHOW", "in the shell: .containers, .indexes, .scripts, .describe NAME"},
    {"START", "write BEGIN"},
    {"TRUNCATE", "write DELETE FROM c"},
    {"USE", "in the shell: .use NAME"},
    {"VACUUM", "a file is made smaller by compacting it, in the shell: .compact"},
    {"VALUES", "write SELECT VALUE"},
};
constexpr std::string_view kStatementWords[] = {
    "SELECT", "EXPLAIN", "INSERT", "UPSERT", "REPLACE",  "UPDATE", "PATCH", "DELETE",  "CREATE", "ALTER",
    "DROP",   "EXECUTE", "BEGIN",  "COMMIT", "ROLLBACK", "PRAGMA", "CHECK", "ANALYZE", "ADVISE"};

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

// Right before the name of a container, an index or a script.
constexpr int kBeforeNames[] = {TOKEN_FROM,   TOKEN_JOIN,   TOKEN_INTO,      TOKEN_ON,       TOKEN_CONTAINER,
                                TOKEN_INDEX,  TOKEN_EXISTS, TOKEN_PROCEDURE, TOKEN_FUNCTION, TOKEN_TRIGGER,
                                TOKEN_CHECK,  TOKEN_ADVISE, TOKEN_ANALYZE,   TOKEN_EXECUTE,  TOKEN_IN,
                                TOKEN_UPDATE, TOKEN_PATCH};

constexpr int kClauseTokens[] = {TOKEN_FROM,   TOKEN_WHERE, TOKEN_GROUP,
                                 TOKEN_HAVING, TOKEN_ORDER, TOKEN_OFFSET};

bool fits(int wanted, int kind) {
  if (wanted == kClosing) return std::ranges::find(kClosingTokens, kind) != std::end(kClosingTokens);
  return wanted == kAny ? kind != 0 : wanted == kind;
}

std::string did_you_mean(std::string_view word) {
  return fmt::format("did you mean {}?", word);
}

// Letters in another order: the commonest slip, and two edits away.
bool is_anagram(std::string_view word, std::string_view capitals) {
  std::string upper(word);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper.size() == capitals.size() && std::ranges::is_permutation(upper, capitals);
}

class SlipFinder {
 public:
  explicit SlipFinder(const UnexpectedToken& unexpected)
      : text_(unexpected.text),
        tokens_(unexpected.tokens),
        index_(unexpected.index),
        token_(tokens_[index_]),
        expected_(unexpected.expected),
        strict_(unexpected.strict) {}

  std::string find() const {
    for (const Slip& slip : kSlips)
      if (fits_here(slip)) return std::string(slip.hint);
    for (const auto rule :
         {&SlipFinder::number, &SlipFinder::string, &SlipFinder::limit, &SlipFinder::comment,
          &SlipFinder::list, &SlipFinder::sources, &SlipFinder::parameter, &SlipFinder::name,
          &SlipFinder::first_word, &SlipFinder::misspelt_keyword, &SlipFinder::foreign_word,
          &SlipFinder::reserved_word, &SlipFinder::unquoted_string, &SlipFinder::misspelt_clause,
          &SlipFinder::clause_order, &SlipFinder::missing_parentheses, &SlipFinder::missing_comma})
      if (std::string hint = (this->*rule)(); !hint.empty()) return hint;
    return {};
  }

 private:
  int kind(int ahead) const {
    const size_t i = index_ + static_cast<size_t>(ahead);
    return i < tokens_.size() ? tokens_[i].kind : 0;
  }
  std::string_view word(int ahead) const {
    const size_t i = index_ + static_cast<size_t>(ahead);
    return i < tokens_.size() ? tokens_[i].text(text_) : std::string_view();
  }
  bool is_expected(int token) const { return expected_[static_cast<size_t>(token)]; }
  bool may_begin_expression() const { return is_expected(TOKEN_LEFT_BRACE); }

  bool fits_here(const Slip& slip) const {
    // Before a colon a word names a member, and is a reserved one.
    if (slip.token == kClosing && kind(1) == TOKEN_COLON) return false;
    return fits(slip.token, token_.kind) && (slip.before == kAny || fits(slip.before, kind(-1))) &&
           (slip.earlier == kAny || fits(slip.earlier, kind(-2)));
  }

  bool follows_directly() const { return index_ > 0 && tokens_[index_ - 1].end() == token_.offset; }

  std::string number() const {
    const bool after_number = kind(-1) == TOKEN_INTEGER || kind(-1) == TOKEN_REAL;
    if (token_.kind == TOKEN_NAME && after_number && follows_directly())
      return "a number ends in a digit; there are no hexadecimal numbers";
    if (token_.kind == TOKEN_COMMA && after_number && kind(1) == TOKEN_INTEGER && !is_expected(TOKEN_COMMA) &&
        word(1).size() == 3 && tokens_[index_ + 1].offset == token_.end())
      return "a number has no commas";
    if (token_.kind == TOKEN_REAL && kind(-1) == TOKEN_NAME && follows_directly())
      return "an element is c[0]; a name that begins with a digit goes in brackets: c[\"1a\"]";
    return {};
  }

  std::string string() const {
    const bool goes_on = token_.kind == TOKEN_STRING || token_.kind == TOKEN_NAME;
    if (goes_on && kind(-1) == TOKEN_STRING && follows_directly())
      return fmt::format("a quote within a string is written \\{}", word(-1).front());
    return {};
  }

  std::string limit() const {
    if (token_.kind != TOKEN_LIMIT) return {};
    if (is_expected(TOKEN_OFFSET)) return "write both, in this order: OFFSET 0 LIMIT n";
    return is_expected(TOKEN_RETURNING) ? "a change takes all items that WHERE keeps" : "";
  }

  std::string comment() const {
    const bool is_end =
        token_.kind == TOKEN_STAR && kind(1) == TOKEN_SLASH && tokens_[index_ + 1].offset == token_.end();
    return is_end ? "a comment ends at the first */" : "";
  }

  // What stands after IN: in FROM a source, in a condition a list.
  std::string list() const {
    const bool is_source = is_expected(TOKEN_NAME) || (is_expected(TOKEN_SELECT) && !may_begin_expression());
    const bool in_parentheses = kind(-1) == TOKEN_LEFT_PARENTHESIS && kind(-2) == TOKEN_IN;
    if (token_.kind != TOKEN_LEFT_BRACKET && !in_parentheses) return {};
    if (kind(-1) != TOKEN_IN && !in_parentheses) return {};
    return is_source ? "an array goes in a subquery: IN (SELECT VALUE [1, 2])"
                     : "IN takes its list in parentheses: IN (1, 2)";
  }

  std::string sources() const {
    if (token_.kind == TOKEN_COMMA && is_expected(TOKEN_JOIN))
      return "sources are joined with JOIN, not with commas";
    if (token_.kind == TOKEN_COMMA && is_expected(TOKEN_FROM) && is_expected(TOKEN_PERCENT))
      return "SELECT VALUE takes one expression: leave VALUE out, or write VALUE {a: c.a, b: c.b}";
    const bool is_call = kind(-1) == TOKEN_NAME && token_.kind == TOKEN_LEFT_PARENTHESIS;
    if (is_call && kind(-2) == TOKEN_DOT)
      return "values have no methods: the value is the function's argument, f(c.x)";
    return {};
  }

  std::string parameter() const {
    if (token_.kind == TOKEN_COLON && kind(1) == TOKEN_COLON)
      return "there are no casts; TOSTRING(x) and STRINGTONUMBER(x) convert";
    const bool is_mark = token_.kind == TOKEN_COLON || token_.kind == TOKEN_QUESTION;
    return is_mark && may_begin_expression() ? "a parameter is written @name" : "";
  }

  bool begins_clause() const {
    if (kind(1) == TOKEN_MINUS) return false;
    if (token_.kind == TOKEN_ORDER || token_.kind == TOKEN_GROUP) return kind(1) == TOKEN_BY;
    return token_.kind == TOKEN_SELECT || token_.kind == TOKEN_JOIN ||
           std::ranges::find(kClauseTokens, token_.kind) != std::end(kClauseTokens);
  }

  // Of a container, an index or a script, without the quotes that it needs.
  std::string name() const {
    const auto follows_any = [this](int ahead) {
      return std::ranges::find(kBeforeNames, kind(ahead)) != std::end(kBeforeNames);
    };
    const bool is_reserved = find_reserved_word(word(0)) != nullptr && follows_any(-1) && !begins_clause() &&
                             is_expected(TOKEN_NAME) && is_expected(TOKEN_STRING);
    const bool is_cut = token_.kind == TOKEN_MINUS && kind(-1) == TOKEN_NAME && follows_any(-2);
    if (!is_reserved && !is_cut) return {};
    // On a container any word stands for it, and strict mode takes no quotes there.
    if (strict_)
      return is_reserved ? fmt::format("{} is a reserved word", word(0)) : "a plain word, as c, will do";
    return is_reserved
               ? fmt::format("{0} is a reserved word: as a name it goes in quotes", word(0))
               : fmt::format("a name that is no plain word goes in quotes: \"{}-...\"", shortened(word(-1)));
  }

  std::string first_word() const {
    if (index_ != 0 || token_.kind != TOKEN_NAME || strict_) return {};
    for (const ForeignWord& foreign : kForeignStatements)
      if (equals_ignoring_case(word(0), foreign.word)) return std::string(foreign.hint);
    return nearest_of(word(0), kStatementWords);
  }

  // Empty if none is near.
  static std::string nearest_of(std::string_view given, std::span<const std::string_view> words) {
    NearestName nearest(given);
    for (const std::string_view word : words) {
      if (is_anagram(given, word)) return did_you_mean(word);
      nearest.offer(word);
    }
    return nearest.best().empty() ? std::string() : did_you_mean(nearest.best());
  }

  std::string foreign_word() const {
    for (const int ahead : {0, -1}) {
      if (ahead != 0 && kind(ahead) != TOKEN_NAME) continue;
      for (const ForeignWord& foreign : kForeignWords)
        if (equals_ignoring_case(word(ahead), foreign.word)) return std::string(foreign.hint);
    }
    const bool after_is = kind(-1) == TOKEN_IS || (kind(-1) == TOKEN_NOT && kind(-2) == TOKEN_IS);
    if (after_is) return "there is only IS NULL; types are asked by functions, such as IS_STRING(x)";
    return {};
  }

  std::string reserved_word() const {
    const std::string_view word = token_.text(text_);
    if (find_reserved_word(word) == nullptr) return {};
    if (kind(-1) == TOKEN_DOT)
      return fmt::format("{0} is a reserved word: write [\"{0}\"] without the dot", word);
    if (kind(1) == TOKEN_COLON && is_expected(TOKEN_STRING))
      return fmt::format("write \"{}\" in quotes", word);
    if (kind(-1) == TOKEN_AS && is_expected(TOKEN_STRING))
      return fmt::format("{0} is a reserved word: write AS \"{0}\"", word);
    if (token_.kind == TOKEN_RESERVED || kind(-1) == TOKEN_AS)
      return fmt::format("{} is a reserved word", word);
    return {};
  }

  std::string unquoted_string() const {
    const bool was_compared =
        kind(-2) == TOKEN_EQUAL || kind(-2) == TOKEN_NOT_EQUAL || kind(-2) == TOKEN_LIKE;
    if (token_.kind == TOKEN_NAME && kind(-1) == TOKEN_NAME && was_compared)
      return "a string needs quotes: 'text'";
    return {};
  }

  // A name that is nearly a keyword which could stand there.
  std::string misspelt_keyword() const {
    if (token_.kind != TOKEN_NAME || is_foreign(0)) return {};
    NearestName nearest(word(0));
    for (const Keyword& keyword : reserved_words()) {
      if (!is_expected(keyword.token)) continue;
      if (is_anagram(word(0), keyword.word)) return did_you_mean(keyword.word);
      nearest.offer(keyword.word);
    }
    return nearest.best().empty() ? std::string() : did_you_mean(nearest.best());
  }

  bool is_foreign(int ahead) const {
    return std::ranges::any_of(kForeignWords, [&](const ForeignWord& foreign) {
      return equals_ignoring_case(word(ahead), foreign.word);
    });
  }

  // The name before was taken for an alias, as FORM in: SELECT c.id FORM c.
  std::string misspelt_clause() const {
    static constexpr std::string_view kClauses[] = {"FROM", "WHERE",  "GROUP", "ORDER",
                                                    "JOIN", "OFFSET", "LIKE"};
    if (kind(-1) != TOKEN_NAME) return {};
    if (std::string hint = nearest_of(word(-1), kClauses); !hint.empty()) return hint;
    return token_.kind == TOKEN_BY ? "write ORDER BY or GROUP BY" : "";
  }

  std::string clause_order() const {
    if (std::ranges::find(kClauseTokens, token_.kind) == std::end(kClauseTokens) || may_begin_expression())
      return {};
    const auto before = tokens_.first(index_);
    if (token_.kind == TOKEN_WHERE && std::ranges::find(before, TOKEN_WHERE, &Token::kind) != before.end())
      return "conditions are joined with AND";
    if (!is_expected(TOKEN_ORDER)) return {};
    return "clauses stand in this order: SELECT, FROM, WHERE, GROUP BY, HAVING, ORDER BY, OFFSET LIMIT";
  }

  // ABS 1: the name was taken for a value, and only its parenthesis could follow.
  std::string missing_parentheses() const {
    const bool is_argument = token_.kind == TOKEN_STRING || token_.kind == TOKEN_INTEGER ||
                             token_.kind == TOKEN_REAL || token_.kind == TOKEN_PARAMETER ||
                             (token_.kind == TOKEN_NAME && kind(1) == TOKEN_DOT);
    if (!is_argument || kind(-1) != TOKEN_NAME || kind(-2) == TOKEN_DOT ||
        !is_expected(TOKEN_LEFT_PARENTHESIS))
      return {};
    return fmt::format("a function's arguments go in parentheses: {}(...)", shortened(word(-1)));
  }

  std::string missing_comma() const {
    // SELECT c.a c.b: the second c was taken for an alias.
    const bool after_alias = token_.kind == TOKEN_DOT && kind(-1) == TOKEN_NAME && kind(-2) != TOKEN_DOT;
    if (after_alias && is_expected(TOKEN_COMMA))
      return fmt::format("a comma is missing before '{}'", word(-1));
    const bool begins_value = token_.kind == TOKEN_NAME || token_.kind == TOKEN_STRING ||
                              token_.kind == TOKEN_INTEGER || token_.kind == TOKEN_REAL ||
                              token_.kind == TOKEN_PARAMETER || token_.kind == TOKEN_LEFT_BRACE;
    const bool in_list = is_expected(TOKEN_RIGHT_PARENTHESIS) || is_expected(TOKEN_RIGHT_BRACKET) ||
                         is_expected(TOKEN_RIGHT_BRACE);
    if (begins_value && in_list && is_expected(TOKEN_COMMA)) return "a comma is missing before it";
    return {};
  }

  std::string_view text_;
  std::span<const Token> tokens_;
  const size_t index_;
  const Token& token_;
  const std::vector<bool>& expected_;
  const bool strict_;
};

}  // namespace

std::string find_slip(const UnexpectedToken& unexpected) {
  return SlipFinder(unexpected).find();
}

}  // namespace quire::sql
