// HAVING that speaks of group keys alone, `GROUP BY y.g HAVING y.g = x.g`, keeps the rows of the groups that
// it keeps: it stands with WHERE, where indexes, joins and rows by key serve it. So does a condition on a
// derived table that says as much of the keys of its GROUP BY, or of what its DISTINCT compares:
// `FROM (SELECT y.g, COUNT(1) AS n FROM y GROUP BY y.g) s WHERE s.g = 3`.
//
// Values that are equal may still differ: 0 and -0 are, and objects whose members come in another order. Such
// rows share a group, which shows the first of them. So only conditions are asked of each row that equal
// values answer alike: comparisons, IN, LIKE, IS NULL, checks of types.
#include <algorithm>
#include <functional>
#include <vector>

#include "sql/plan/conjuncts.h"
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// What an operand is of the rows below; null: nothing that could be asked there.
using RowValue = std::function<BoundExpression*(BoundExpression& operand)>;

bool is_given(const BoundExpression* operand) {
  return operand->kind == BoundKind::constant || operand->kind == BoundKind::parameter;
}

bool answers_equal_values_alike(const BoundExpression& test) {
  switch (test.kind) {
    case BoundKind::binary:
      return test.binary_operator <= BinaryOperator::greater_equal;  // the comparisons come first
    case BoundKind::call:
      return test.function->name.starts_with("IS_");
    default:
      return test.kind == BoundKind::in || test.kind == BoundKind::like || test.kind == BoundKind::is_null;
  }
}

bool is_connective(const BoundExpression& expression) {
  return expression.kind == BoundKind::logical_and || expression.kind == BoundKind::logical_or ||
         (expression.kind == BoundKind::unary && expression.unary_operator == UnaryOperator::logical_not);
}

// A condition as it is asked of the rows below, or null.
class Lowering {
 public:
  Lowering(RowValue row_value, Arena& arena) : row_value_(std::move(row_value)), arena_(arena) {}

  BoundExpression* lower(BoundExpression& condition) const {
    const bool is_test = answers_equal_values_alike(condition);
    if (!is_test && !is_connective(condition)) return nullptr;
    if (is_test && std::ranges::all_of(condition.operands, is_given)) return nullptr;  // asks for no row
    std::vector<BoundExpression*> operands;
    for (BoundExpression* operand : condition.operands) {
      operands.push_back(!is_test ? lower(*operand) : is_given(operand) ? operand : row_value_(*operand));
      if (operands.back() == nullptr) return nullptr;
    }
    auto* lowered = arena_.make<BoundExpression>(condition);
    lowered->operands = arena_.copy_array(std::span<BoundExpression* const>(operands));
    return lowered;
  }

  // Moves the parts of `condition` that can be asked below to `where` there.
  void move(BoundExpression*& condition, BoundExpression*& where) const {
    if (condition == nullptr) return;
    std::vector<BoundExpression*> stay, below;
    add_conjuncts(*condition, stay);
    if (where != nullptr) below.push_back(where);
    const size_t before = below.size();
    std::erase_if(stay, [&](BoundExpression* part) {
      BoundExpression* const lowered = lower(*part);
      if (lowered != nullptr) below.push_back(lowered);
      return lowered != nullptr;
    });
    if (below.size() == before) return;
    where = join_all(BoundKind::logical_and, below, arena_);
    condition = stay.empty() ? nullptr : join_all(BoundKind::logical_and, stay, arena_);
  }

 private:
  RowValue row_value_;
  Arena& arena_;
};

BoundExpression* if_askable(BoundExpression* value) {
  return may_be_asked_twice(*value) ? value : nullptr;
}

// What is read above groups is a key, or stands around the query.
void push_having(BoundQuery& query, Arena& arena) {
  if (query.group_by.empty()) return;
  const auto row_value = [&query](BoundExpression& operand) -> BoundExpression* {
    if (operand.kind == BoundKind::group_key) return if_askable(query.group_by[operand.group_key]);
    return operand.kind == BoundKind::path || operand.kind == BoundKind::slot ? &operand : nullptr;
  };
  Lowering(row_value, arena).move(query.having, query.where);
}

// ---- Derived tables

// The part of a derived table's value that an operand is: of {g: y.g, n: COUNT(1)} as s, y.g for s.g.
BoundExpression* part_of(const BoundQuery& table, SlotNumber slot, const BoundExpression& operand) {
  const BoundExpression& value = *table.value;
  if (value.kind != BoundKind::object) {
    const bool is_whole = operand.kind == BoundKind::slot && operand.slot == slot;
    return is_whole && value.kind != BoundKind::array ? table.value : nullptr;
  }
  const bool is_member = operand.kind == BoundKind::path && operand.slot == slot &&
                         operand.steps.size() == 1 && !operand.steps[0].is_index();
  if (!is_member) return nullptr;
  const auto is_named = [&](const BoundEntry& entry) { return entry.key == operand.steps[0].name; };
  const auto entry = std::ranges::find_if(value.entries, is_named);
  const bool is_one = entry != value.entries.end() && std::none_of(entry + 1, value.entries.end(), is_named);
  return is_one ? entry->value : nullptr;
}

// Whether each of its rows stands for rows that are equal in what a condition may ask for.
bool puts_rows_together(const BoundQuery& table) {
  const bool is_grouped = table.is_grouped && !table.group_by.empty();
  const bool is_limited = table.top != nullptr || table.offset != nullptr || table.limit != nullptr;
  return (is_grouped || (table.distinct && !table.is_grouped)) && !is_limited && table.next == nullptr;
}

void push_into(const BoundSource& source, BoundExpression*& condition, Arena& arena) {
  BoundQuery& table = *source.query;
  const auto row_value = [&](BoundExpression& operand) -> BoundExpression* {
    BoundExpression* const part = part_of(table, source.slot, operand);
    if (part == nullptr) return nullptr;
    if (!table.is_grouped) return if_askable(part);
    return part->kind == BoundKind::group_key ? if_askable(table.group_by[part->group_key]) : nullptr;
  };
  Lowering(row_value, arena).move(condition, table.where);
}

void push_into_tables(BoundQuery& query, Arena& arena) {
  for (BoundSource& source : query.sources) {
    const bool is_table = source.kind == BoundSourceKind::query && !source.iterates_query &&
                          source.join != JoinKind::left_on && puts_rows_together(*source.query);
    if (!is_table) continue;
    push_into(source, query.where, arena);
    if (source.join == JoinKind::inner_on) push_into(source, source.on, arena);
  }
}

}  // namespace

void push_below_groups(BoundStatement& statement) {
  const auto push_in_all = [&](BoundQuery& first) {
    for (BoundQuery* query = &first; query != nullptr; query = query->next.get()) {
      push_having(*query, *statement.arena);
      push_into_tables(*query, *statement.arena);
    }
  };
  push_in_all(statement.query);
  for (const auto& subquery : statement.subqueries) push_in_all(*subquery);
}

}  // namespace quire::sql
