// A filter over all items of a container whose work several threads share. The items' hashes are divided into
// parts; each thread takes the next part, walks its items in a snapshot of its own of the same commit, and
// keeps those for which every condition is true. What stands above takes the parts in order, so that the rows
// are those of one thread, in the same order. Who waits for a part walks one meanwhile: a thread that only
// took would have to be woken for each part, on a processor that another is using.
//
// Threads run ahead of what is taken by a few parts each, which bounds memory.
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "sql/run/operator.h"

namespace quire::sql {
namespace {

constexpr uint64_t kItemsInPart = 4096;
constexpr size_t kPartsAhead = 4;  // a thread

// The items of a part that are kept.
struct Part {
  std::vector<Value> items;
  uint64_t items_read = 0;
  std::optional<Error> error;
  bool is_done = false;
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
             .memory_limit = main.run.memory_limit,
             .interrupts = main.run.interrupts,
             .interrupts_at_start = main.run.interrupts_at_start,
             .clock = main.run.clock,
             .arena = Arena(main.run.memory_limit),
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
  }

  Part walk(uint32_t number, uint32_t parts) try {
    Part part;
    Access access;
    access.part = number;
    access.parts = parts;
    auto cursor = collection_->open(access);
    if (!cursor) run_.set_error(std::move(cursor.error()));
    while (!run_.should_stop()) {
      auto count = (*cursor)->next({items_.reserve(kBatchSize), kBatchSize});
      if (!count) run_.set_error(std::move(count.error()));
      if (!count || *count == 0) break;
      part.items_read += *count;
      keep(*count, part);
    }
    part.error = run_.error;
    return part;
  } catch (const std::bad_alloc&) {
    Part part;
    part.error = Error{ErrorCode::out_of_memory, "out of memory while threads share a scan"};
    return part;
  }

 private:
  void keep(size_t count, Part& part) {
    frame_.arena.reset();
    frame_.slots[slot_] = Vector::column(items_.data());
    Rows rows = first_rows(count);
    for (const auto& condition : conditions_) {
      rows = {selected_.data(), condition->select_true(rows, frame_, selected_.data())};
      if (rows.empty()) return;
    }
    for (const RowNumber row : rows) part.items.push_back(items_.data()[row]);
  }

  std::unique_ptr<Collection> collection_;
  SlotNumber slot_;
  RunState run_;
  Frame frame_;
  std::vector<std::unique_ptr<Evaluator>> conditions_;
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
  ~SharedFilter() override { stop(); }

  void rewind(Frame& frame) override {
    stop();
    is_begun_ = false;
    alone_->rewind(frame);
  }

 private:
  Rows pull(Frame& frame) override {
    if (!std::exchange(is_begun_, true)) is_alone_ = !begin(frame);
    if (is_alone_) return pull_alone(frame);
    if (frame.run.should_stop()) return {};
    frame.arena.reset();
    while (next_item_ == taken_.items.size()) {
      if (taken_parts_ == parts_.size() || !take(frame)) return {};
    }
    const size_t count = std::min(taken_.items.size() - next_item_, frame.capacity);
    Value* const items = items_.reserve(frame.capacity);
    std::copy_n(taken_.items.begin() + static_cast<ptrdiff_t>(next_item_), count, items);
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

  // False where the threads cannot have snapshots of their own.
  bool begin(Frame& frame) {
    Collection& collection = *frame.run.item_collections[slot_];
    std::vector<std::unique_ptr<Worker>> workers;
    for (size_t i = 0; i < frame.run.threads; ++i) {
      auto fork = collection.fork();
      if (fork == nullptr) return false;
      workers.push_back(std::make_unique<Worker>(std::move(fork), node_, query_, frame));
    }
    parts_ = std::vector<Part>(
        std::clamp<uint64_t>(collection.item_count() / kItemsInPart, 4 * workers.size(), 1 << 16));
    taken_ = {};
    next_item_ = next_part_ = taken_parts_ = 0;
    is_stopped_ = false;
    workers_ = std::move(workers);
    try {
      for (size_t i = 1; i < workers_.size(); ++i)
        threads_.emplace_back([this, &worker = *workers_[i]] { work(worker); });
    } catch (const std::system_error&) {  // the machine gives no more threads
      stop();
      return false;
    }
    return true;
  }

  void work(Worker& worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      has_room_.wait(lock, [this] { return is_stopped_ || next_part_ == parts_.size() || has_room(); });
      if (is_stopped_ || next_part_ == parts_.size()) return;
      walk_next(worker, lock);
      is_ready_.notify_one();
    }
  }

  bool has_room() const { return next_part_ < taken_parts_ + kPartsAhead * workers_.size(); }

  void walk_next(Worker& worker, std::unique_lock<std::mutex>& lock) {
    const size_t number = next_part_++;
    lock.unlock();
    Part part = worker.walk(static_cast<uint32_t>(number), static_cast<uint32_t>(parts_.size()));
    part.is_done = true;
    lock.lock();
    parts_[number] = std::move(part);
  }

  // Takes the next part, once it is there; false if it failed.
  bool take(Frame& frame) {
    std::unique_lock lock(mutex_);
    while (!parts_[taken_parts_].is_done) {
      if (next_part_ < parts_.size() && has_room())
        walk_next(*workers_.front(), lock);
      else
        is_ready_.wait(lock);
    }
    taken_ = std::move(parts_[taken_parts_++]);
    lock.unlock();
    has_room_.notify_all();
    next_item_ = 0;
    frame.run.items_read += taken_.items_read;
    frame.run.counters[scan_number_].items_read += taken_.items_read;
    frame.run.counters[scan_number_].rows += taken_.items_read;
    if (taken_.error) frame.run.set_error(std::move(*taken_.error));
    return !frame.run.error;
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    has_room_.notify_all();
    threads_.clear();
    workers_.clear();
  }

  const PlanNode& node_;
  const PlannedQuery& query_;
  SlotNumber slot_;
  uint32_t scan_number_;
  Input alone_;
  bool is_begun_ = false;
  bool is_alone_ = false;
  Column items_;
  Part taken_;
  size_t next_item_ = 0;  // of it

  std::mutex mutex_;  // guards what follows, to workers_
  std::condition_variable has_room_, is_ready_;
  std::vector<Part> parts_;
  size_t next_part_ = 0;    // to be walked
  size_t taken_parts_ = 0;  // handed on
  bool is_stopped_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<Operator> make_shared_filter(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                             Input alone) {
  frame.run.is_restartable = false;  // what threads it has may change
  return std::make_unique<SharedFilter>(node, query, std::move(alone));
}

}  // namespace quire::sql
