// ARRAY_CONTAINS(array, value) where the array is the same for all rows: a parameter, a constant, or
// ARRAY(SELECT ...) that reads nothing of the rows around it. Its elements stand in a hash table, as those of
// IN (SELECT ...) do.
#include "sql/functions/function.h"
#include "sql/run/evaluator.h"
#include "sql/run/tuple_table.h"
#include "sql/value/comparison.h"

namespace quire::sql {
namespace {

class KnownArrayEvaluator final : public Evaluator {
 public:
  KnownArrayEvaluator(std::unique_ptr<Evaluator> array, std::unique_ptr<Evaluator> wanted, RunState& run)
      : array_(std::move(array)), wanted_(std::move(wanted)), elements_(1, run.memory) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    const Vector wanted = wanted_->evaluate(rows, frame);
    if (!has_run_ && !rows.empty()) fill(rows, frame);
    for (const RowNumber row : rows) {
      const bool is_known = is_array_ && wanted[row].is_defined();
      out[row] = is_known ? Value::boolean(elements_.find({&wanted[row], 1}).has_value()) : Value();
    }
    return Vector::column(out);
  }

  bool is_stable() const override { return true; }

 private:
  void fill(Rows rows, Frame& frame) {
    has_run_ = true;
    const Value array = array_->evaluate(rows, frame)[rows.front()];
    is_array_ = array.is_array();
    if (!is_array_) return;
    const uint32_t size = array.size();
    for (uint32_t i = 0; i < size; ++i) {
      const Value element = array.element(i);
      if (!equals_nothing(element)) elements_.insert({&element, 1});
    }
  }

  std::unique_ptr<Evaluator> array_;
  std::unique_ptr<Evaluator> wanted_;
  TupleTable elements_;
  bool has_run_ = false;
  bool is_array_ = false;
  Column column_;
};

// Whether the array is one value, however often it is asked for, and worth a table. A parameter of a few
// elements is not: what is made from its value cannot run again with another.
bool is_known_once(const BoundExpression& array, const RunState& run) {
  switch (array.kind) {
    case BoundKind::constant:
      return is_worth_table(array.constant);
    case BoundKind::parameter:
      return is_worth_table(run.parameters[array.parameter]);
    case BoundKind::array_query:
      return array.query->outer_slots.empty();
    default:
      return false;
  }
}

}  // namespace

bool is_worth_table(const Value& array) {
  constexpr uint32_t kLeastElements = 16;
  return array.is_array() && array.size() >= kLeastElements;
}

std::unique_ptr<Evaluator> make_array_contains(const BoundExpression& call, EvaluatorFactory& factory) {
  if (call.function->name != "ARRAY_CONTAINS" || call.operands.size() != 2) return nullptr;
  const BoundExpression& array = *call.operands[0];
  const bool is_parameter = array.kind == BoundKind::parameter;
  if (!is_known_once(array, factory.run())) {
    if (is_parameter) factory.run().short_arrays.push_back(array.parameter);
    return nullptr;
  }
  factory.run().is_restartable &= !is_parameter;
  return std::make_unique<KnownArrayEvaluator>(factory.make(array), factory.make(*call.operands[1]),
                                               factory.run());
}

}  // namespace quire::sql
