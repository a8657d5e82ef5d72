// A filter over all items of a container whose work several threads share. The items' keys are divided into
// parts; a thread walks a part's items in a snapshot of its own of the same commit, and keeps those for which
// every condition is true; under a sort that wants the first rows alone, no more of them than that. What
// stands above takes the parts in order, so that the rows are those of one thread, in the same order.
#include <algorithm>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "sql/run/first_of_part.h"
#include "sql/run/operator.h"
#include "sql/run/shared_parts.h"

namespace quire::sql {
namespace {

constexpr uint64_t kItemsInPart = 4096, kMostParts = 1 << 14;

// The items of a part that are kept.
struct Part {
  std::vector<Value> items;
  uint64_t rows = 0;  // that the conditions hold for, kept or not
  uint64_t items_read = 0;
  std::optional<Error> error;
  bool is_over_limit = false;  // the statement's of memory
};

// What one thread has of its own.
class Worker {
 public:
  Worker(std::unique_ptr<Collection> collection, const PlanNode& node, const PlannedQuery& query, Frame& main)
      : collection_(std::move(collection)),
        slot_(node.input->source->slot),
        run_{.plan = main.run.plan,
             .source = main.run.source,
             .parameters = main.run.parameters,
             .is_bound = main.run.is_bound,
             .memory = main.run.memory,
             .interrupts = main.run.interrupts,
             .interrupts_at_start = main.run.interrupts_at_start,
             .clock = main.run.clock,
             .arena = Arena(&main.run.memory),
             .item_collections = main.run.item_collections,
             .counters = {},
             .items_read = 0,
             .time_limit = main.run.time_limit,
             .snapshot_limit = main.run.snapshot_limit,
             .error = std::nullopt},
        frame_(run_, kBatchSize) {
    run_.item_collections[slot_] = collection_.get();
    EvaluatorFactory factory(frame_, query);
    for (const BoundExpression* condition : node.conditions) conditions_.push_back(factory.make(*condition));
    selected_.resize(kBatchSize);
    if (node.first_of != nullptr) first_ = FirstOfPart::make(*node.first_of, factory);
  }

  void walk(std::string_view from, std::string_view to, Part& part) try {
    part.items.clear();
    part.rows = part.items_read = 0;
    part.error.reset();
    part.is_over_limit = false;
    if (first_ != nullptr) first_->clear();
    Access access;
    access.place_from = from;
    access.place_to = to;
    auto cursor = collection_->open(access);
    if (!cursor) run_.set_error(std::move(cursor.error()));
    while (!run_.should_stop()) {
      auto count = (*cursor)->next({items_.reserve(kBatchSize), kBatchSize});
      if (!count) run_.set_error(std::move(count.error()));
      if (!count || *count == 0) break;
      part.items_read += *count;
      keep(*count, part);
    }
    if (first_ != nullptr) first_->put_in_order(part.items);
    part.error = run_.error;
  } catch (const MemoryLimitExceeded&) {
    part.items.clear();
    part.is_over_limit = true;
  } catch (const std::bad_alloc&) {
    part.items.clear();
    part.error = no_memory_for_part();
  }

 private:
  void keep(size_t count, Part& part) {
    frame_.arena.reset();
    frame_.slots[slot_] = Vector::column(items_.data());
    const Rows rows = select_rows(conditions_, first_rows(count), frame_, selected_.data());
    part.rows += rows.size();
    if (first_ != nullptr) return first_->take(rows, frame_, items_.data(), part.items);
    for (const RowNumber row : rows) part.items.push_back(items_.data()[row]);
  }

  std::unique_ptr<Collection> collection_;
  SlotNumber slot_;
  RunState run_;
  Frame frame_;
  std::vector<std::unique_ptr<Evaluator>> conditions_;
  std::unique_ptr<FirstOfPart> first_;  // null: all are kept
  Column items_;
  std::vector<RowNumber> selected_;
};

class SharedFilter final : public Operator {
 public:
  SharedFilter(const PlanNode& node, const PlannedQuery& query, Input alone)
      : Operator(node),
        node_(node),
        query_(query),
        slot_(node.input->source->slot),
        scan_number_(node.input->number),
        alone_(std::move(alone)) {}

  void rewind(Frame& frame) override {
    parts_.stop();
    is_begun_ = false;
    alone_->rewind(frame);
  }

 private:
  Rows pull(Frame& frame) override {
    if (!std::exchange(is_begun_, true)) is_alone_ = !begin(frame);
    if (is_alone_) return pull_alone(frame);
    if (frame.run.should_stop()) return {};
    frame.arena.reset();
    while (taken_ == nullptr || next_item_ == taken_->items.size()) {
      if (!take(frame)) return {};
    }
    const size_t count = std::min(taken_->items.size() - next_item_, frame.capacity);
    Value* const items = items_.reserve(frame.capacity);
    std::copy_n(taken_->items.begin() + static_cast<ptrdiff_t>(next_item_), count, items);
    next_item_ += count;
    frame.slots[slot_] = Vector::column(items);
    return first_rows(count);
  }

  // Its rows are counted as this operator's, which has its number.
  Rows pull_alone(Frame& frame) {
    const uint64_t counted = frame.run.counters[node_number()].rows;
    const Rows rows = alone_->next(frame);
    frame.run.counters[node_number()].rows = counted;
    return rows;
  }

  // False where the threads cannot have snapshots of their own, or the items cannot be parted.
  bool begin(Frame& frame) {
    Collection& collection = *frame.run.item_collections[slot_];
    std::vector<std::unique_ptr<Worker>> workers;
    for (size_t i = 0; i < frame.run.threads; ++i) {
      auto fork = collection.fork();
      if (fork == nullptr) return false;
      workers.push_back(std::make_unique<Worker>(std::move(fork), node_, query_, frame));
    }
    starts_ = collection.divide(
        std::clamp<uint64_t>(collection.item_count() / kItemsInPart, 4 * workers.size(), kMostParts));
    if (starts_.empty()) return false;
    workers_ = std::move(workers);
    taken_ = nullptr;
    const auto work = [this](size_t worker, size_t number, Part& part) {
      constexpr std::string_view kEnd;
      workers_[worker]->walk(number == 0 ? kEnd : starts_[number - 1],
                             number == starts_.size() ? kEnd : starts_[number], part);
      return true;
    };
    return parts_.begin(*frame.run.workers, workers_.size(), starts_.size() + 1, work);
  }

  // The next part; false behind the last, or if it failed.
  bool take(Frame& frame) {
    taken_ = parts_.take();
    next_item_ = 0;
    if (taken_ == nullptr) return false;
    frame.run.items_read += taken_->items_read;
    frame.run.counters[scan_number_].items_read += taken_->items_read;
    frame.run.counters[scan_number_].rows += taken_->items_read;
    frame.run.counters[node_number()].rows += taken_->rows - taken_->items.size();
    if (taken_->is_over_limit) throw MemoryLimitExceeded{};  // as where one thread runs over it
    if (taken_->error) frame.run.set_error(*taken_->error);
    return !frame.run.error;
  }

  const PlanNode& node_;
  const PlannedQuery& query_;
  SlotNumber slot_;
  uint32_t scan_number_;
  Input alone_;
  bool is_begun_ = false;
  bool is_alone_ = false;
  Column items_;
  const Part* taken_ = nullptr;
  size_t next_item_ = 0;  // of it
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::string_view> starts_;  // of the parts but the first
  SharedParts<Part> parts_;
};

}  // namespace

std::unique_ptr<Operator> make_shared_filter(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                             Input alone) {
  // Without conditions only the first rows are worth the threads.
  EvaluatorFactory factory(frame, query);
  if (node.conditions.empty() && FirstOfPart::make(*node.first_of, factory) == nullptr) return alone;
  frame.run.is_restartable = false;  // what threads it has may change
  return std::make_unique<SharedFilter>(node, query, std::move(alone));
}

}  // namespace quire::sql
