// Joins. Hash join: the right side is read once and kept: its carried values by row, and the rows of each key
// chained in the order in which they came. Rows of the left side then look their partners up. Lookup join:
// the same for each batch of the left side, with those rows of the right one alone that an index, or the keys
// of items, lead to for it, until these have become so many that a hash join goes on; or for each row of it,
// where that is what the index is asked for.
//
// LEFT JOIN: behind the partners of each left row comes a row without one. It is given only if no partner
// passed the rest of ON.
#include <algorithm>

#include "sql/run/carried_slots.h"
#include "sql/run/kept_rows.h"
#include "sql/run/operator.h"

namespace quire::sql {
namespace {

// Of a row that is kept by its key, beside its values: its place in tables and chains.
constexpr size_t kKeptRowSize = 40;

const PlanNode& bottom_of(const PlanNode& root) {
  const PlanNode* node = &root;
  while (node->input != nullptr) node = node->input.get();
  return *node;
}

class Join final : public Operator {
 public:
  Join(const PlanNode& node, const PlannedQuery& query, Frame& frame, Input input)
      : Operator(node),
        bound_(*query.bound),
        keeps_unmatched_(node.keeps_unmatched),
        looks_up_(node.is_lookup),
        is_looking_up_(node.is_lookup),
        right_scan_(bottom_of(*node.right->root)),
        is_by_row_(node.is_by_row),
        keeps_right_(node.keeps_right),
        narrowed_scan_(node.narrowed_scan),
        asked_keys_(node.asked_keys),
        right_slots_(node.right_carried),
        input_(std::move(input)),
        right_(frame.run, *node.right, kBatchSize),
        kept_(node.right_keys.size(), right_slots_.size(), frame.run.memory),
        carried_(node.carried),
        row_slots_(node.row_slots),
        row_inputs_(node.row_slots) {
    for (const SlotNumber slot : right_slots_) {
      right_is_stable_.push_back(right_.frame().is_stable[slot]);
      frame.is_stable[slot] = right_.frame().is_stable[slot];
    }
    EvaluatorFactory left_factory(frame, query);
    EvaluatorFactory right_factory(right_.frame(), *node.right);
    for (const BoundExpression* key : node.left_keys) left_keys_.push_back(left_factory.make(*key));
    for (const BoundExpression* key : node.right_keys) right_keys_.push_back(right_factory.make(*key));
    for (const BoundExpression* condition : node.conditions)
      conditions_.push_back(left_factory.make(*condition));
    right_columns_.resize(right_slots_.size());
    key_.resize(left_keys_.size());
    row_values_.resize(right_slots_.size());
  }

  void rewind(Frame& frame) override {
    input_->rewind(frame);
    if (!keeps_right_) {
      kept_.clear();
      is_read_ = false;
    }
    has_narrowed_ = false;
    is_looking_up_ = looks_up_;
    right_.frame().reads_all_partners = false;
    found_before_ = found();
    rows_ = {};
    has_match_ = false;  // the row at hand may have been left halfway
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
      for (size_t i = 0; i < right_slots_.size(); ++i)
        frame.slots[right_slots_[i]] = Vector::column(right_columns_[i].data());
      if (!keeps_unmatched_) return first_rows(made);
      const Rows matched = select_matches(frame, made);
      if (frame.run.error) return {};
      if (!matched.empty()) return matched;
    }
  }

  // ---- The right side

  void read_right(Frame& frame) {
    is_read_ = true;
    for (const SlotNumber slot : bound_.outer_slots) right_.frame().slots[slot] = frame.slots[slot];
    right_.rewind();
    const bool keys_are_stable =
        std::ranges::all_of(right_keys_, [](const auto& key) { return key->is_stable(); });
    for (Rows rows = right_.next(); !rows.empty(); rows = right_.next()) {
      evaluate_keys(right_keys_, rows, right_.frame());
      if (frame.run.error) return;
      for (const RowNumber row : rows) {
        for (size_t i = 0; i < right_slots_.size(); ++i)
          row_values_[i] = right_.frame().slots[right_slots_[i]][row];
        kept_.add(key_of(row), keys_are_stable, row_values_, right_is_stable_);
      }
    }
  }

  void look_up_right(Frame& frame) {
    evaluate_keys(left_keys_, rows_, frame);
    lookup_keys_.clear();
    for (const RowNumber row : rows_)
      for (const size_t key : asked_keys_) lookup_keys_.push_back(key_vectors_[key][row]);
    right_.frame().lookup_keys = lookup_keys_;
    kept_.clear();
    if (!frame.run.error) read_right(frame);
  }

  // There may be more left rows than was thought. Once so many partners have been looked up that it was as
  // much work as reading all items, these are read and kept, if there is room for them: then it is no more
  // than twice as much.
  bool has_found_too_many(const Frame& frame) {
    const auto items =
        static_cast<double>(frame.run.item_collections[right_scan_.source->slot]->item_count());
    const bool are_together = right_scan_.access.kind == Access::Kind::partitions;
    if (static_cast<double>(found() - found_before_) * (are_together ? 1 : kLookupCost) < items) return false;
    const size_t row_size = kKeptRowSize + (right_slots_.size() + right_keys_.size()) * sizeof(Value);
    return items * static_cast<double>(row_size) < static_cast<double>(frame.run.memory.left()) / 2;
  }
  uint64_t found() { return right_.frame().run.counters[right_scan_.number].items_read; }

  void stop_looking_up() {
    is_looking_up_ = false;
    is_read_ = false;
    right_.frame().reads_all_partners = true;
    kept_.clear();
  }

  // The right side's values of a key are what a scan of the left side looks up, unless they turn out to be so
  // many that it should read all.
  void narrow_left(Frame& frame) {
    constexpr size_t kMostKeys = 65'536;
    has_narrowed_ = true;
    if (!is_read_) {
      read_right(frame);
      list_keys();
    }
    // Another run of the same query may have left its own.
    if (kept_.key_count() <= kMostKeys)
      frame.run.join_keys[*narrowed_scan_] = lookup_keys_;
    else
      frame.run.join_keys.erase(*narrowed_scan_);
  }
  void list_keys() {
    lookup_keys_.clear();
    for (uint32_t number = 0; number < kept_.key_count(); ++number)
      for (const size_t key : asked_keys_) lookup_keys_.push_back(kept_.key(number)[key]);
  }

  // An earlier batch shows its made rows in the frame; the right side reads those of the input.
  void read_right_of(RowNumber row, Frame& frame) {
    row_inputs_.restore_input(frame);
    for (const SlotNumber slot : row_slots_)
      right_.frame().slots[slot] = Vector::single(&frame.slots[slot][row]);
    kept_.clear();
    read_right(frame);
  }

  void evaluate_keys(const std::vector<std::unique_ptr<Evaluator>>& keys, Rows rows, Frame& frame) {
    key_vectors_.clear();
    for (const auto& key : keys) key_vectors_.push_back(key->evaluate(rows, frame));
  }
  std::span<const Value> key_of(RowNumber row) {
    for (size_t i = 0; i < key_.size(); ++i) key_[i] = key_vectors_[i][row];
    return key_;
  }

  // ---- The left side

  // The right side is read once there is a row that may need it.
  bool take_batch(Frame& frame) {
    if (narrowed_scan_ && !has_narrowed_) narrow_left(frame);
    if (frame.run.error || (narrowed_scan_ && kept_.empty())) return false;
    do {
      rows_ = input_->next(frame);
      if (rows_.empty()) return false;
      if (is_looking_up_ && has_found_too_many(frame)) stop_looking_up();
      if (is_looking_up_)
        look_up_right(frame);
      else if (!is_by_row_ && !is_read_)
        read_right(frame);
      if (frame.run.should_stop()) return false;
      if (!is_looking_up_ && !is_by_row_ && kept_.empty() && !keeps_unmatched_) return false;
    } while (!is_by_row_ && kept_.empty() && !keeps_unmatched_);
    evaluate_keys(left_keys_, rows_, frame);
    carried_.take_input(frame);
    row_inputs_.take_input(frame);
    mark_ = frame.arena.mark();
    is_row_open_ = false;
    return !frame.run.error;
  }

  // Fills a batch with partners of the rows that are left; how many rows it made.
  size_t make_rows(Frame& frame) {
    for (Column& column : right_columns_) column.reserve(frame.capacity);
    is_unmatched_row_.assign(frame.capacity, false);
    size_t made = 0;
    while (!rows_.empty() && made < frame.capacity) {
      if (!is_row_open_) {
        if (is_by_row_) read_right_of(rows_.front(), frame);
        if (frame.run.error) return 0;
        partner_ = kept_.find(key_of(rows_.front()));
        is_row_open_ = true;
      }
      const size_t first = made;
      for (; partner_ != KeptRows::kNone && made < frame.capacity; partner_ = kept_.next(partner_))
        set_right(made++, kept_.values(partner_));
      const bool is_done = partner_ == KeptRows::kNone && (!keeps_unmatched_ || made < frame.capacity);
      if (is_done && keeps_unmatched_) {
        is_unmatched_row_[made] = true;
        set_right(made++, nullptr);
      }
      carried_.copy(rows_.front(), first, made, frame.capacity);
      if (!is_done) break;
      is_row_open_ = false;
      rows_ = rows_.subspan(1);
    }
    return made;
  }

  void set_right(size_t row, const Value* values) {
    for (size_t i = 0; i < right_columns_.size(); ++i)
      right_columns_[i].data()[row] = values != nullptr ? values[i] : Value();
  }

  // LEFT JOIN: the pairs for which the rest of ON is true, and the rows that have none.
  Rows select_matches(Frame& frame, size_t made) {
    selected_.clear();
    for (const RowNumber row : first_rows(made))
      if (!is_unmatched_row_[row]) selected_.push_back(row);
    size_t count = selected_.size();
    for (const auto& condition : conditions_)
      count = condition->select_true(Rows(selected_).first(count), frame, selected_.data());
    matches_.clear();
    auto next_match = selected_.begin();
    for (const RowNumber row : first_rows(made)) {
      const bool is_match =
          next_match != selected_.begin() + static_cast<ptrdiff_t>(count) && *next_match == row;
      if (is_match) ++next_match;
      if (is_match || (is_unmatched_row_[row] && !has_match_)) matches_.push_back(row);
      has_match_ = is_unmatched_row_[row] ? false : has_match_ || is_match;
    }
    return matches_;
  }

  const BoundQuery& bound_;
  bool keeps_unmatched_;
  bool looks_up_;
  bool is_looking_up_;          // and has not found that reading all is less work
  const PlanNode& right_scan_;  // what the right side reads
  uint64_t found_before_ = 0;   // items of right_scan_, in earlier runs
  bool is_by_row_;
  bool keeps_right_;  // from one run to the next
  std::optional<uint32_t> narrowed_scan_;
  const std::vector<size_t>& asked_keys_;
  std::vector<Value> lookup_keys_;
  std::vector<SlotNumber> right_slots_;
  std::vector<bool> right_is_stable_;
  Input input_;
  Pipeline right_;
  KeptRows kept_;
  CarriedSlots carried_;
  const std::vector<SlotNumber>& row_slots_;
  CarriedSlots row_inputs_;  // the vectors that the right side reads by row; never copied
  std::vector<std::unique_ptr<Evaluator>> left_keys_;
  std::vector<std::unique_ptr<Evaluator>> right_keys_;
  std::vector<std::unique_ptr<Evaluator>> conditions_;
  std::vector<Vector> key_vectors_;
  std::vector<Value> key_;
  std::vector<Value> row_values_;
  bool is_read_ = false;
  bool has_narrowed_ = false;
  Rows rows_;  // of the input's batch, those still to do
  bool is_row_open_ = false;
  uint32_t partner_ = KeptRows::kNone;  // of the first of rows_, the one to do next
  bool has_match_ = false;              // of the first of rows_, in this batch or an earlier one
  Arena::Mark mark_;
  std::vector<Column> right_columns_;
  std::vector<bool> is_unmatched_row_;
  std::vector<RowNumber> selected_;
  std::vector<RowNumber> matches_;
};

}  // namespace

std::unique_ptr<Operator> make_join(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                    Input input) {
  return std::make_unique<Join>(node, query, frame, std::move(input));
}

}  // namespace quire::sql
