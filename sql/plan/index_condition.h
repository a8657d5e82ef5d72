// The condition of a partial index (CREATE INDEX ... WHERE): only items for which it is true have entries. It
// is kept as text, with the item as c, and bound over an item alone. So that an item's entries depend on its
// bytes and nothing else, it is made of paths, constants, operators and functions that always give the same.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/bind/bound.h"
#include "sql/error.h"
#include "sql/plan/plan.h"

namespace quire::sql {

class IndexCondition {
 public:
  // invalid_definition, saying what may not stand there; syntax and other errors of the text.
  static Result<std::unique_ptr<IndexCondition>> parse(std::string_view text);

  // SELECT VALUE true FROM c WHERE the condition.
  Plan& plan() const noexcept { return *plan_; }
  SlotNumber slot() const noexcept { return plan_->query.bound->sources[0].slot; }
  // What all has to be true, the parts of an AND.
  const std::vector<const BoundExpression*>& conjuncts() const noexcept { return conjuncts_; }
  // The properties that it reads.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  IndexCondition() = default;
  Result<void> check(const BoundExpression& expression);

  std::unique_ptr<Plan> plan_;
  std::vector<const BoundExpression*> conjuncts_;
  std::vector<std::string> names_;
};

// The text of a condition as CREATE INDEX has it, in the form that an index keeps: the item, written as c, as
// the container's name, or left out, is c.
Result<std::string> index_condition_text(const Expression& condition, std::string_view container);

// Whether every row for which the conditions of a query hold has an item with an entry in the index: each
// part of the index's condition is among them, or follows from bounds with constants on the same path. Those
// of `conditions` that are parts of it are added to `same`: with the index they need not be looked at.
bool implies(std::span<const BoundExpression* const> conditions, SlotNumber slot, SlotNumber slot_count,
             const IndexCondition& condition, std::vector<const BoundExpression*>& same);

}  // namespace quire::sql
