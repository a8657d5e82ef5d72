// FULLTEXTSCORE. How much a term says depends on how many items have it, so before the first score all items
// of the container are read, whatever the query's conditions.
#include <array>

#include "sql/functions/full_text.h"
#include "sql/run/evaluator.h"

namespace quire::sql {
namespace {

Value value_at(Value value, std::span<const BoundStep> steps) {
  for (const BoundStep& step : steps) {
    const bool has_element = step.is_index() && value.is_array() && step.index < int64_t{value.size()};
    if (step.is_index())
      value = has_element ? value.element(static_cast<uint32_t>(step.index)) : Value::undefined();
    else
      value = value.is_object() ? value.member(step.name) : Value::undefined();
  }
  return value;
}

Result<void> read_items(const BoundExpression& path, Relevance& relevance, RunState& run) {
  QUIRE_ASSIGN(const std::unique_ptr<Cursor> cursor, run.item_collections[path.slot]->open({}));
  std::array<Value, kBatchSize> items;
  while (!run.should_stop()) {
    QUIRE_ASSIGN(const size_t count, cursor->next(items));
    if (count == 0) break;
    run.items_read += count;
    for (const Value& item : std::span(items).first(count)) relevance.add_item(value_at(item, path.steps));
  }
  return {};
}

}  // namespace

std::unique_ptr<Evaluator> make_full_text_score(const BoundExpression& expression,
                                                EvaluatorFactory& factory) {
  RunState& run = factory.run();
  const BoundExpression& path = *expression.operands[1];
  const auto give_up = [&](Error error) {
    if (error.position.line == 0)
      error.position = position_of(run.plan.statement->parsed->text, expression.span.offset);
    run.set_error(std::move(error));
    return make_constant(Value::undefined());
  };
  auto relevance = Relevance::prepare(constant_operands(expression, run));
  if (!relevance) return give_up(std::move(relevance.error()));
  if (const auto read = read_items(path, **relevance, run); !read) return give_up(read.error());
  return make_call_with_state(expression, factory, std::move(*relevance));
}

}  // namespace quire::sql
