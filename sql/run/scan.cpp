// The leaves: one row of nothing, and the items of a container.
#include <array>

#include "sql/run/operator.h"

namespace quire::sql {
namespace {

class OneRow final : public Operator {
 public:
  using Operator::Operator;
  void rewind(Frame&) override { is_done_ = false; }

 private:
  Rows pull(Frame& frame) override {
    if (is_done_ || frame.run.should_stop()) return {};
    is_done_ = true;
    frame.arena.reset();
    return first_rows(1);
  }

  bool is_done_ = false;
};

bool is_scalar(const Value& value) {
  return value.is_null() || value.is_boolean() || value.is_number() || value.is_string();
}

}  // namespace

Rows next_items(Cursor& cursor, Frame& frame, size_t most, SlotNumber slot, Column& column, uint32_t node) {
  Value* items = column.reserve(frame.capacity);
  auto count = cursor.next({items, most});
  if (!count) {
    frame.run.set_error(std::move(count.error()));
    return {};
  }
  frame.run.items_read += *count;
  frame.run.counters[node].items_read += *count;
  frame.slots[slot] = Vector::column(items);
  return first_rows(*count);
}

namespace {

class Scan final : public Operator {
 public:
  Scan(const PlanNode& node, const PlannedQuery& query, Frame& frame)
      : Operator(node), kind_(node.access.kind), slot_(node.source->slot) {
    collection_ = frame.run.item_collections[slot_];
    EvaluatorFactory factory(frame, query);
    for (const BoundExpression* component : node.access.partition_key)
      partition_key_.push_back(factory.make(*component));
    if (node.access.id != nullptr) id_ = factory.make(*node.access.id);
  }

  void rewind(Frame&) override {
    cursor_.reset();
    is_open_ = false;
  }

 private:
  Rows pull(Frame& frame) override {
    if (frame.run.should_stop()) return {};
    frame.arena.reset();
    if (!is_open_ && !open(frame)) return {};
    if (cursor_ == nullptr) return {};
    return next_items(*cursor_, frame, frame.capacity, slot_, items_, node_number());
  }

  // Opens the cursor. Without one, but true: no item can match, since a key component is no scalar or the id
  // is no string.
  bool open(Frame& frame) {
    is_open_ = true;
    constexpr size_t kMostComponents = 3;
    std::array<Value, kMostComponents> key;
    Access access;
    access.kind = kind_;
    size_t components = 0;
    for (const auto& component : partition_key_) {
      const Value value = component->evaluate(first_rows(1), frame)[0];
      if (!is_scalar(value) || components == kMostComponents) return !frame.run.error;
      key[components++] = value;
    }
    access.partition_key = std::span(key).first(components);
    if (id_ != nullptr) {
      const Value id = id_->evaluate(first_rows(1), frame)[0];
      if (!id.is_string()) return !frame.run.error;
      access.id = id.as_string();
    }
    auto cursor = collection_->open(access);
    if (!cursor) {
      frame.run.set_error(std::move(cursor.error()));
      return false;
    }
    cursor_ = std::move(*cursor);
    return true;
  }

  Access::Kind kind_;
  SlotNumber slot_;
  Collection* collection_ = nullptr;
  std::vector<std::unique_ptr<Evaluator>> partition_key_;
  std::unique_ptr<Evaluator> id_;
  std::unique_ptr<Cursor> cursor_;
  bool is_open_ = false;
  Column items_;
};

}  // namespace

std::unique_ptr<Operator> make_one_row(const PlanNode& node) {
  return std::make_unique<OneRow>(node);
}

std::unique_ptr<Operator> make_scan(const PlanNode& node, const PlannedQuery& query, Frame& frame) {
  if (node.access.kind >= Access::Kind::index) return make_index_scan(node, query, frame);
  return std::make_unique<Scan>(node, query, frame);
}

}  // namespace quire::sql
