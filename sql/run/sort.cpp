// ORDER BY: reads all of its input and gives it in order. A row is its keys and the slots that are read
// above. Rows that compare equal keep the order in which they came. Under a limit (top-k) a heap holds the
// first rows only, and most rows are turned away by one comparison.
#include <algorithm>

#include "sql/run/kept_values.h"
#include "sql/run/operator.h"
#include "sql/run/rank_fusion.h"
#include "sql/run/row_order.h"
#include "sql/value/limited_array.h"
#include "sql/value/prefetch.h"

namespace quire::sql {
namespace {

constexpr Value kDefined = Value::null();

class Sort final : public Operator {
 public:
  Sort(const PlanNode& node, const PlannedQuery& query, Frame& frame, Input input)
      : Operator(node),
        bound_(*node.bound),
        input_(std::move(input)),
        memory_(frame.run.memory),
        kept_(memory_),
        carried_(node.carried),
        values_(&memory_),
        order_(&memory_),
        arrival_(&memory_) {
    EvaluatorFactory factory(frame, query);
    for (const BoundOrderItem& item : bound_.order_by) {
      keys_.push_back(factory.make(*item.expression));
      is_stable_.push_back(keys_.back()->is_stable());
      descending_.push_back(item.descending);
    }
    if (bound_.fusion) {
      weights_ = fusion_weights(*bound_.fusion, keys_.size(), frame.run);
      descending_ = {bound_.fusion->descending};
    }
    ordered_.assign(descending_.begin(), descending_.begin() + static_cast<ptrdiff_t>(node.ordered_keys));
    width_ = keys_.size() + carried_.size();
    if (node.top_k) most_ = first_rows_wanted(bound_, frame.run);
    if (node.defined != nullptr) defined_ = factory.make(*node.defined);
    // Above the sort everything carried lies in storage or in its own arena.
    for (const SlotNumber slot : carried_) {
      is_stable_.push_back(frame.is_stable[slot]);
      frame.is_stable[slot] = true;
    }
    columns_.resize(carried_.size());
    row_.resize(width_);
  }

  void rewind(Frame& frame) override {
    input_->rewind(frame);
    is_read_ = false;
    next_ = 0;
    values_.clear();
    order_.clear();
    arrival_.clear();
    kept_.clear();
  }

 private:
  Rows pull(Frame& frame) override {
    if (!is_read_) read_input(frame);
    if (frame.run.should_stop()) return {};
    frame.arena.reset();
    const size_t count = std::min(frame.capacity, order_.size() - next_);
    for (size_t i = 0; i < carried_.size(); ++i) {
      constexpr size_t kAhead = 16;
      Value* column = columns_[i].reserve(frame.capacity);
      const auto kept = [&](size_t row) { return &values_[order_[next_ + row] * width_ + keys_.size() + i]; };
      for (size_t row = 0; row < count; ++row) {
        if (row + kAhead < count) prefetch(kept(row + kAhead));
        column[row] = *kept(row);
        ask_for(column[row]);
      }
      frame.slots[carried_[i]] = Vector::column(column);
    }
    next_ += count;
    return first_rows(count);
  }

  // What the rows of a batch hold lies anywhere in storage, and is looked at one after the other.
  static void ask_for(const Value& value) {
    constexpr size_t kMostAsked = 192;
    if (!value.is_encoded()) return;
    const std::span<const std::byte> bytes = value.encoded_bytes();
    prefetch_all(bytes.first(std::min(bytes.size(), kMostAsked)));
  }

  void read_input(Frame& frame) {
    is_read_ = true;
    if (most_ == 0) return;
    for (Rows rows = input_->next(frame); !rows.empty(); rows = input_->next(frame)) {
      key_vectors_.clear();
      for (const auto& key : keys_) key_vectors_.push_back(key->evaluate(rows, frame));
      const Vector defined =
          defined_ != nullptr ? defined_->evaluate(rows, frame) : Vector::single(&kDefined);
      if (frame.run.error) return;
      for (const RowNumber row : rows)
        if (defined[row].is_defined()) take_row(row, frame);
      if (is_behind_all(rows.back())) break;
    }
    if (bound_.fusion) join_ranks(values_, width_, weights_, memory_);
    if (is_heap())
      std::sort_heap(order_.begin(), order_.end(),
                     [this](uint32_t a, uint32_t b) { return is_before(a, b); });
    else
      RowOrder(values_, width_, descending_, memory_).sort(order_);
  }

  bool is_heap() const { return order_.size() >= most_; }

  // Whether that row, and so each that comes after it, comes behind all that are wanted by the keys that the
  // input is in the order of.
  bool is_behind_all(RowNumber row) {
    if (ordered_.empty() || !is_heap()) return false;
    for (size_t i = 0; i < ordered_.size(); ++i) row_[i] = key_vectors_[i][row];
    return compare_keys(row_.data(), keys_of(order_.front()), ordered_) > 0;
  }

  void take_row(RowNumber row, Frame& frame) {
    const auto before = [this](uint32_t a, uint32_t b) { return is_before(a, b); };
    for (size_t i = 0; i < keys_.size(); ++i) row_[i] = key_vectors_[i][row];
    ++arrivals_;
    if (is_heap()) {
      // A row that equals the last kept one came later, so it stays out.
      if (!(compare_keys(row_.data(), keys_of(order_.front()), descending_) < 0)) return;
      std::pop_heap(order_.begin(), order_.end(), before);
      store(order_.back(), row, frame);
      std::push_heap(order_.begin(), order_.end(), before);
      kept_.let_go(order_.size(), [this](const auto& move) {
        for (size_t i = 0; i < values_.size(); ++i)
          if (!is_stable_[i % width_]) move(values_[i]);
      });
      return;
    }
    const size_t number = order_.size();
    if (number == capacity_) grow();
    order_.push_back(static_cast<uint32_t>(number));
    arrival_.push_back(0);
    values_.resize((number + 1) * width_);
    store(order_.back(), row, frame);
    if (is_heap()) std::make_heap(order_.begin(), order_.end(), before);
  }

  // What the order of the rows will take must be left.
  void grow() {
    constexpr size_t kFirstRows = 64;
    const size_t held_per_row = width_ * sizeof(Value) + sizeof(uint32_t) + sizeof(uint64_t);
    const size_t left = memory_.left(), ordering = capacity_ * RowOrder::kBytesPerRow;
    const size_t more = left > ordering ? (left - ordering) / (held_per_row + RowOrder::kBytesPerRow) : 0;
    const size_t most = std::min<size_t>(capacity_ + more, UINT32_MAX);
    if (capacity_ >= most) throw MemoryLimitExceeded{};
    const size_t wanted = std::min(std::max(capacity_ * 2, kFirstRows), most);
    order_.reserve(wanted);
    arrival_.reserve(wanted);
    values_.reserve(wanted * width_);
    capacity_ = wanted;
  }

  void store(uint32_t number, RowNumber row, Frame& frame) {
    Value* to = values_.data() + number * width_;
    for (size_t i = 0; i < width_; ++i) {
      const Value& value = i < keys_.size() ? row_[i] : frame.slots[carried_[i - keys_.size()]][row];
      to[i] = is_stable_[i] ? value : kept_.keep(value);
    }
    arrival_[number] = arrivals_;
  }

  const Value* keys_of(uint32_t number) const { return values_.data() + number * width_; }

  bool is_before(uint32_t a, uint32_t b) const {
    const auto order = compare_keys(keys_of(a), keys_of(b), descending_);
    return order != 0 ? order < 0 : arrival_[a] < arrival_[b];
  }

  const BoundQuery& bound_;
  Input input_;
  MemoryBudget& memory_;
  KeptValues kept_;  // keys and carried slots that do not lie in storage
  std::vector<SlotNumber> carried_;
  std::vector<bool> is_stable_;  // by value of a row
  std::vector<std::unique_ptr<Evaluator>> keys_;
  std::vector<bool> descending_;  // by key that rows are compared by: all, or the first if ranks are joined
  std::vector<bool> ordered_;     // likewise, of the first keys, whose order the input is in
  std::unique_ptr<Evaluator> defined_;  // rows where it is undefined are not kept; may be null
  std::vector<double> weights_;         // of the keys, if their ranks are joined
  size_t width_ = 0;                    // values a row
  uint64_t most_ = UINT64_MAX;          // rows to keep
  size_t capacity_ = 0;                 // rows that there is room for
  LimitedArray<Value> values_;          // width_ values a row: keys, then carried slots
  LimitedArray<uint32_t>
      order_;  // row numbers; a heap with the last row in front once it is full, then sorted
  LimitedArray<uint64_t> arrival_;
  uint64_t arrivals_ = 0;
  bool is_read_ = false;
  size_t next_ = 0;
  std::vector<Vector> key_vectors_;
  std::vector<Value> row_;
  std::vector<Column> columns_;
};

}  // namespace

std::unique_ptr<Operator> make_sort(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                    Input input) {
  return std::make_unique<Sort>(node, query, frame, std::move(input));
}

}  // namespace quire::sql
