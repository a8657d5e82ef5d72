// The nodes of statements that change data or containers.
#include "sql/parse/ast_builder.h"
#include "sql/parse/keywords.h"

namespace quire::sql {
namespace {

ChangeKind kind_of_write(std::string_view word) {
  if (equals_ignoring_case(word, "UPSERT")) return ChangeKind::upsert;
  return equals_ignoring_case(word, "REPLACE") ? ChangeKind::replace : ChangeKind::insert;
}

}  // namespace

Change& AstBuilder::change(ChangeKind kind, const Token& start, const FromSource& target,
                           const ChangeEnd& end) {
  extension(start, "a statement that changes data");
  auto* change = parsed_.arena.make<Change>();
  change->kind = kind;
  change->target = target;
  if (end.pre_trigger.kind != 0) change->pre_trigger = name_of(end.pre_trigger);
  if (end.post_trigger.kind != 0) change->post_trigger = name_of(end.post_trigger);
  change->returns = end.returning.is_there;
  change->select = end.returning.selection.kind;
  change->items = end.returning.selection.items.span();
  change->span = span_from(start.offset);
  parsed_.statement.kind = StatementKind::change;
  parsed_.statement.change = change;
  return *change;
}

void AstBuilder::write(const Token& start, const Token& container, List<Expression*> values, Query* query,
                       const ChangeEnd& end) {
  FromSource target{};
  target.root = name_of(container);
  target.root_span = target.span = {container.offset, container.length};
  Change& made = change(kind_of_write(text_of(start)), start, target, end);
  made.values = values.span();
  made.query = query;
}

void AstBuilder::update(const Token& start, FromSource* target, List<Assignment> assignments,
                        Expression* where, const ChangeEnd& end) {
  Change& made = change(ChangeKind::update, start, *target, end);
  made.assignments = assignments.span();
  made.where = where;
}

void AstBuilder::patch(const Token& start, FromSource* target, Expression* operations, Expression* where,
                       const ChangeEnd& end) {
  Change& made = change(ChangeKind::patch, start, *target, end);
  made.operations = operations;
  made.where = where;
}

void AstBuilder::remove(const Token& start, FromSource* target, Expression* where, const ChangeEnd& end) {
  change(ChangeKind::remove, start, *target, end).where = where;
}

List<Assignment> AstBuilder::concatenate(List<Assignment> first, List<Assignment> second) {
  for (const Assignment& assignment : second.span()) first = append(first, assignment);
  return first;
}

void AstBuilder::define(StatementKind kind, const Token& start, const Token& name, bool is_conditional,
                        List<Expression*> partition_key, Expression* properties) {
  extension(start, "a statement about containers");
  auto* definition = parsed_.arena.make<ContainerChange>();
  definition->name = name_of(name);
  definition->is_conditional = is_conditional;
  definition->partition_key = partition_key.span();
  definition->properties = properties;
  definition->span = span_from(start.offset);
  parsed_.statement.kind = kind;
  parsed_.statement.definition = definition;
  if (kind == StatementKind::alter_container && properties == nullptr)
    fail_at(ErrorCode::syntax, name.end(),
            "ALTER CONTAINER needs what to change: WITH {\"defaultTtl\": 3600}");
}

void AstBuilder::create_index(const Token& start, bool is_unique, bool is_conditional, const Token& name,
                              const Token& container, List<IndexKey> keys, Expression* where) {
  extension(start, "CREATE INDEX");
  auto* index = parsed_.arena.make<IndexChange>();
  index->name = name.length == 0 ? std::string_view() : name_of(name);
  index->container = name_of(container);
  index->is_unique = is_unique;
  index->is_conditional = is_conditional;
  index->keys = keys.span();
  index->where = where;
  index->span = span_from(start.offset);
  // As in a query, the container's name may stand before the path.
  const std::string alias = "/" + std::string(index->container) + "/";
  for (IndexKey& key : index->keys) {
    const char first = parsed_.text[key.path->span.offset];
    const bool is_quoted = first == '"' || first == '\'' || first == '[';
    if (is_quoted || !key.path->text.starts_with(alias)) continue;
    const std::string_view rest = key.path->text.substr(alias.size() - 1);
    if (!rest.starts_with("/[]")) key.path->text = rest;
  }
  parsed_.statement.kind = StatementKind::create_index;
  parsed_.statement.index = index;
}

void AstBuilder::drop_index(const Token& start, bool is_conditional, const Token& name,
                            const Token& container) {
  extension(start, "DROP INDEX");
  auto* index = parsed_.arena.make<IndexChange>();
  index->name = name_of(name);
  index->container = container.length == 0 ? std::string_view() : name_of(container);
  index->is_conditional = is_conditional;
  index->span = span_from(start.offset);
  parsed_.statement.kind = StatementKind::drop_index;
  parsed_.statement.index = index;
}

Expression* AstBuilder::index_path(Expression* path, const Token& step, bool is_element) {
  if (path == nullptr) path = make(ExpressionKind::identifier, step.offset);
  std::string longer(path->text);
  longer += '/';
  if (is_element) {
    longer += "[]";
  } else {
    const std::string_view name = name_of(step);
    const bool is_plain = !name.empty() && name.find_first_of("/\"*?[]{},\\ ") == std::string_view::npos;
    if (!is_plain) longer += '"';
    for (const char c : name) {
      if (!is_plain && (c == '"' || c == '\\')) longer += '\\';
      longer += c;
    }
    if (!is_plain) longer += '"';
  }
  path->text = parsed_.arena.copy_string(longer);
  return path;
}

void AstBuilder::transaction(StatementKind kind, const Token& start) {
  extension(start, "a transaction over several statements");
  parsed_.statement.kind = kind;
}

void AstBuilder::upkeep(StatementKind kind, const Token& start, const Token& container) {
  extension(start, text_of(start));
  auto* upkeep = parsed_.arena.make<Upkeep>();
  upkeep->container = container.length == 0 ? std::string_view() : name_of(container);
  upkeep->span = span_from(start.offset);
  parsed_.statement.kind = kind;
  parsed_.statement.upkeep = upkeep;
}

// Not refused in strict mode, which it turns on and off.
void AstBuilder::pragma(const Token& start, const Token& name, Expression* value) {
  auto* pragma = parsed_.arena.make<Pragma>();
  pragma->name = text_of(name);
  pragma->value = value;
  pragma->span = span_from(start.offset);
  parsed_.statement.kind = StatementKind::pragma;
  parsed_.statement.pragma = pragma;
}

Expression* AstBuilder::key_path(const Token& string) {
  Expression* path = make(ExpressionKind::identifier, string.offset);
  path->text = string_of(string);
  return path;
}

Expression* AstBuilder::longer_key_path(Expression* path, const Token& name) {
  if (path == nullptr) path = make(ExpressionKind::identifier, name.offset);
  std::string longer(path->text);
  longer += '/';
  longer += text_of(name);
  path->text = parsed_.arena.copy_string(longer);
  return path;
}

}  // namespace quire::sql
