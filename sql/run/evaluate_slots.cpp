// Evaluators that read: constants, slots, paths, system properties, members of computed values.
#include <algorithm>

#include "sql/run/evaluator.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/member_place.h"
#include "sql/value/member_reader.h"
#include "sql/value/prefetch.h"

namespace quire::sql {
namespace {

class ConstantEvaluator final : public Evaluator {
 public:
  explicit ConstantEvaluator(const Value& value) : value_(value) {}
  Vector evaluate(Rows, Frame&) override { return Vector::single(&value_); }
  bool is_stable() const override { return true; }

 private:
  Value value_;
};

class ParameterEvaluator final : public Evaluator {
 public:
  explicit ParameterEvaluator(uint32_t parameter) : parameter_(parameter) {}
  Vector evaluate(Rows, Frame& frame) override { return Vector::single(&frame.run.parameters[parameter_]); }
  bool is_stable() const override { return true; }

 private:
  uint32_t parameter_;
};

class SlotEvaluator final : public Evaluator {
 public:
  SlotEvaluator(SlotNumber slot, bool stable) : slot_(slot), stable_(stable) {}
  Vector evaluate(Rows, Frame& frame) override { return frame.slots[slot_]; }
  bool is_stable() const override { return stable_; }

 private:
  SlotNumber slot_;
  bool stable_;
};

// A value that its body reads several times.
class LetEvaluator final : public Evaluator {
 public:
  LetEvaluator(SlotNumber slot, std::unique_ptr<Evaluator> value, std::unique_ptr<Evaluator> body)
      : slot_(slot), value_(std::move(value)), body_(std::move(body)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    frame.slots[slot_] = value_->evaluate(rows, frame);
    return body_->evaluate(rows, frame);
  }
  size_t select_true(Rows rows, Frame& frame, RowNumber* selected) override {
    frame.slots[slot_] = value_->evaluate(rows, frame);
    return body_->select_true(rows, frame, selected);
  }
  bool is_stable() const override { return body_->is_stable(); }

 private:
  SlotNumber slot_;
  std::unique_ptr<Evaluator> value_;
  std::unique_ptr<Evaluator> body_;
};

// Runs `value_of(input) -> Value` for each row, or once where the input is one value for all.
template <typename ValueOf>
Vector map_rows(Rows rows, Vector input, Column& column, ValueOf value_of) {
  if (input.is_single()) {
    Value* value = column.reserve(rows);
    *value = value_of(*input.values);
    return Vector::single(value);
  }
  Value* out = column.reserve(rows);
  for (const RowNumber row : rows) out[row] = value_of(input[row]);
  return Vector::column(out);
}

// An item as a whole: its own members, then the system properties.
class ItemEvaluator final : public Evaluator {
 public:
  ItemEvaluator(SlotNumber slot, const Collection& collection, bool is_output)
      : slot_(slot), collection_(collection), is_output_(is_output) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    if (is_output_ && frame.run.omits_system_properties) return frame.slots[slot_];
    return map_rows(rows, frame.slots[slot_], column_,
                    [&](const Value& item) { return whole_item(item, collection_, frame.arena); });
  }

 private:
  SlotNumber slot_;
  const Collection& collection_;
  bool is_output_;
  Column column_;
};

// The value with items as a whole, and those within arrays and objects that were made of such, as they are
// stored.
Value as_stored(const Value& value, Arena& arena) {
  if (value.is_extended()) return value.extended_object().own;
  if (!value.is_built()) return value;
  if (value.is_array()) {
    const std::span<Value> copies = arena.copy_array(value.built_elements());
    for (Value& element : copies) element = as_stored(element, arena);
    return Value::array(copies);
  }
  const std::span<Member> copies = arena.copy_array(value.built_members());
  for (Member& member : copies) member.value = as_stored(member.value, arena);
  return Value::object(copies);
}

// Of values that may be items as a whole, in what is given.
class OutputSlotEvaluator final : public Evaluator {
 public:
  OutputSlotEvaluator(SlotNumber slot, bool stable) : slot_(slot), stable_(stable) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    if (!frame.run.omits_system_properties) return frame.slots[slot_];
    return map_rows(rows, frame.slots[slot_], column_,
                    [&](const Value& value) { return as_stored(value, frame.arena); });
  }
  bool is_stable() const override { return stable_; }

 private:
  SlotNumber slot_;
  bool stable_;
  Column column_;
};

// The steps of a path, with names looked up in the dictionary of the values at hand.
class ResolvedSteps {
 public:
  explicit ResolvedSteps(std::span<const BoundStep> steps) {
    for (const BoundStep& step : steps) steps_.push_back({{.name = step.name}, step.index, {}});
  }

  // Called before a batch with one of its values: all values of a slot are of one container as a rule; a
  // value of another dictionary is still read right, by name.
  void prepare_for(const Value& sample) {
    if (!sample.is_encoded() || sample.dictionary() == resolved_for_) return;
    resolved_for_ = sample.dictionary();
    for (Step& step : steps_)
      if (step.index < 0) step = {resolve_key(step.key.name, resolved_for_), step.index, {}};
  }

  Value walk(Value value) { return walk_from(0, value); }

  // walk() for the values of a batch, which lie far apart: where a name leads deeper, all that it finds is
  // asked for before any of it is looked at.
  void walk_all(Rows rows, Vector values, Value* out) {
    if (steps_.size() < 2 || steps_[0].index >= 0) {
      for (const RowNumber row : rows) {
        out[row] = walk(values[row]);
        ask_for_text(out[row]);
      }
      return;
    }
    found_.clear();
    for (const RowNumber row : rows) {
      const std::span<const std::byte> found = found_.emplace_back(steps_[0].member_bytes(values[row]));
      prefetch(found.data());
      if (found.size() > kLineBytes / 2) prefetch(&found[std::min(found.size(), kLineBytes) - 1]);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const Value& value = values[rows[i]];
      Value& found = out[rows[i]];
      found = found_[i].empty() ? walk(value) : walk_from(1, decode_value(found_[i], value.dictionary()));
      if (found.is_encoded()) ask_for_front(found.encoded_bytes());
    }
  }

 private:
  struct Step {
    ResolvedKey key;
    int64_t index;
    MemberPlace place;

    bool is_for(const Value& value) const noexcept {
      return value.is_encoded() && value.is_object() && value.dictionary() == key.dictionary && key.is_known;
    }
    // As Value::member_bytes and Value::member.
    std::span<const std::byte> member_bytes(const Value& value) noexcept {
      return is_for(value) ? place.find(value.encoded_bytes(), key.number) : std::span<const std::byte>();
    }
    Value member(const Value& value) noexcept {
      if (!is_for(value)) [[unlikely]]
        return value.member(key);
      const std::span<const std::byte> bytes = place.find(value.encoded_bytes(), key.number);
      if (bytes.data() != nullptr) return decode_value(bytes, value.dictionary());
      const auto tag = static_cast<uint8_t>(value.encoded_bytes()[0]);
      return layout::has_inline_names(tag) ? value.member(key) : Value();
    }
  };

  static constexpr size_t kLineBytes = 64;

  static void ask_for_text(const Value& value) noexcept {
    constexpr size_t kShortText = 32;
    if (!value.is_string() || value.as_string().size() <= kShortText) return;
    ask_for_front(std::as_bytes(std::span(value.as_string())));
  }
  // What lies behind the line that its first byte is on, since others look at the texts and elements of a
  // batch one after the other.
  static void ask_for_front(std::span<const std::byte> bytes) noexcept {
    constexpr size_t kMostAsked = 4 * kLineBytes;
    prefetch_all(bytes.first(std::min(bytes.size(), kMostAsked)));
  }

  Value walk_from(size_t first, Value value) {
    for (size_t i = first; i < steps_.size(); ++i) {
      Step& step = steps_[i];
      value = step.index < 0 ? step.member(value) : value.element(static_cast<uint64_t>(step.index));
    }
    return value;
  }

  std::vector<Step> steps_;
  DictionaryNumber resolved_for_ = 0;
  std::vector<std::span<const std::byte>> found_;  // of walk_all
};

// A path over the values of another evaluator, or over a slot.
class PathEvaluator final : public Evaluator {
 public:
  PathEvaluator(std::unique_ptr<Evaluator> input, std::span<const BoundStep> steps)
      : input_(std::move(input)), steps_(steps) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    const Vector input = input_->evaluate(rows, frame);
    if (!rows.empty()) steps_.prepare_for(input[rows.front()]);
    Value* const out = column_.reserve(rows);
    if (input.is_single()) {
      *out = steps_.walk(*input.values);
      return Vector::single(out);
    }
    steps_.walk_all(rows, input, out);
    return Vector::column(out);
  }

  bool is_stable() const override { return input_->is_stable(); }

 private:
  std::unique_ptr<Evaluator> input_;
  ResolvedSteps steps_;
  Column column_;
};

class SystemPropertyEvaluator final : public Evaluator {
 public:
  SystemPropertyEvaluator(SlotNumber slot, SystemProperty property, const Collection& collection)
      : slot_(slot), property_(property), collection_(collection) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    return map_rows(rows, frame.slots[slot_], column_, [&](const Value& item) {
      return item.is_object() ? collection_.system_property(item, property_, frame.arena)
                              : Value::undefined();
    });
  }

 private:
  SlotNumber slot_;
  SystemProperty property_;
  const Collection& collection_;
  Column column_;
};

class DocumentIdEvaluator final : public Evaluator {
 public:
  DocumentIdEvaluator(SlotNumber slot, const Collection& collection) : slot_(slot), collection_(collection) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    return map_rows(rows, frame.slots[slot_], column_, [&](const Value& item) {
      return item.is_object() ? Value::integer(collection_.document_id(item)) : Value::undefined();
    });
  }
  bool is_stable() const override { return true; }

 private:
  SlotNumber slot_;
  const Collection& collection_;
  Column column_;
};

// value[index]: a string takes a member, a whole number an element.
Value element_at(const Value& value, const Value& index) {
  if (index.is_string()) return value.member(index.as_string());
  if (index.kind() == Kind::integer && index.as_integer() >= 0)
    return value.element(static_cast<uint64_t>(index.as_integer()));
  if (index.kind() == Kind::real && index.as_real() >= 0 && index.as_real() < 4294967296.0 &&
      index.as_real() == static_cast<double>(static_cast<uint64_t>(index.as_real())))
    return value.element(static_cast<uint64_t>(index.as_real()));
  return Value::undefined();
}

class IndexEvaluator final : public Evaluator {
 public:
  IndexEvaluator(std::unique_ptr<Evaluator> value, std::unique_ptr<Evaluator> index)
      : value_(std::move(value)), index_(std::move(index)) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    const Vector values = value_->evaluate(rows, frame);
    const Vector indexes = index_->evaluate(rows, frame);
    Value* out = column_.reserve(rows);
    for (const RowNumber row : rows) out[row] = element_at(values[row], indexes[row]);
    return Vector::column(out);
  }

  bool is_stable() const override { return value_->is_stable(); }

 private:
  std::unique_ptr<Evaluator> value_;
  std::unique_ptr<Evaluator> index_;
  Column column_;
};

}  // namespace

// The body is made after the value, whose stability it asks for.
std::unique_ptr<Evaluator> make_let(const BoundExpression& expression, EvaluatorFactory& factory) {
  auto value = factory.make(*expression.operands[0]);
  factory.frame().is_stable[expression.slot] = value->is_stable();
  return std::make_unique<LetEvaluator>(expression.slot, std::move(value),
                                        factory.make(*expression.operands[1]));
}

std::unique_ptr<Evaluator> make_constant(const Value& value) {
  return std::make_unique<ConstantEvaluator>(value);
}

std::unique_ptr<Evaluator> make_parameter(uint32_t parameter) {
  return std::make_unique<ParameterEvaluator>(parameter);
}

std::unique_ptr<Evaluator> make_plain_slot(SlotNumber slot, EvaluatorFactory& factory) {
  return std::make_unique<SlotEvaluator>(slot, factory.frame().is_stable[slot]);
}

std::unique_ptr<Evaluator> make_value_slot(SlotNumber slot, EvaluatorFactory& factory) {
  if (!factory.is_output()) return make_plain_slot(slot, factory);
  return std::make_unique<OutputSlotEvaluator>(slot, factory.frame().is_stable[slot]);
}

std::unique_ptr<Evaluator> make_slot(const BoundExpression& expression, EvaluatorFactory& factory) {
  const Collection* collection = factory.run().item_collections[expression.slot];
  if (collection != nullptr)
    return std::make_unique<ItemEvaluator>(expression.slot, *collection, factory.is_output());
  return make_value_slot(expression.slot, factory);
}

std::unique_ptr<Evaluator> make_path(const BoundExpression& expression, EvaluatorFactory& factory) {
  return std::make_unique<PathEvaluator>(make_plain_slot(expression.slot, factory), expression.steps);
}

std::unique_ptr<Evaluator> make_member(const BoundExpression& expression, EvaluatorFactory& factory) {
  return std::make_unique<PathEvaluator>(factory.make(*expression.operands[0]), expression.steps);
}

std::unique_ptr<Evaluator> make_system_property(const BoundExpression& expression,
                                                EvaluatorFactory& factory) {
  const Collection* collection = factory.run().item_collections[expression.slot];
  if (collection == nullptr) return make_constant(Value::undefined());
  return std::make_unique<SystemPropertyEvaluator>(expression.slot, expression.property, *collection);
}

std::unique_ptr<Evaluator> make_document_id(const BoundExpression& expression, EvaluatorFactory& factory) {
  const Collection* collection = factory.run().item_collections[expression.slot];
  if (collection == nullptr) return make_constant(Value::undefined());
  return std::make_unique<DocumentIdEvaluator>(expression.slot, *collection);
}

std::unique_ptr<Evaluator> make_index(const BoundExpression& expression, EvaluatorFactory& factory) {
  return std::make_unique<IndexEvaluator>(factory.make(*expression.operands[0]),
                                          factory.make(*expression.operands[1]));
}

}  // namespace quire::sql
