// FROM: containers, paths, arrays and subqueries become sources with a slot each, and aliases in scope.
#include <algorithm>
#include <iterator>

#include "sql/bind/binder.h"

namespace quire::sql {
namespace {

// Without an alias a path binds its last name; one that ends in a number cannot be referred to.
std::string_view name_of(const FromSource& source) {
  if (source.alias) return *source.alias;
  if (source.collection == CollectionKind::query) return {};
  if (source.steps.empty()) return source.root;
  return source.steps.back().is_index ? std::string_view() : source.steps.back().name;
}

// Where the path of a source stands: from its root to its end, or to the alias behind it.
Span path_span(const FromSource& source, std::string_view text) {
  const size_t start = source.root_span.offset;
  size_t end = source.span.offset + source.span.length;
  if (source.alias && !source.iterates) end = std::min(end, text.rfind(*source.alias, end));
  if (end <= start || end > text.size()) return source.root_span;
  std::string_view path = text.substr(start, end - start);
  const auto trim = [&path] { path = path.substr(0, path.find_last_not_of(" \t\r\n") + 1); };
  trim();
  if (path.ends_with(" AS") || path.ends_with(" as")) path.remove_suffix(3);
  trim();
  return {static_cast<uint32_t>(start), static_cast<uint32_t>(path.size())};
}

// Whether this query or one around it reads the container already. In container scope a further name can only
// be an alias; in `FROM (SELECT VALUE root.a FROM root) r`, root is the first.
bool has_container(Scope& innermost) {
  for (Scope* scope = &innermost; scope != nullptr; scope = scope->outer())
    for (const BoundSource& source : scope->query().sources)
      if (source.kind == BoundSourceKind::collection) return true;
  return false;
}

// Whether its rows are some of those of its one source, as they are.
bool only_filters(const Query& query) {
  const bool is_plain = query.next == nullptr && !query.distinct && query.top == nullptr &&
                        query.group_by.empty() && query.having == nullptr && query.order_by.empty() &&
                        query.offset == nullptr && query.from.size() == 1;
  if (!is_plain || query.select == SelectKind::star) return is_plain;
  if (query.select != SelectKind::value) return false;
  const Expression& value = *query.items[0].expression;
  return value.kind == ExpressionKind::identifier && value.text == name_of(query.from[0]);
}

// Whether this query stands in an expression of one around it.
bool is_in_expression(const Scope& innermost) {
  const Scope* scope = &innermost;
  while (scope != nullptr && !scope->is_behind_from) scope = scope->outer();
  return scope != nullptr;
}

bool runs_alike_for_all_rows(const BoundSource& source) {
  return source.kind == BoundSourceKind::query && source.query->outer_slots.empty() &&
         !source.query->is_volatile;
}

}  // namespace

Result<void> Binder::bind_from(const Query& query, Scope& scope) {
  bool is_first = true;
  for (const FromSource& source : query.from) {
    QUIRE_TRY(bind_source(source, is_first, scope));
    is_first = false;
  }
  return {};
}

Result<void> Binder::bind_source(const FromSource& source, bool is_first, Scope& scope) {
  const bool is_path = source.collection != CollectionKind::query;
  if (source.join == JoinKind::left_on && !gives_items(source, scope)) return bind_left_source(source, scope);
  if (!is_path) return bind_query_source(source, scope);
  if (const Scope::Found found = scope.find(source.root); found.entry != nullptr) {
    QUIRE_TRY(check_grouping(found, source.root_span, scope));
    const bool is_of_this_query = std::ranges::find(scope.query().sources, found.entry->slot,
                                                    &BoundSource::slot) != scope.query().sources.end();
    if (found.entry->is_item && !is_of_this_query) note_item_for_container(source);
    return bind_path_source(source, *found.entry, scope);
  }
  const bool is_whole = source.steps.empty() && !source.iterates;
  QUIRE_ASSIGN(const ScopeEntry root, bind_container(source, is_first, !is_whole, scope));
  return is_whole ? Result<void>() : bind_path_source(source, root, scope);
}

Result<ScopeEntry> Binder::bind_container(const FromSource& source, bool is_first, bool is_hidden,
                                          Scope& scope) {
  std::string name(source.root);
  if (!options_.scope.empty()) {
    const bool is_further = !is_first || has_container(scope) || (options_.strict && is_in_expression(scope));
    // ON is no word of the service, so who writes it can only mean another container.
    if (is_further && source.on == nullptr) {
      NearestName nearest(source.root);
      scope.offer_names(nearest);
      return refuse(ErrorCode::unresolved_name, source.root_span,
                    "'" + name + "' is no alias of this query (SC2001)" + nearest.hint());
    }
    if (!is_further) name = options_.scope;
  }
  if (source_.collection(name) == nullptr)
    return refuse(ErrorCode::container_not_found, source.root_span,
                  "there is no container or alias '" + name + "'" + container_hint(name, scope));
  BoundSource bound{};
  bound.kind = BoundSourceKind::collection;
  bound.slot = statement_.slot_count++;
  bound.alias = is_hidden ? source.root : name_of(source);
  bound.collection_name = name;
  bound.join = source.join;
  containers_.emplace(bound.slot, source_.collection(name));
  const ScopeEntry entry{bound.alias, bound.slot, true};
  if (is_hidden) {
    scope.query().sources.push_back(std::move(bound));
    return entry;
  }
  QUIRE_TRY(declare(source, entry, std::move(bound), scope));
  return entry;
}

std::string Binder::container_hint(std::string_view name, const Scope& scope) const {
  const std::vector<std::string> containers = source_.collection_names();
  if (containers.empty()) return "; the database has no containers";
  NearestName nearest(name);
  for (const std::string& candidate : containers) nearest.offer(candidate);
  scope.offer_names(nearest);
  if (!nearest.best().empty() || !options_.scope.empty()) return nearest.hint();
  // Of the service's queries each runs on one container, which they call what they like.
  return "; a query of the database names its container, FROM NAME c; one that is run on a container (in the "
         "shell: .use NAME) may call it anything";
}

Result<void> Binder::bind_path_source(const FromSource& source, const ScopeEntry& root, Scope& scope) {
  const Span span = path_span(source, statement_.parsed->text);
  const std::span<BoundStep> steps = statement_.arena->make_array<BoundStep>(source.steps.size());
  for (size_t i = 0; i < source.steps.size(); ++i)
    steps[i] =
        source.steps[i].is_index ? BoundStep{{}, source.steps[i].index} : BoundStep{source.steps[i].name, -1};
  BoundExpression* expression = nullptr;
  if (root.is_item && !root.is_of_subquery && !steps.empty() && !steps[0].is_index()) {
    QUIRE_ASSIGN(expression, bind_computed(root.slot, steps[0].name, span));
  }
  if (expression != nullptr && steps.size() > 1) expression = bind_steps(expression, steps.subspan(1), span);
  if (expression == nullptr) {
    expression = make(steps.empty() ? BoundKind::slot : BoundKind::path, span);
    expression->slot = root.slot;
    expression->steps = steps;
  }
  BoundSource bound{};
  bound.kind = source.iterates ? BoundSourceKind::elements : BoundSourceKind::expression;
  bound.slot = statement_.slot_count++;
  bound.alias = name_of(source);
  bound.expression = expression;
  bound.join = source.join;
  return declare(source, {bound.alias, bound.slot, false}, bound, scope);
}

// LEFT JOIN x IN c.arr ON p is LEFT JOIN (SELECT VALUE x FROM x IN c.arr WHERE p) x. A subquery that gives
// the same rows whatever stands before it is joined as a container is: it need not run for each row.
Result<void> Binder::bind_left_source(const FromSource& source, Scope& scope) {
  BoundQuery& query = *statement_.subqueries.emplace_back(std::make_unique<BoundQuery>());
  Scope inner(&scope, query);
  FromSource alone = source;
  alone.join = JoinKind::first;
  alone.on = nullptr;
  QUIRE_TRY(alone.collection == CollectionKind::query ? bind_rows_of_query(alone, inner)
                                                      : bind_source(alone, false, inner));
  if (runs_alike_for_all_rows(query.sources.back())) {
    BoundSource whole = query.sources.back();
    whole.join = JoinKind::left_on;
    return declare(source, {whole.alias, whole.slot, false}, whole, scope);
  }
  QUIRE_ASSIGN(query.where, bind(*source.on, inner));
  query.value = make(BoundKind::slot, source.span);
  query.value->slot = query.sources.back().slot;
  BoundSource bound{};
  bound.kind = BoundSourceKind::query;
  bound.slot = statement_.slot_count++;
  bound.alias = name_of(source);
  bound.query = &query;
  bound.join = JoinKind::left_on;
  return declare(alone, {bound.alias, bound.slot, false}, bound, scope);
}

bool Binder::is_container(const FromSource& source, Scope& scope) {
  return source.collection != CollectionKind::query && source.steps.empty() && !source.iterates &&
         scope.find(source.root).entry == nullptr;
}

bool Binder::gives_items(const FromSource& source, Scope& scope) {
  if (source.collection != CollectionKind::query) return is_container(source, scope);
  return !source.iterates && only_filters(*source.query) && gives_items(source.query->from[0], scope);
}

bool Binder::passes_on(const FromSource& source, Scope& scope) {
  if (source.collection == CollectionKind::query)
    return !source.iterates && only_filters(*source.query) && passes_on(source.query->from[0], scope);
  return is_container(source, scope) || scope.find(source.root).entry != nullptr ||
         scope.query().sources.empty();
}

// FROM (SELECT * FROM c WHERE p) s is FROM c s WHERE p, and JOIN (SELECT VALUE x FROM x IN c.list WHERE p) s
// is JOIN s IN c.list WHERE p; behind LEFT JOIN p belongs to ON. So indexes serve what is asked of s, and
// policies of the container hold for it: object mappers write such subqueries around a query of their user,
// and Azure's documentation has its readers filter so.
Result<void> Binder::bind_filtered_source(const FromSource& source, Scope& scope) {
  const Query& query = *source.query;
  if (options_.strict) QUIRE_TRY(check_strict_subquery(query));
  BoundQuery filtered;
  Scope inner(&scope, filtered);
  QUIRE_TRY(bind_source(query.from[0], true, inner));
  BoundExpression* condition = filtered.where;
  if (query.where != nullptr) {
    QUIRE_ASSIGN(BoundExpression* const where, bind(*query.where, inner));
    condition = conjunction(condition, where);
  }
  BoundSource bound = std::move(filtered.sources.back());
  filtered.sources.pop_back();  // what may be left is the container whose path it is
  std::ranges::move(filtered.sources, std::back_inserter(scope.query().sources));
  BoundExpression*& place = source.join == JoinKind::left_on ? bound.on : scope.query().where;
  place = conjunction(place, condition);
  bound.alias = name_of(source);
  bound.join = source.join;
  const bool is_item = bound.kind == BoundSourceKind::collection;
  const ScopeEntry entry{.name = bound.alias, .slot = bound.slot, .is_item = is_item, .is_of_subquery = true};
  return declare(source, entry, std::move(bound), scope);
}

Result<void> Binder::bind_query_source(const FromSource& source, Scope& scope) {
  const bool is_left = source.join == JoinKind::left_on;
  const bool only_filters = is_left ? gives_items(source, scope) : passes_on(source, scope);
  return only_filters ? bind_filtered_source(source, scope) : bind_rows_of_query(source, scope);
}

Result<void> Binder::bind_rows_of_query(const FromSource& source, Scope& scope) {
  QUIRE_ASSIGN(BoundQuery * query, bind_inner_query(*source.query, scope));
  BoundSource bound{};
  bound.kind = BoundSourceKind::query;
  bound.slot = statement_.slot_count++;
  bound.alias = name_of(source);
  bound.query = query;
  bound.iterates_query = source.iterates;
  bound.join = source.join;
  return declare(source, {bound.alias, bound.slot, false}, bound, scope);
}

Result<void> Binder::declare(const FromSource& source, const ScopeEntry& entry, BoundSource bound,
                             Scope& scope) {
  const std::string_view name = entry.name;
  if (!name.empty() && scope.has_own(name))
    return refuse(
        ErrorCode::semantic, source.span,
        "the alias '" + std::string(name) + "' is used twice in one FROM; give one of them another name");
  if (!name.empty()) scope.add(entry);
  if (source.on != nullptr) {
    QUIRE_ASSIGN(BoundExpression* const on, bind(*source.on, scope));
    bound.on = conjunction(bound.on, on);
  }
  scope.query().sources.push_back(std::move(bound));
  return {};
}

}  // namespace quire::sql
