// The binder: one walk over a syntax tree that makes the bound tree. Its member functions stand in a file
// each idea: bind_query.cpp, bind_union.cpp, bind_from.cpp, bind_expression.cpp, bind_path.cpp,
// bind_computed.cpp, bind_call.cpp, bind_search.cpp, bind_change.cpp, strict_mode.cpp, notes.cpp. Recursion
// is bounded by kMostExpressionDepth.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sql/bind/bound.h"
#include "sql/bind/scope.h"

namespace quire::sql {

class Binder {
 public:
  Binder(BoundStatement& statement, Source& source, const BindOptions& options)
      : statement_(statement), source_(source), options_(options) {
    for (const std::string& name : options.parameters) number_of_parameter(keep(name), kNotUsed);
  }

  // A query and, after UNION, those that follow it.
  Result<void> bind_query(const Query& query, BoundQuery& bound, Scope* outer);
  Result<void> bind_change(const Change& change);

 private:
  using Bound = Result<BoundExpression*>;

  // bind_query.cpp
  Result<void> check_bounds(const Query& query) const;
  Result<void> bind_clauses(const Query& query, BoundQuery& bound, Scope& scope);
  Result<void> bind_grouping(const Query& query, BoundQuery& bound, Scope& scope);
  Bound bind_having(const Expression& condition, Scope& scope);
  Result<void> bind_order(const Query& query, BoundQuery& bound, Scope& scope);
  Result<void> bind_selection(const Query& query, BoundQuery& bound, Scope& scope);
  Result<BoundExpression*> bind_list(const Query& query, Scope& scope);
  Result<BoundExpression*> bind_star(const Query& query, const BoundQuery& bound, const Scope& scope);
  Result<void> bind_counts(const Query& query, BoundQuery& bound);
  Bound bind_count(const Expression& expression, std::string_view clause, std::string_view service_code);

  // bind_union.cpp
  static bool is_ordered_union(const Query& query);
  Result<void> bind_ordered_union(const Query& query, BoundQuery& bound, Scope* outer);

  // bind_from.cpp
  Result<void> bind_from(const Query& query, Scope& scope);
  Result<void> bind_source(const FromSource& source, bool is_first, Scope& scope);
  Result<void> bind_left_source(const FromSource& source, Scope& scope);
  static bool is_container(const FromSource& source, Scope& scope);
  // Whether a source is a container, or a subquery that gives its items, or some of them, as they are.
  static bool gives_items(const FromSource& source, Scope& scope);
  // Whether a source's rows are those of a container, an array or a path, or some of them, as they are.
  static bool passes_on(const FromSource& source, Scope& scope);
  Result<void> bind_filtered_source(const FromSource& source, Scope& scope);
  Result<void> bind_query_source(const FromSource& source, Scope& scope);
  Result<void> bind_rows_of_query(const FromSource& source, Scope& scope);
  Result<void> bind_path_source(const FromSource& source, const ScopeEntry& root, Scope& scope);
  Result<ScopeEntry> bind_container(const FromSource& source, bool is_first, bool is_hidden, Scope& scope);
  // What to write where there is no container of the name.
  std::string container_hint(std::string_view name, const Scope& scope) const;
  Result<void> declare(const FromSource& source, const ScopeEntry& entry, BoundSource bound, Scope& scope);

  // bind_expression.cpp
  Bound bind(const Expression& expression, Scope& scope);
  Bound bind_operands(BoundKind kind, const Expression& expression, Scope& scope);
  Bound bind_parameter(const Expression& expression);
  static constexpr uint64_t kNotUsed = UINT64_MAX;
  uint32_t number_of_parameter(std::string_view name, uint64_t offset);
  Bound bind_between(const Expression& expression, Scope& scope);
  Bound bind_in(const Expression& expression, Scope& scope);
  Bound bind_like(const Expression& expression, Scope& scope);
  Bound bind_let(const Expression& expression, Scope& scope);
  Bound bind_case(const Expression& expression, Scope& scope);
  Bound bind_object(const Expression& expression, Scope& scope);
  Bound bind_subquery(BoundKind kind, const Expression& expression, Scope& scope);
  Result<BoundQuery*> bind_inner_query(const Query& query, Scope& scope);
  // Of a value that stands in several places: itself if it is read in place, else a new slot, which
  // `scoped()` binds to it. Otherwise nested expressions would be walked and evaluated twice a level.
  struct Shared {
    BoundExpression* value;  // once
    BoundExpression* use;    // as often as wanted
  };
  Shared share(BoundExpression* value);
  BoundExpression* scoped(const Shared& shared, BoundExpression* body);
  BoundExpression* negate(BoundExpression* operand, Span span);
  // a AND b, where either may be null: always true.
  BoundExpression* conjunction(BoundExpression* a, BoundExpression* b);
  // The group key that an expression is, if it is one.
  BoundExpression* find_group_key(const Expression& expression, const Scope& scope);

  // bind_path.cpp
  Bound bind_identifier(const Expression& expression, Scope& scope);
  Bound bind_path(const Expression& expression, Scope& scope);
  Bound bind_index(const Expression& expression, Scope& scope);
  // A path over a computed value.
  BoundExpression* bind_steps(BoundExpression* input, std::span<const BoundStep> steps, Span span);
  void note_member_parameter(const Expression& parameter);
  Result<const ScopeEntry*> resolve(const Expression& identifier, Scope& scope);
  // That the alias has a value where `span` stands, in `scope`: behind GROUP BY a row of FROM has none.
  Result<void> check_grouping(const Scope::Found& found, Span span, const Scope& scope) const;
  // What an alias of the select list stands for, if the name is one and may be used here; else null.
  Bound find_select_alias(const Expression& identifier, Scope& scope);
  std::string hint_for_unresolved(const Expression& identifier, Scope& scope) const;

  // bind_computed.cpp
  // What a name stands for that a container computes: the item's own property, or else the expression. Null
  // if the container of the slot computes none of that name.
  Bound bind_computed(SlotNumber slot, std::string_view name, Span span);
  Result<const ComputedProperty*> computed_property(const Collection& collection, std::string_view name);

  // bind_call.cpp
  Bound bind_call(const Expression& expression, Scope& scope);
  Bound bind_aggregate(const Expression& expression, const AggregateRow& row, Scope& scope);
  Bound bind_document_id(const Expression& expression, Scope& scope);
  Error unknown_function(const Expression& expression) const;
  Result<void> check_arity(const Function& function, const Expression& call) const;
  // The constant that an expression always is, in its place; otherwise the expression.
  BoundExpression* fold(BoundExpression* expression);
  BoundExpression* fold_object(BoundExpression* object);
  BoundExpression* fold_call(BoundExpression* call);

  // bind_search.cpp
  // Puts the form in a call's function that the container's policies ask for.
  Result<void> apply_policy(BoundExpression& call, Scope& scope);
  Result<void> check_vector_options(const BoundExpression& call) const;
  void apply_vector_policy(BoundExpression& call, Scope& scope);
  void apply_text_policy(BoundExpression& call, Scope& scope);
  // The container whose items an expression is a path of, or stand in a slot; null if it is anything else.
  const Collection* collection_of(const BoundExpression& path, Scope& scope);
  const Collection* collection_at(SlotNumber slot, Scope& scope);
  // An ORDER BY item without ASC or DESC: ascending, but what VECTORDISTANCE finds closest comes first.
  BoundOrderItem natural_order(BoundExpression* expression);
  Result<void> bind_rank(const Query& query, BoundQuery& bound, Scope& scope);
  Result<void> bind_rank_fusion(const OrderItem& item, BoundQuery& bound, Scope& scope);
  // What ORDER BY RANK and RRF take: a score that is greater for what fits better.
  Bound bind_score(const Expression& expression, Scope& scope);
  Bound bind_full_text_score(const Expression& expression, const Function& function, Scope& scope);

  // bind_change.cpp
  Result<void> bind_written(const Change& change);
  Result<void> bind_existing(const Change& change);
  Result<void> bind_returning(const Change& change, BoundChange& bound);
  Result<void> bind_patch(const Change& change, Scope& scope);
  Result<void> bind_assignments(const Change& change, Scope& scope);
  Result<std::span<BoundStep>> bind_target_path(const Expression& path, const Scope& scope);
  Result<void> check_may_change(std::span<const BoundStep> path, Span span);

  // strict_mode.cpp
  Result<void> refuse_composed_aggregates(const Query& query) const;
  // Subqueries know neither TOP nor ORDER BY nor OFFSET LIMIT.
  Result<void> check_strict_subquery(const Query& query) const;
  Result<void> check_strict_index(const Expression& index) const;
  Result<void> check_strict_order(const Query& query, const BoundQuery& bound, Scope& scope);
  // Whether a composite index has the paths of ORDER BY.
  bool has_index_for(const BoundQuery& bound, Scope& scope);

  // notes.cpp
  void note(Span span, std::string_view message);
  void note_slips(const Expression& expression);
  void note_item_for_container(const FromSource& source);  // whose root is the item of a query around it

  BoundExpression* make(BoundKind kind, Span span);
  // Something that parses and means something, but that this version cannot run: refused when it is run.
  BoundExpression* make_unsupported(Span span, std::string_view what);
  BoundExpression* make_constant(const Value& value, Span span);
  std::span<BoundExpression*> list_of(std::initializer_list<BoundExpression*> operands) {
    return statement_.arena->copy_array(std::span<BoundExpression* const>(operands.begin(), operands.size()));
  }
  std::string_view keep(std::string_view text) { return statement_.arena->copy_string(text); }
  Position at(Span span) const {
    return position_of(statement_.parsed->text, computed_span_.value_or(span).offset);
  }
  std::unexpected<Error> refuse(ErrorCode code, Span span, std::string message) const {
    return fail(code, std::move(message), at(span));
  }

  BoundStatement& statement_;
  bool folds_calls_ = true;
  std::unordered_map<std::string_view, uint32_t> parameter_numbers_;
  Source& source_;
  const BindOptions& options_;
  std::unordered_map<SlotNumber, const Collection*> containers_;  // whose items a slot takes
  // Where the computed properties of a container begin and end in statement_.computed.
  std::unordered_map<const Collection*, std::pair<size_t, size_t>> computed_;
  // While a computed property is bound: where its name stands, as its own text is not the statement's.
  std::optional<Span> computed_span_;
  size_t computed_expressions_ = 0;
};

// Whether an aggregate stands in an expression, subqueries aside.
bool contains_aggregate(const Expression& expression);
// Whether two expressions are written alike, but for spacing and the case of keywords and functions: GROUP
// BY's textual match.
bool is_same_expression(const Expression& a, const Expression& b);

}  // namespace quire::sql
