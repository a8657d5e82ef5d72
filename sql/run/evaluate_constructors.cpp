// Evaluators that make arrays and objects, and calls of built-in functions.
#include <array>
#include <optional>

#include "sql/functions/function.h"
#include "sql/run/evaluator.h"

namespace quire::sql {
namespace {

using EvaluatorList = std::vector<std::unique_ptr<Evaluator>>;

void evaluate_all(const EvaluatorList& evaluators, Rows rows, Frame& frame, std::vector<Vector>& out) {
  out.clear();
  for (const auto& evaluator : evaluators) out.push_back(evaluator->evaluate(rows, frame));
}

// Undefined elements are left out.
class ArrayEvaluator final : public Evaluator {
 public:
  explicit ArrayEvaluator(EvaluatorList elements) : elements_(std::move(elements)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    evaluate_all(elements_, rows, frame, vectors_);
    for (const RowNumber row : rows) {
      const std::span<Value> made = frame.arena.make_array<Value>(vectors_.size());
      size_t count = 0;
      for (const Vector& vector : vectors_) {
        made[count] = vector[row];
        count += made[count].is_defined() ? 1 : 0;
      }
      out[row] = Value::array(made.first(count));
    }
    return Vector::column(out);
  }

 private:
  EvaluatorList elements_;
  std::vector<Vector> vectors_;
  Column column_;
};

// Members whose value is undefined are left out.
class ObjectEvaluator final : public Evaluator {
 public:
  ObjectEvaluator(std::span<const BoundEntry> entries, EvaluatorList values)
      : entries_(entries), values_(std::move(values)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    evaluate_all(values_, rows, frame, vectors_);
    for (const RowNumber row : rows) {
      const std::span<Member> made = frame.arena.make_array<Member>(vectors_.size());
      size_t count = 0;
      for (size_t i = 0; i < vectors_.size(); ++i) {
        made[count] = {entries_[i].key, vectors_[i][row]};
        count += made[count].value.is_defined() ? 1 : 0;
      }
      out[row] = Value::object(made.first(count));
    }
    return Vector::column(out);
  }

 private:
  std::span<const BoundEntry> entries_;
  EvaluatorList values_;
  std::vector<Vector> vectors_;
  Column column_;
};

class CallEvaluator final : public Evaluator {
 public:
  CallEvaluator(const Function& function, EvaluatorList arguments, std::unique_ptr<CallState> state)
      : function_(function),
        arguments_(std::move(arguments)),
        state_(std::move(state)),
        row_(arguments_.size()) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    evaluate_all(arguments_, rows, frame, vectors_);
    CallContext context{frame.arena, state_.get(), &frame.run.clock};
    for (const RowNumber row : rows) {
      for (size_t i = 0; i < vectors_.size(); ++i) row_[i] = vectors_[i][row];
      out[row] = call_function(function_, context, row_);
    }
    return Vector::column(out);
  }

 private:
  const Function& function_;
  EvaluatorList arguments_;
  std::unique_ptr<CallState> state_;
  std::vector<Vector> vectors_;
  std::vector<Value> row_;  // the arguments of one row
  Column column_;
};

}  // namespace

std::unique_ptr<Evaluator> make_array(const BoundExpression& expression, EvaluatorFactory& factory) {
  return std::make_unique<ArrayEvaluator>(factory.make_all(expression.operands));
}

std::unique_ptr<Evaluator> make_object(const BoundExpression& expression, EvaluatorFactory& factory) {
  EvaluatorList values;
  values.reserve(expression.entries.size());
  for (const BoundEntry& entry : expression.entries) values.push_back(factory.make(*entry.value));
  return std::make_unique<ObjectEvaluator>(expression.entries, std::move(values));
}

std::vector<std::optional<Value>> constant_operands(const BoundExpression& expression, RunState& run) {
  std::vector<std::optional<Value>> constants;
  for (const BoundExpression* operand : expression.operands) {
    if (operand->kind == BoundKind::constant)
      constants.emplace_back(operand->constant);
    else if (operand->kind == BoundKind::parameter)
      constants.emplace_back(run.parameters[operand->parameter]);
    else
      constants.emplace_back(std::nullopt);
    run.is_restartable &= operand->kind != BoundKind::parameter;
  }
  return constants;
}

std::unique_ptr<Evaluator> make_call_with_state(const BoundExpression& expression, EvaluatorFactory& factory,
                                                std::unique_ptr<CallState> state) {
  return std::make_unique<CallEvaluator>(*expression.function, factory.make_all(expression.operands),
                                         std::move(state));
}

std::unique_ptr<Evaluator> make_call(const BoundExpression& expression, EvaluatorFactory& factory) {
  const Function& function = *expression.function;
  if (auto array_contains = make_array_contains(expression, factory)) return array_contains;
  std::unique_ptr<CallState> state;
  if (function.prepare != nullptr) {
    auto prepared = function.prepare(constant_operands(expression, factory.run()));
    if (!prepared) {
      Error error = std::move(prepared.error());
      if (error.position.line == 0)
        error.position = position_of(factory.run().plan.statement->parsed->text, expression.span.offset);
      factory.run().set_error(std::move(error));
      return make_constant(Value::undefined());
    }
    state = std::move(*prepared);
  }
  return make_call_with_state(expression, factory, std::move(state));
}

}  // namespace quire::sql
