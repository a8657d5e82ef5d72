// The bound query: every name is a slot, a parameter or a row of the function table; what could not mean
// anything has been refused. Made by bind(), read by plan/. Nodes live in the arena of their BoundStatement.
//
// Slots are numbered through the whole statement, subqueries included, so a correlated subquery simply reads
// a slot that an outer source fills.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/computed_property.h"
#include "sql/error.h"
#include "sql/functions/function.h"
#include "sql/functions/like.h"
#include "sql/parse/ast.h"
#include "sql/source.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

using SlotNumber = uint32_t;

struct BoundQuery;
struct BoundExpression;

// A step of a path over a value: a name or an array index.
struct BoundStep {
  std::string_view name;
  int64_t index = -1;  // >= 0: an array index
  bool is_index() const noexcept { return index >= 0; }
};

// The compiler's work may grow with the product of these and the rest of the text, so they are bounded: with
// them its time and memory are in proportion to the text.
constexpr size_t kMostSources = 256;     // of one FROM
constexpr size_t kMostGroupKeys = 256;   // of one GROUP BY
constexpr size_t kMostSubqueries = 512;  // of a statement

struct BoundEntry {
  std::string_view key;
  BoundExpression* value;
};

enum class BoundKind : uint8_t {
  constant,         // value
  parameter,        // parameter: number in BoundStatement::parameters
  slot,             // the value of a slot, whole. For an item's slot: with its system properties
  path,             // slot, steps (at least one), read in place
  system_property,  // slot (of an item), property: c._ts
  member,           // operands[0], steps: a path over a computed value
  index,            // operands[0] [ operands[1] ]: a string takes a member, an integer an element
  unary,
  binary,  // operators
  logical_and,
  logical_or,  // operands: two or more
  conditional,
  coalesce,
  let,       // slot takes the value of operands[0] while operands[1] is evaluated, which is the result
  in,        // operands[0] among operands[1..]; negated
  in_query,  // operands[0] among the rows of query; operands[1]: these as an array, where they are known
             // without a row; negated
  like,      // operands[0] LIKE operands[1]; like_pattern if the pattern is constant; escape; negated
  is_null,   // negated
  array,
  object,           // operands / entries; undefined ones are left out
  call,             // function, operands
  full_text_score,  // function, operands: language, path of an item, terms that are constants or parameters
  document_id,      // DOCUMENTID(alias): slot
  aggregate,        // aggregate: number in BoundQuery::aggregates of the query that owns it
  group_key,        // group_key: number in BoundQuery::group_by
  exists,
  array_query,
  scalar_query,  // query
  all_query,
  first_query,
  last_query,     // query
  changed,        // operands[0], an item, with paths[i] set to operands[i + 1]; undefined: taken away
  user_function,  // udf.message(operands...)
  unsupported,    // message: means something, but this version cannot run it; operands are bound all the same
};

struct BoundExpression {
  BoundKind kind;
  UnaryOperator unary_operator{};
  BinaryOperator binary_operator{};
  SystemProperty property{};
  bool negated = false;
  bool is_stored_form = false;  // slot: an item as it is stored, without system properties
  SlotNumber slot = 0;
  uint32_t parameter = 0;
  uint32_t aggregate = 0;
  uint32_t group_key = 0;
  Span span;  // in the statement's text, for run-time errors and EXPLAIN
  Value constant;
  std::span<BoundStep> steps;
  std::span<std::span<BoundStep>> paths;
  std::span<BoundExpression*> operands;
  std::span<BoundEntry> entries;
  const Function* function = nullptr;
  const LikePattern* like_pattern = nullptr;
  std::optional<std::string_view> escape;
  BoundQuery* query = nullptr;
  std::string_view message;
};

struct BoundAggregate {
  Aggregate aggregate;
  BoundExpression* argument;  // null for COUNT(*)
  bool distinct = false;
};

// How one FROM source fills its slot.
enum class BoundSourceKind : uint8_t {
  collection,  // the items of a container: collection_name
  expression,  // the value of `expression`, one row; none if undefined          (FROM c.a.b x, JOIN c.path)
  elements,    // the elements of the array that `expression` gives              (x IN c.arr)
  query,       // the rows of `query`, in `slot` as values                        (JOIN (SELECT ...) x)
};

struct BoundSource {
  BoundSourceKind kind;
  SlotNumber slot;
  std::string_view alias;       // for EXPLAIN; may be empty
  std::string collection_name;  // collection
  BoundExpression* expression = nullptr;
  BoundQuery* query = nullptr;
  bool iterates_query = false;  // z IN (SELECT ...): the elements of each row that is an array
  JoinKind join = JoinKind::first;
  BoundExpression* on = nullptr;  // inner_on, left_on
};

struct BoundOrderItem {
  BoundExpression* expression;
  bool descending;
  bool is_score = false;  // the greater the better, whatever the words of the query give; for EXPLAIN
};

// ORDER BY RANK RRF(...): rows are sorted by what their ranks in several orders add up to.
struct BoundFusion {
  BoundExpression* weights = nullptr;  // an array, constant or parameter; null: all 1
  bool descending = true;
};

// SELECT. The rows are: FROM, WHERE, GROUP BY (if is_grouped), HAVING, ORDER BY, SELECT, DISTINCT,
// OFFSET/LIMIT. After grouping, expressions refer to aggregates and group keys by number and to no source of
// this query.
struct BoundQuery {
  std::vector<BoundSource> sources;
  BoundExpression* where = nullptr;
  bool is_grouped = false;  // GROUP BY, or an aggregate in the select list
  std::vector<BoundExpression*> group_by;
  std::vector<BoundAggregate> aggregates;
  BoundExpression* having = nullptr;
  std::vector<BoundOrderItem> order_by;
  std::optional<BoundFusion> fusion;  // then order_by holds the scores that it joins
  // The one value that a row gives: SELECT VALUE's expression, SELECT list's object, SELECT *'s slot. A row
  // whose value is undefined is left out.
  BoundExpression* value = nullptr;
  bool distinct = false;
  BoundExpression* top = nullptr;  // constants or parameters
  BoundExpression* offset = nullptr;
  BoundExpression* limit = nullptr;
  SetOperation set_operation = SetOperation::none;
  std::unique_ptr<BoundQuery> next;
  // True if it can give more than one row as far as the text shows (a scalar subquery may not).
  bool may_give_many_rows = true;
  // The slots of outer queries that this one reads, itself or through its subqueries.
  std::vector<SlotNumber> outer_slots;
  // It, or a subquery of it, calls what may give something else for each row: RAND, a function of the user.
  bool is_volatile = false;
};

// A statement that changes items. Its query gives the items as they will be (update, and the three that
// write), or those to remove.
struct BoundChange {
  ChangeKind kind;
  std::string collection_name;
  std::string pre_trigger;  // that the statement names; empty: none
  std::string post_trigger;
  // RETURNING: a query over the items that were changed.
  std::unique_ptr<BoundQuery> returning;
};

// What constant calls gave.
struct FoldedValues {
  explicit FoldedValues(size_t most_bytes) : memory(most_bytes) {}
  MemoryBudget memory;
  Arena arena{&memory};
};

// A subquery's BoundQuery is owned by the statement, its expressions by the arena.
struct BoundStatement {
  std::unique_ptr<ParsedStatement> parsed;
  std::unique_ptr<Arena> arena = std::make_unique<Arena>();
  std::unique_ptr<FoldedValues> folded;
  std::vector<ComputedProperty> computed;  // of the containers that it reads
  std::vector<std::unique_ptr<BoundQuery>> subqueries;
  std::vector<std::unique_ptr<LikePattern>> patterns;
  std::vector<std::string> parameters;      // names without @, in order of first use
  std::vector<uint64_t> parameter_offsets;  // where they are used first, in the statement's text
  std::vector<uint32_t> member_parameters;  // those in brackets, c[@p], by number
  std::vector<std::string> notes;           // for EXPLAIN: what may mean something else than was meant
  SlotNumber slot_count = 0;
  size_t computed_count = 0;  // expressions that are neither constants nor parameters
  BoundQuery query;
  std::optional<BoundChange> change;
};

// The text that a parameter in brackets, c[@p], stands for: then c[@p] is the path c["..."]. Nothing where it
// stands for none, or nobody knows yet.
using MemberNames = std::function<std::optional<std::string_view>(std::string_view parameter)>;

struct BindOptions {
  bool strict = false;
  // Prepared on a container: the first identifier of FROM stands for it, whatever it says. Else empty:
  // identifiers in FROM name containers.
  std::string_view scope;
  MemberNames member_names = {};
  // Those of an earlier time, which keep their numbers.
  std::span<const std::string> parameters = {};
};

Result<std::unique_ptr<BoundStatement>> bind(std::unique_ptr<ParsedStatement> parsed, Source& source,
                                             const BindOptions& options);

}  // namespace quire::sql
