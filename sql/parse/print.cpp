// The tree as SQL on one line. Parentheses that were written stay; others appear only where the tree would
// read back differently without them. Recursion is bounded by kMostExpressionDepth.
#include <string>

#include "sql/parse/ast.h"
#include "sql/parse/keywords.h"
#include "sql/parse/literals.h"
#include "sql/parse/operators.h"
#include "sql/parse/script_words.h"

namespace quire::sql {
namespace {

constexpr OperatorLevel tighter(OperatorLevel level) noexcept {
  return static_cast<OperatorLevel>(static_cast<uint8_t>(level) + 1);
}

class Printer {
 public:
  explicit Printer(bool is_to_compare = false) : is_to_compare_(is_to_compare) {}

  std::string take() { return std::move(out_); }

  void statement(const Statement& statement) {
    if (statement.kind == StatementKind::explain) {
      out_ += statement.analyze ? "EXPLAIN ANALYZE " : "EXPLAIN ";
      switch (statement.explain_stage) {
        case ExplainStage::ast:
          out_ += "(AST) ";
          break;
        case ExplainStage::logical:
          out_ += "(LOGICAL) ";
          break;
        case ExplainStage::physical:
          out_ += "(PHYSICAL) ";
          break;
        case ExplainStage::json:
          out_ += "(JSON) ";
          break;
      }
    }
    if (statement.execute)
      execute(*statement.execute);
    else if (statement.query)
      query(*statement.query);
    if (statement.change) change(*statement.change);
    if (statement.kind == StatementKind::begin) out_ += "BEGIN";
    if (statement.kind == StatementKind::commit) out_ += "COMMIT";
    if (statement.kind == StatementKind::rollback) out_ += "ROLLBACK";
    if (statement.pragma) {
      (out_ += "PRAGMA ") += statement.pragma->name;
      clause(" = ", statement.pragma->value);
    }
    if (statement.upkeep) {
      out_ += statement.kind == StatementKind::check     ? "CHECK"
              : statement.kind == StatementKind::analyze ? "ANALYZE"
                                                         : "ADVISE";
      if (!statement.upkeep->container.empty()) out_ += ' ';
      if (!statement.upkeep->container.empty()) object(statement.upkeep->container);
    }
    if (statement.definition) definition(statement.kind, *statement.definition);
    if (statement.index) index(statement.kind, *statement.index);
    if (statement.script) out_ += print_script(statement.kind, *statement.script);
  }

  void query(const Query& first) {
    for (const Query* query = &first; query; query = query->next) {
      select(*query);
      if (query->set_operation == SetOperation::union_distinct) out_ += " UNION ";
      if (query->set_operation == SetOperation::union_all) out_ += " UNION ALL ";
    }
  }

  // In parentheses if they were written, or if the expression binds more loosely than `least`.
  void expression(const Expression& node, OperatorLevel least = OperatorLevel::conditional) {
    const bool parentheses = (node.is_parenthesised && !is_to_compare_) || level_of(node) < least;
    if (parentheses) out_ += '(';
    inside(node);
    if (parentheses) out_ += ')';
  }

 private:
  // ---- Changes

  void change(const Change& change) {
    static constexpr std::string_view kWords[] = {"INSERT INTO ", "UPSERT INTO ", "REPLACE INTO ",
                                                  "UPDATE ",      "DELETE FROM ", "PATCH "};
    out_ += kWords[static_cast<size_t>(change.kind)];
    object(change.target.root);
    if (change.target.alias) (out_ += " AS ") += *change.target.alias;
    if (change.query) {
      out_ += ' ';
      query(*change.query);
    }
    if (!change.values.empty()) {
      out_ += " VALUES ";
      expressions(change.values);
    }
    assignments(change.assignments);
    if (change.operations) clause(" WITH ", change.operations);
    if (change.where) clause(" WHERE ", change.where);
    if (!change.pre_trigger.empty()) append_name(out_ += " PRE TRIGGER ", change.pre_trigger);
    if (!change.post_trigger.empty()) append_name(out_ += " POST TRIGGER ", change.post_trigger);
    if (!change.returns) return;
    out_ += " RETURNING ";
    selection(change.select, change.items);
  }

  // Those with a value stand before those without.
  void assignments(std::span<const Assignment> list) {
    std::string_view before = " SET ";
    for (const Assignment& assignment : list) {
      if (!assignment.value) continue;
      out_ += before;
      expression(*assignment.path);
      clause(" = ", assignment.value);
      before = ", ";
    }
    before = " UNSET ";
    for (const Assignment& assignment : list) {
      if (assignment.value) continue;
      out_ += before;
      expression(*assignment.path);
      before = ", ";
    }
  }

  void definition(StatementKind kind, const ContainerChange& change) {
    if (kind == StatementKind::create_container)
      out_ += change.is_conditional ? "CREATE CONTAINER IF NOT EXISTS " : "CREATE CONTAINER ";
    if (kind == StatementKind::alter_container) out_ += "ALTER CONTAINER ";
    if (kind == StatementKind::drop_container)
      out_ += change.is_conditional ? "DROP CONTAINER IF EXISTS " : "DROP CONTAINER ";
    object(change.name);
    if (!change.partition_key.empty()) {
      out_ += " PARTITION KEY (";
      list(change.partition_key, [this](const Expression* path) { append_quoted(out_, path->text); });
      out_ += ')';
    }
    if (change.properties) clause(" WITH ", change.properties);
  }

  void index(StatementKind kind, const IndexChange& change) {
    if (kind == StatementKind::create_index) {
      out_ += change.is_unique ? "CREATE UNIQUE INDEX " : "CREATE INDEX ";
      if (change.is_conditional) out_ += "IF NOT EXISTS ";
      if (!change.name.empty()) object(change.name);
      if (!change.name.empty()) out_ += ' ';
    } else {
      out_ += change.is_conditional ? "DROP INDEX IF EXISTS " : "DROP INDEX ";
      object(change.name);
      if (!change.container.empty()) out_ += ' ';
    }
    if (!change.container.empty()) out_ += "ON ";
    if (!change.container.empty()) object(change.container);
    if (change.keys.empty()) return;
    out_ += " (";
    list(change.keys, [this](const IndexKey& key) {
      append_quoted(out_, key.path->text);
      if (key.is_descending) out_ += " DESC";
    });
    out_ += ')';
    if (change.where) clause(" WHERE ", change.where);
  }

  void execute(const Execute& call) {
    out_ += "EXECUTE ";
    object(call.name);
    out_ += '(';
    list(call.arguments, [this](const Expression* argument) { expression(*argument); });
    out_ += ") ON ";
    object(call.container);
    if (!call.has_partition_key) return;
    out_ += " IN PARTITION ";
    list(call.partition_key, [this](const Expression* component) { expression(*component); });
  }

  // The name of a container or an index.
  void object(std::string_view name) {
    if (is_plain_name(name))
      out_ += name;
    else
      append_quoted(out_, name);
  }

  // ---- Queries

  void select(const Query& query) {
    out_ += query.distinct ? "SELECT DISTINCT " : "SELECT ";
    if (query.top) {
      out_ += "TOP ";
      expression(*query.top);
      out_ += ' ';
    }
    selection(query.select, query.items);
    if (query.has_from) from(query.from);
    clause(" WHERE ", query.where);
    if (!query.group_by.empty()) out_ += " GROUP BY ";
    list(query.group_by, [this](const Expression* key) { expression(*key); });
    clause(" HAVING ", query.having);
    if (!query.order_by.empty()) out_ += query.order_by_rank ? " ORDER BY RANK " : " ORDER BY ";
    list(query.order_by, [this](const OrderItem& item) { order_item(item); });
    clause(" OFFSET ", query.offset);
    clause(" LIMIT ", query.limit);
  }

  void clause(std::string_view keyword, const Expression* node) {
    if (!node) return;
    out_ += keyword;
    expression(*node);
  }

  void selection(SelectKind kind, std::span<const SelectItem> items) {
    if (kind == SelectKind::star) out_ += '*';
    if (kind == SelectKind::value) out_ += "VALUE ";
    list(items, [this](const SelectItem& item) { select_item(item); });
  }

  void select_item(const SelectItem& item) {
    expression(*item.expression);
    if (!item.alias) return;
    out_ += " AS ";
    if (is_plain_name(*item.alias))
      out_ += *item.alias;
    else
      append_quoted(out_, *item.alias);
  }

  void from(std::span<const FromSource> sources) {
    out_ += " FROM ";
    for (const FromSource& source : sources) {
      switch (source.join) {
        case JoinKind::first:
          break;
        case JoinKind::lateral:
        case JoinKind::inner_on:
          out_ += " JOIN ";
          break;
        case JoinKind::left_on:
          out_ += " LEFT JOIN ";
          break;
      }
      from_source(source);
      clause(" ON ", source.on);
    }
  }

  void from_source(const FromSource& source) {
    if (source.iterates && source.alias) {
      out_ += *source.alias;
      out_ += " IN ";
    }
    if (source.collection == CollectionKind::query)
      subquery(*source.query);
    else
      path(source);
    if (!source.iterates && source.alias) {
      out_ += " AS ";
      out_ += *source.alias;
    }
  }

  void path(const FromSource& source) {
    object(source.root);
    for (const PathStep& step : source.steps) {
      if (step.is_index)
        out_ += "[" + std::to_string(step.index) + "]";
      else
        name_step(step.name, step.is_bracketed);
    }
  }

  void order_item(const OrderItem& item) {
    expression(*item.expression);
    if (item.has_direction) out_ += item.descending ? " DESC" : " ASC";
  }

  void subquery(const Query& nested) {
    out_ += '(';
    query(nested);
    out_ += ')';
  }

  // ---- Expressions

  template <typename Items, typename Print>
  void list(const Items& items, Print print) {
    bool is_first = true;
    for (const auto& item : items) {
      if (!is_first) out_ += ", ";
      is_first = false;
      print(item);
    }
  }
  void expressions(std::span<Expression* const> nodes) {
    list(nodes, [this](const Expression* node) { expression(*node); });
  }

  void name_step(std::string_view name, bool is_bracketed) {
    if (is_bracketed || is_to_compare_) {
      out_ += '[';
      append_quoted(out_, name);
      out_ += ']';
    } else {
      out_ += '.';
      out_ += name;
    }
  }

  void inside(const Expression& node) {
    switch (node.kind) {
      case ExpressionKind::literal:
        return literal(node.literal);
      case ExpressionKind::parameter:
        out_ += '@';
        out_ += node.text;
        return;
      case ExpressionKind::identifier:
        out_ += node.text;
        return;
      case ExpressionKind::member:
      case ExpressionKind::index:
        return step(node);
      case ExpressionKind::unary:
        return unary(node);
      case ExpressionKind::binary:
        return binary(node);
      case ExpressionKind::logical_and:
      case ExpressionKind::logical_or:
        return logical(node);
      case ExpressionKind::conditional:
      case ExpressionKind::coalesce:
        return choice(node);
      case ExpressionKind::between:
      case ExpressionKind::in:
      case ExpressionKind::like:
      case ExpressionKind::is_null:
      case ExpressionKind::let:
        return predicate(node);
      case ExpressionKind::case_when:
        return case_when(node);
      case ExpressionKind::array:
        out_ += '[';
        expressions(node.operands);
        out_ += ']';
        return;
      case ExpressionKind::object:
        return object(node);
      case ExpressionKind::call:
        return call(node);
      case ExpressionKind::exists:
        out_ += "EXISTS";
        return subquery(*node.query);
      case ExpressionKind::array_query:
        out_ += "ARRAY";
        return subquery(*node.query);
      case ExpressionKind::all_query:
        out_ += "ALL";
        return subquery(*node.query);
      case ExpressionKind::first_query:
        out_ += "FIRST";
        return subquery(*node.query);
      case ExpressionKind::last_query:
        out_ += "LAST";
        return subquery(*node.query);
      case ExpressionKind::scalar_query:
        return subquery(*node.query);
    }
  }

  void literal(const Value& value) {
    switch (value.kind()) {
      case Kind::undefined:
        out_ += "undefined";
        return;
      case Kind::null:
        out_ += "null";
        return;
      case Kind::boolean:
        out_ += value.as_boolean() ? "true" : "false";
        return;
      case Kind::integer:
      case Kind::real:
        return append_number(out_, value);
      case Kind::string:
        return append_quoted(out_, value.as_string());
      case Kind::array:
      case Kind::object:
        return;  // no literal of the grammar
    }
  }

  void step(const Expression& node) {
    const Expression& base = *node.operands[0];
    expression(base, OperatorLevel::primary);
    if (node.kind == ExpressionKind::index) {
      out_ += '[';
      expression(*node.operands[1]);
      out_ += ']';
      return;
    }
    // A point right after a number would be the number's.
    const bool after_number =
        base.kind == ExpressionKind::literal && base.literal.is_number() && !base.is_parenthesised;
    if (after_number && !node.is_bracketed) out_ += ' ';
    name_step(node.text, node.is_bracketed);
  }

  void unary(const Expression& node) {
    const Expression& operand = *node.operands[0];
    out_ += operator_row(node.unary_operator).name;
    // Two minus signs would begin a comment.
    const bool doubled = operand.kind == ExpressionKind::unary && !operand.is_parenthesised;
    if (doubled || node.unary_operator == UnaryOperator::logical_not) out_ += ' ';
    expression(operand, OperatorLevel::prefixed);
  }

  void binary(const Expression& node) {
    const BinaryOperatorRow& row = operator_row(node.binary_operator);
    expression(*node.operands[0], row.level);
    out_ += ' ';
    out_ += row.name;
    out_ += ' ';
    expression(*node.operands[1], tighter(row.level));
  }

  void logical(const Expression& node) {
    const std::string_view name = node.kind == ExpressionKind::logical_and ? " AND " : " OR ";
    const OperatorLevel operand_level = tighter(level_of(node));
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (i != 0) out_ += name;
      expression(*node.operands[i], operand_level);
    }
  }

  // Both associate to the right.
  void choice(const Expression& node) {
    if (node.kind == ExpressionKind::coalesce) {
      expression(*node.operands[0], tighter(OperatorLevel::coalesce));
      out_ += " ?? ";
      expression(*node.operands[1], OperatorLevel::coalesce);
      return;
    }
    expression(*node.operands[0], tighter(OperatorLevel::conditional));
    out_ += " ? ";
    expression(*node.operands[1]);
    out_ += " : ";
    expression(*node.operands[2]);
  }

  void predicate(const Expression& node) {
    constexpr OperatorLevel kOperand = OperatorLevel::comparison;
    if (node.kind == ExpressionKind::let) {
      out_ += "LET ";
      out_ += node.text;
      out_ += " = ";
      expression(*node.operands[0], kOperand);
      out_ += " IN ";
      expression(*node.operands[1], kOperand);
      return;
    }
    expression(*node.operands[0], kOperand);
    if (node.kind == ExpressionKind::is_null) {
      out_ += node.negated ? " IS NOT NULL" : " IS NULL";
      return;
    }
    if (node.negated) out_ += " NOT";
    if (node.kind == ExpressionKind::in && node.query != nullptr) {
      out_ += " IN ";
      return subquery(*node.query);
    }
    if (node.kind == ExpressionKind::in) {
      out_ += " IN (";
      expressions(node.operands.subspan(1));
      out_ += ')';
      return;
    }
    out_ += node.kind == ExpressionKind::like ? " LIKE " : " BETWEEN ";
    expression(*node.operands[1], kOperand);
    if (node.kind == ExpressionKind::between) {
      out_ += " AND ";
      expression(*node.operands[2], kOperand);
    } else if (node.has_escape) {
      out_ += " ESCAPE ";
      append_quoted(out_, node.text);
    }
  }

  void case_when(const Expression& node) {
    out_ += "CASE";
    const size_t subjects = node.operands.size() - (node.has_else ? 1 : 0);
    if (subjects != 0) clause(" ", node.operands[0]);
    for (const CaseArm& arm : node.arms) {
      clause(" WHEN ", arm.when);
      clause(" THEN ", arm.then);
    }
    if (node.has_else) clause(" ELSE ", node.operands.back());
    out_ += " END";
  }

  void object(const Expression& node) {
    out_ += '{';
    list(node.entries, [this](const ObjectEntry& entry) {
      append_quoted(out_, entry.key);
      out_ += ": ";
      expression(*entry.value);
    });
    out_ += '}';
  }

  void call(const Expression& node) {
    if (node.is_udf) out_ += "udf.";
    for (const char c : node.text)
      out_ += is_to_compare_ && !node.is_udf && c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
    out_ += node.is_distinct ? "(DISTINCT " : "(";
    if (node.is_star) out_ += '*';
    expressions(node.operands);
    out_ += ')';
  }

  // Names of built-in functions in upper case, names of properties in brackets, no parentheses that mean
  // nothing.
  bool is_to_compare_;
  std::string out_;
};

}  // namespace

std::string print(const Statement& statement) {
  Printer printer;
  printer.statement(statement);
  return printer.take();
}

std::string print(const Query& query) {
  Printer printer;
  printer.query(query);
  return printer.take();
}

std::string print(const Expression& expression) {
  Printer printer;
  printer.expression(expression);
  return printer.take();
}

std::string print_alike(const Expression& expression) {
  Printer printer(true);
  printer.expression(expression);
  return printer.take();
}

}  // namespace quire::sql
