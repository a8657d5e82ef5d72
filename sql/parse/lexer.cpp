#include "sql/parse/lexer.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "sql/parse/grammar.h"
#include "sql/parse/keywords.h"

namespace quire::sql {
namespace {

// Punctuation, longest first among those that share a beginning. The last three are no tokens of the
// grammar: they are read as one so that the error can say what to write instead.
struct Punctuation {
  std::string_view text;
  int token;
};
constexpr Punctuation kPunctuation[] = {
    {">>>", TOKEN_SHIFT_RIGHT_UNSIGNED},
    {">>", TOKEN_SHIFT_RIGHT},
    {"<<", TOKEN_SHIFT_LEFT},
    {"<=", TOKEN_LESS_EQUAL},
    {">=", TOKEN_GREATER_EQUAL},
    {"<>", TOKEN_NOT_EQUAL},
    {"!=", TOKEN_NOT_EQUAL},
    {"||", TOKEN_CONCATENATE},
    {"??", TOKEN_COALESCE},
    {"==", TOKEN_DOUBLE_EQUAL},
    {"&&", TOKEN_DOUBLE_AMPERSAND},
    {"=", TOKEN_EQUAL},
    {"<", TOKEN_LESS},
    {">", TOKEN_GREATER},
    {"|", TOKEN_BIT_OR},
    {"^", TOKEN_BIT_XOR},
    {"&", TOKEN_BIT_AND},
    {"~", TOKEN_BIT_NOT},
    {"+", TOKEN_PLUS},
    {"-", TOKEN_MINUS},
    {"*", TOKEN_STAR},
    {"/", TOKEN_SLASH},
    {"%", TOKEN_PERCENT},
    {"?", TOKEN_QUESTION},
    {":", TOKEN_COLON},
    {".", TOKEN_DOT},
    {",", TOKEN_COMMA},
    {"(", TOKEN_LEFT_PARENTHESIS},
    {")", TOKEN_RIGHT_PARENTHESIS},
    {"[", TOKEN_LEFT_BRACKET},
    {"]", TOKEN_RIGHT_BRACKET},
    {"{", TOKEN_LEFT_BRACE},
    {"}", TOKEN_RIGHT_BRACE},
    {";", TOKEN_SEMICOLON},
    {"!", TOKEN_EXCLAMATION},
};

// Characters that editors and web pages put in the place of plain ones.
struct LookAlike {
  std::string_view bytes;
  std::string_view hint;
};
constexpr LookAlike kLookAlikes[] = {
    {"\u2018", "typographic quote; write ' or \""},
    {"\u2019", "typographic quote; write ' or \""},
    {"\u201C", "typographic quote; write ' or \""},
    {"\u201D", "typographic quote; write ' or \""},
    {"\u2212", "typographic minus; write -"},
    {"\u2013", "dash; write -"},
    {"`", "a name that is not plain goes in brackets: c[\"name\"]"},
    {"$", "names are letters, digits and _; any other name goes in brackets: c[\"name\"]"},
    {"#", "comments begin with -- or stand between /* and */"},
};

constexpr bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Queries copied from web pages hold these, and published ones that the service takes do.
constexpr std::string_view kWideSpaces[] = {
    "\u00A0", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
    "\u2009", "\u200A", "\u200B", "\u202F", "\u205F", "\u3000", "\uFEFF",
};

constexpr size_t bytes_of_code_point(char first) noexcept {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  TokenList read() {
    // A token is rarely shorter than four bytes with the space around it.
    list_.tokens.reserve(text_.size() / 4 + 2);
    while (skip_space_and_comments() && at_ < text_.size() && read_token()) {
    }
    if (!list_.unreadable) add(0, at_, 0);
    return std::move(list_);
  }

 private:
  char peek(size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void add(int kind, size_t offset, size_t length) {
    list_.tokens.push_back({kind, static_cast<uint32_t>(offset), static_cast<uint32_t>(length)});
  }

  // False: the text cannot be read on from `offset`.
  bool unreadable(size_t offset, std::string message) {
    add(TOKEN_UNREADABLE, offset, text_.size() - offset);
    list_.unreadable = Error{ErrorCode::syntax, std::move(message), position_of(text_, offset)};
    return false;
  }

  bool skip_space_and_comments() {
    for (;;) {
      if (is_space(peek())) {
        ++at_;
      } else if (peek() == '-' && peek(1) == '-') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        const size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos)
          return unreadable(at_, "the comment that begins here has no closing */");
        at_ = close + 2;
      } else if (const size_t bytes = bytes_of_wide_space(); bytes != 0) {
        at_ += bytes;
      } else {
        return true;
      }
    }
  }

  size_t bytes_of_wide_space() const noexcept {
    if (static_cast<unsigned char>(peek()) < 0x80) return 0;
    for (const std::string_view space : kWideSpaces)
      if (text_.substr(at_).starts_with(space)) return space.size();
    return 0;
  }

  bool read_token() {
    const char c = peek();
    if (is_name_start(c)) return read_word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
    if (c == '"' || c == '\'') return read_string(c);
    if (c == '@') return read_parameter();
    if (const std::string_view mark = script_mark(); !mark.empty()) return read_script(mark);
    return read_punctuation();
  }

  bool read_word() {
    const size_t start = at_;
    while (is_name_part(peek())) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    const Keyword* reserved = find_reserved_word(word);
    const bool is_special_number = word == "NaN" || word == "Infinity";
    add(reserved            ? reserved->token
        : is_special_number ? TOKEN_SPECIAL_NUMBER
                            : TOKEN_NAME,
        start, word.size());
    return true;
  }

  // digits [. digits] [e [+-] digits], or . digits: either side of the point may be missing, not both.
  // A name may follow at once, as in the service: SELECT 0xF is SELECT 0 AS xF.
  bool read_number() {
    const size_t start = at_;
    bool is_integer = true;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      is_integer = false;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      is_integer = false;
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
    add(is_integer ? TOKEN_INTEGER : TOKEN_REAL, start, at_ - start);
    return true;
  }

  // The token keeps its quotes; the escapes are read by the action that needs the string.
  bool read_string(char quote) {
    const size_t start = at_++;
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) {
      at_ = text_.size();
      return unreadable(start, fmt::format("the string that begins here has no closing {}", quote));
    }
    ++at_;
    add(TOKEN_STRING, start, at_ - start);
    return true;
  }

  // $$, or $name$ around a text that holds $$; empty if there is neither here.
  std::string_view script_mark() const {
    if (peek() != '$') return {};
    size_t length = 1;
    if (is_name_start(peek(length)))
      while (is_name_part(peek(length))) ++length;
    return peek(length) == '$' ? text_.substr(at_, length + 1) : std::string_view();
  }

  // The token keeps its marks.
  bool read_script(std::string_view mark) {
    const size_t close = text_.find(mark, at_ + mark.size());
    if (close == std::string_view::npos)
      return unreadable(at_, fmt::format("the script that begins here has no closing {}", mark));
    add(TOKEN_SCRIPT, at_, close + mark.size() - at_);
    at_ = close + mark.size();
    return true;
  }

  bool read_parameter() {
    const size_t start = at_++;
    if (!is_name_start(peek()))
      return unreadable(start, "'@' begins a parameter: a name must follow, as in @name");
    while (is_name_part(peek())) ++at_;
    add(TOKEN_PARAMETER, start, at_ - start);
    return true;
  }

  bool read_punctuation() {
    const std::string_view rest = text_.substr(at_);
    for (const Punctuation& row : kPunctuation) {
      if (row.text.front() != rest.front() || !rest.starts_with(row.text)) continue;
      add(row.token, at_, row.text.size());
      at_ += row.text.size();
      return true;
    }
    for (const LookAlike& row : kLookAlikes)
      if (rest.starts_with(row.bytes))
        return unreadable(at_, fmt::format("unexpected '{}' ({})", row.bytes, row.hint));
    const auto byte = static_cast<unsigned char>(rest[0]);
    if (byte < 0x20 || byte == 0x7F)
      return unreadable(at_, fmt::format("unexpected control character U+{:04X}", byte));
    const std::string_view character = rest.substr(0, bytes_of_code_point(rest[0]));
    const std::string_view hint =
        byte < 0x80
            ? ""
            : " (names are ASCII letters, digits and _; any other name goes in brackets: c[\"name\"])";
    return unreadable(at_, fmt::format("unexpected '{}'{}", character, hint));
  }

  std::string_view text_;
  size_t at_ = 0;
  TokenList list_;
};

// Gives the words that are keywords in one place only their token there.
class ContextualWords {
 public:
  ContextualWords(std::string_view text, std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}

  void resolve() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const int kind = tokens_[i].kind;
      if (kind == TOKEN_NAME)
        tokens_[i].kind = resolve_name(i);
      else if ((kind == TOKEN_LEFT || is_word(i, "RIGHT")) && kind_at(i + 1) == TOKEN_LEFT_PARENTHESIS)
        tokens_[i].kind = kind_at(i - 1) == TOKEN_DOT ? kind : TOKEN_NAME;  // the functions
    }
    resolve_explain();
    resolve_change();
    resolve_definition();
    resolve_script();
    resolve_session();
  }

 private:
  // Past either end: 0. (size_t)-1 is past the end.
  int kind_at(size_t i) const noexcept { return i < tokens_.size() ? tokens_[i].kind : 0; }
  bool is_word(size_t i, std::string_view capitals) const noexcept {
    return i < tokens_.size() && tokens_[i].length == capitals.size() &&
           equals_ignoring_case(tokens_[i].text(text_), capitals);
  }
  bool is_name(size_t i) const noexcept { return kind_at(i) == TOKEN_NAME; }

  int resolve_name(size_t i) const noexcept {
    const bool before_query = kind_at(i + 1) == TOKEN_LEFT_PARENTHESIS && kind_at(i + 2) == TOKEN_SELECT;
    if (kind_at(i - 1) == TOKEN_DOT) return TOKEN_NAME;
    if (before_query && is_word(i, "ALL")) return TOKEN_ALL;
    if (before_query && is_word(i, "FIRST")) return TOKEN_FIRST;
    if (before_query && is_word(i, "LAST")) return TOKEN_LAST;
    if (is_word(i, "LET") && is_name(i + 1) && kind_at(i + 2) == TOKEN_EQUAL) return TOKEN_LET;
    if (is_word(i, "RANK") && follows_order_by(i) && begins_call(i + 1)) return TOKEN_RANK;
    if (is_word(i, "UNION") &&
        (kind_at(i + 1) == TOKEN_SELECT || (is_word(i + 1, "ALL") && kind_at(i + 2) == TOKEN_SELECT)))
      return TOKEN_UNION;
    if (is_word(i, "ALL") && kind_at(i + 1) == TOKEN_SELECT && kind_at(i - 1) == TOKEN_UNION)
      return TOKEN_ALL;
    return TOKEN_NAME;
  }

  bool follows_order_by(size_t i) const noexcept {
    return kind_at(i - 1) == TOKEN_BY && kind_at(i - 2) == TOKEN_ORDER;
  }
  bool begins_call(size_t i) const noexcept {
    return is_name(i) || kind_at(i) == TOKEN_UDF || kind_at(i) == TOKEN_LEFT || is_word(i, "RIGHT");
  }

  // EXPLAIN [ANALYZE] [(stage)]: no query of the service begins with a name, so nothing is taken away. What
  // follows it is the statement.
  void resolve_explain() {
    if (!is_word(0, "EXPLAIN")) return;
    size_t& i = first_;
    tokens_[i++].kind = TOKEN_EXPLAIN;
    if (is_word(i, "ANALYZE")) tokens_[i++].kind = TOKEN_ANALYZE;
    if (kind_at(i) != TOKEN_LEFT_PARENTHESIS || kind_at(i + 2) != TOKEN_RIGHT_PARENTHESIS) return;
    ++i;
    if (is_word(i, "AST")) tokens_[i].kind = TOKEN_AST;
    if (is_word(i, "JSON")) tokens_[i].kind = TOKEN_JSON;
    if (is_word(i, "LOGICAL")) tokens_[i].kind = TOKEN_LOGICAL;
    if (is_word(i, "PHYSICAL")) tokens_[i].kind = TOKEN_PHYSICAL;
    i += 2;
  }

  struct Word {
    std::string_view word;
    int token;
    size_t place = kAnywhere;         // the how-manieth token of the statement it must be
    std::string_view next_word = {};  // what must follow it
  };
  static constexpr size_t kAnywhere = SIZE_MAX;

  // Statements other than queries: no query begins with their first words, so nothing is taken away. What
  // introduces a clause does so outside of brackets alone.
  void resolve_change() {
    static constexpr Word kFirst[] = {{"INSERT", TOKEN_INSERT},  {"UPSERT", TOKEN_INSERT},
                                      {"REPLACE", TOKEN_INSERT}, {"UPDATE", TOKEN_UPDATE},
                                      {"DELETE", TOKEN_DELETE},  {"PATCH", TOKEN_PATCH}};
    static constexpr Word kClauses[] = {{"INTO", TOKEN_INTO, 1},
                                        {"VALUES", TOKEN_VALUES, 3},
                                        {"SET", TOKEN_SET},
                                        {"UNSET", TOKEN_UNSET},
                                        {"WITH", TOKEN_WITH},
                                        {"RETURNING", TOKEN_RETURNING},
                                        {"PRE", TOKEN_PRE, kAnywhere, "TRIGGER"},
                                        {"POST", TOKEN_POST, kAnywhere, "TRIGGER"}};
    resolve_words(kFirst, kClauses);
    for (size_t i = 1; i < tokens_.size(); ++i)
      if (kind_at(i - 1) == TOKEN_PRE || kind_at(i - 1) == TOKEN_POST) tokens_[i].kind = TOKEN_TRIGGER;
  }
  void resolve_definition() {
    static constexpr Word kFirst[] = {{"CREATE", TOKEN_CREATE}, {"ALTER", TOKEN_ALTER}, {"DROP", TOKEN_DROP}};
    static constexpr Word kClauses[] = {{"CONTAINER", TOKEN_CONTAINER, 1},
                                        {"IF", TOKEN_IF, 2},
                                        {"PARTITION", TOKEN_PARTITION, kAnywhere, "KEY"},
                                        {"KEY", TOKEN_KEY},
                                        {"WITH", TOKEN_WITH},
                                        {"INDEX", TOKEN_INDEX, 1},
                                        {"UNIQUE", TOKEN_UNIQUE, 1, "INDEX"},
                                        {"IF", TOKEN_IF, 3},
                                        {"ON", TOKEN_ON}};
    resolve_words(kFirst, kClauses);
    if (kind_at(1) == TOKEN_UNIQUE && tokens_.size() > 2) tokens_[2].kind = TOKEN_INDEX;
    const bool is_index = kind_at(1) == TOKEN_INDEX || kind_at(2) == TOKEN_INDEX;
    for (size_t i = 1; is_index && i + 1 < tokens_.size(); ++i) {
      const int next = kind_at(i + 1);
      if (next != TOKEN_COMMA && next != TOKEN_RIGHT_PARENTHESIS) continue;
      if (kind_at(i - 1) == TOKEN_COMMA || kind_at(i - 1) == TOKEN_LEFT_PARENTHESIS) continue;
      if (is_word(i, "ASC")) tokens_[i].kind = TOKEN_ASC;
      if (is_word(i, "DESC")) tokens_[i].kind = TOKEN_DESC;
    }
  }

  // CREATE [OR REPLACE] PROCEDURE | FUNCTION | TRIGGER name [when operation] ON ..., DROP ..., EXECUTE
  // name(...
  void resolve_script() {
    static constexpr Word kExecute[] = {{"EXECUTE", TOKEN_EXECUTE}};
    static constexpr Word kClauses[] = {{"ON", TOKEN_ON}, {"PARTITION", TOKEN_PARTITION}};
    static constexpr Word kKinds[] = {
        {"PROCEDURE", TOKEN_PROCEDURE}, {"FUNCTION", TOKEN_FUNCTION}, {"TRIGGER", TOKEN_TRIGGER}};
    resolve_words(kExecute, kClauses);
    if (kind_at(first_) != TOKEN_CREATE && kind_at(first_) != TOKEN_DROP) return;
    const bool replaces = kind_at(first_ + 1) == TOKEN_OR && is_word(first_ + 2, "REPLACE");
    if (replaces) tokens_[first_ + 2].kind = TOKEN_REPLACING;
    const size_t kind = first_ + (replaces ? 3 : 1);
    for (const Word& row : kKinds)
      if (is_word(kind, row.word)) tokens_[kind].kind = row.token;
    if (kind_at(kind) != TOKEN_TRIGGER || kind_at(first_) != TOKEN_CREATE) return;
    // PRE | POST, and words like CREATE and UPDATE, some of them reserved.
    for (size_t i = kind + 2; i < kind + 4 && kind_at(i + 1) != 0; ++i)
      if (kind_at(i) == TOKEN_RESERVED || kind_at(i) == TOKEN_ALL) tokens_[i].kind = TOKEN_NAME;
    for (size_t i = kind + 4; i + 1 < tokens_.size(); ++i)
      if (is_word(i, "ALWAYS") && kind_at(i + 1) == TOKEN_AS) tokens_[i].kind = TOKEN_ALWAYS;
  }

  void resolve_session() {
    static constexpr Word kFirst[] = {{"BEGIN", TOKEN_BEGIN},       {"COMMIT", TOKEN_COMMIT},
                                      {"ROLLBACK", TOKEN_ROLLBACK}, {"PRAGMA", TOKEN_PRAGMA},
                                      {"CHECK", TOKEN_CHECK},       {"ANALYZE", TOKEN_ANALYZE},
                                      {"ADVISE", TOKEN_ADVISE}};
    static constexpr Word kClauses[] = {{"TRANSACTION", TOKEN_TRANSACTION, 1}};
    resolve_words(kFirst, kClauses);
  }

  void resolve_words(std::span<const Word> first, std::span<const Word> clauses) {
    const auto resolve = [this](size_t i, std::span<const Word> words) {
      for (const Word& row : words) {
        if (!is_word(i, row.word) || (row.place != kAnywhere && first_ + row.place != i)) continue;
        if (!row.next_word.empty() && !is_word(i + 1, row.next_word)) continue;
        tokens_[i].kind = row.token;
        return true;
      }
      return false;
    };
    if (!resolve(first_, first)) return;
    int depth = 0;
    for (size_t i = first_ + 1; i < tokens_.size(); ++i) {
      const int kind = tokens_[i].kind;
      if (kind == TOKEN_LEFT_PARENTHESIS || kind == TOKEN_LEFT_BRACKET || kind == TOKEN_LEFT_BRACE) ++depth;
      if (kind == TOKEN_RIGHT_PARENTHESIS || kind == TOKEN_RIGHT_BRACKET || kind == TOKEN_RIGHT_BRACE)
        --depth;
      const bool is_word_here = kind == TOKEN_NAME || kind == TOKEN_RESERVED;
      if (depth == 0 && is_word_here && kind_at(i - 1) != TOKEN_DOT) resolve(i, clauses);
    }
  }

  std::string_view text_;
  std::vector<Token>& tokens_;
  size_t first_ = 0;  // of the statement, without EXPLAIN
};

}  // namespace

TokenList read_tokens(std::string_view text) {
  TokenList list = Lexer(text).read();
  ContextualWords(text, list.tokens).resolve();
  return list;
}

}  // namespace quire::sql
