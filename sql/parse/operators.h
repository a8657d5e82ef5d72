// The operators of the language as it writes them, and how tightly each binds: what the grammar's
// nonterminals say, for the printer and whoever else needs names.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/parse/ast.h"

namespace quire::sql {

// Loosest first, as in grammar.y.
enum class OperatorLevel : uint8_t {
  conditional,
  coalesce,
  logical_or,
  logical_and,
  predicate,   // BETWEEN IN LIKE IS LET
  comparison,  // and shifts
  sum,         // and | ^ & ||
  product,
  prefixed,
  primary,
};

struct BinaryOperatorRow {
  BinaryOperator op;
  std::string_view name;
  OperatorLevel level;
};
struct UnaryOperatorRow {
  UnaryOperator op;
  std::string_view name;
};

const BinaryOperatorRow& operator_row(BinaryOperator op) noexcept;
const UnaryOperatorRow& operator_row(UnaryOperator op) noexcept;

OperatorLevel level_of(const Expression& expression) noexcept;

}  // namespace quire::sql
