// Makes the nodes of the tree, for the actions of grammar.y: each action is one call. A call never fails on
// its own: the first error is kept, later calls give nodes that are safe to build on, and the parser's loop
// stops.
//
// Whatever an action makes ends before the token that the parser looks at, so a node needs to be told only
// where it starts.
#pragma once

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql/error.h"
#include "sql/parse/ast.h"
#include "sql/parse/token.h"

namespace quire::sql {

// A list that grows while it is parsed. Trivial, since it is a member of the parser's union of semantic
// values. Its capacity follows from its size: the next power of two.
template <typename T>
struct List {
  T* items;
  uint32_t size;

  std::span<T> span() const noexcept { return {items, size}; }
};

struct Selection {
  SelectKind kind;
  List<SelectItem> items;
};

struct Ordering {
  List<OrderItem> items;
  bool by_rank;
};

struct Page {
  Expression* offset;
  Expression* limit;
};

// The clauses of one SELECT, in the order written.
struct Clauses {
  Token select;
  bool distinct;
  Expression* top;
  Selection selection;
  List<FromSource> from;
  Expression* where;
  List<Expression*> group_by;
  Expression* having;
};

struct Returning {
  bool is_there;
  Selection selection;
};

// A token that is not there: kind 0.
inline constexpr Token kNoToken{};

// How each statement that changes data may end.
struct ChangeEnd {
  Token pre_trigger;
  Token post_trigger;
  Returning returning;
};

class AstBuilder {
 public:
  AstBuilder(ParsedStatement& parsed, bool strict);

  // ---- For the parser's loop.
  void before_token(const Token& token) noexcept {
    previous_end_ = end_of_last_;
    end_of_last_ = token.end();
  }
  bool has_failed() const noexcept { return error_.has_value(); }
  Error take_error() { return std::move(*error_); }
  void fail_at(ErrorCode code, uint32_t offset, std::string message);
  // The grammar does not take `token`.
  void unexpected(const Token& token);
  // Set where the error is one of the grammar, which only the list of tokens can explain.
  const std::optional<Token>& unexpected_token() const noexcept { return unexpected_; }
  // The grammar's stack is full.
  void nested_too_deeply();

  // ---- Lists.
  template <typename T>
  List<T> append(List<T> list, const T& item) {
    const bool is_full = list.size == 0 || (list.size >= kFirstCapacity && std::has_single_bit(list.size));
    if (is_full) {
      const std::span<T> grown =
          parsed_.arena.make_array<T>(list.size == 0 ? kFirstCapacity : size_t{list.size} * 2);
      std::copy(list.items, list.items + list.size, grown.begin());
      list.items = grown.data();
    }
    list.items[list.size++] = item;
    return list;
  }
  template <typename T>
  List<T> list_of(const T& item) {
    return append(List<T>{nullptr, 0}, item);
  }

  // ---- Expressions.
  Expression* literal(const Token& token);
  Expression* parameter(const Token& token);
  Expression* identifier(const Token& token);
  Expression* member(Expression* base, const Token& name);
  Expression* index(Expression* base, Expression* index);
  Expression* unary(const Token& start, UnaryOperator op, Expression* operand);
  Expression* binary(Expression* left, BinaryOperator op, Expression* right);
  Expression* logical(ExpressionKind kind, Expression* left, Expression* right);
  Expression* conditional(Expression* condition, Expression* then, Expression* otherwise);
  Expression* coalesce(Expression* left, Expression* right);
  Expression* between(Expression* needle, bool negated, Expression* low, Expression* high);
  Expression* in(Expression* needle, bool negated, List<Expression*> list);
  Expression* in_query(Expression* needle, bool negated, const Token& keyword, Query* query);
  Expression* like(Expression* text, bool negated, Expression* pattern, const Token& escape);
  Expression* is_null(Expression* operand, const Token& is, bool negated);
  Expression* case_when(const Token& start, Expression* subject, List<CaseArm> arms, Expression* otherwise);
  Expression* let(const Token& start, const Token& name, Expression* value, Expression* body);
  Expression* array(const Token& start, List<Expression*> elements);
  Expression* object(const Token& start, List<ObjectEntry> entries);
  Expression* call(const Token& name, List<Expression*> arguments);
  Expression* call_udf(const Token& udf, const Token& name, List<Expression*> arguments);
  Expression* call_distinct(const Token& name, const Token& distinct, List<Expression*> arguments);
  Expression* call_star(const Token& name, const Token& star);
  Expression* subquery(ExpressionKind kind, const Token& start, Query* query);
  Expression* parenthesised(const Token& start, Expression* inside);

  ObjectEntry entry(const Token& key, Expression* value);
  CaseArm arm(Expression* when, Expression* then) noexcept { return {when, then}; }

  // ---- Queries.
  SelectItem item(Expression* expression, const Token& alias);
  // TOP, OFFSET, LIMIT: an integer or a parameter.
  Expression* count(const Token& token);
  FromSource* path_source(const Token& root, List<PathStep> steps);
  FromSource* query_source(const Token& start, Query* query);
  FromSource* call_source(const Token& in, Expression* call);
  FromSource* named(FromSource* source, const Token& alias);
  FromSource* iterated(const Token& alias, FromSource* source);
  List<FromSource> join(List<FromSource> sources, JoinKind kind, const Token& keyword, FromSource* source,
                        Expression* on);
  PathStep name_step(const Token& name);
  PathStep string_step(const Token& name);
  PathStep index_step(const Token& index);
  OrderItem order(Expression* expression, const Token& direction);
  Query* query(const Clauses& clauses);
  Query* finish(Query* query, const Ordering& ordering, const Page& page);
  Query* unite(Query* first, const Token& keyword, SetOperation operation, Query* rest);

  void statement(Query* query);
  void explain(const Token& start, bool analyze, ExplainStage stage, Query* query);
  void explain_change(const Token& start, bool analyze, ExplainStage stage);

  // ---- Statements that change data: change_builder.cpp.
  void write(const Token& start, const Token& container, List<Expression*> values, Query* query,
             const ChangeEnd& end);
  void update(const Token& start, FromSource* target, List<Assignment> assignments, Expression* where,
              const ChangeEnd& end);
  void patch(const Token& start, FromSource* target, Expression* operations, Expression* where,
             const ChangeEnd& end);
  void remove(const Token& start, FromSource* target, Expression* where, const ChangeEnd& end);
  void define(StatementKind kind, const Token& start, const Token& name, bool is_conditional,
              List<Expression*> partition_key, Expression* properties);
  void create_index(const Token& start, bool is_unique, bool is_conditional, const Token& name,
                    const Token& container, List<IndexKey> keys, Expression* where);
  void drop_index(const Token& start, bool is_conditional, const Token& name, const Token& container);
  // An identifier whose text is the path in a policy's words; `step` is a name, a string or a bracket.
  Expression* index_path(Expression* path, const Token& step, bool is_element);
  // ---- Scripts: script_builder.cpp.
  void create_script(const Token& start, const Token& kind, bool replaces, const Token& name,
                     const Token& container, const Token& body);
  // What belongs to a trigger alone, of the script that was just made.
  void trigger(const Token& time, const Token& operation, bool is_always);
  void drop_script(const Token& start, const Token& kind, bool is_conditional, const Token& name,
                   const Token& container);
  void execute(const Token& start, const Token& name, List<Expression*> arguments, const Token& container,
               List<Expression*> partition_key);
  void transaction(StatementKind kind, const Token& start);
  void upkeep(StatementKind kind, const Token& start, const Token& container);
  void pragma(const Token& start, const Token& name, Expression* value);
  List<Assignment> concatenate(List<Assignment> first, List<Assignment> second);
  // An identifier whose text is the path.
  Expression* key_path(const Token& string);
  Expression* longer_key_path(Expression* path, const Token& name);

  // Something that Quire takes and the service does not: an error in strict mode. `what` reads as the
  // beginning of "... is not part of Azure Cosmos DB's SQL".
  void extension(const Token& token, std::string_view what);

 private:
  static constexpr uint32_t kFirstCapacity = 4;

  std::string_view text_of(const Token& token) const noexcept { return token.text(parsed_.text); }
  std::string_view string_of(const Token& token);
  std::string_view name_of(const Token& token);  // a plain name, or a string where those may stand
  Span span_from(uint32_t start) const noexcept { return {start, previous_end_ - start}; }
  Expression* make(ExpressionKind kind, uint32_t start);
  Expression* make(ExpressionKind kind, uint32_t start, std::initializer_list<Expression*> operands);
  Expression* make(ExpressionKind kind, uint32_t start, List<Expression*> operands);
  void deepen(Expression* node, uint32_t below);
  void deepen(Query* query, uint32_t below);
  void deepen_by_clauses(Query* query);
  Change& change(ChangeKind kind, const Token& start, const FromSource& target, const ChangeEnd& end);
  // In the service BETWEEN stands beside AND and OR, never inside them.
  void check_logical_operand(const Expression* operand);

  ParsedStatement& parsed_;
  const bool strict_;
  uint32_t previous_end_ = 0;  // of the token before the one that the parser looks at
  uint32_t end_of_last_ = 0;
  uint32_t udf_calls_ = 0;
  uint32_t joins_ = 0;
  uint32_t case_arms_ = 0;
  std::optional<Error> error_;
  std::optional<Token> unexpected_;
};

}  // namespace quire::sql
