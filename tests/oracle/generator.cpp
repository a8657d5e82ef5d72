#include "tests/oracle/generator.h"

#include <fmt/format.h>

#include "sql/functions/function.h"

namespace quire::sql::oracle {
namespace {

constexpr std::string_view kNumbers[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "-1",
                                         "0.5",
                                         "-2.5",
                                         "1e3",
                                         "9007199254740993",
                                         "9007199254740992",
                                         "-9223372036854775808",
                                         "1e308",
                                         "0.1"};
constexpr std::string_view kStrings[] = {"a",   "b",       "ab", "",     "A",
                                         "aXb", "\\u00e9", "10", "true", "2024-01-31T00:00:00Z"};
constexpr std::string_view kNames[] = {"k", "a", "b", "n", "s", "list", "o"};

class DocumentMaker {
 public:
  explicit DocumentMaker(Choices& choices) : choices_(choices) {}

  std::string document(size_t number) {
    std::string text = fmt::format(R"({{"id":"{}")", number);
    for (const std::string_view name : kNames)
      if (!choices_.one_in(4)) text += fmt::format(R"(,"{}":{})", name, value_for(name));
    return text + "}";
  }

 private:
  std::string value_for(std::string_view name) {
    if (choices_.one_in(6)) return value(2);
    if (name == "n") return std::string(choices_.one_of(kNumbers));
    if (name == "k" || name == "s") return string();
    if (name == "list") return array(2);
    return name == "o" ? object(2) : value(1);
  }
  std::string string() { return fmt::format("\"{}\"", choices_.one_of(kStrings)); }

  std::string value(size_t depth) {
    switch (choices_.pick(depth > 0 ? 8 : 6)) {
      case 0:
      case 1:
        return std::string(choices_.one_of(kNumbers));
      case 2:
      case 3:
        return string();
      case 4:
        return choices_.one_in(2) ? "true" : "false";
      case 5:
        return "null";
      case 6:
        return array(depth - 1);
      default:
        return object(depth - 1);
    }
  }
  std::string array(size_t depth) {
    std::string text = "[";
    for (uint32_t left = choices_.pick(4); left > 0; --left) text += value(depth) + (left > 1 ? "," : "");
    return text + "]";
  }
  std::string object(size_t depth) {
    std::string text = "{";
    for (const std::string_view name : {"x", "y", "n"})
      if (!choices_.one_in(2))
        text += fmt::format(R"({}"{}":{})", text.size() > 1 ? "," : "", name, value(depth));
    return text + "}";
  }

  Choices& choices_;
};

class QueryMaker {
 public:
  explicit QueryMaker(Choices& choices) : choices_(choices) {}

  // Sets from_ and predicate_ to those of the outermost query.
  std::string query() {
    std::string text = select(2);
    if (choices_.one_in(8)) {
      QueryMaker other(choices_);
      text += choices_.one_in(2) ? " UNION " : " UNION ALL ";
      text += other.select(1);
    }
    return text;
  }
  const std::string& from() const { return from_; }
  const std::string& predicate() const { return predicate_; }

 private:
  // ---- Queries

  std::string select(size_t depth) {
    from_ = " FROM c";
    aliases_ = {"c"};
    while (aliases_.size() < 4 && choices_.one_in(3)) from_ += join(depth);
    predicate_ = predicate(depth + 1);
    std::string text = " WHERE " + predicate_;
    if (!choices_.one_in(4))
      text = from_ + text;
    else
      text = from_;
    return choices_.one_in(4) ? grouped(text, depth) : plain(text, depth);
  }

  std::string join(size_t depth) {
    const std::string alias = fmt::format("j{}", aliases_.size());
    const std::string over = array_path();
    std::string text;
    switch (choices_.pick(6)) {
      case 0:
      case 1:
        text = fmt::format(" JOIN {} IN {}", alias, over);
        break;
      case 2:
        text = fmt::format(" JOIN (SELECT VALUE e FROM e IN {} WHERE {}) {}", over, comparison("e"), alias);
        break;
      case 3:
        aliases_.push_back(alias);
        return fmt::format(" {}JOIN d {} ON {}", choices_.one_in(2) ? "LEFT " : "", alias, on(alias, depth));
      case 4:
        aliases_.push_back(alias);
        return fmt::format(" LEFT JOIN {} IN {} ON {}", alias, over, predicate(1));
      default:
        text = fmt::format(" JOIN d {}", alias);
        break;
    }
    aliases_.push_back(alias);
    return text;
  }

  std::string on(const std::string& alias, size_t depth) {
    const std::string equality = fmt::format("{}.{} = {}", alias, choices_.one_of(kNames), path_of_earlier());
    return choices_.one_in(2) ? equality + " AND " + predicate(depth) : equality;
  }
  std::string path_of_earlier() {
    const auto place = choices_.pick(static_cast<uint32_t>(aliases_.size() - 1));
    return fmt::format("{}.{}", aliases_[place], choices_.one_of(kNames));
  }

  std::string plain(const std::string& rest, size_t depth) {
    const bool distinct = choices_.one_in(5);
    std::string text = distinct ? "SELECT DISTINCT " : "SELECT ";
    if (choices_.one_in(8)) text += fmt::format("TOP {} ", choices_.pick(5));
    if (choices_.one_in(3))
      text += fmt::format("{} AS p, {} AS q", expression(depth), expression(depth));
    else
      text += "VALUE " + expression(depth + 1);
    text += rest;
    if (!distinct && choices_.one_in(3)) text += order();
    if (choices_.one_in(6)) text += fmt::format(" OFFSET {} LIMIT {}", choices_.pick(3), choices_.pick(6));
    return text;
  }

  std::string order() {
    std::string text = " ORDER BY " + path();
    if (choices_.one_in(3)) text += " DESC";
    if (choices_.one_in(3)) text += fmt::format(", {}{}", path(), choices_.one_in(2) ? " DESC" : " ASC");
    return text;
  }

  std::string grouped(const std::string& rest, size_t depth) {
    const bool has_key = !choices_.one_in(3);
    const std::string key = path();
    std::string text = has_key ? fmt::format("SELECT {} AS g, ", key) : "SELECT ";
    text += fmt::format("{} AS p, {} AS q", aggregate(depth), aggregate(depth));
    text += rest;
    if (has_key) text += " GROUP BY " + key;
    if (has_key && choices_.one_in(4)) text += fmt::format(" HAVING {} > {}", aggregate(1), choices_.pick(3));
    if (has_key && choices_.one_in(4)) text += " ORDER BY " + key;
    return text;
  }

  std::string aggregate(size_t depth) {
    const std::string_view name =
        choices_.one_of({"COUNT", "SUM", "AVG", "MIN", "MAX", "COUNTIF", "MAKELIST", "MAKESET"});
    if (name == "COUNTIF") return fmt::format("COUNTIF({})", predicate(depth));
    if (name == "COUNT" && choices_.one_in(3)) return "COUNT(*)";
    if (name == "COUNT" && choices_.one_in(3)) return fmt::format("COUNT(DISTINCT {})", path());
    return fmt::format("{}({})", name, choices_.one_in(2) ? number(depth) : path());
  }

  // ---- Expressions

  std::string path() {
    const std::string& alias = aliases_[choices_.pick(static_cast<uint32_t>(aliases_.size()))];
    std::string text = fmt::format("{}.{}", alias, choices_.one_of(kNames));
    switch (choices_.pick(6)) {
      case 4:
        text += fmt::format(".{}", choices_.one_of({"x", "y", "n"}));
        break;
      case 5:
        text += fmt::format("[{}]", choices_.pick(3));
        break;
      default:
        break;
    }
    return text;
  }

  std::string alias() { return aliases_[choices_.pick(static_cast<uint32_t>(aliases_.size()))]; }
  std::string array_path() { return choices_.one_in(3) ? path() : alias() + ".list"; }

  std::string literal() {
    switch (choices_.pick(7)) {
      case 0:
      case 1:
        return number_literal();
      case 2:
      case 3:
        return string_literal();
      case 4:
        return choices_.one_in(2) ? "true" : "false";
      case 5:
        return choices_.one_in(2) ? "null" : "undefined";
      default:
        return fmt::format("[{}, {}]", number_literal(), string_literal());
    }
  }
  std::string number_literal() { return fmt::format("({})", choices_.one_of(kNumbers)); }
  std::string string_literal() { return fmt::format("\"{}\"", choices_.one_of(kStrings)); }

  std::string expression(size_t depth) {
    if (depth == 0) return choices_.one_in(4) ? literal() : path();
    switch (choices_.pick(14)) {
      case 0:
      case 1:
        return path();
      case 2:
        return literal();
      case 3:
        return number(depth - 1);
      case 4:
        return "(" + predicate(depth - 1) + ")";
      case 5:
        return fmt::format("({} ?? {})", expression(depth - 1), expression(depth - 1));
      case 6:
        return fmt::format("({} ? {} : {})", predicate(depth - 1), expression(depth - 1),
                           expression(depth - 1));
      case 7:
        return fmt::format("[{}, {}]", expression(depth - 1), expression(depth - 1));
      case 8:
        return fmt::format("{{\"p\": {}, \"q\": {}}}", expression(depth - 1), expression(depth - 1));
      case 9:
        return fmt::format("CASE WHEN {} THEN {} ELSE {} END", predicate(depth - 1), expression(depth - 1),
                           expression(depth - 1));
      case 10:
        return subquery(depth - 1);
      case 11:
        return fmt::format("(LET v = {} IN [v, {}])", path(), path());
      default:
        return call(depth - 1);
    }
  }

  std::string number(size_t depth) {
    if (depth == 0) return choices_.one_in(2) ? number_literal() : path();
    const std::string_view op = choices_.one_of({"+", "-", "*", "/", "%", "|", "&", "^"});
    return fmt::format("({} {} {})", number(depth - 1), op, number(depth - 1));
  }

  std::string comparison(std::string_view alias) {
    return fmt::format("{} {} {}", alias, choices_.one_of({"=", "!=", "<", ">=", ">", "<="}), literal());
  }

  std::string predicate(size_t depth) {
    if (depth == 0) return comparison(path());
    switch (choices_.pick(15)) {
      case 0:
      case 1:
        return comparison(path());
      case 12:
        return fmt::format("{}.n {} {}", alias(), choices_.one_of({"<", ">=", "!="}), number_literal());
      case 13:
        return fmt::format("{}.s {} {}", alias(), choices_.one_of({"<", ">=", "!="}), string_literal());
      case 14:
        return fmt::format("{}IS_DEFINED({})", choices_.one_in(3) ? "NOT " : "", path());
      case 2:
        return fmt::format("{} {} {}", path(), choices_.one_of({"=", "!=", "<"}), path());
      case 3:
        return fmt::format("({} AND {})", predicate(depth - 1), predicate(depth - 1));
      case 4:
        return fmt::format("({} OR {})", predicate(depth - 1), predicate(depth - 1));
      case 5:
        return fmt::format("NOT ({})", predicate(depth - 1));
      case 6:
        return fmt::format("{} {}IN ({}, {}, {})", path(), choices_.one_in(3) ? "NOT " : "", literal(),
                           literal(), expression(0));
      case 7:
        return fmt::format("({} BETWEEN {} AND {})", path(), literal(), literal());
      case 8:
        return fmt::format("{} {}LIKE {}", path(), choices_.one_in(3) ? "NOT " : "",
                           choices_.one_of({"'%a%'", "'a_b'", "'[a-c]%'", "'%b'", "c.s"}));
      case 9:
        return fmt::format("c.k = {}{}", string_literal(),
                           choices_.one_in(2) ? fmt::format(" AND c.id = '{}'", choices_.pick(4)) : "");
      case 10:
        return exists(depth - 1);
      default:
        return fmt::format("{} IS {}NULL", path(), choices_.one_in(2) ? "NOT " : "");
    }
  }

  std::string exists(size_t depth) {
    const std::string over = array_path();
    aliases_.push_back("z");
    std::string text = fmt::format("EXISTS(SELECT VALUE z FROM z IN {} WHERE {})", over, predicate(depth));
    aliases_.pop_back();
    return text;
  }

  std::string subquery(size_t depth) {
    const std::string over = array_path();
    const bool is_list = choices_.one_in(2);
    aliases_.push_back("z");
    std::string inner = fmt::format("{} FROM z IN {} WHERE {}",
                                    is_list ? expression(depth) : aggregate(depth), over, predicate(depth));
    if (is_list && choices_.one_in(3)) inner += " ORDER BY z";
    aliases_.pop_back();
    return fmt::format("{}(SELECT VALUE {})", is_list ? "ARRAY" : "", inner);
  }

  // A function of the table, with arguments mostly of its types.
  std::string call(size_t depth) {
    const Function& function = any_function();
    std::string text = std::string(function.name) + "(";
    bool is_optional = false;
    std::string arguments;
    for (const char type : function.parameters) {
      if (type == '?') is_optional = true;
      if (type == '?' || type == '*') continue;
      if (is_optional && choices_.one_in(2)) break;
      if (!arguments.empty()) arguments += ", ";
      arguments += argument(type, depth);
    }
    return text + arguments + ")";
  }

  const Function& any_function() {
    for (;;) {
      const auto families = all_functions();
      const auto family = families[choices_.pick(static_cast<uint32_t>(families.size()))];
      const Function& function = family[choices_.pick(static_cast<uint32_t>(family.size()))];
      if (is_wanted(function)) return function;
      if (choices_.one_in(16)) return *find_function("IS_DEFINED");
    }
  }
  // What lies about at random is no date, shape, vector, pattern or text to search.
  static bool is_wanted(const Function& function) {
    for (const std::string_view prefix :
         {"ST_", "FULLTEXT", "VECTOR", "REGEX", "DATETIME", "GETCURRENT", "_", "RRF"})
      if (function.name.starts_with(prefix)) return false;
    return function.volatility == Volatility::pure;
  }

  std::string argument(char type, size_t depth) {
    if (choices_.one_in(8)) return expression(depth);
    switch (type) {
      case 's':
        return choices_.one_in(2) ? string_literal() : path();
      case 'n':
        return number(depth);
      case 'i':
        return fmt::format("{}", choices_.pick(5));
      case 'b':
        return choices_.one_in(2) ? "true" : "(" + predicate(0) + ")";
      case 'a':
        return choices_.one_in(2) ? "c.list" : fmt::format("[{}, {}]", literal(), path());
      case 'o':
        return choices_.one_in(2) ? "c.o" : fmt::format("{{\"x\": {}}}", literal());
      default:
        return expression(depth);
    }
  }

  Choices& choices_;
  std::vector<std::string> aliases_;
  std::string from_;
  std::string predicate_;
};

}  // namespace

Case make_case(Choices& choices) {
  Case made;
  QueryMaker query(choices);
  made.query = query.query();
  made.from = query.from();
  made.predicate = query.predicate();
  DocumentMaker documents(choices);
  // Now and then enough items for several batches.
  constexpr uint32_t kSeveralBatches = 400;
  const uint32_t copies = choices.one_in(256) ? kSeveralBatches : 1;
  for (uint32_t left = choices.pick(7); left > 0; --left)
    made.first.push_back(documents.document(made.first.size()));
  for (uint32_t left = choices.pick(5); left > 0; --left)
    made.second.push_back(documents.document(made.second.size()));
  const std::vector<std::string> once = made.first;
  for (uint32_t copy = 1; copy < copies; ++copy)
    made.first.insert(made.first.end(), once.begin(), once.end());
  return made;
}

}  // namespace quire::sql::oracle
