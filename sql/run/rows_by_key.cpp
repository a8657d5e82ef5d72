// A correlated query's rows by equality with what stands around it: they have all of its keys, or any. At
// first each run reads the input and compares, since there may be few runs, and a reader may stop at the
// first row. Once that has been as much work as reading all of the input twice, its rows are kept by key, and
// each run looks up its own; where memory does not reach for that, they go on comparing. How much all is,
// where an item has many elements, shows when a run has come to its end, or when to keep it has been as much
// work as all runs before. An input that looks the row's items up by itself is read whole once that has been
// as much work as keeping its rows.
#include <algorithm>
#include <functional>
#include <optional>

#include "sql/plan/alike.h"
#include "sql/run/kept_rows.h"
#include "sql/run/operator.h"

namespace quire::sql {
namespace {

class RowsByKey final : public Operator {
 public:
  RowsByKey(const PlanNode& node, const PlannedQuery& query, Frame& frame, Input input)
      : Operator(node), carried_(node.carried), is_any_key_(node.is_any_key), input_(std::move(input)) {
    const PlanNode* source = &node;
    for (; source->input != nullptr; below_.push_back(source->number)) source = source->input.get();
    if (source->kind == PlanKind::scan) {
      work_of_all_ = frame.run.item_collections[source->source->slot]->item_count();
      if (source->access.gives_all != GivesAll::never) lookups_ = source;
    }
    EvaluatorFactory factory(frame, query);
    for (const BoundExpression* condition : node.conditions) conditions_.push_back(factory.make(*condition));
    for (const BoundExpression* key : node.left_keys) wanted_.push_back(factory.make(*key));
    make_keys(node, factory);
    for (const SlotNumber slot : carried_) is_stable_.push_back(frame.is_stable[slot]);
    columns_.resize(carried_.size());
    values_.resize(carried_.size());
    key_.resize(keys_.size());
    if (!is_any_key_) return;
    key_.resize(2);
    values_.push_back(Value());
    is_stable_.push_back(true);
  }

  void rewind(Frame& frame) override {
    ++runs_;
    is_begun_ = false;
    if (!is_kept_) input_->rewind(frame);
  }

 private:
  // What several arms compare is kept once.
  void make_keys(const PlanNode& node, EvaluatorFactory& factory) {
    std::vector<const BoundExpression*> made;
    for (const BoundExpression* key : node.right_keys) {
      const auto is_it = [key](const BoundExpression* other) {
        return is_alike(*key, *other, std::equal_to<SlotNumber>());
      };
      const auto found = is_any_key_ ? std::ranges::find_if(made, is_it) : made.end();
      key_of_arm_.push_back(static_cast<int64_t>(found - made.begin()));
      if (found != made.end()) continue;
      made.push_back(key);
      keys_.push_back(factory.make(*key));
    }
  }

  Rows pull(Frame& frame) override {
    if (frame.run.should_stop()) return {};
    if (!is_begun_) begin(frame);
    if (frame.run.error) return {};
    return is_kept_ ? next_kept(frame) : next_compared(frame);
  }

  // How many rows a query gives is known when it has run to its end, which may be all of its work.
  bool is_due(const Frame& frame) const {
    constexpr uint64_t kRunsThatCompare = 2;
    if (lookups_ != nullptr)
      return cost_of_lookups(frame) >= kCostOfKeeping * static_cast<double>(*work_of_all_);
    return work_of_all_ ? work(frame) >= kRunsThatCompare * *work_of_all_ : runs_ > kRunsThatCompare;
  }

  // In rows, each counted at each node below that gave it.
  uint64_t work(const Frame& frame) const {
    uint64_t rows = 0;
    for (const uint32_t node : below_) rows += frame.run.counters[node].rows;
    return rows;
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
    work_before_run_ = work(frame);
    if (!is_kept_ || frame.run.error) return;
    partners_.clear();
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const Value& wanted = wanted_[i]->evaluate(first_rows(1), frame)[0];
      if (is_any_key_) {
        key_ = {Value::integer(key_of_arm_[i]), wanted};
        partners_.push_back(kept_->find(key_));
      } else {
        key_[i] = wanted;
      }
    }
    if (!is_any_key_) partners_.push_back(kept_->find(key_));
  }

  // ---- Rows that are compared

  Rows next_compared(Frame& frame) {
    selected_.resize(kBatchSize);
    while (true) {
      Rows rows = input_->next(frame);
      const bool is_all = rows.empty() && lookups_ == nullptr;
      if (is_all && work_of_all_) work_of_all_ = work(frame) - work_before_run_;
      if (rows.empty()) return {};
      rows = select_rows(conditions_, rows, frame, selected_.data());
      if (frame.run.error) return {};
      if (!rows.empty()) return rows;
    }
  }

  // ---- Rows that are kept

  void keep(Frame& frame) {
    frame.reads_all_partners = true;
    is_kept_ = keep_all(frame);
    if (is_kept_ || frame.run.error) return;
    kept_.reset();
    frame.reads_all_partners = false;
    input_->rewind(frame);
  }

  // False: there is too much for half of the statement's memory, which is left to others, or more than the
  // runs before were worth.
  bool keep_all(Frame& frame) {
    MemoryBudget& memory = frame.run.memory;
    const uint64_t most_work = 2 * work(frame);
    try {
      kept_.emplace(key_.size(), values_.size(), memory);
      rows_kept_ = 0;
      for (Rows rows = input_->next(frame); !rows.empty(); rows = input_->next(frame)) {
        keep_batch(rows, frame);
        if (frame.run.error) return false;
        if (memory.left() < memory.limit() / 2) throw MemoryLimitExceeded{};
        if (!work_of_all_ || lookups_ != nullptr || work(frame) <= most_work) continue;
        work_of_all_ = work(frame);
        return false;
      }
    } catch (const MemoryLimitExceeded&) {
      is_too_much_ = true;
    }
    return !is_too_much_ && !frame.run.error;
  }

  void keep_batch(Rows rows, Frame& frame) {
    vectors_.clear();
    bool are_stable = true;
    for (const auto& key : keys_) {
      vectors_.push_back(key->evaluate(rows, frame));
      are_stable &= key->is_stable();
    }
    for (const RowNumber row : rows) {
      for (size_t i = 0; i < carried_.size(); ++i) values_[i] = frame.slots[carried_[i]][row];
      if (is_any_key_) {
        keep_by_each(row, are_stable);
        continue;
      }
      for (size_t i = 0; i < key_.size(); ++i) key_[i] = vectors_[i][row];
      kept_->add(key_, are_stable, values_, is_stable_);
    }
  }

  // Once by each key, behind the key's number; the row's number, behind its values, says which are the same.
  void keep_by_each(RowNumber row, bool are_stable) {
    values_.back() = Value::integer(rows_kept_++);
    for (size_t i = 0; i < keys_.size(); ++i) {
      key_ = {Value::integer(static_cast<int64_t>(i)), vectors_[i][row]};
      kept_->add(key_, are_stable, values_, is_stable_);
    }
  }

  Rows next_kept(Frame& frame) {
    frame.arena.reset();
    for (Column& column : columns_) column.reserve(frame.capacity);
    size_t made = 0;
    for (; made < frame.capacity; ++made) {
      const uint32_t partner = next_partner();
      if (partner == KeptRows::kNone) break;
      for (size_t i = 0; i < columns_.size(); ++i) columns_[i].data()[made] = kept_->values(partner)[i];
    }
    for (size_t i = 0; i < columns_.size(); ++i)
      frame.slots[carried_[i]] = Vector::column(columns_[i].data());
    return first_rows(made);
  }

  // The first of those that the arms come to next; the others go past the same row.
  uint32_t next_partner() {
    const uint32_t first = *std::ranges::min_element(partners_);
    if (first == KeptRows::kNone) return first;
    for (uint32_t& partner : partners_)
      if (partner == first || (partner != KeptRows::kNone && is_same_row(partner, first)))
        partner = kept_->next(partner);
    return first;
  }
  bool is_same_row(uint32_t a, uint32_t b) const {
    return kept_->values(a)[carried_.size()].as_integer() == kept_->values(b)[carried_.size()].as_integer();
  }

  // To look up a row's items, whatever there are, and to keep all rows, each.
  static constexpr double kRunCost = 40, kRunCostOfSeveral = 1000;
  static constexpr double kCostOfKeeping = 4;

  const std::vector<SlotNumber>& carried_;
  const bool is_any_key_;
  Input input_;
  const PlanNode* lookups_ = nullptr;                   // a scan that looks the row's items up, or null
  std::vector<std::unique_ptr<Evaluator>> conditions_;  // the equalities
  std::vector<std::unique_ptr<Evaluator>> wanted_;      // of what stands around the query
  std::vector<std::unique_ptr<Evaluator>> keys_;        // of a row
  std::vector<bool> is_stable_;                         // by carried slot
  std::optional<KeptRows> kept_;
  std::vector<uint32_t> below_;          // numbers of the nodes
  std::optional<uint64_t> work_of_all_;  // to read all, as far as is known; nothing: only runs are counted
  uint64_t work_before_run_ = 0;
  uint64_t runs_ = 0;
  bool is_begun_ = false;
  bool is_kept_ = false;
  bool is_too_much_ = false;
  std::vector<int64_t> key_of_arm_;  // which of keys_
  std::vector<uint32_t> partners_;   // the next one; where a row has any key, of each arm
  int64_t rows_kept_ = 0;
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
