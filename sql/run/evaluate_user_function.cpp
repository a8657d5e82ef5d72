// udf.name(...): a function that the source knows. A batch's calls go to it at once.
#include <string>

#include "sql/run/evaluator.h"

namespace quire::sql {
namespace {

class UserFunctionEvaluator final : public Evaluator {
 public:
  UserFunctionEvaluator(std::unique_ptr<UserFunction> function,
                        std::vector<std::unique_ptr<Evaluator>> operands, Position position)
      : function_(std::move(function)), operands_(std::move(operands)), position_(position) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* const out = column_.reserve(rows);
    const size_t arity = operands_.size();
    arguments_.resize(rows.size() * arity);
    for (size_t operand = 0; operand < arity; ++operand) {
      const Vector values = operands_[operand]->evaluate(rows, frame);
      for (size_t i = 0; i < rows.size(); ++i) arguments_[i * arity + operand] = values[rows[i]];
    }
    results_.assign(rows.size(), Value());
    if (!frame.run.error && !rows.empty()) {
      auto called = function_->call(arity, arguments_, results_, frame.arena, frame.run.time_limit);
      if (!called) {
        called.error().position = position_;
        frame.run.set_error(std::move(called.error()));
      }
    }
    for (size_t i = 0; i < rows.size(); ++i) out[rows[i]] = results_[i];
    return Vector::column(out);
  }

 private:
  std::unique_ptr<UserFunction> function_;
  std::vector<std::unique_ptr<Evaluator>> operands_;
  Position position_;
  Column column_;
  std::vector<Value> arguments_;
  std::vector<Value> results_;
};

}  // namespace

std::unique_ptr<Evaluator> make_user_function(const BoundExpression& expression, EvaluatorFactory& factory) {
  RunState& run = factory.run();
  const Position position = position_of(run.plan.statement->parsed->text, expression.span.offset);
  const auto give_up = [&](Error error) {
    error.position = position;
    run.set_error(std::move(error));
    return make_constant(Value::undefined());
  };
  auto operands = factory.make_all(expression.operands);
  auto function = run.source.user_function(expression.message);
  if (!function) return give_up(std::move(function.error()));
  if (*function == nullptr)
    return give_up({ErrorCode::unknown_function,
                    "the user-defined function udf." + std::string(expression.message) +
                        " is not registered in the containers of this statement; CREATE FUNCTION makes one"});
  return std::make_unique<UserFunctionEvaluator>(std::move(*function), std::move(operands), position);
}

}  // namespace quire::sql
