// The tree as an indented outline, a node a line, for EXPLAIN (AST): how a text was understood, with every
// operator and clause where it belongs. Recursion is bounded by kMostExpressionDepth.
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "sql/parse/ast.h"
#include "sql/parse/literals.h"
#include "sql/parse/operators.h"

namespace quire::sql {
namespace {

constexpr std::string_view name_of(ExpressionKind kind) noexcept {
  switch (kind) {
    case ExpressionKind::literal:
      return "literal";
    case ExpressionKind::parameter:
      return "parameter";
    case ExpressionKind::identifier:
      return "identifier";
    case ExpressionKind::member:
      return "member";
    case ExpressionKind::index:
      return "index";
    case ExpressionKind::unary:
    case ExpressionKind::binary:
      return "operator";
    case ExpressionKind::logical_and:
      return "AND";
    case ExpressionKind::logical_or:
      return "OR";
    case ExpressionKind::conditional:
      return "?:";
    case ExpressionKind::coalesce:
      return "??";
    case ExpressionKind::between:
      return "BETWEEN";
    case ExpressionKind::in:
      return "IN";
    case ExpressionKind::like:
      return "LIKE";
    case ExpressionKind::is_null:
      return "IS NULL";
    case ExpressionKind::case_when:
      return "CASE";
    case ExpressionKind::let:
      return "LET";
    case ExpressionKind::array:
      return "array";
    case ExpressionKind::object:
      return "object";
    case ExpressionKind::call:
      return "call";
    case ExpressionKind::exists:
      return "EXISTS";
    case ExpressionKind::array_query:
      return "ARRAY";
    case ExpressionKind::all_query:
      return "ALL";
    case ExpressionKind::first_query:
      return "FIRST";
    case ExpressionKind::last_query:
      return "LAST";
    case ExpressionKind::scalar_query:
      return "scalar subquery";
  }
  return "";
}

class Outliner {
 public:
  std::string take() { return std::move(out_); }

  void query(const Query& first, int level) {
    for (const Query* query = &first; query; query = query->next) {
      select(*query, level);
      if (query->set_operation == SetOperation::union_distinct) line(level, "UNION");
      if (query->set_operation == SetOperation::union_all) line(level, "UNION ALL");
    }
  }

  void expression(const Expression& node, int level) {
    line(level, label(node));
    ++level;
    // CASE keeps ELSE behind its subject, but it is written last.
    const size_t before_arms = node.operands.size() - (node.has_else ? 1 : 0);
    for (const Expression* operand : node.operands.first(before_arms)) expression(*operand, level);
    for (const CaseArm& arm : node.arms) {
      clause("WHEN", arm.when, level);
      clause("THEN", arm.then, level);
    }
    if (node.has_else) clause("ELSE", node.operands.back(), level);
    for (const ObjectEntry& entry : node.entries) {
      std::string key;
      append_quoted(key, entry.key);
      clause(key, entry.value, level);
    }
    if (node.query) query(*node.query, level);
  }

 private:
  void line(int level, std::string_view text) {
    out_.append(static_cast<size_t>(level) * 2, ' ');
    out_ += text;
    out_ += '\n';
  }

  void clause(std::string_view name, const Expression* node, int level) {
    if (!node) return;
    line(level, name);
    expression(*node, level + 1);
  }

  void select(const Query& query, int level) {
    line(level, query.distinct ? "SELECT DISTINCT" : "SELECT");
    ++level;
    clause("TOP", query.top, level);
    if (query.select == SelectKind::star) line(level, "*");
    for (const SelectItem& item : query.items) select_item(query.select, item, level);
    for (const FromSource& source : query.from) from_source(source, level);
    clause("WHERE", query.where, level);
    if (!query.group_by.empty()) line(level, "GROUP BY");
    for (const Expression* key : query.group_by) expression(*key, level + 1);
    clause("HAVING", query.having, level);
    if (!query.order_by.empty()) line(level, query.order_by_rank ? "ORDER BY RANK" : "ORDER BY");
    for (const OrderItem& item : query.order_by)
      clause(item.descending ? "descending" : "ascending", item.expression, level + 1);
    clause("OFFSET", query.offset, level);
    clause("LIMIT", query.limit, level);
  }

  void select_item(SelectKind kind, const SelectItem& item, int level) {
    std::string label = kind == SelectKind::value ? "VALUE" : "item";
    if (item.alias) {
      label += " AS ";
      append_quoted(label, *item.alias);
    }
    clause(label, item.expression, level);
  }

  void from_source(const FromSource& source, int level) {
    std::string label = source.join == JoinKind::first     ? "FROM"
                        : source.join == JoinKind::left_on ? "LEFT JOIN"
                                                           : "JOIN";
    if (source.collection == CollectionKind::path) label += " " + path(source);
    if (source.alias) fmt::format_to(std::back_inserter(label), " AS {}", *source.alias);
    if (source.iterates) label += ", each element";
    line(level, label);
    if (source.query) query(*source.query, level + 1);
    clause("ON", source.on, level + 1);
  }

  static std::string path(const FromSource& source) {
    std::string text(source.root);
    for (const PathStep& step : source.steps) {
      if (step.is_index) {
        fmt::format_to(std::back_inserter(text), "[{}]", step.index);
      } else if (step.is_bracketed) {
        text += '[';
        append_quoted(text, step.name);
        text += ']';
      } else {
        fmt::format_to(std::back_inserter(text), ".{}", step.name);
      }
    }
    return text;
  }

  // What the line of a node says.
  static std::string label(const Expression& node) {
    std::string text = node.negated ? "NOT " : "";
    text += name_of(node.kind);
    switch (node.kind) {
      case ExpressionKind::literal:
      case ExpressionKind::parameter:
        text += ' ';
        text += print(node);
        break;
      case ExpressionKind::identifier:
      case ExpressionKind::let:
        fmt::format_to(std::back_inserter(text), " {}", node.text);
        break;
      case ExpressionKind::member:
        text += ' ';
        append_quoted(text, node.text);
        break;
      case ExpressionKind::unary:
        fmt::format_to(std::back_inserter(text), " {}", operator_row(node.unary_operator).name);
        break;
      case ExpressionKind::binary:
        fmt::format_to(std::back_inserter(text), " {}", operator_row(node.binary_operator).name);
        break;
      case ExpressionKind::call:
        fmt::format_to(std::back_inserter(text), " {}{}{}{}", node.is_udf ? "udf." : "", node.text,
                       node.is_distinct ? " DISTINCT" : "", node.is_star ? " *" : "");
        break;
      case ExpressionKind::like:
        if (!node.has_escape) break;
        text += " ESCAPE ";
        append_quoted(text, node.text);
        break;
      case ExpressionKind::index:
      case ExpressionKind::logical_and:
      case ExpressionKind::logical_or:
      case ExpressionKind::conditional:
      case ExpressionKind::coalesce:
      case ExpressionKind::between:
      case ExpressionKind::in:
      case ExpressionKind::is_null:
      case ExpressionKind::case_when:
      case ExpressionKind::array:
      case ExpressionKind::object:
      case ExpressionKind::exists:
      case ExpressionKind::array_query:
      case ExpressionKind::all_query:
      case ExpressionKind::first_query:
      case ExpressionKind::last_query:
      case ExpressionKind::scalar_query:
        break;
    }
    return text;
  }

  std::string out_;
};

}  // namespace

std::string outline(const Statement& statement) {
  if (!statement.query) {
    Statement alone = statement;
    if (alone.kind == StatementKind::explain) alone.kind = StatementKind::change;
    return print(alone) + '\n';
  }
  Outliner outliner;
  outliner.query(*statement.query, 0);
  return outliner.take();
}

}  // namespace quire::sql
