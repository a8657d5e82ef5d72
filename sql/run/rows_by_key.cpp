// A correlated query's rows by equality with what stands around it. At first each run reads the input and
// compares, since there may be few runs, and a reader may stop at the first row. Once that has been as much
// work as reading all of the input twice, its rows are kept by key, and each run looks up its own; where
// memory does not reach for that, they go on comparing. An input that looks the row's items up by itself is
// read whole once that has been as much work as keeping its rows.
#include <algorithm>
#include <optional>

#include "sql/run/kept_rows.h"
#include "sql/run/operator.h"

namespace quire::sql {
namespace {

class RowsByKey final : public Operator {
 public:
  RowsByKey(const PlanNode& node, const PlannedQuery& query, Frame& frame, Input input)
      : Operator(node), carried_(node.carried), input_(std::move(input)) {
    if (const PlanNode* const source = source_of(node); source->kind == PlanKind::scan) {
      input_rows_ = frame.run.item_collections[source->source->slot]->item_count();
      if (source->access.gives_all != GivesAll::never) lookups_ = source;
    }
    EvaluatorFactory factory(frame, query);
    for (const BoundExpression* condition : node.conditions) conditions_.push_back(factory.make(*condition));
    for (const BoundExpression* key : node.left_keys) wanted_.push_back(factory.make(*key));
    for (const BoundExpression* key : node.right_keys) keys_.push_back(factory.make(*key));
    for (const SlotNumber slot : carried_) is_stable_.push_back(frame.is_stable[slot]);
    columns_.resize(carried_.size());
    values_.resize(carried_.size());
    key_.resize(keys_.size());
  }

  void rewind(Frame& frame) override {
    ++runs_;
    run_rows_ = 0;
    is_begun_ = false;
    if (!is_kept_) input_->rewind(frame);
  }

 private:
  Rows pull(Frame& frame) override {
    if (frame.run.should_stop()) return {};
    if (!is_begun_) begin(frame);
    if (frame.run.error) return {};
    return is_kept_ ? next_kept(frame) : next_compared(frame);
  }

  static const PlanNode* source_of(const PlanNode& node) {
    const PlanNode* const source = node.input.get();
    return source->kind == PlanKind::filter ? source->input.get() : source;
  }

  // How many rows a query gives is known when it has run to its end, which may be all of its work.
  bool is_due(const Frame& frame) const {
    constexpr uint64_t kRunsThatCompare = 2;
    if (lookups_ != nullptr)
      return cost_of_lookups(frame) >= kCostOfKeeping * static_cast<double>(*input_rows_);
    return input_rows_ ? compared_ >= kRunsThatCompare * *input_rows_ : runs_ > kRunsThatCompare;
  }

  // In items of a scan. The items of a partition lie together; where two indexes are read together, each of
  // them has many entries.
  double cost_of_lookups(const Frame& frame) const {
    const Access::Kind kind = lookups_->access.kind;
    const auto items = static_cast<double>(frame.run.counters[lookups_->number].items_read);
    return static_cast<double>(runs_) * (kind == Access::Kind::all_index ? kRunCostOfSeveral : kRunCost) +
           items * (kind == Access::Kind::partition ? 1 : kLookupCost);
  }

  void begin(Frame& frame) {
    is_begun_ = true;
    if (!is_kept_ && !is_too_much_ && is_due(frame)) keep(frame);
    if (!is_kept_ || frame.run.error) return;
    for (size_t i = 0; i < wanted_.size(); ++i) key_[i] = wanted_[i]->evaluate(first_rows(1), frame)[0];
    partner_ = kept_->find(key_);
  }

  // ---- Rows that are compared

  Rows next_compared(Frame& frame) {
    selected_.resize(kBatchSize);
    while (true) {
      Rows rows = input_->next(frame);
      const bool is_all = rows.empty() && lookups_ == nullptr;
      if (is_all && input_rows_) input_rows_ = std::min(*input_rows_, run_rows_);
      if (rows.empty()) return {};
      run_rows_ += rows.size();
      compared_ += rows.size();
      rows = select_rows(conditions_, rows, frame, selected_.data());
      if (frame.run.error) return {};
      if (!rows.empty()) return rows;
    }
  }

  // ---- Rows that are kept

  // Half of the statement's memory is left to others.
  void keep(Frame& frame) {
    MemoryBudget& memory = frame.run.memory;
    frame.reads_all_partners = true;
    try {
      kept_.emplace(keys_.size(), carried_.size(), memory);
      for (Rows rows = input_->next(frame); !rows.empty(); rows = input_->next(frame)) {
        keep_batch(rows, frame);
        if (frame.run.error) return;
        if (memory.left() < memory.limit() / 2) throw MemoryLimitExceeded{};
      }
      is_kept_ = !frame.run.error;
    } catch (const MemoryLimitExceeded&) {
      kept_.reset();
      is_too_much_ = true;
      frame.reads_all_partners = false;
      input_->rewind(frame);
    }
  }

  void keep_batch(Rows rows, Frame& frame) {
    vectors_.clear();
    bool are_stable = true;
    for (const auto& key : keys_) {
      vectors_.push_back(key->evaluate(rows, frame));
      are_stable &= key->is_stable();
    }
    for (const RowNumber row : rows) {
      for (size_t i = 0; i < key_.size(); ++i) key_[i] = vectors_[i][row];
      for (size_t i = 0; i < values_.size(); ++i) values_[i] = frame.slots[carried_[i]][row];
      kept_->add(key_, are_stable, values_, is_stable_);
    }
  }

  Rows next_kept(Frame& frame) {
    frame.arena.reset();
    for (Column& column : columns_) column.reserve(frame.capacity);
    size_t made = 0;
    for (; partner_ != KeptRows::kNone && made < frame.capacity; partner_ = kept_->next(partner_), ++made)
      for (size_t i = 0; i < columns_.size(); ++i) columns_[i].data()[made] = kept_->values(partner_)[i];
    for (size_t i = 0; i < columns_.size(); ++i)
      frame.slots[carried_[i]] = Vector::column(columns_[i].data());
    return first_rows(made);
  }

  // To look up a row's items, whatever there are, and to keep all rows, each.
  static constexpr double kRunCost = 40, kRunCostOfSeveral = 1000;
  static constexpr double kCostOfKeeping = 4;

  const std::vector<SlotNumber>& carried_;
  Input input_;
  const PlanNode* lookups_ = nullptr;                   // a scan that looks the row's items up, or null
  std::vector<std::unique_ptr<Evaluator>> conditions_;  // the equalities
  std::vector<std::unique_ptr<Evaluator>> wanted_;      // of what stands around the query
  std::vector<std::unique_ptr<Evaluator>> keys_;        // of a row
  std::vector<bool> is_stable_;                         // by carried slot
  std::optional<KeptRows> kept_;
  std::optional<uint64_t> input_rows_;  // at most, of all; nothing: not known
  uint64_t compared_ = 0;               // rows, in all runs
  uint64_t run_rows_ = 0;               // in this run
  uint64_t runs_ = 0;
  bool is_begun_ = false;
  bool is_kept_ = false;
  bool is_too_much_ = false;
  uint32_t partner_ = KeptRows::kNone;  // the next one
  std::vector<Column> columns_;
  std::vector<Vector> vectors_;
  std::vector<Value> key_;
  std::vector<Value> values_;
  std::vector<RowNumber> selected_;
};

}  // namespace

std::unique_ptr<Operator> make_rows_by_key(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                           Input input) {
  return std::make_unique<RowsByKey>(node, query, frame, std::move(input));
}

}  // namespace quire::sql
