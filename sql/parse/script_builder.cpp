// The nodes of statements about scripts, and their text.
#include "sql/parse/ast_builder.h"
#include "sql/parse/keywords.h"
#include "sql/parse/literals.h"
#include "sql/parse/script_words.h"

namespace quire::sql {
namespace {

template <typename Row, size_t count>
const Row* find_word(const Row (&rows)[count], std::string_view word) {
  for (const Row& row : rows)
    if (equals_ignoring_case(word, row.word)) return &row;
  return nullptr;
}

}  // namespace

void AstBuilder::create_script(const Token& start, const Token& kind, bool replaces, const Token& name,
                               const Token& container, const Token& body) {
  extension(start, "a statement about scripts");
  auto* script = parsed_.arena.make<ScriptChange>();
  script->kind = find_word(kScriptKindWords, text_of(kind))->kind;
  script->name = name_of(name);
  script->container = name_of(container);
  const std::string_view text = text_of(body);
  script->mark = text.substr(0, text.find('$', 1) + 1);
  script->body = text.substr(script->mark.size(), text.size() - 2 * script->mark.size());
  script->body_position = position_of(parsed_.text, body.offset + script->mark.size());
  script->replaces = replaces;
  script->span = span_from(start.offset);
  parsed_.statement.kind = StatementKind::create_script;
  parsed_.statement.script = script;
}

void AstBuilder::trigger(const Token& time, const Token& operation, bool is_always) {
  ScriptChange& script = *parsed_.statement.script;
  script.is_always = is_always;
  if (const auto* row = find_word(kTriggerTimeWords, text_of(time)))
    script.time = row->time;
  else
    fail_at(ErrorCode::syntax, time.offset, "a trigger runs PRE or POST: before or after the write");
  if (const auto* row = find_word(kTriggerOperationWords, text_of(operation)))
    script.operation = row->operation;
  else
    fail_at(ErrorCode::syntax, operation.offset, "a trigger runs at ALL, CREATE, REPLACE, UPDATE or DELETE");
}

void AstBuilder::drop_script(const Token& start, const Token& kind, bool is_conditional, const Token& name,
                             const Token& container) {
  extension(start, "a statement about scripts");
  auto* script = parsed_.arena.make<ScriptChange>();
  script->kind = find_word(kScriptKindWords, text_of(kind))->kind;
  script->name = name_of(name);
  script->container = name_of(container);
  script->is_conditional = is_conditional;
  script->span = span_from(start.offset);
  parsed_.statement.kind = StatementKind::drop_script;
  parsed_.statement.script = script;
}

void AstBuilder::execute(const Token& start, const Token& name, List<Expression*> arguments,
                         const Token& container, List<Expression*> partition_key) {
  extension(start, "EXECUTE");
  auto* execute = parsed_.arena.make<Execute>();
  execute->name = name_of(name);
  execute->container = name_of(container);
  execute->arguments = arguments.span();
  execute->partition_key = partition_key.span();
  execute->has_partition_key = partition_key.size != 0;
  execute->span = span_from(start.offset);
  List<ObjectEntry> entries{nullptr, 0};
  const auto add = [&](char letter, std::span<Expression* const> values) {
    for (size_t i = 0; i < values.size(); ++i)
      entries = append(entries,
                       {parsed_.arena.copy_string(letter + std::to_string(i)), values[i], values[i]->span});
  };
  add('a', arguments.span());
  add('k', partition_key.span());
  const Selection value{SelectKind::value, list_of(item(object(start, entries), kNoToken))};
  Query* const made = query({start, false, nullptr, value, {nullptr, 0}, nullptr, {nullptr, 0}, nullptr});
  statement(made);
  parsed_.statement.kind = StatementKind::execute;
  parsed_.statement.execute = execute;
}

std::string print_script(StatementKind kind, const ScriptChange& script) {
  std::string out = kind == StatementKind::drop_script ? "DROP "
                    : script.replaces                  ? "CREATE OR REPLACE "
                                                       : "CREATE ";
  out += kScriptKindWords[static_cast<size_t>(script.kind)].word;
  out += script.is_conditional ? " IF EXISTS " : " ";
  append_name(out, script.name);
  if (kind == StatementKind::create_script && script.kind == ScriptKind::trigger) {
    (out += ' ') += kTriggerTimeWords[static_cast<size_t>(script.time)].word;
    (out += ' ') += kTriggerOperationWords[static_cast<size_t>(script.operation)].word;
  }
  append_name(out += " ON ", script.container);
  if (kind == StatementKind::drop_script) return out;
  if (script.is_always) out += " ALWAYS";
  (((out += " AS ") += script.mark) += script.body) += script.mark;
  return out;
}

}  // namespace quire::sql
