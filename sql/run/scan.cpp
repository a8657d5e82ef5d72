// The leaves: one row of nothing, and the items of a container.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "sql/functions/like.h"
#include "sql/run/equal_keys.h"
#include "sql/run/operator.h"
#include "sql/value/key_encoding.h"

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

}  // namespace

Rows next_items(Cursor& cursor, Frame& frame, size_t most, SlotNumber slot, Column& column, uint32_t node) {
  Value* items = column.reserve(most);
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
      : Operator(node),
        kind_(node.access.kind),
        asked_(node.access.asked_components),
        takes_join_keys_(node.access.takes_join_keys),
        gives_all_(node.access.gives_all != GivesAll::never),
        slot_(node.source->slot),
        only_counts_(node.only_counts && kind_ == Access::Kind::scan),
        is_ordered_(node.access.is_ordered),
        asks_for_few_(is_ordered_ || may_stop_early(query)),
        is_reverse_(node.access.is_reverse) {
    collection_ = frame.run.item_collections[slot_];
    EvaluatorFactory factory(frame, query);
    for (const BoundExpression* component : node.access.partition_key)
      partition_key_.push_back(factory.make(*component));
    if (node.access.id != nullptr) id_ = factory.make(*node.access.id);
    for (const IndexBound& bound : node.access.id_bounds)
      id_bounds_.push_back({bound.check, factory.make(*bound.operands[0])});
    arm_key_size_ = node.access.arm_key_size;
    for (const BoundExpression* value : node.access.arm_keys) arm_keys_.push_back(factory.make(*value));
    for (const KeyChoices& choices : node.access.choices) {
      Choices& made = choices_.emplace_back(choices.are_elements, choices.same_as);
      for (const BoundExpression* choice : choices.values) made.values.push_back(factory.make(*choice));
    }
  }

  void rewind(Frame&) override {
    cursor_.reset();
    left_.reset();
    is_open_ = false;
  }

 private:
  Rows pull(Frame& frame) override {
    if (frame.run.should_stop()) return {};
    frame.arena.reset();
    if (!is_open_ && !open(frame)) return {};
    if (left_) return counted_items(frame);
    if (cursor_ == nullptr) return {};
    return next_items(*cursor_, frame, batch(frame), slot_, items_, node_number());
  }

  Rows counted_items(const Frame& frame) {
    const uint64_t count = std::min<uint64_t>(*left_, frame.capacity);
    *left_ -= count;
    return first_rows(count);
  }

  // Small batches at first, where a limit may be full with them, and none longer than a list of items.
  size_t batch(const Frame& frame) {
    const size_t most = std::min(longest_batch_, frame.capacity);
    if (!asks_for_few_) return most;
    const size_t size = std::min(next_batch_, most);
    next_batch_ = std::min(next_batch_ * 2, kBatchSize);
    return size;
  }

  // From the first id that may be one to the first behind all; the latter is empty if there is none.
  struct IdBounds {
    std::string from, to;

    void raise(std::string id) {
      if (from < id) from = std::move(id);
    }
    void lower(std::string id) {
      if (!id.empty() && (to.empty() || id < to)) to = std::move(id);
    }
  };

  // What is no string, and so true of no id, is left to the filter.
  IdBounds id_bounds(Frame& frame) const {
    IdBounds ids;
    for (const IdBound& bound : id_bounds_) {
      const Value value = bound.operand->evaluate(first_rows(1), frame)[0];
      if (!value.is_string()) continue;
      std::string text(value.as_string());
      if (bound.check == BoundCheck::like) text = text_before_wildcards(value.as_string());
      const std::string behind = text + '\0';  // the next one
      switch (bound.check) {
        case BoundCheck::less:
          ids.lower(std::move(text));
          break;
        case BoundCheck::less_equal:
          ids.lower(behind);
          break;
        case BoundCheck::greater:
          ids.raise(behind);
          break;
        case BoundCheck::greater_equal:
          ids.raise(std::move(text));
          break;
        default:
          ids.lower(key_behind(text));
          ids.raise(std::move(text));
      }
    }
    return ids;
  }

  // Opens the cursor. Without one, but true: no item can match, since a key component is no scalar or the id
  // is no string.
  bool open(Frame& frame) {
    is_open_ = true;
    next_batch_ = kFirstBatch;
    if (gives_all_ && frame.reads_all_partners) return open_cursor({}, frame);
    if (asked_ > 0)
      if (const auto keys = asked_keys(frame)) return open_asked(*keys, frame);
    if (!arm_keys_.empty()) return open_arms(frame);
    if (!choices_.empty()) return open_several(frame);
    if (only_counts_) {
      auto counted = collection_->count_items();
      if (!counted) {
        frame.run.set_error(std::move(counted.error()));
        return false;
      }
      left_ = *counted;
      if (left_) return true;
    }
    constexpr size_t kMostComponents = 3;
    std::array<Value, kMostComponents> key;
    Access access;
    access.kind = kind_;
    if (asked_ > 0) access.kind = partition_key_.empty() ? Access::Kind::scan : Access::Kind::partition;
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
    const IdBounds ids = id_bounds(frame);
    if (frame.run.error) return false;
    access.id_from = ids.from;
    access.id_to = ids.to;
    access.is_in_id_order = is_ordered_;
    access.is_reverse = is_reverse_;
    return open_cursor(access, frame);
  }

  // What a join asks for; nothing: so much that all is read, as if it did not.
  std::optional<std::span<const Value>> asked_keys(const Frame& frame) const {
    if (!takes_join_keys_) return frame.reads_all_partners ? std::nullopt : std::optional(frame.lookup_keys);
    const auto found = frame.run.join_keys.find(node_number());
    if (found == frame.run.join_keys.end()) return std::nullopt;
    const bool are_too_many =
        kind_ == Access::Kind::partitions && found->second.size() > kMostPartitions * asked_;
    return are_too_many ? std::nullopt : std::optional(found->second);
  }

  // The components that are known, and behind them those that are asked for.
  bool open_asked(std::span<const Value> asked, Frame& frame) {
    std::vector<Value> known, combinations;
    for (const auto& component : partition_key_)
      known.push_back(component->evaluate(first_rows(1), frame)[0]);
    if (frame.run.error || !std::ranges::all_of(known, is_scalar)) return !frame.run.error;
    combinations.reserve(asked.size() / asked_ * (known.size() + asked_));
    for (; !asked.empty(); asked = asked.subspan(asked_)) {
      const auto key = asked.first(asked_);
      const bool may_be_there =
          std::ranges::all_of(key, is_scalar) && (kind_ != Access::Kind::points || key.back().is_string());
      if (!may_be_there) continue;
      combinations.insert(combinations.end(), known.begin(), known.end());
      combinations.insert(combinations.end(), key.begin(), key.end());
    }
    return open_keys(combinations, known.size() + asked_, frame);
  }

  // The keys that the arms of an OR name.
  bool open_arms(Frame& frame) {
    std::vector<Value> keys;
    keys.reserve(arm_keys_.size());
    for (size_t at = 0; at < arm_keys_.size(); at += arm_key_size_) {
      for (size_t i = 0; i < arm_key_size_; ++i)
        keys.push_back(arm_keys_[at + i]->evaluate(first_rows(1), frame)[0]);
      const auto key = std::span(keys).last(arm_key_size_);
      const bool may_be_there =
          std::ranges::all_of(key, is_scalar) && (kind_ != Access::Kind::points || key.back().is_string());
      if (!may_be_there) keys.resize(keys.size() - arm_key_size_);
    }
    return !frame.run.error && open_keys(keys, arm_key_size_, frame);
  }

  // Every combination of a value for each component, and for the id.
  bool open_several(Frame& frame) {
    std::vector<Value> combinations, longer;  // one behind the other, each as long as there are places so far
    size_t count = 1;
    for (size_t place = 0; place < choices_.size(); ++place, combinations.swap(longer)) {
      const Choices& choices = choices_[place];
      const bool is_id = kind_ == Access::Kind::points && place + 1 == choices_.size();
      const std::vector<Value> values = choices.same_as ? std::vector<Value>() : values_of(choices, frame);
      longer.clear();
      longer.reserve(count * std::max<size_t>(values.size(), 1) * (place + 1));
      for (size_t i = 0; i < count; ++i) {
        const auto combination = std::span(combinations).subspan(i * place, place);
        for (const Value& value :
             choices.same_as ? combination.subspan(*choices.same_as, 1) : std::span<const Value>(values)) {
          if (is_id ? !value.is_string() : !is_scalar(value)) continue;
          longer.insert(longer.end(), combination.begin(), combination.end());
          longer.push_back(value);
        }
      }
      count = longer.size() / (place + 1);
    }
    if (frame.run.error) return false;
    return open_keys(combinations, choices_.size(), frame);
  }

  // Of so many values each, one key behind the other.
  bool open_keys(std::span<const Value> combinations, size_t width, Frame& frame) {
    if (combinations.empty()) return true;
    const size_t count = combinations.size() / width;
    const size_t components = kind_ == Access::Kind::points ? width - 1 : width;
    longest_batch_ = components < width ? count : kBatchSize;
    std::vector<AccessKey> keys(count);
    for (size_t i = 0; i < count; ++i) {
      const auto values = combinations.subspan(i * width, width);
      keys[i] = {values.first(components),
                 components < width ? values.back().as_string() : std::string_view()};
    }
    Access access;
    access.kind = kind_;
    access.keys = keys;
    return open_cursor(access, frame);
  }

  bool open_cursor(const Access& access, Frame& frame) {
    auto cursor = collection_->open(access);
    if (!cursor) {
      frame.run.set_error(std::move(cursor.error()));
      return false;
    }
    cursor_ = std::move(*cursor);
    if (EqualKeys::are_needed(access))
      cursor_ = std::make_unique<EqualKeys>(std::move(cursor_), *collection_, access);
    return true;
  }

  struct Choices {
    bool are_elements = false;
    std::optional<size_t> same_as;
    std::vector<std::unique_ptr<Evaluator>> values = {};
  };

  static std::vector<Value> values_of(const Choices& choices, Frame& frame) {
    std::vector<Value> values;
    for (const auto& choice : choices.values) {
      const Value value = choice->evaluate(first_rows(1), frame)[0];
      if (!choices.are_elements)
        values.push_back(value);
      else if (value.is_array())
        for (uint32_t i = 0; i < value.size(); ++i) values.push_back(value.element(i));
    }
    return values;
  }

  Access::Kind kind_;
  size_t asked_;
  bool takes_join_keys_, gives_all_;
  SlotNumber slot_;
  Collection* collection_ = nullptr;
  std::vector<Choices> choices_;
  std::vector<std::unique_ptr<Evaluator>> arm_keys_;
  size_t arm_key_size_ = 0;
  std::vector<std::unique_ptr<Evaluator>> partition_key_;
  std::unique_ptr<Evaluator> id_;
  struct IdBound {
    BoundCheck check;
    std::unique_ptr<Evaluator> operand;
  };
  std::vector<IdBound> id_bounds_;
  bool only_counts_, is_ordered_, asks_for_few_, is_reverse_;
  static constexpr size_t kFirstBatch = 16;
  size_t next_batch_ = kFirstBatch, longest_batch_ = kBatchSize;
  std::unique_ptr<Cursor> cursor_;
  std::optional<uint64_t> left_;  // of items that are only counted, in place of a cursor
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
