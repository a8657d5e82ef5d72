// An item with some of its properties set or taken away: what UPDATE writes.
#include <algorithm>
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
      made_.clear();
      Value item = vectors_[0][row];
      for (size_t i = 0; i < paths_.size(); ++i) item = set(item, paths_[i], vectors_[i + 1][row], frame);
      results[row] = item;
    }
    return Vector::column(results);
  }

 private:
  // What this row has made of an array or an object: the next assignment into it changes it where it stands,
  // or many assignments to one long array would copy it for each.
  template <typename Part>
  struct Parts {
    Part* first = nullptr;
    size_t size = 0;

    void set(size_t place, const Part& part, const Value& value) {
      if (value.is_defined()) {
        first[place] = part;
        if (place == size) ++size;
      } else if (place < size) {
        std::copy(first + place + 1, first + size, first + place);
        --size;
      }
    }
  };

  // `base` with the value at the path. What lacks on the way is made; the steps are as few as the parser
  // allows.
  Value set(const Value& base, std::span<const BoundStep> path, const Value& value, Frame& frame) {
    if (path.empty()) return value;
    if (path.front().is_index()) return set_element(base, path, value, frame);
    if (!base.is_object() && value.is_undefined()) return base;  // nothing there to take away
    if (base.is_defined() && !base.is_object()) return misplaced(path.front(), "an object", frame);
    const std::string_view name = path.front().name;
    Parts<Member> members = changeable<Member>(
        base, base.is_object() ? base.size() : 0, [&](uint32_t i) { return base.member_at(i); }, frame);
    const size_t place =
        static_cast<size_t>(std::find_if(members.first, members.first + members.size,
                                         [&](const Member& member) { return member.name == name; }) -
                            members.first);
    const Value old = place < members.size ? members.first[place].value : Value();
    const Value changed = set(old, path.subspan(1), value, frame);
    members.set(place, {name, changed}, changed);
    return Value::object({members.first, members.size});
  }

  // An element that is there, or the one behind the last; the first of an array that is not there.
  Value set_element(const Value& base, std::span<const BoundStep> path, const Value& value, Frame& frame) {
    const auto index = static_cast<uint64_t>(path.front().index);
    const uint32_t size = base.is_array() ? base.size() : 0;
    if (index >= size && value.is_undefined()) return base;  // nothing there to take away
    if ((base.is_defined() && !base.is_array()) || index > size)
      return misplaced(path.front(), "an array that long", frame);
    Parts<Value> elements = changeable<Value>(base, size, [&](uint32_t i) { return base.element(i); }, frame);
    const Value old = index < size ? elements.first[index] : Value();
    const Value changed = set(old, path.subspan(1), value, frame);
    elements.set(index, changed, changed);
    return Value::array({elements.first, elements.size});
  }

  // The parts of `base` where they may be changed, with room for one more: those this row has made, or else a
  // copy of the `size` parts that `part` gives.
  template <typename Part, typename PartAt>
  Parts<Part> changeable(const Value& base, uint32_t size, const PartAt& part, Frame& frame) {
    const Made* made = made_as(base, size);
    if (made != nullptr && size < made->capacity) return {static_cast<Part*>(made->parts), size};
    const std::span<Part> parts = frame.arena.make_array<Part>(size * size_t{made != nullptr ? 2U : 1U} + 1);
    for (uint32_t i = 0; i < size; ++i) parts[i] = part(i);
    made_.push_back({parts.data(), parts.size()});
    return {parts.data(), size};
  }

  struct Made {
    void* parts;
    size_t capacity;
  };

  // The newest first, as neighbouring assignments mostly go to the same. An empty one points nowhere that is
  // its own, and is none.
  const Made* made_as(const Value& base, uint32_t size) const {
    if (size == 0 || !base.is_built()) return nullptr;
    const void* parts = base.is_array() ? static_cast<const void*>(base.built_elements().data())
                                        : static_cast<const void*>(base.built_members().data());
    const auto made =
        std::find_if(made_.rbegin(), made_.rend(), [&](const Made& each) { return each.parts == parts; });
    return made == made_.rend() ? nullptr : &*made;
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
  std::vector<Made> made_;  // by the row that is being changed
  Column results_;
};

}  // namespace

std::unique_ptr<Evaluator> make_changed(const BoundExpression& expression, EvaluatorFactory& factory) {
  const std::string_view text = factory.run().plan.statement->parsed->text;
  return std::make_unique<Changed>(expression, factory.make_all(expression.operands),
                                   position_of(text, expression.span.offset));
}

}  // namespace quire::sql
