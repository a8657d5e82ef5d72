#include "sql/run/evaluator.h"

namespace quire::sql {

size_t Evaluator::select_true(Rows rows, Frame& frame, RowNumber* selected) {
  const Vector values = evaluate(rows, frame);
  size_t count = 0;
  for (const RowNumber row : rows) {
    selected[count] = row;
    count += values[row].is_true() ? 1 : 0;
  }
  return count;
}

std::unique_ptr<Evaluator> EvaluatorFactory::make(const BoundExpression& expression) {
  switch (expression.kind) {
    case BoundKind::constant:
      return make_constant(expression.constant);
    case BoundKind::parameter:
      return make_parameter(expression.parameter);
    case BoundKind::slot:
      if (expression.is_stored_form) return make_plain_slot(expression.slot, *this);
      return make_slot(expression, *this);
    case BoundKind::path:
      if (const auto found = run().plan.covered.find(&expression); found != run().plan.covered.end())
        return make_plain_slot(found->second, *this);
      return make_path(expression, *this);
    case BoundKind::system_property:
      return make_system_property(expression, *this);
    case BoundKind::member:
      return make_member(expression, *this);
    case BoundKind::index:
      return make_index(expression, *this);
    case BoundKind::unary:
      return make_unary(expression, *this);
    case BoundKind::binary:
      return make_binary(expression, *this);
    case BoundKind::logical_and:
    case BoundKind::logical_or:
      return make_logical(expression, *this);
    case BoundKind::conditional:
      return make_conditional(expression, *this);
    case BoundKind::coalesce:
      return make_coalesce(expression, *this);
    case BoundKind::let:
      return make_let(expression, *this);
    case BoundKind::in:
      return make_in(expression, *this);
    case BoundKind::in_query:
      return make_in_query(expression, *this);
    case BoundKind::like:
      return make_like(expression, *this);
    case BoundKind::is_null:
      return make_is_null(expression, *this);
    case BoundKind::array:
      return make_array(expression, *this);
    case BoundKind::object:
      return make_object(expression, *this);
    case BoundKind::call:
      return make_call(expression, *this);
    case BoundKind::full_text_score:
      return make_full_text_score(expression, *this);
    case BoundKind::changed:
      return make_changed(expression, *this);
    case BoundKind::document_id:
      return make_document_id(expression, *this);
    case BoundKind::aggregate:
      return make_value_slot(query_.first_aggregate_slot + expression.aggregate, *this);
    case BoundKind::group_key:
      return make_value_slot(query_.first_group_key_slot + expression.group_key, *this);
    case BoundKind::exists:
    case BoundKind::array_query:
    case BoundKind::scalar_query:
    case BoundKind::all_query:
    case BoundKind::first_query:
    case BoundKind::last_query:
      return make_subquery(expression, *this);
    case BoundKind::user_function:
      return make_user_function(expression, *this);
    case BoundKind::unsupported:
      run().set_error({ErrorCode::not_executable, std::string(expression.message),
                       position_of(run().plan.statement->parsed->text, expression.span.offset)});
      return make_constant(Value::undefined());
  }
  return make_constant(Value::undefined());
}

Rows select_rows(std::span<const std::unique_ptr<Evaluator>> conditions, Rows rows, Frame& frame,
                 RowNumber* selected) {
  for (const auto& condition : conditions) {
    rows = {selected, condition->select_true(rows, frame, selected)};
    if (rows.empty()) break;
  }
  return rows;
}

std::vector<std::unique_ptr<Evaluator>> EvaluatorFactory::make_all(
    std::span<BoundExpression* const> expressions) {
  std::vector<std::unique_ptr<Evaluator>> made;
  made.reserve(expressions.size());
  for (const BoundExpression* expression : expressions) made.push_back(make(*expression));
  return made;
}

}  // namespace quire::sql
