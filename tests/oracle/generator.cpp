#include "tests/oracle/generator.h"

#include <fmt/format.h>

#include "tests/oracle/document_maker.h"
#include "tests/oracle/function_choice.h"

namespace quire::sql::oracle {
namespace {

class QueryMaker {
 public:
  explicit QueryMaker(Choices& choices) : choices_(choices) {}

  // Sets from_ and predicate_ to those of the outermost query.
  std::string query() {
    is_in_union_ = choices_.one_in(8);
    std::string text = select(2);
    const std::string from = from_, predicate = predicate_, value = value_;
    for (uint32_t more = is_in_union_ ? 1 + choices_.pick(3) : 0; more > 0; --more) {
      text += choices_.one_in(2) ? " UNION " : " UNION ALL ";
      text += select(1);
    }
    if (is_in_union_ && choices_.one_in(2))
      text += " ORDER BY " + value + (choices_.one_in(2) ? " DESC" : "");
    if (is_in_union_ && choices_.one_in(3)) text += page();
    from_ = from;
    predicate_ = predicate;
    return text;
  }
  // A statement that changes the items of one of the containers. Which of two items is written first, the
  // order of the rows would say, which is nobody's promise: no two rows make the same item, save those of one
  // item.
  std::string change() {
    aliases_ = {"c"};
    switch (choices_.pick(6)) {
      case 0:
      case 1:
        return update();
      case 2:
        return "DELETE FROM c WHERE " + predicate(2);
      case 3:
        return fmt::format(
            "INSERT INTO c SELECT VALUE {{\"id\": CONCAT(c.id, '-{}'), \"k\": c.k, \"a\": {}}} FROM c WHERE "
            "{}",
            choices_.pick(3), expression(2), predicate(2));
      case 4:
        return fmt::format(
            "UPSERT INTO d SELECT CONCAT(c.id, TOSTRING([c.k])) AS id, {} AS a, {} AS n FROM c{} WHERE {}",
            expression(2), number(1), choices_.one_in(3) ? " JOIN e IN c.list" : "", predicate(2));
      default:
        return fmt::format("{} INTO c VALUES {{\"id\": '{}', \"k\": {}, \"a\": {}}}",
                           choices_.one_of({"UPSERT", "REPLACE", "INSERT"}), choices_.pick(7), literal(),
                           literal());
    }
  }
  const std::string& from() const { return from_; }
  const std::string& predicate() const { return predicate_; }
  // Those of all queries made so far, by name, as JSON.
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  // ---- Queries

  std::string select(size_t depth) {
    from_ = " FROM " + items_of("c", "c");
    aliases_ = {"c"};
    while (aliases_.size() < 4 && choices_.one_in(3)) from_ += join(depth);
    const std::string connected = aliases_.size() == 1 && choices_.one_in(10) ? connect() : "";
    predicate_ = connected + predicate(depth + 1);
    const std::string text = choices_.one_in(4) ? from_ : from_ + " WHERE " + predicate_;
    return choices_.one_in(4) ? grouped(text, depth) : plain(text, depth);
  }

  // Containers joined in an order in which each but the first is connected to one that comes later.
  std::string connect() {
    std::string equalities;
    const uint32_t count = 2 + choices_.pick(2);
    for (uint32_t i = 1; i <= count; ++i) {
      from_ += fmt::format(" JOIN d j{}", i);
      aliases_.push_back(fmt::format("j{}", i));
    }
    for (uint32_t i = 1; i <= count; ++i) {
      const std::string partner = i == count ? "c" : fmt::format("j{}", i + 1);
      equalities +=
          fmt::format("{}.{} = j{}.{} AND ", partner, choices_.one_of(kNames), i, choices_.one_of(kNames));
    }
    return equalities;
  }

  std::string join(size_t depth) {
    const std::string alias = fmt::format("j{}", aliases_.size());
    const std::string over = array_path();
    std::string text;
    switch (choices_.pick(7)) {
      case 0:
      case 1:
        text = fmt::format(" JOIN {} IN {}", alias, over);
        break;
      case 2:
        text = fmt::format(" JOIN (SELECT VALUE e FROM e IN {} WHERE {}{}) {}", over, comparison("e"),
                           also(0), alias);
        break;
      case 3:
        aliases_.push_back(alias);
        return fmt::format(" {}JOIN {} ON {}", choices_.one_in(2) ? "LEFT " : "", items_of("d", alias),
                           on(alias, depth));
      case 4:
        aliases_.push_back(alias);
        return fmt::format(" LEFT JOIN {} IN {} ON {}", alias, over, predicate(1));
      case 5:
        return join_query(alias, depth);
      default:
        text = " JOIN " + items_of("d", alias);
        break;
    }
    aliases_.push_back(alias);
    return text;
  }

  // A container, or a subquery that lets some of its items through.
  std::string items_of(std::string_view container, const std::string& alias) {
    if (!choices_.one_in(5)) return fmt::format("{} {}", container, alias);
    std::vector<std::string> before = std::move(aliases_);
    aliases_ = {"x"};
    std::string text = fmt::format("(SELECT * FROM {} x WHERE {}) {}", container, predicate(1), alias);
    aliases_ = std::move(before);
    return text;
  }

  // A subquery over a container, most often one that reads nothing of the rows before it.
  std::string join_query(const std::string& alias, size_t depth) {
    const bool is_left = choices_.one_in(2), is_grouped = choices_.one_in(3);
    const std::string_view key = choices_.one_of(kNames);
    std::vector<std::string> before = std::move(aliases_);
    if (choices_.one_in(4)) aliases_ = before;
    aliases_.push_back("w");
    std::string text =
        fmt::format("SELECT {}w.{} AS a, ", choices_.one_of({"TOP 2 ", "DISTINCT ", "", "", ""}), key);
    text += is_grouped ? aggregate(1) + " AS n" : expression(1) + " AS n, w.list AS list";
    text += fmt::format(" FROM d w WHERE {}", predicate(1));
    if (is_grouped) text += fmt::format(" GROUP BY w.{}", key);
    aliases_.pop_back();
    if (!aliases_.empty()) text += also(0);
    aliases_ = std::move(before);
    aliases_.push_back(alias);
    std::string condition = on(alias, depth);
    if (choices_.one_in(3)) condition += " AND " + comparison(alias + ".a");
    if (is_left) return fmt::format(" LEFT JOIN ({}) {} ON {}", text, alias, condition);
    return fmt::format(" JOIN ({}) {}{}", text, alias, choices_.one_in(3) ? "" : " ON " + condition);
  }

  // Another query behind a subquery, which may read what stands around the whole.
  std::string also(size_t depth) {
    if (!choices_.one_in(6)) return "";
    return fmt::format(" UNION{} SELECT VALUE {}", choices_.one_in(2) ? " ALL" : "", expression(depth));
  }

  std::string on(const std::string& alias, size_t depth) {
    const std::string equality = fmt::format("{}.{} = {}", alias, choices_.one_of(kNames), path_of_earlier());
    if (choices_.one_in(4)) {
      const std::string first = predicate(depth);
      return fmt::format("({0} AND {1} OR {2} AND {0})", equality, first, predicate(depth));
    }
    if (choices_.one_in(6))
      return fmt::format("({} OR {}.{} = {})", equality, alias, choices_.one_of(kNames), path_of_earlier());
    return choices_.one_in(2) ? equality + " AND " + predicate(depth) : equality;
  }
  std::string path_of_earlier() {
    const auto place = choices_.pick(static_cast<uint32_t>(aliases_.size() - 1));
    return fmt::format("{}.{}", aliases_[place], choices_.one_of(kNames));
  }

  std::string plain(const std::string& rest, size_t depth) {
    const bool distinct = choices_.one_in(5);
    std::string text = distinct ? "SELECT DISTINCT " : "SELECT ";
    if (choices_.one_in(8)) text += fmt::format("TOP {} ", count(5));
    if (choices_.one_in(3)) {
      text += fmt::format("{} AS p, {} AS q", expression(depth), expression(depth));
      value_ = "q";
    } else {
      value_ = expression(depth + 1);
      text += "VALUE " + value_;
    }
    text += rest;
    if (is_in_union_) return text;
    if (!distinct && choices_.one_in(3)) text += order();
    if (choices_.one_in(6)) text += page();
    return text;
  }

  std::string page() { return fmt::format(" OFFSET {} LIMIT {}", count(3), count(6)); }
  std::string count(uint32_t below) {
    const std::string number = fmt::format("{}", choices_.pick(below));
    return choices_.one_in(4) ? parameter(number) : number;
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
    value_ = "p";
    if (has_key) text += " GROUP BY " + key;
    if (has_key && choices_.one_in(3)) text += " HAVING " + having(key);
    if (has_key && !is_in_union_ && choices_.one_in(4)) text += " ORDER BY " + key;
    return text;
  }

  std::string having(const std::string& key) {
    const std::string of_group =
        fmt::format("{} > {}", choices_.one_in(2) ? "p" : aggregate(1), choices_.pick(3));
    if (choices_.one_in(2)) return of_group;
    const std::string of_key = choices_.one_in(3) ? fmt::format("NOT IS_NUMBER({})", key) : comparison(key);
    return choices_.one_in(2) ? of_key : fmt::format("{} AND {}", of_group, of_key);
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

  std::string parameter(std::string json) {
    parameters_.push_back({fmt::format("p{}", parameters_.size()), std::move(json)});
    return "@" + parameters_.back().name;
  }

  std::string literal() {
    if (choices_.one_in(12)) return parameter(DocumentMaker(choices_).value(1));
    switch (choices_.pick(7)) {
      case 0:
      case 1:
        return number_literal();
      case 2:
      case 3:
        return string_literal();
      case 4:
      case 5:
        return std::string(choices_.one_of({"true", "false", "null", "undefined"}));
      default:
        return fmt::format("[{}, {}]", number_literal(), string_literal());
    }
  }
  std::string number_literal() { return fmt::format("({})", choices_.one_of(kNumbers)); }
  std::string string_literal() { return fmt::format("\"{}\"", choices_.one_of(kStrings)); }

  std::string expression(size_t depth) {
    if (depth == 0) return choices_.one_in(4) ? literal() : path();
    switch (choices_.pick(15)) {
      case 0:
      case 1:
        return path();
      case 14:
        return choice_by_value(depth - 1);
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

  std::string choice_by_value(size_t depth) {
    const std::string subject = path();
    std::string text = "CASE";
    for (uint32_t left = 3 + choices_.pick(6); left > 0; --left)
      text += fmt::format(" WHEN {} = {} THEN {}", subject, literal(), expression(left == 1 ? depth : 0));
    if (choices_.one_in(2)) text += " ELSE " + expression(0);
    return text + " END";
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
    switch (choices_.pick(18)) {
      case 0:
      case 1:
        return comparison(path());
      case 16:
        return equalities(depth - 1);
      case 17:
        return is_one_of_known();
      case 15:
        return in_query(depth - 1);
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

  // Of one path under OR, with something else among them.
  std::string equalities(size_t depth) {
    const std::string subject = path();
    std::string text = choices_.one_in(3) ? predicate(depth) : comparison(subject);
    for (uint32_t left = choices_.one_in(3) ? 16 : 3; left > 0; --left)
      text += choices_.one_in(4) ? fmt::format(" OR {} = {}", literal(), subject)
                                 : fmt::format(" OR {} = {}", subject, literal());
    return "(" + text + ")";
  }

  // An array that is the same for all rows.
  std::string is_one_of_known() {
    const std::string wanted = path();
    if (choices_.one_in(2))
      return fmt::format("ARRAY_CONTAINS(ARRAY(SELECT VALUE w.{} FROM d w WHERE {}{}), {})",
                         choices_.one_of(kNames), comparison("w.n"), also(0), wanted);
    constexpr size_t kMany = 16;
    const std::string values = DocumentMaker(choices_).array(kMany, 1);
    return fmt::format("ARRAY_CONTAINS({}, {})", choices_.one_in(2) ? parameter(values) : values, wanted);
  }

  std::string exists(size_t depth) {
    const size_t outer = aliases_.size();
    const std::string from = inner_from(depth);
    std::string text = fmt::format("EXISTS(SELECT VALUE z{} WHERE {}", from, predicate(depth));
    aliases_.resize(outer);
    return text + also(0) + ")";
  }

  // FROM of a subquery, its first alias z: an array, or a container and mostly others that are joined to it
  // by what they or the row around it have.
  std::string inner_from(size_t depth) {
    if (!choices_.one_in(3)) {
      const std::string over = array_path();
      aliases_.emplace_back("z");
      return " FROM z IN " + over;
    }
    std::string text = " FROM d z";
    aliases_.emplace_back("z");
    for (uint32_t i = 0, joined = choices_.pick(4); i < joined; ++i) {
      const std::string alias = fmt::format("z{}", i);
      aliases_.push_back(alias);
      text += fmt::format(" {}JOIN d {} ON {}", choices_.one_in(4) ? "LEFT " : "", alias, on(alias, depth));
    }
    return text;
  }

  // Over an array of the row, or over a container, which may leave nothing of the row in it.
  std::string in_query(size_t depth) {
    const std::string needle = path(), over = choices_.one_in(2) ? "w IN " + array_path() : "d w";
    aliases_.push_back("w");
    const std::string value =
        choices_.one_in(2) ? "w." + std::string(choices_.one_of(kNames)) : expression(depth);
    const std::string condition = choices_.one_in(2) ? comparison("w.n") : predicate(depth);
    aliases_.pop_back();
    return fmt::format("{} {}IN (SELECT VALUE {} FROM {} WHERE {}{})", needle,
                       choices_.one_in(3) ? "NOT " : "", value, over, condition, also(0));
  }

  std::string update() {
    std::string text = "UPDATE c SET ";
    for (uint32_t left = 1 + choices_.pick(2); left > 0; --left)
      text += target() + " = " + expression(2) + (left > 1 ? ", " : "");
    if (choices_.one_in(3)) text += " UNSET " + target();
    return text + " WHERE " + predicate(2);
  }
  std::string target() {
    return fmt::format("c.{}{}", choices_.one_of({"a", "b", "n", "s", "list", "o", "new"}),
                       choices_.one_of({"", "", "", "", ".x", "[0]", "[1]", ".y.z", "[0].x"}));
  }

  std::string subquery(size_t depth) {
    const bool is_list = choices_.one_in(2);
    const size_t outer = aliases_.size();
    const std::string from = inner_from(depth);
    std::string inner =
        fmt::format("{}{} WHERE {}", is_list ? expression(depth) : aggregate(depth), from, predicate(depth));
    // Of a container z is an item, whose order its system properties decide.
    if (is_list && from.contains(" IN ") && choices_.one_in(3)) inner += " ORDER BY z";
    aliases_.resize(outer);
    if (is_list && !inner.ends_with(" ORDER BY z")) inner += also(0);
    return fmt::format("{}(SELECT VALUE {})", is_list ? "ARRAY" : "", inner);
  }

  // A function of the table, with arguments mostly of its types.
  std::string call(size_t depth) {
    const Function& function = any_function(choices_);
    is_in_date_call_ = is_of_dates(function);
    std::string text = std::string(function.name) + "(";
    bool is_optional = false;
    std::string arguments;
    for (const char type : function.parameters) {
      if (type == '?') is_optional = true;
      if (type == '?' || type == '*') continue;
      if (is_optional && choices_.one_in(2)) break;
      if (!arguments.empty()) arguments += ", ";
      arguments += argument(type, depth);
      is_in_date_call_ = is_of_dates(function);  // a call within the argument may be another
    }
    is_in_date_call_ = false;
    return text + arguments + ")";
  }

  std::string argument(char type, size_t depth) {
    if (is_in_date_call_ && type == 's') return date_or_part(choices_);
    if (choices_.one_in(8)) return expression(depth);
    switch (type) {
      case 's':
        return choices_.one_in(2) ? string_literal() : path();
      case 'n':
        return number(depth);
      case 'i':
        return fmt::format("{}", choices_.pick(5));
      case 'c':
        return choices_.one_in(8) ? "1e19" : fmt::format("{}", choices_.pick(5));
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
  std::vector<Parameter> parameters_;
  std::string from_;
  std::string predicate_;
  std::string value_;  // what the last query gave, as ORDER BY of a union may name it
  bool is_in_union_ = false;
  bool is_in_date_call_ = false;
};

}  // namespace

Case make_case(Choices& choices) {
  Case made;
  QueryMaker query(choices);
  made.query = query.query();
  made.parameters = query.parameters();
  made.from = query.from();
  made.predicate = query.predicate();
  DocumentMaker documents(choices);
  // Now and then enough items for several batches.
  constexpr uint32_t kSeveralBatches = 400;
  const uint32_t copies = choices.one_in(256) ? kSeveralBatches : 1;
  made.first = documents.documents(choices.pick(7), copies);
  made.second = documents.documents(choices.pick(5));
  return made;
}

ChangeCase make_changes(Choices& choices) {
  ChangeCase made;
  QueryMaker maker(choices);
  for (uint32_t left = 1 + choices.pick(3); left > 0; --left) made.statements.push_back(maker.change());
  made.parameters = maker.parameters();
  DocumentMaker documents(choices);
  made.first = documents.documents(choices.pick(7));
  made.second = documents.documents(choices.pick(5));
  return made;
}

}  // namespace quire::sql::oracle
