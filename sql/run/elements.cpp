// The operators that make several rows of one: the elements of an array (x IN c.arr) and the rows of a
// subquery (JOIN (SELECT ...) x). Slots that are read above are carried along; a batch they make never spans
// two batches of their input, since the input's values end when its next batch is asked for.
#include <algorithm>

#include "sql/run/carried_slots.h"
#include "sql/run/operator.h"
#include "sql/value/member_reader.h"

namespace quire::sql {
namespace {

class Elements final : public Operator {
 public:
  Elements(const PlanNode& node, std::unique_ptr<Evaluator> array, Input input)
      : Operator(node),
        slot_(node.source->slot),
        array_(std::move(array)),
        input_(std::move(input)),
        carried_(node.carried) {}

  void rewind(Frame& frame) override {
    input_->rewind(frame);
    rows_ = {};
  }

 private:
  Rows pull(Frame& frame) override {
    while (true) {
      if ((rows_.empty() && !take_batch(frame)) || frame.run.should_stop()) return {};
      frame.arena.rewind(mark_);
      const size_t made = make_rows(frame);
      if (made == 0) continue;
      carried_.show(frame);
      frame.slots[slot_] = Vector::column(elements_.data());
      return first_rows(made);
    }
  }

  bool take_batch(Frame& frame) {
    rows_ = input_->next(frame);
    if (rows_.empty()) return false;
    arrays_ = array_->evaluate(rows_, frame);
    carried_.take_input(frame);
    element_ = 0;
    mark_ = frame.arena.mark();
    return true;
  }

  // Fills a batch from the rows of the input that are left; how many rows it made.
  size_t make_rows(Frame& frame) {
    Value* elements = elements_.reserve(frame.capacity);
    size_t made = 0;
    while (!rows_.empty() && made < frame.capacity) {
      const ElementReader array(arrays_[rows_.front()]);
      const size_t left = array.size() - element_, count = std::min(left, frame.capacity - made);
      array.read(element_, {elements + made, count});
      carried_.copy(rows_.front(), made, made + count, frame.capacity);
      made += count;
      element_ += static_cast<uint32_t>(count);
      if (count < left) break;
      element_ = 0;
      rows_ = rows_.subspan(1);
    }
    return made;
  }

  SlotNumber slot_;
  std::unique_ptr<Evaluator> array_;
  Input input_;
  CarriedSlots carried_;
  Rows rows_;  // of the input's batch, those still to do
  Vector arrays_;
  uint32_t element_ = 0;  // of the first of rows_, the element to do next
  Arena::Mark mark_;
  Column elements_;
};

// For each input row the rows of a subquery, or, for `z IN (SELECT ...)`, the elements of those that are
// arrays. LEFT JOIN: an undefined value for a row without any.
class SubqueryRows final : public Operator {
 public:
  SubqueryRows(const PlanNode& node, Frame& frame, Input input)
      : Operator(node),
        slot_(node.source->slot),
        iterates_(node.source->iterates_query),
        keeps_unmatched_(node.keeps_unmatched),
        bound_(*node.source->query),
        input_(std::move(input)),
        query_(frame.run, *node.query, frame.capacity),
        carried_(node.carried),
        outer_(bound_.outer_slots) {}

  void rewind(Frame& frame) override {
    input_->rewind(frame);
    rows_ = {};
    inner_rows_ = {};
  }

 private:
  Rows pull(Frame& frame) override {
    while (true) {
      if ((rows_.empty() && !take_batch(frame)) || frame.run.should_stop()) return {};
      frame.arena.rewind(mark_);
      const size_t made = make_rows(frame);
      if (frame.run.error) return {};
      if (made == 0) continue;
      carried_.show(frame);
      frame.slots[slot_] = Vector::column(values_.data());
      return first_rows(made);
    }
  }

  bool take_batch(Frame& frame) {
    rows_ = input_->next(frame);
    if (rows_.empty()) return false;
    carried_.take_input(frame);
    outer_.take_input(frame);
    mark_ = frame.arena.mark();
    is_row_open_ = false;
    return true;
  }

  size_t make_rows(Frame& frame) {
    Value* values = values_.reserve(frame.capacity);
    size_t made = 0;
    while (!rows_.empty() && made < frame.capacity) {
      if (!is_row_open_) open_row(frame);
      const size_t first = made;
      while (made < frame.capacity && has_next_value()) {
        values[made++] = retain(take_value(), frame.arena);
        has_match_ = true;
      }
      if (keeps_unmatched_ && !has_match_ && made < frame.capacity) {
        values[made++] = Value();
        has_match_ = true;
      }
      carried_.copy(rows_.front(), first, made, frame.capacity);
      if (made == frame.capacity) break;
      is_row_open_ = false;
      rows_ = rows_.subspan(1);
    }
    return made;
  }

  void open_row(Frame& frame) {
    // An earlier batch shows its made rows in the frame; the subquery reads those of the input.
    outer_.restore_input(frame);
    bind_outer_row(bound_, frame, rows_.front(), query_.frame());
    query_.rewind();
    inner_rows_ = {};
    element_ = 0;
    is_row_open_ = true;
    has_match_ = false;
  }

  // Moves to the next value of the subquery, if there is one.
  bool has_next_value() {
    while (true) {
      if (inner_rows_.empty()) {
        inner_rows_ = query_.next();
        if (inner_rows_.empty()) return false;
      }
      if (!iterates_) return true;
      const Value& array = query_.value(inner_rows_.front());
      if (array.is_array() && element_ < array.size()) return true;
      inner_rows_ = inner_rows_.subspan(1);
      element_ = 0;
    }
  }

  Value take_value() {
    if (iterates_) return query_.value(inner_rows_.front()).element(element_++);
    const Value value = query_.value(inner_rows_.front());
    inner_rows_ = inner_rows_.subspan(1);
    return value;
  }

  SlotNumber slot_;
  bool iterates_;
  bool keeps_unmatched_;
  const BoundQuery& bound_;
  Input input_;
  Pipeline query_;
  CarriedSlots carried_;
  CarriedSlots outer_;  // the vectors that the subquery reads; never copied
  Rows rows_;
  Rows inner_rows_;
  bool is_row_open_ = false;
  bool has_match_ = false;  // the open row
  uint32_t element_ = 0;
  Arena::Mark mark_;
  Column values_;
};

}  // namespace

std::unique_ptr<Operator> make_elements(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                        Input input) {
  auto array = EvaluatorFactory(frame, query).make(*node.source->expression);
  frame.is_stable[node.source->slot] = array->is_stable();
  return std::make_unique<Elements>(node, std::move(array), std::move(input));
}

std::unique_ptr<Operator> make_subquery_rows(const PlanNode& node, Frame& frame, Input input) {
  frame.is_stable[node.source->slot] = false;
  return std::make_unique<SubqueryRows>(node, frame, std::move(input));
}

}  // namespace quire::sql
