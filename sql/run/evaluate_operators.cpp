// Evaluators of the unary and binary operators. Comparisons of two numbers or two strings, which are most of
// what queries do, are decided here without a call; everything else goes to sql/functions/operators.
#include <cstring>

#include "sql/functions/operators.h"
#include "sql/run/evaluator.h"

namespace quire::sql {
namespace {

class UnaryEvaluator final : public Evaluator {
 public:
  UnaryEvaluator(UnaryOperator op, std::unique_ptr<Evaluator> operand)
      : op_(op), operand_(std::move(operand)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    const Vector operands = operand_->evaluate(rows, frame);
    Value* out = column_.reserve(rows);
    for (const RowNumber row : rows) out[row] = apply_unary(op_, operands[row]);
    return Vector::column(out);
  }

  bool is_stable() const override { return true; }

 private:
  UnaryOperator op_;
  std::unique_ptr<Evaluator> operand_;
  Column column_;
};

class BinaryEvaluator final : public Evaluator {
 public:
  BinaryEvaluator(BinaryOperator op, std::unique_ptr<Evaluator> left, std::unique_ptr<Evaluator> right)
      : op_(op), left_(std::move(left)), right_(std::move(right)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    const Vector left = left_->evaluate(rows, frame);
    const Vector right = right_->evaluate(rows, frame);
    Value* out = column_.reserve(rows);
    for (const RowNumber row : rows) out[row] = apply_binary(op_, left[row], right[row], frame.arena);
    return Vector::column(out);
  }

  bool is_stable() const override { return op_ != BinaryOperator::concatenate; }

 private:
  BinaryOperator op_;
  std::unique_ptr<Evaluator> left_;
  std::unique_ptr<Evaluator> right_;
  Column column_;
};

template <BinaryOperator op, typename T>
constexpr bool holds(const T& a, const T& b) {
  if constexpr (op == BinaryOperator::equal) return a == b;
  if constexpr (op == BinaryOperator::not_equal) return a != b;
  if constexpr (op == BinaryOperator::less) return a < b;
  if constexpr (op == BinaryOperator::greater) return a > b;
  if constexpr (op == BinaryOperator::less_equal) return a <= b;
  if constexpr (op == BinaryOperator::greater_equal) return a >= b;
}

// Past this an int64 may not be exact as a double.
constexpr int64_t kLargestExactInteger = int64_t{1} << 53;

template <BinaryOperator op>
Value compare(const Value& a, const Value& b, Arena& arena) {
  if (a.kind() == b.kind()) {
    if (a.kind() == Kind::real) return Value::boolean(holds<op>(a.as_real(), b.as_real()));
    if (a.kind() == Kind::integer) return Value::boolean(holds<op>(a.as_integer(), b.as_integer()));
    if (a.kind() == Kind::string) return Value::boolean(holds<op>(a.as_string(), b.as_string()));
  } else if (a.is_number() && b.is_number()) {
    const Value& integer = a.kind() == Kind::integer ? a : b;
    if (integer.as_integer() <= kLargestExactInteger && integer.as_integer() >= -kLargestExactInteger)
      return Value::boolean(holds<op>(a.as_double(), b.as_double()));
  }
  return apply_binary(op, a, b, arena);
}

template <BinaryOperator op>
class ComparisonEvaluator final : public Evaluator {
 public:
  ComparisonEvaluator(std::unique_ptr<Evaluator> left, std::unique_ptr<Evaluator> right)
      : left_(std::move(left)), right_(std::move(right)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    const Vector left = left_->evaluate(rows, frame);
    const Vector right = right_->evaluate(rows, frame);
    Value* out = column_.reserve(rows);
    for (const RowNumber row : rows) out[row] = compare<op>(left[row], right[row], frame.arena);
    return Vector::column(out);
  }

  size_t select_true(Rows rows, Frame& frame, RowNumber* selected) override {
    const Vector left = left_->evaluate(rows, frame);
    const Vector right = right_->evaluate(rows, frame);
    size_t count = 0;
    for (const RowNumber row : rows) {
      selected[count] = row;
      count += compare<op>(left[row], right[row], frame.arena).is_true() ? 1 : 0;
    }
    return count;
  }

  bool is_stable() const override { return true; }

 private:
  std::unique_ptr<Evaluator> left_;
  std::unique_ptr<Evaluator> right_;
  Column column_;
};

}  // namespace

std::unique_ptr<Evaluator> make_unary(const BoundExpression& expression, EvaluatorFactory& factory) {
  return std::make_unique<UnaryEvaluator>(expression.unary_operator, factory.make(*expression.operands[0]));
}

std::unique_ptr<Evaluator> make_binary(const BoundExpression& expression, EvaluatorFactory& factory) {
  auto left = factory.make(*expression.operands[0]);
  auto right = factory.make(*expression.operands[1]);
  const auto comparison = [&]<BinaryOperator op>() -> std::unique_ptr<Evaluator> {
    return std::make_unique<ComparisonEvaluator<op>>(std::move(left), std::move(right));
  };
  using enum BinaryOperator;
  switch (expression.binary_operator) {
    case equal:
      return comparison.template operator()<equal>();
    case not_equal:
      return comparison.template operator()<not_equal>();
    case less:
      return comparison.template operator()<less>();
    case greater:
      return comparison.template operator()<greater>();
    case less_equal:
      return comparison.template operator()<less_equal>();
    case greater_equal:
      return comparison.template operator()<greater_equal>();
    case shift_left:
    case shift_right:
    case shift_right_unsigned:
    case bit_or:
    case bit_xor:
    case bit_and:
    case add:
    case subtract:
    case concatenate:
    case multiply:
    case divide:
    case modulo:
      return std::make_unique<BinaryEvaluator>(expression.binary_operator, std::move(left), std::move(right));
  }
  return make_constant(Value::undefined());
}

}  // namespace quire::sql
