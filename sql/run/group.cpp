// GROUP BY and aggregates: reads all of its input, then gives a row for each group, in the order in which the
// groups were first met. Without GROUP BY there is one group, whether or not a row came.
#include <algorithm>

#include "sql/run/accumulator.h"
#include "sql/run/operator.h"
#include "sql/run/tuple_table.h"

namespace quire::sql {
namespace {

class Group final : public Operator {
 public:
  Group(const PlanNode& node, const PlannedQuery& query, Frame& frame, Input input)
      : Operator(node),
        bound_(*query.bound),
        input_(std::move(input)),
        arena_(&frame.run.memory),
        first_key_slot_(query.first_group_key_slot),
        first_aggregate_slot_(query.first_aggregate_slot),
        groups_(bound_.group_by.size(), frame.run.memory) {
    EvaluatorFactory factory(frame, query);
    keys_ = factory.make_all(bound_.group_by);
    for (const BoundAggregate& aggregate : bound_.aggregates)
      arguments_.push_back(aggregate.argument != nullptr ? factory.make(*aggregate.argument)
                                                         : make_constant(Value::boolean(true)));
    keys_are_stable_ =
        std::all_of(keys_.begin(), keys_.end(), [](const auto& key) { return key->is_stable(); });
    key_columns_.resize(keys_.size());
    aggregate_columns_.resize(arguments_.size());
    key_of_row_.resize(keys_.size());
    for (size_t i = 0; i < arguments_.size(); ++i)
      accumulators_.push_back(make_accumulator(bound_.aggregates[i].aggregate, bound_.aggregates[i].distinct,
                                               arguments_[i]->is_stable(), arena_, frame.run.memory));
  }

  // A subquery does this for each row around it, so nothing is made anew.
  void rewind(Frame& frame) override {
    input_->rewind(frame);
    groups_.clear();
    for (const auto& accumulator : accumulators_) accumulator->clear();
    arena_.reset();
    is_read_ = false;
    next_group_ = 0;
  }

 private:
  size_t group_count() const { return keys_.empty() ? 1 : groups_.size(); }

  Rows pull(Frame& frame) override {
    if (!is_read_) read_input(frame);
    if (frame.run.should_stop()) return {};
    frame.arena.reset();
    const size_t count = std::min(frame.capacity, group_count() - next_group_);
    if (count > 0) write_batch(frame, count);
    next_group_ += count;
    return first_rows(count);
  }

  void read_input(Frame& frame) {
    is_read_ = true;
    group_of_.assign(kBatchSize, 0);
    if (keys_.empty()) set_group_count(1);
    for (Rows rows = input_->next(frame); !rows.empty(); rows = input_->next(frame)) {
      if (!keys_.empty()) find_groups(rows, frame);
      for (size_t i = 0; i < arguments_.size(); ++i)
        accumulators_[i]->add(rows, group_of_.data(), arguments_[i]->evaluate(rows, frame));
      if (frame.run.error) return;
    }
  }

  void set_group_count(size_t count) {
    for (const auto& accumulator : accumulators_) accumulator->set_group_count(count);
  }

  void find_groups(Rows rows, Frame& frame) {
    key_vectors_.clear();
    for (const auto& key : keys_) key_vectors_.push_back(key->evaluate(rows, frame));
    for (const RowNumber row : rows) {
      for (size_t i = 0; i < keys_.size(); ++i) key_of_row_[i] = key_vectors_[i][row];
      const TupleTable::Inserted inserted = groups_.insert(key_of_row_);
      if (inserted.is_new && !keys_are_stable_)
        for (Value& value : groups_.tuple(inserted.number)) value = retain(value, arena_);
      group_of_[row] = inserted.number;
    }
    set_group_count(groups_.size());
  }

  void write_batch(Frame& frame, size_t count) {
    for (size_t i = 0; i < keys_.size(); ++i) {
      Value* column = key_columns_[i].reserve(frame.capacity);
      for (size_t row = 0; row < count; ++row)
        column[row] = groups_.tuple(static_cast<uint32_t>(next_group_ + row))[i];
      frame.slots[first_key_slot_ + i] = Vector::column(column);
    }
    for (size_t i = 0; i < accumulators_.size(); ++i) {
      Value* column = aggregate_columns_[i].reserve(frame.capacity);
      for (size_t row = 0; row < count; ++row)
        column[row] = accumulators_[i]->result(next_group_ + row, arena_);
      frame.slots[first_aggregate_slot_ + i] = Vector::column(column);
    }
  }

  const BoundQuery& bound_;
  Input input_;
  Arena arena_;  // keys and results: they live until the operator is rewound
  SlotNumber first_key_slot_;
  SlotNumber first_aggregate_slot_;
  TupleTable groups_;
  std::vector<std::unique_ptr<Evaluator>> keys_;
  std::vector<std::unique_ptr<Evaluator>> arguments_;
  std::vector<std::unique_ptr<Accumulator>> accumulators_;
  bool keys_are_stable_ = false;
  bool is_read_ = false;
  size_t next_group_ = 0;
  std::vector<uint32_t> group_of_;  // by row of the batch
  std::vector<Vector> key_vectors_;
  std::vector<Value> key_of_row_;
  std::vector<Column> key_columns_;
  std::vector<Column> aggregate_columns_;
};

}  // namespace

std::unique_ptr<Operator> make_group(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                     Input input) {
  return std::make_unique<Group>(node, query, frame, std::move(input));
}

}  // namespace quire::sql
