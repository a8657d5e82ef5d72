// A query, clause by clause, in the order in which they take effect.
#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "sql/bind/binder.h"

namespace quire::sql {
namespace {

bool contains_aggregate(std::span<Expression* const> expressions) {
  return std::any_of(expressions.begin(), expressions.end(),
                     [](const Expression* expression) { return contains_aggregate(*expression); });
}

bool select_contains_aggregate(const Query& query) {
  for (const SelectItem& item : query.items)
    if (contains_aggregate(*item.expression)) return true;
  for (const OrderItem& item : query.order_by)
    if (contains_aggregate(*item.expression)) return true;
  return query.having != nullptr;
}

// Whether the text shows that there is at most one row: no source gives several, or all rows are one group.
bool gives_one_row(const Query& query, const BoundQuery& bound) {
  if (bound.set_operation != SetOperation::none) return false;
  if (bound.is_grouped && bound.group_by.empty()) return true;
  if (query.top != nullptr && query.top->kind == ExpressionKind::literal &&
      query.top->literal.kind() == Kind::integer && query.top->literal.as_integer() <= 1)
    return true;
  return std::all_of(bound.sources.begin(), bound.sources.end(), [](const BoundSource& source) {
    return source.kind == BoundSourceKind::expression ||
           (source.kind == BoundSourceKind::query && !source.iterates_query &&
            !source.query->may_give_many_rows);
  });
}

// Who runs a union runs it by its first query, which so has to tell what any of them reads.
void add_needs_of_next(BoundQuery& bound) {
  for (const SlotNumber slot : bound.next->outer_slots)
    if (std::ranges::find(bound.outer_slots, slot) == bound.outer_slots.end())
      bound.outer_slots.push_back(slot);
  bound.is_volatile |= bound.next->is_volatile;
}

}  // namespace

bool contains_aggregate(const Expression& expression) {
  if (expression.kind == ExpressionKind::call && !expression.is_udf &&
      find_aggregate(expression.text) != nullptr)
    return true;
  if (contains_aggregate(expression.operands)) return true;
  for (const ObjectEntry& entry : expression.entries)
    if (contains_aggregate(*entry.value)) return true;
  for (const CaseArm& arm : expression.arms)
    if (contains_aggregate(*arm.when) || contains_aggregate(*arm.then)) return true;
  return false;
}

bool is_same_expression(const Expression& a, const Expression& b) {
  // c.name and c["name"] are one node kind already; anything else must be alike to the letter, but for the
  // names of functions, which are written in any case.
  const bool is_named = a.kind != ExpressionKind::call;
  if (a.kind != b.kind || a.depth != b.depth || a.operands.size() != b.operands.size() ||
      (is_named && a.text != b.text))
    return false;
  if (a.kind == ExpressionKind::identifier) return true;
  if (a.kind == ExpressionKind::member || a.kind == ExpressionKind::parameter)
    return a.operands.empty() || is_same_expression(*a.operands[0], *b.operands[0]);
  return print_alike(a) == print_alike(b);
}

Result<void> Binder::bind_query(const Query& query, BoundQuery& bound, Scope* outer) {
  if (is_ordered_union(query)) return bind_ordered_union(query, bound, outer);
  QUIRE_TRY(check_bounds(query));
  Scope scope(outer, bound);
  scope.select_items = query.items;
  QUIRE_TRY(bind_from(query, scope));
  scope.is_behind_from = true;
  QUIRE_TRY(bind_clauses(query, bound, scope));
  bound.set_operation = query.set_operation;
  if (query.next != nullptr) {
    bound.next = std::make_unique<BoundQuery>();
    QUIRE_TRY(bind_query(*query.next, *bound.next, outer));
    add_needs_of_next(bound);
  }
  bound.may_give_many_rows = !gives_one_row(query, bound);
  return {};
}

Result<void> Binder::check_bounds(const Query& query) const {
  if (query.from.size() > kMostSources)
    return refuse(ErrorCode::limit_exceeded, query.span,
                  "FROM has more than " + std::to_string(kMostSources) + " sources");
  if (query.group_by.size() > kMostGroupKeys)
    return refuse(ErrorCode::limit_exceeded, query.span,
                  "GROUP BY has more than " + std::to_string(kMostGroupKeys) + " keys");
  return {};
}

Result<void> Binder::bind_clauses(const Query& query, BoundQuery& bound, Scope& scope) {
  if (query.where != nullptr) {
    QUIRE_ASSIGN(BoundExpression* const where, bind(*query.where, scope));
    bound.where = conjunction(bound.where, where);
  }
  QUIRE_TRY(bind_grouping(query, bound, scope));
  scope.aggregates_allowed = true;
  if (query.having != nullptr) {
    QUIRE_ASSIGN(bound.having, bind_having(*query.having, scope));
  }
  if (options_.strict && scope.outer() == nullptr) QUIRE_TRY(refuse_composed_aggregates(query));
  QUIRE_TRY(bind_selection(query, bound, scope));
  QUIRE_TRY(bind_order(query, bound, scope));
  bound.distinct = query.distinct;
  return bind_counts(query, bound);
}

Result<void> Binder::bind_grouping(const Query& query, BoundQuery& bound, Scope& scope) {
  for (const Expression* key : query.group_by) {
    QUIRE_ASSIGN(BoundExpression * expression, bind(*key, scope));
    bound.group_by.push_back(expression);
  }
  bound.is_grouped = !query.group_by.empty() || select_contains_aggregate(query);
  scope.is_after_grouping = bound.is_grouped;
  scope.group_keys = query.group_by;
  if (query.select == SelectKind::star && bound.is_grouped)
    return refuse(ErrorCode::semantic, query.span, "'SELECT *' is not allowed with GROUP BY (SC2041)");
  return {};
}

// HAVING may use the aliases of the select list.
Result<BoundExpression*> Binder::bind_having(const Expression& condition, Scope& scope) {
  Scope::SelectAliases aliases;
  for (const SelectItem& item : scope.select_items)
    if (item.alias) aliases.try_emplace(*item.alias, Scope::SelectAlias{item.expression});
  scope.select_aliases = &aliases;
  auto bound = bind(condition, scope);
  scope.select_aliases = nullptr;
  if (!bound) return bound;
  for (const auto& [name, alias] : aliases)
    if (alias.use != nullptr) *bound = scoped({alias.value, alias.use}, *bound);
  return bound;
}

Result<void> Binder::bind_order(const Query& query, BoundQuery& bound, Scope& scope) {
  if (query.order_by_rank) return bind_rank(query, bound, scope);
  // Without GROUP BY an aggregate gives one row: the service takes an ORDER BY there, and there is nothing to
  // sort.
  const bool gives_one_group = bound.is_grouped && bound.group_by.empty();
  if (gives_one_group) scope.is_after_grouping = false;
  std::unordered_map<std::string_view, const Expression*> by_alias;
  for (const SelectItem& selected : query.items)
    if (selected.alias && !options_.strict) by_alias.emplace(*selected.alias, selected.expression);
  const bool has_one_row = gives_one_group || query.from.empty();
  for (const OrderItem& item : query.order_by) {
    const Expression& key = *item.expression;
    if (key.kind == ExpressionKind::literal && key.literal.is_number() && !options_.strict && !has_one_row)
      return refuse(ErrorCode::semantic, key.span,
                    "ORDER BY takes no position of the select list; name the expression or its alias");
    // Outside strict mode an alias of the select list may stand here. Once: when it stands there again, the
    // rows that it would order are alike.
    const Expression* meant = &key;
    if (key.kind == ExpressionKind::identifier && !by_alias.empty() &&
        scope.find(key.text).entry == nullptr) {
      const auto found = by_alias.find(key.text);
      if (found != by_alias.end()) meant = std::exchange(found->second, nullptr);
      if (meant == nullptr) continue;
    }
    QUIRE_ASSIGN(BoundExpression * expression, bind(*meant, scope));
    if (gives_one_group) continue;
    bound.order_by.push_back(item.has_direction ? BoundOrderItem{expression, item.descending}
                                                : natural_order(expression));
  }
  if (options_.strict && !has_one_row) return check_strict_order(query, bound, scope);
  return {};
}

Result<void> Binder::bind_selection(const Query& query, BoundQuery& bound, Scope& scope) {
  switch (query.select) {
    case SelectKind::star: {
      QUIRE_ASSIGN(bound.value, bind_star(query, bound, scope));
      return {};
    }
    case SelectKind::value: {
      QUIRE_ASSIGN(bound.value, bind(*query.items[0].expression, scope));
      return {};
    }
    case SelectKind::list: {
      QUIRE_ASSIGN(bound.value, bind_list(query, scope));
      return {};
    }
  }
  return {};
}

Result<BoundExpression*> Binder::bind_star(const Query& query, const BoundQuery& bound, const Scope& scope) {
  const Span star{query.span.offset, 0};
  if (query.from.empty())
    return refuse(ErrorCode::semantic, query.span, "'SELECT *' is not valid if the FROM clause is omitted");
  if (query.from.size() > 1)
    return refuse(ErrorCode::semantic, query.span,
                  "'SELECT *' is only valid with a single input set; name the sources: SELECT c, x FROM ...");
  static_cast<void>(scope);
  BoundExpression* value = make(BoundKind::slot, star);
  value->slot = bound.sources.back().slot;
  return value;
}

// The select list makes an object: by alias, by the last name of a path, or $1, $2, ... counting the unnamed.
Result<BoundExpression*> Binder::bind_list(const Query& query, Scope& scope) {
  BoundExpression* object = make(BoundKind::object, query.items.front().span);
  const Span last = query.items.back().span;
  object->span.length = last.offset + last.length - object->span.offset;
  object->entries = statement_.arena->make_array<BoundEntry>(query.items.size());
  std::set<std::string_view> names;
  size_t unnamed = 0;
  for (size_t i = 0; i < query.items.size(); ++i) {
    const SelectItem& item = query.items[i];
    const Expression& expression = *item.expression;
    std::string_view name;
    if (item.alias)
      name = *item.alias;
    else if (expression.kind == ExpressionKind::identifier || expression.kind == ExpressionKind::member)
      name = expression.text;
    else
      name = keep("$" + std::to_string(++unnamed));
    if (!names.insert(name).second)
      return refuse(
          ErrorCode::semantic, item.span,
          "the select list has two items named '" + shortened(name) + "'; give one an alias with AS");
    object->entries[i].key = name;
    QUIRE_ASSIGN(object->entries[i].value, bind(expression, scope));
  }
  return object;
}

Result<void> Binder::bind_counts(const Query& query, BoundQuery& bound) {
  if (query.top != nullptr) {
    QUIRE_ASSIGN(bound.top, bind_count(*query.top, "TOP", "SC2060"));
  }
  if (query.offset != nullptr) {
    QUIRE_ASSIGN(bound.offset, bind_count(*query.offset, "OFFSET", "SC2062"));
  }
  if (query.limit != nullptr) {
    QUIRE_ASSIGN(bound.limit, bind_count(*query.limit, "LIMIT", "SC2061"));
  }
  return {};
}

Result<BoundExpression*> Binder::bind_count(const Expression& expression, std::string_view clause,
                                            std::string_view service_code) {
  if (expression.kind == ExpressionKind::parameter) return bind_parameter(expression);
  const Value& value = expression.literal;
  if (expression.kind != ExpressionKind::literal || value.kind() != Kind::integer || value.as_integer() < 0 ||
      value.as_integer() > INT32_MAX)
    return refuse(ErrorCode::semantic, expression.span,
                  "the " + std::string(clause) + " count must be a whole number from 0 to 2147483647 (" +
                      std::string(service_code) + ")");
  return make_constant(value, expression.span);
}

Result<std::unique_ptr<BoundStatement>> bind(std::unique_ptr<ParsedStatement> parsed, Source& source,
                                             const BindOptions& options) {
  auto statement = std::make_unique<BoundStatement>();
  statement->parsed = std::move(parsed);
  const Statement& tree = statement->parsed->statement;
  Binder binder(*statement, source, options);
  if (tree.query != nullptr) QUIRE_TRY(binder.bind_query(*tree.query, statement->query, nullptr));
  if (tree.change != nullptr) QUIRE_TRY(binder.bind_change(*tree.change));
  return statement;
}

}  // namespace quire::sql
