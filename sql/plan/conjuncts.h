// Conditions taken apart, and put together.
#pragma once

#include <span>
#include <vector>

#include "sql/bind/bound.h"

namespace quire::sql {

// The parts of an AND, whatever stands within what; else the condition itself.
template <typename Expression>
void add_conjuncts(BoundExpression& condition, std::vector<Expression*>& out) {
  if (condition.kind != BoundKind::logical_and) {
    out.push_back(&condition);
    return;
  }
  for (BoundExpression* operand : condition.operands) add_conjuncts(*operand, out);
}

// AND or OR of at least one; it stands nowhere in the text, so its span is empty.
inline BoundExpression* join_all(BoundKind kind, std::span<BoundExpression* const> operands, Arena& arena) {
  if (operands.size() == 1) return operands.front();
  auto* made = arena.make<BoundExpression>();
  made->kind = kind;
  made->span = {operands.front()->span.offset, 0};
  made->operands = arena.copy_array(operands);
  return made;
}

}  // namespace quire::sql
