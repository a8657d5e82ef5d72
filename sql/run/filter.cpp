// The operators that keep some rows and move none: filter, a bound value, project, distinct, limit.
#include <algorithm>

#include "sql/run/operator.h"
#include "sql/run/tuple_table.h"

namespace quire::sql {
namespace {

// Keeps rows for which every condition is true.
class Filter final : public Operator {
 public:
  Filter(const PlanNode& node, std::vector<std::unique_ptr<Evaluator>> conditions, Input input)
      : Operator(node), conditions_(std::move(conditions)), input_(std::move(input)) {}

  void rewind(Frame& frame) override { input_->rewind(frame); }

 private:
  Rows pull(Frame& frame) override {
    if (conditions_.empty()) return input_->next(frame);
    selected_.resize(kBatchSize);
    while (true) {
      Rows rows = input_->next(frame);
      if (rows.empty()) return {};
      rows = select_rows(conditions_, rows, frame, selected_.data());
      if (frame.run.error) return {};
      if (!rows.empty()) return rows;
    }
  }

  std::vector<std::unique_ptr<Evaluator>> conditions_;
  Input input_;
  std::vector<RowNumber> selected_;
};

// Points a slot at an expression's values and keeps the rows where it is defined: FROM c.a.b x, and the value
// that a query gives.
class DefinedValue final : public Operator {
 public:
  DefinedValue(const PlanNode& node, SlotNumber slot, bool keeps_all, std::unique_ptr<Evaluator> value,
               Input input)
      : Operator(node),
        slot_(slot),
        keeps_all_(keeps_all),
        value_(std::move(value)),
        input_(std::move(input)) {}

  void rewind(Frame& frame) override { input_->rewind(frame); }
  uint64_t skip(uint64_t most, Frame& frame) override { return keeps_all_ ? input_->skip(most, frame) : 0; }

 private:
  Rows pull(Frame& frame) override {
    selected_.resize(kBatchSize);
    while (true) {
      const Rows rows = input_->next(frame);
      if (rows.empty()) return {};
      const Vector values = value_->evaluate(rows, frame);
      if (frame.run.error) return {};
      frame.slots[slot_] = values;
      size_t count = 0;
      for (const RowNumber row : rows) {
        selected_[count] = row;
        count += values[row].is_defined() ? 1 : 0;
      }
      if (count > 0) return Rows(selected_.data(), count);
    }
  }

  SlotNumber slot_;
  bool keeps_all_;  // rows
  std::unique_ptr<Evaluator> value_;
  Input input_;
  std::vector<RowNumber> selected_;
};

// Drops values seen before.
class Distinct final : public Operator {
 public:
  Distinct(const PlanNode& node, SlotNumber slot, Frame& frame, Input input)
      : Operator(node),
        slot_(slot),
        input_(std::move(input)),
        arena_(&frame.run.memory),
        seen_(1, frame.run.memory) {}

  void rewind(Frame& frame) override {
    input_->rewind(frame);
    seen_.clear();
    arena_.reset();
  }

 private:
  Rows pull(Frame& frame) override {
    selected_.resize(kBatchSize);
    while (true) {
      const Rows rows = input_->next(frame);
      if (rows.empty()) return {};
      const Vector values = frame.slots[slot_];
      size_t count = 0;
      for (const RowNumber row : rows) {
        const Value& value = values[row];
        const TupleTable::Inserted inserted = seen_.insert({&value, 1});
        if (!inserted.is_new) continue;
        if (!frame.is_stable[slot_]) seen_.tuple(inserted.number)[0] = retain(value, arena_);
        selected_[count++] = row;
      }
      if (count > 0) return Rows(selected_.data(), count);
    }
  }

  SlotNumber slot_;
  Input input_;
  Arena arena_;
  TupleTable seen_;
  std::vector<RowNumber> selected_;
};

// TOP n; OFFSET m LIMIT n. Stops asking as soon as it has enough.
class Limit final : public Operator {
 public:
  Limit(const PlanNode& node, Frame& frame, Input input) : Operator(node), input_(std::move(input)) {
    const BoundQuery& bound = *node.bound;
    if (bound.offset != nullptr) offset_ = row_count(*bound.offset, "OFFSET", frame.run);
    count_ = bound.top != nullptr ? row_count(*bound.top, "TOP", frame.run)
                                  : row_count(*bound.limit, "LIMIT", frame.run);
    if (bound.top != nullptr && bound.limit != nullptr)
      count_ = std::min(count_, row_count(*bound.limit, "LIMIT", frame.run));
    restart();
  }

  void rewind(Frame& frame) override {
    input_->rewind(frame);
    restart();
  }

 private:
  void restart() {
    to_skip_ = offset_;
    to_give_ = count_;
  }

  Rows pull(Frame& frame) override {
    for (uint64_t gone = 1; to_give_ > 0 && to_skip_ > 0 && gone > 0; to_skip_ -= gone)
      gone = input_->skip(to_skip_, frame);
    while (to_give_ > 0) {
      Rows rows = input_->next(frame);
      if (rows.empty()) return {};
      const auto skipped = static_cast<size_t>(std::min<uint64_t>(to_skip_, rows.size()));
      to_skip_ -= skipped;
      rows = rows.subspan(skipped);
      rows = rows.first(static_cast<size_t>(std::min<uint64_t>(to_give_, rows.size())));
      to_give_ -= rows.size();
      if (!rows.empty()) return rows;
    }
    return {};
  }

  Input input_;
  uint64_t offset_ = 0;
  uint64_t count_ = 0;
  uint64_t to_skip_ = 0;
  uint64_t to_give_ = 0;
};

// UNION ALL: the rows of the input, then those of another query.
class Append final : public Operator {
 public:
  Append(const PlanNode& node, SlotNumber slot, Frame& frame, Input input)
      : Operator(node),
        slot_(slot),
        input_(std::move(input)),
        bound_(*node.other->bound),
        other_(frame.run, *node.other, frame.capacity, frame.gives_output) {}

  void rewind(Frame& frame) override {
    input_->rewind(frame);
    on_other_ = false;
  }

 private:
  Rows pull(Frame& frame) override {
    if (!on_other_) {
      const Rows rows = input_->next(frame);
      if (!rows.empty() || frame.run.error) return rows;
      on_other_ = true;
      constexpr RowNumber kAnyRow = 0;  // what stands around the union is the same for all
      bind_outer_row(bound_, frame, kAnyRow, other_.frame());
      other_.rewind();
    }
    const Rows rows = other_.next();
    if (rows.empty()) return {};
    Value* values = values_.reserve(rows);
    for (const RowNumber row : rows) values[row] = other_.value(row);
    frame.slots[slot_] = Vector::column(values);
    return rows;
  }

  SlotNumber slot_;
  Input input_;
  const BoundQuery& bound_;  // of the other query
  Pipeline other_;
  bool on_other_ = false;
  Column values_;
};

}  // namespace

std::unique_ptr<Operator> make_filter(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                      Input input) {
  EvaluatorFactory factory(frame, query);
  std::vector<std::unique_ptr<Evaluator>> conditions;
  for (const BoundExpression* condition : node.conditions) conditions.push_back(factory.make(*condition));
  auto filter = std::make_unique<Filter>(node, std::move(conditions), std::move(input));
  if (!node.may_fan_out || frame.run.threads < 2) return filter;
  return make_shared_filter(node, query, frame, std::move(filter));
}

std::unique_ptr<Operator> make_bind_value(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                          Input input) {
  auto value = EvaluatorFactory(frame, query).make(*node.source->expression);
  frame.is_stable[node.source->slot] = value->is_stable();
  return std::make_unique<DefinedValue>(node, node.source->slot,
                                        is_always_defined(*node.source->expression, *query.bound),
                                        std::move(value), std::move(input));
}

std::unique_ptr<Operator> make_project(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                       Input input) {
  EvaluatorFactory factory(frame, query, frame.gives_output);
  auto value = &node == frame.run.stored_items ? make_plain_slot(node.bound->value->slot, factory)
                                               : factory.make(*node.bound->value);
  frame.is_stable[query.value_slot] = value->is_stable();
  return std::make_unique<DefinedValue>(node, query.value_slot,
                                        is_always_defined(*node.bound->value, *node.bound), std::move(value),
                                        std::move(input));
}

std::unique_ptr<Operator> make_distinct(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                        Input input) {
  return std::make_unique<Distinct>(node, query.value_slot, frame, std::move(input));
}

std::unique_ptr<Operator> make_limit(const PlanNode& node, Frame& frame, Input input) {
  return std::make_unique<Limit>(node, frame, std::move(input));
}

std::unique_ptr<Operator> make_append(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                      Input input) {
  frame.is_stable[query.value_slot] = false;
  return std::make_unique<Append>(node, query.value_slot, frame, std::move(input));
}

}  // namespace quire::sql
