// An item with some of its properties set or taken away: what UPDATE writes.
#include <vector>

#include "sql/run/evaluator.h"

namespace quire::sql {
namespace {

class Changed final : public Evaluator {
 public:
  Changed(const BoundExpression& expression, std::vector<std::unique_ptr<Evaluator>> operands,
          Position position)
      : paths_(expression.paths), operands_(std::move(operands)), position_(position) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    vectors_.clear();
    for (const auto& operand : operands_) vectors_.push_back(operand->evaluate(rows, frame));
    Value* results = results_.reserve(kBatchSize);
    for (const RowNumber row : rows) {
      Value item = vectors_[0][row];
      for (size_t i = 0; i < paths_.size(); ++i) item = set(item, paths_[i], vectors_[i + 1][row], frame);
      results[row] = item;
    }
    return Vector::column(results);
  }

 private:
  // `base` with the value at the path. What lacks on the way is made; the steps are as few as the parser
  // allows.
  Value set(const Value& base, std::span<const BoundStep> path, const Value& value, Frame& frame) {
    if (path.empty()) return value;
    if (path.front().is_index()) return set_element(base, path, value, frame);
    if (!base.is_object() && value.is_undefined()) return base;  // nothing there to take away
    if (base.is_defined() && !base.is_object()) return misplaced(path.front(), "an object", frame);
    const uint32_t size = base.is_object() ? base.size() : 0;
    const std::span<Member> members = frame.arena.make_array<Member>(size + 1);
    size_t count = 0;
    bool is_found = false;
    for (uint32_t i = 0; i < size; ++i) {
      Member member = base.member_at(i);
      if (member.name == path.front().name) {
        is_found = true;
        member.value = set(member.value, path.subspan(1), value, frame);
      }
      if (member.value.is_defined()) members[count++] = member;
    }
    if (!is_found)
      if (const Value made = set(Value(), path.subspan(1), value, frame); made.is_defined())
        members[count++] = {path.front().name, made};
    return Value::object(members.first(count));
  }

  // An element that is there, or the one behind the last; the first of an array that is not there.
  Value set_element(const Value& base, std::span<const BoundStep> path, const Value& value, Frame& frame) {
    const auto index = static_cast<uint64_t>(path.front().index);
    const uint32_t size = base.is_array() ? base.size() : 0;
    if (index >= size && value.is_undefined()) return base;  // nothing there to take away
    if ((base.is_defined() && !base.is_array()) || index > size)
      return misplaced(path.front(), "an array that long", frame);
    const std::span<Value> elements = frame.arena.make_array<Value>(size + size_t{1});
    size_t count = 0;
    for (uint32_t i = 0; i <= size; ++i) {
      const bool is_there = i < size;
      Value element = is_there ? base.element(i) : Value();
      if (i == index) element = set(element, path.subspan(1), value, frame);
      if (element.is_defined()) elements[count++] = element;
    }
    return Value::array(elements.first(count));
  }

  Value misplaced(const BoundStep& step, std::string_view wanted, Frame& frame) {
    const std::string name =
        step.is_index() ? "[" + std::to_string(step.index) + "]" : std::string(step.name);
    frame.run.set_error({ErrorCode::run_time,
                         "'" + name + "' cannot be set: what it would stand in is not " + std::string(wanted),
                         position_});
    return {};
  }

  std::span<const std::span<BoundStep>> paths_;
  std::vector<std::unique_ptr<Evaluator>> operands_;
  Position position_;
  std::vector<Vector> vectors_;
  Column results_;
};

}  // namespace

std::unique_ptr<Evaluator> make_changed(const BoundExpression& expression, EvaluatorFactory& factory) {
  const std::string_view text = factory.run().plan.statement->parsed->text;
  return std::make_unique<Changed>(expression, factory.make_all(expression.operands),
                                   position_of(text, expression.span.offset));
}

}  // namespace quire::sql
