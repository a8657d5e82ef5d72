// Statements that change items, as queries:
//
//   INSERT INTO c VALUES a, b    SELECT VALUE item FROM item IN (SELECT VALUE [a, b])
//   UPDATE c SET c.x = e WHERE p    SELECT VALUE (c with x = e) FROM c WHERE p
//   PATCH c WITH o WHERE p          SELECT VALUE [c, o] FROM c WHERE p
//   DELETE FROM c WHERE p           SELECT VALUE c FROM c WHERE p
//   ... RETURNING s                 SELECT s FROM c, over the items that were changed
#include <algorithm>
#include <array>
#include <vector>

#include "sql/bind/binder.h"

namespace quire::sql {
namespace {

bool starts_with(std::span<const BoundStep> path, const std::vector<std::string>& names) {
  const size_t common = std::min(path.size(), names.size());
  return std::equal(
      names.begin(), names.begin() + static_cast<ptrdiff_t>(common), path.begin(),
      [](const std::string& name, const BoundStep& step) { return !step.is_index() && step.name == name; });
}

std::string path_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += "/" + name;
  return text;
}

// SELECT * FROM source
Query query_over(FromSource& source) {
  Query query{};
  query.has_from = true;
  query.from = {&source, 1};
  query.span = source.span;
  return query;
}

bool is_write(ChangeKind kind) {
  return kind == ChangeKind::insert || kind == ChangeKind::upsert || kind == ChangeKind::replace;
}

}  // namespace

Result<void> Binder::bind_change(const Change& change) {
  BoundChange& bound = statement_.change.emplace();
  bound.kind = change.kind;
  bound.pre_trigger = change.pre_trigger;
  bound.post_trigger = change.post_trigger;
  const std::string_view named = change.target.root;
  bound.collection_name = options_.scope.empty() ? named : options_.scope;
  // On a container the name may be anything, as in FROM; but whoever writes another container's means that
  // one.
  if (bound.collection_name != named && source_.collection(std::string(named)) != nullptr)
    return refuse(
        ErrorCode::semantic, change.target.root_span,
        "'" + std::string(named) + "' is another container than '" + bound.collection_name +
            "', on which this statement is run; name that, or prepare the statement on the database "
            "(in the shell: .use " +
            std::string(named) + ")");
  if (source_.collection(bound.collection_name) == nullptr) {
    NearestName nearest(bound.collection_name);
    for (const std::string& candidate : source_.collection_names()) nearest.offer(candidate);
    return refuse(ErrorCode::container_not_found, change.target.root_span,
                  "there is no container '" + bound.collection_name + "'" + nearest.hint());
  }
  QUIRE_TRY(is_write(change.kind) ? bind_written(change) : bind_existing(change));
  return change.returns ? bind_returning(change, bound) : Result<void>();
}

Result<void> Binder::bind_written(const Change& change) {
  if (change.query != nullptr) return bind_query(*change.query, statement_.query, nullptr);
  // An array leaves out what is undefined: null stands for it, which is as little an item.
  Expression null{};
  null.kind = ExpressionKind::literal;
  null.literal = Value::null();
  std::vector<Expression> given(change.values.size());
  std::vector<Expression*> operands(change.values.begin(), change.values.end());
  std::vector<std::array<Expression*, 2>> choices(change.values.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i]->kind == ExpressionKind::object) continue;
    choices[i] = {operands[i], &null};
    given[i].kind = ExpressionKind::coalesce;
    given[i].operands = choices[i];
    given[i].span = operands[i]->span;
    operands[i] = &given[i];
  }
  Expression array{};
  array.kind = ExpressionKind::array;
  array.operands = operands;
  const Span first = change.values.front()->span, last = change.values.back()->span;
  array.span = {first.offset, last.offset + last.length - first.offset};
  SelectItem all{&array, std::nullopt, change.span};
  Query values{};
  values.select = SelectKind::value;
  values.items = {&all, 1};
  FromSource source{};
  source.iterates = true;
  source.collection = CollectionKind::query;
  source.query = &values;
  source.alias = keep("item");
  Expression item{};
  item.kind = ExpressionKind::identifier;
  item.text = *source.alias;
  SelectItem one{&item, std::nullopt, change.span};
  Query query = query_over(source);
  query.select = SelectKind::value;
  query.items = {&one, 1};
  return bind_query(query, statement_.query, nullptr);
}

Result<void> Binder::bind_existing(const Change& change) {
  FromSource source = change.target;
  Query query = query_over(source);
  query.where = change.where;
  Scope scope(nullptr, statement_.query);
  QUIRE_TRY(bind_from(query, scope));
  QUIRE_TRY(bind_clauses(query, statement_.query, scope));
  statement_.query.value->is_stored_form = true;
  if (change.kind == ChangeKind::update) return bind_assignments(change, scope);
  if (change.kind == ChangeKind::patch) return bind_patch(change, scope);
  return {};
}

Result<void> Binder::bind_patch(const Change& change, Scope& scope) {
  scope.aggregates_allowed = false;
  BoundExpression* pair = make(BoundKind::array, change.operations->span);
  pair->operands = statement_.arena->make_array<BoundExpression*>(2);
  pair->operands[0] = statement_.query.value;
  QUIRE_ASSIGN(pair->operands[1], bind(*change.operations, scope));
  statement_.query.value = pair;
  return {};
}

Result<void> Binder::bind_returning(const Change& change, BoundChange& bound) {
  FromSource source = change.target;
  Query query = query_over(source);
  query.select = change.select;
  query.items = change.items;
  bound.returning = std::make_unique<BoundQuery>();
  return bind_query(query, *bound.returning, nullptr);
}

Result<void> Binder::bind_assignments(const Change& change, Scope& scope) {
  scope.aggregates_allowed = false;
  const size_t count = change.assignments.size();
  const Span first = change.assignments.front().path->span;
  const Expression* last = change.assignments.back().value;
  const Span end = last != nullptr ? last->span : change.assignments.back().path->span;
  BoundExpression* changed = make(BoundKind::changed, {first.offset, end.offset + end.length - first.offset});
  changed->operands = statement_.arena->make_array<BoundExpression*>(count + 1);
  changed->paths = statement_.arena->make_array<std::span<BoundStep>>(count);
  changed->operands[0] = statement_.query.value;
  for (size_t i = 0; i < count; ++i) {
    const Assignment& assignment = change.assignments[i];
    QUIRE_ASSIGN(changed->paths[i], bind_target_path(*assignment.path, scope));
    QUIRE_TRY(check_may_change(changed->paths[i], assignment.path->span));
    changed->operands[i + 1] = make_constant(Value(), assignment.path->span);
    if (assignment.value == nullptr) continue;
    QUIRE_ASSIGN(changed->operands[i + 1], bind(*assignment.value, scope));
  }
  statement_.query.value = changed;
  return {};
}

// c.a["b"][0]: what stands left of = in SET.
Result<std::span<BoundStep>> Binder::bind_target_path(const Expression& path, const Scope& scope) {
  std::vector<BoundStep> steps;
  const Expression* at = &path;
  for (; at->kind == ExpressionKind::member || at->kind == ExpressionKind::index; at = at->operands[0]) {
    if (at->kind == ExpressionKind::member) {
      steps.push_back({at->text, -1});
      continue;
    }
    const Value& index = at->operands[1]->literal;
    if (at->operands[1]->kind != ExpressionKind::literal || index.kind() != Kind::integer ||
        index.as_integer() < 0)
      return refuse(ErrorCode::semantic, at->operands[1]->span,
                    "what SET and UNSET change is a path with constant steps, as in c.list[0].name");
    steps.push_back({{}, index.as_integer()});
  }
  const std::string_view alias = scope.entries().front().name;
  if (at->kind != ExpressionKind::identifier || steps.empty())
    return refuse(ErrorCode::semantic, path.span,
                  "SET and UNSET change properties of the item, as in " + std::string(alias) + ".name");
  if (at->text != alias)
    return refuse(ErrorCode::unresolved_name, at->span,
                  "'" + std::string(at->text) + "' is not the item that is changed: write " +
                      std::string(alias) + "." + std::string(at->text));
  std::ranges::reverse(steps);
  return statement_.arena->copy_array(std::span<const BoundStep>(steps));
}

Result<void> Binder::check_may_change(std::span<const BoundStep> path, Span span) {
  const auto refuse_name = [&](const std::string& name, std::string_view what) {
    return refuse(ErrorCode::semantic, span,
                  name + " is " + std::string(what) +
                      " and cannot be changed; to move an item, insert it anew and delete the old one");
  };
  if (starts_with(path, {"id"})) return refuse_name("/id", "the item's id");
  for (const std::string_view name : kSystemPropertyNames)
    if (starts_with(path, {std::string(name)}))
      return refuse(ErrorCode::semantic, span, std::string(name) + " is set by the database alone");
  for (const auto& key : source_.collection(statement_.change->collection_name)->partition_key_paths())
    if (starts_with(path, key)) return refuse_name(path_text(key), "part of the partition key");
  return {};
}

}  // namespace quire::sql
