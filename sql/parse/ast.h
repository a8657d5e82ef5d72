// The syntax tree: what was written, before any name is resolved. Nodes live in the arena of their
// ParsedStatement and are plain data. Their depth is bounded by kMostExpressionDepth, checked as they are
// made, so code that walks them may recurse.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql/error.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

constexpr size_t kMostQueryText = size_t{512} << 10;  // bytes, as in the service
constexpr uint32_t kMostExpressionDepth = 256;
// In a whole statement; bound.h bounds the sources of one FROM. Each JOIN is an operator on top of the last,
// each arm of CASE a condition within the last, so these too are depths when the statement runs.
constexpr uint32_t kMostJoins = 1000;
constexpr uint32_t kMostCaseArms = 1000;

// Bytes [offset, offset + length) of the statement's text.
struct Span {
  uint32_t offset = 0;
  uint32_t length = 0;
};

enum class UnaryOperator : uint8_t { minus, plus, bit_not, logical_not };

// In the order of the table in operators.h (name, level).
enum class BinaryOperator : uint8_t {
  equal,
  not_equal,
  less,
  greater,
  less_equal,
  greater_equal,
  shift_left,
  shift_right,
  shift_right_unsigned,
  bit_or,
  bit_xor,
  bit_and,
  add,
  subtract,
  concatenate,
  multiply,
  divide,
  modulo,
};

struct Query;
struct Expression;

// A key of an object constructor and its value.
struct ObjectEntry {
  std::string_view key;  // unescaped
  Expression* value;
  Span key_span;
};

// CASE's arms: WHEN condition THEN value.
struct CaseArm {
  Expression* when;
  Expression* then;
};

enum class ExpressionKind : uint8_t {
  literal,      // value
  parameter,    // text: name without @
  identifier,   // text
  member,       // operands[0] . text                  (c.name; also c["name"] with a string literal)
  index,        // operands[0] [ operands[1] ]          (any other index expression)
  unary,        // unary_operator operands[0]
  binary,       // operands[0] binary_operator operands[1]
  logical_and,  // operands: two or more, flattened, left to right
  logical_or,   // likewise
  conditional,  // operands[0] ? operands[1] : operands[2]
  coalesce,     // operands[0] ?? operands[1]
  between,      // operands[0] [NOT] BETWEEN operands[1] AND operands[2]; negated
  in,           // operands[0] [NOT] IN (operands[1..]), or of (query), which is Quire's addition; negated
  like,         // operands[0] [NOT] LIKE operands[1] [ESCAPE text]; negated; has_escape
  is_null,      // operands[0] IS [NOT] NULL; negated                    Quire's addition
  case_when,    // CASE [operands[0]] WHEN arms END; operands.back() is ELSE if has_else    Quire's addition
  let,          // LET text = operands[0] IN operands[1]
  array,        // [operands...]
  object,       // {entries...}
  call,         // text(operands...); is_udf for udf.text(...); is_distinct for COUNT(DISTINCT x); is_star for
                // COUNT(*)
  exists,       // EXISTS(query)
  array_query,  // ARRAY(query)
  all_query,    // ALL(query)
  first_query,  // FIRST(query)
  last_query,   // LAST(query)
  scalar_query,  // (query)
};

struct Expression {
  ExpressionKind kind;
  UnaryOperator unary_operator{};
  BinaryOperator binary_operator{};
  bool negated = false;
  bool has_escape = false;
  bool has_else = false;
  bool is_udf = false;
  bool is_distinct = false;
  bool is_star = false;
  bool is_bracketed = false;  // member: written c["name"], so any name goes
  bool is_parenthesised = false;
  uint32_t depth = 1;  // 1 + the deepest operand or subquery expression
  Span span;
  std::string_view text;
  Value literal;
  std::span<Expression*> operands;
  std::span<ObjectEntry> entries;
  std::span<CaseArm> arms;
  Query* query = nullptr;
};

struct SelectItem {
  Expression* expression;
  std::optional<std::string_view> alias;
  Span span;
};

enum class SelectKind : uint8_t { star, value, list };

// What a FROM source ranges over.
enum class CollectionKind : uint8_t { path, query };

// One step of a collection's path: .name, ["name"], [int] (index >= 0) or [@parameter]... as the grammar
// takes.
struct PathStep {
  std::string_view name;  // if is_index is false
  int64_t index = 0;
  bool is_index = false;
  bool is_bracketed = false;  // written ["name"]
};

enum class JoinKind : uint8_t { first, lateral, inner_on, left_on };

// [JOIN] collection [[AS] alias]   or   [JOIN] alias IN collection   [ON condition]
struct FromSource {
  JoinKind join = JoinKind::first;
  bool iterates = false;  // alias IN collection
  CollectionKind collection = CollectionKind::path;
  std::string_view root;  // path: the first identifier
  Span root_span;
  std::span<PathStep> steps;
  Query* query = nullptr;
  std::optional<std::string_view> alias;
  Expression* on = nullptr;
  Span span;
};

struct OrderItem {
  Expression* expression;
  bool descending = false;
  bool has_direction = false;
};

// SELECT ... ; set operations chain through `next`.
enum class SetOperation : uint8_t { none, union_distinct, union_all };

struct Query {
  bool distinct = false;
  Expression* top = nullptr;  // integer literal or parameter
  SelectKind select = SelectKind::star;
  std::span<SelectItem> items;  // one for SelectKind::value
  bool has_from = false;
  std::span<FromSource> from;
  Expression* where = nullptr;
  std::span<Expression*> group_by;
  Expression* having = nullptr;
  std::span<OrderItem> order_by;
  bool order_by_rank = false;
  Expression* offset = nullptr;  // both or neither
  Expression* limit = nullptr;
  SetOperation set_operation = SetOperation::none;
  Query* next = nullptr;
  uint32_t depth = 1;
  Span span;
};

enum class StatementKind : uint8_t {
  query,
  explain,
  change,            // INSERT, UPSERT, REPLACE, UPDATE, DELETE, PATCH: change
  create_container,  // these three: definition
  alter_container,
  drop_container,
  create_index,  // these two: index
  drop_index,
  create_script,  // these two: script
  drop_script,
  execute,  // execution and query
  begin,
  commit,
  rollback,
  pragma,  // pragma
  check,   // these three: upkeep
  analyze,
  advise,
};
// EXPLAIN [ANALYZE] [(AST | LOGICAL | PHYSICAL | JSON)] query, or without ANALYZE a change
enum class ExplainStage : uint8_t { ast, logical, physical, json };

// SET path = value; UNSET path has no value.
struct Assignment {
  Expression* path;
  Expression* value;
};

enum class ChangeKind : uint8_t { insert, upsert, replace, update, remove, patch };

// INSERT | UPSERT | REPLACE INTO target VALUES values, or a query
// UPDATE target SET/UNSET assignments [WHERE where]
// PATCH target WITH operations [WHERE where]
// DELETE FROM target [WHERE where]              each with [RETURNING selection]
struct Change {
  ChangeKind kind;
  FromSource target;  // a container, perhaps with an alias
  std::span<Expression*> values;
  Query* query = nullptr;
  std::span<Assignment> assignments;
  Expression* operations = nullptr;
  Expression* where = nullptr;
  std::string_view pre_trigger;  // empty: none
  std::string_view post_trigger;
  bool returns = false;
  SelectKind select = SelectKind::star;
  std::span<SelectItem> items;
  Span span;
};

// CREATE CONTAINER [IF NOT EXISTS] name [PARTITION KEY (paths)] [WITH properties]
// ALTER CONTAINER name WITH properties
// DROP CONTAINER [IF EXISTS] name
struct ContainerChange {
  std::string_view name;
  bool is_conditional = false;
  std::span<Expression*> partition_key;  // text: "/a/b"
  Expression* properties = nullptr;      // an object
  Span span;
};

// The text of `path` is as a policy writes it: "/address/zip", "/tags/[]".
// Trivial, as all that stands on the parser's stack.
struct IndexKey {
  Expression* path;
  bool is_descending;
};

// CREATE [UNIQUE] INDEX [IF NOT EXISTS] [name] ON container (path [ASC | DESC], ...) [WHERE predicate]
// DROP INDEX [IF EXISTS] name [ON container]
struct IndexChange {
  std::string_view name;       // empty: one is made
  std::string_view container;  // empty: the one that has the index
  bool is_unique = false;
  bool is_conditional = false;
  std::span<IndexKey> keys;
  Expression* where = nullptr;
  Span span;
};

enum class ScriptKind : uint8_t { procedure, function, trigger };
enum class TriggerTime : uint8_t { pre, post };
enum class TriggerOperation : uint8_t { all, create, replace, update, remove };

// CREATE [OR REPLACE] PROCEDURE | FUNCTION name ON container AS mark body mark
// CREATE [OR REPLACE] TRIGGER name time operation ON container [ALWAYS] AS mark body mark
// DROP PROCEDURE | FUNCTION | TRIGGER [IF EXISTS] name ON container
struct ScriptChange {
  ScriptKind kind = ScriptKind::procedure;
  std::string_view name;
  std::string_view container;
  std::string_view body;
  Position body_position;
  std::string_view mark;  // around the body: $$, or $name$
  TriggerTime time = TriggerTime::pre;
  TriggerOperation operation = TriggerOperation::all;
  bool is_always = false;
  bool replaces = false;
  bool is_conditional = false;
  Span span;
};

// EXECUTE name(arguments) ON container [IN PARTITION partition_key]
// The statement's query gives them as one object: "a0", "a1", ... and "k0", ...; what is undefined is not
// there.
struct Execute {
  std::string_view name;
  std::string_view container;
  std::span<Expression*> arguments;
  std::span<Expression*> partition_key;
  bool has_partition_key = false;
  Span span;
};

// PRAGMA name [= value]
struct Pragma {
  std::string_view name;
  Expression* value = nullptr;  // a literal, or an identifier: a word
  Span span;
};

// CHECK [container]
// ANALYZE [container]
// ADVISE container
struct Upkeep {
  std::string_view container;  // empty: all
  Span span;
};

struct Statement {
  StatementKind kind = StatementKind::query;
  ExplainStage explain_stage = ExplainStage::physical;
  bool analyze = false;
  Query* query = nullptr;
  Change* change = nullptr;
  ContainerChange* definition = nullptr;
  IndexChange* index = nullptr;
  ScriptChange* script = nullptr;
  Execute* execute = nullptr;
  Pragma* pragma = nullptr;
  Upkeep* upkeep = nullptr;
};

// A parsed text: owns a copy of the text and all nodes, which point into it and into each other.
struct ParsedStatement {
  std::string text;
  Arena arena;
  Statement statement;
};

// Parses one statement. Errors: syntax (position, the token, what was expected, a hint for common slips),
// limit_exceeded (text past kMostQueryText, nesting). Strict: the service's grammar alone.
Result<std::unique_ptr<ParsedStatement>> parse(std::string_view text, bool strict);

// SQL text of a tree, one line, canonical spacing; parses back to an equal tree.
std::string print(const Statement& statement);
std::string print(const Query& query);
std::string print(const Expression& expression);
// The same for expressions that differ in nothing but spacing, parentheses that mean nothing, brackets around
// names of properties, the case of keywords and that of names of built-in functions: a text to compare them
// by.
std::string print_alike(const Expression& expression);
// For EXPLAIN (AST): an indented outline; a statement that is no query stands on one line.
std::string outline(const Statement& statement);

}  // namespace quire::sql
