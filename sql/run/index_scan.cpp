// A scan that finds its items by the entries of indexes, or reads the entries alone.
#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "sql/plan/estimate_rows.h"
#include "sql/plan/key_ranges.h"
#include "sql/run/equal_keys.h"
#include "sql/run/operator.h"
#include "sql/run/shared_lookups.h"
#include "sql/value/comparison.h"

namespace quire::sql {
namespace {

class IndexScan final : public Operator {
 public:
  IndexScan(const PlanNode& node, const PlannedQuery& query, Frame& frame)
      : Operator(node),
        access_(node.access),
        slot_(node.source->slot),
        may_stop_early_(may_stop_early(query)),
        gives_rows_at_once_(gives_rows_at_once(query)),
        row_limit_(static_cast<size_t>(row_limit(*query.bound).value_or(kFirstBatch))),
        is_reverse_(node.access.is_reverse) {
    are_rows_ = frame.run.stored_items != nullptr && frame.run.stored_items->input.get() == &node;
    collection_ = frame.run.item_collections[slot_];
    EvaluatorFactory factory(frame, query);
    for (const PlannedProbe& probe : access_.probes)
      for (const std::vector<IndexBound>& bounds : probe.parts)
        for (const IndexBound& bound : bounds)
          for (const BoundExpression* operand : bound.operands)
            if (!operands_.contains(operand)) operands_.emplace(operand, factory.make(*operand));
    for (const BoundExpression* component : access_.partition_key)
      partition_key_.push_back({factory.make(*component), {}});
    for (const BoundExpression* condition : access_.decided) decided_.push_back(factory.make(*condition));
    columns_.resize(access_.part_slots.size());
    if (access_.is_covering)
      for (const SlotNumber slot : access_.part_slots) frame.is_stable[slot] = false;
  }

  void rewind(Frame&) override {
    shared_.reset();
    cursor_ = nullptr;
    items_cursor_.reset();
    is_open_ = false;
    reads_all_ = false;
    is_reverse_ = access_.is_reverse;
    ends_given_ = 0;
  }

  // Of entries that are followed in their own order, where nobody asks for their items.
  uint64_t skip(uint64_t most, Frame& frame) override {
    constexpr uint64_t kBetweenLooks = 65'536;  // whether the query may go on
    if (access_.only_ends || frame.run.should_stop()) return 0;
    frame.arena.reset();
    if (!is_open_ && !open(frame)) return 0;
    if (reads_all_ || cursor_ == nullptr || cursor_ != entries_.get()) return 0;
    auto gone = entries_->count(std::min(most, kBetweenLooks));
    if (!gone) {
      frame.run.set_error(std::move(gone.error()));
      return 0;
    }
    frame.run.counters[node_number()].entries_read += *gone;
    skipped_ += *gone;
    return *gone;
  }

 private:
  Rows pull(Frame& frame) override {
    for (;;) {
      if (frame.run.should_stop()) return {};
      frame.arena.reset();
      if (access_.only_ends && !reads_all_) {
        const Rows rows = next_end(frame);
        if (!reads_all_) return rows;
      }
      if (!is_open_ && !open(frame)) return {};
      if (cursor_ == nullptr) return {};
      const Rows rows = reads_entries() ? next_entries(frame) : next_rows(frame);
      if (!rows.empty() || is_at_end_) return rows;
    }
  }

  // A batch of items; those for which the conditions are true, where not the index has decided them.
  Rows next_rows(Frame& frame) {
    if (!reads_all_ && frame.run.threads > 1 && !was_shared_ && is_worth_threads()) share(frame);
    const Rows items = next_items(shared_ != nullptr ? *shared_ : *cursor_, frame, batch(frame), slot_,
                                  items_, node_number());
    frame.run.texts =
        are_rows_ && shared_ != nullptr ? shared_->texts() : std::span<const std::string_view>();
    if (!reads_all_) frame.run.counters[node_number()].entries_read += items.size();
    is_at_end_ = items.empty();
    if (access_.is_covering) read_parts(items, frame);
    if (!reads_all_) {
      given_ += items.size();
      return items;
    }
    selected_.resize(frame.capacity);
    return select_rows(decided_, items, frame, selected_.data());
  }

  // What would stand in the entries of these items.
  void read_parts(Rows items, Frame& frame) {
    for (size_t part = 0; access_.reads_parts && part < access_.part_slots.size(); ++part) {
      Value* const column = columns_[part].reserve(frame.capacity);
      for (const RowNumber row : items) {
        column[row] = frame.slots[slot_][row];
        for (const IndexStep& step : access_.probes[0].index.parts[part].path)
          column[row] = column[row].member(step.name);
      }
      frame.slots[access_.part_slots[part]] = Vector::column(column);
    }
  }

  // A batch of entries: the values of each part in its slot, or only how many there are.
  Rows next_entries(Frame& frame) {
    const size_t parts = access_.part_slots.size();
    const size_t most = batch(frame);
    values_.reserve(frame.capacity * parts);
    auto count = access_.reads_parts ? entries_->next_values({values_.data(), most * parts}, frame.arena)
                                     : entries_->count(most);
    if (!count) {
      frame.run.set_error(std::move(count.error()));
      is_at_end_ = true;
      return {};
    }
    is_at_end_ = *count == 0;
    frame.run.counters[node_number()].entries_read += *count;
    // Once a batch: a hop costs as much as many entries. Where a batch ends in one value, a shorter one will
    // do.
    if (access_.skipped_parts > 0 && *count > 0) {
      if (auto skipped = entries_->skip_equal(access_.skipped_parts); !skipped)
        frame.run.set_error(std::move(skipped.error()));
      if (*count >= kWorthHop && ends_in_one_value(*count)) next_batch_ = kWorthHop;
    }
    for (size_t part = 0; access_.reads_parts && part < parts; ++part) {
      Value* column = columns_[part].reserve(frame.capacity);
      for (size_t row = 0; row < *count; ++row) column[row] = values_.data()[row * parts + part];
      frame.slots[access_.part_slots[part]] = Vector::column(column);
    }
    return first_rows(*count);
  }

  // The second half of a batch of entries.
  bool ends_in_one_value(size_t count) {
    const size_t parts = access_.part_slots.size();
    const Value* const half = values_.data() + count / 2 * parts;
    const Value* const last = values_.data() + (count - 1) * parts;
    return access_.reads_parts && std::equal(half, half + access_.skipped_parts, last, deep_equal);
  }

  // The first entry, then the last one.
  Rows next_end(Frame& frame) {
    while (ends_given_ < 2) {
      is_reverse_ = ends_given_++ == 1;
      if (!open(frame) || reads_all_) return {};
      next_batch_ = 1;
      if (cursor_ == nullptr) continue;
      const Rows rows = reads_entries() ? next_entries(frame) : next_rows(frame);
      if (!rows.empty() || frame.run.error) return rows;
    }
    return {};
  }

  bool reads_entries() const noexcept { return access_.is_covering && cursor_ == entries_.get(); }

  // Few rows may be asked for, and each item costs a look-up.
  size_t first_batch(const Frame& frame) const {
    if (!gives_rows_at_once_) return kFirstBatch;
    return std::clamp<size_t>(std::min(row_limit_, frame.rows_wanted), 1, kFirstBatch);
  }

  // Small batches at first: as long as few items are asked for.
  size_t batch(const Frame& frame) {
    const size_t size = std::min(next_batch_, frame.capacity);
    next_batch_ = std::min(next_batch_ * 2, kBatchSize);
    return size;
  }

  // Opens the cursor; without one, but true: no entry fits.
  bool open(Frame& frame) {
    is_open_ = true;
    is_at_end_ = false;
    cursor_ = nullptr;
    next_batch_ = first_batch(frame);
    given_ = 0;
    skipped_ = 0;
    was_shared_ = false;
    reads_all_ = false;
    const auto value_of = [&](const BoundExpression& operand) {
      return operands_.at(&operand)->evaluate(first_rows(1), frame)[0];
    };
    if (frame.reads_all_partners && access_.gives_all == GivesAll::of_container) {
      key_.clear();
      return open_all(frame);
    }
    if (!read_partition_key(frame)) return !frame.run.error;
    std::span<const Value> keys = frame.lookup_keys;
    const bool gives_all = is_looked_up() || access_.gives_all == GivesAll::of_partition;
    if (frame.reads_all_partners && gives_all) return open_all(frame);
    if (access_.takes_join_keys) {
      const auto found = frame.run.join_keys.find(node_number());
      if (found == frame.run.join_keys.end()) return open_all(frame);
      keys = found->second;
    }
    ranges_.resize(access_.probes.size());
    for (size_t i = 0; i < ranges_.size(); ++i) {
      ranges_[i] = make_key_ranges(access_.probes[i], value_of, keys, std::move(ranges_[i]));
      reads_all_ |= !ranges_[i].is_served || are_too_many(ranges_[i].ranges.size());
    }
    if (frame.run.error) return false;
    // Keys past 2^53 may share their partition with others, which items alone tell apart. In the order of
    // entries these are read one by one.
    tells_keys_apart_ = EqualKeys::are_needed(within_partition());
    reads_all_ |= tells_keys_apart_ && (!access_.is_ordered || access_.only_ends);
    return reads_all_ ? open_all(frame) : open_probes(frame);
  }

  // False: what it is compared with is no scalar, so that no item can match.
  bool read_partition_key(Frame& frame) {
    key_.clear();
    for (Component& component : partition_key_) {
      Value value = component.evaluator->evaluate(first_rows(1), frame)[0];
      if (!is_scalar(value)) return false;
      if (value.is_string()) value = Value::string(component.text = value.as_string());
      key_.push_back(value);
    }
    return true;
  }
  Access within_partition() const {
    Access access;
    access.kind = key_.empty() ? Access::Kind::scan : Access::Kind::partition;
    access.partition_key = key_;
    return access;
  }

  // By the keys of a join above.
  bool is_looked_up() const {
    const auto is_asked = [](const std::vector<IndexBound>& part) {
      return part[0].check == BoundCheck::looked_up;
    };
    return !access_.takes_join_keys && !access_.probes.empty() &&
           std::ranges::any_of(access_.probes[0].parts, is_asked);
  }

  // A list of any length may ask for so much that to read all items is less work.
  bool are_too_many(size_t ranges) const {
    return ranges > kFewRanges && access_.kind == Access::Kind::any_index && !access_.first_of_equal &&
           static_cast<double>(ranges) * kLookupCost > static_cast<double>(collection_->item_count());
  }

  bool open_all(Frame& frame) {
    reads_all_ = true;
    const Access access = within_partition();
    const auto opened = open_items(access);
    if (opened && EqualKeys::are_needed(access)) tell_keys_apart(access);
    return opened || fail(frame, opened.error());
  }
  void tell_keys_apart(const Access& partition) {
    items_cursor_ = std::make_unique<EqualKeys>(std::move(items_cursor_), *collection_, partition);
    cursor_ = items_cursor_.get();
  }

  bool open_probes(Frame& frame) {
    views_.resize(ranges_.size());
    probes_.clear();
    for (size_t i = 0; i < ranges_.size(); ++i) {
      views_[i].clear();
      for (const auto& [from, to] : ranges_[i].ranges) views_[i].push_back({from, to});
      if (!views_[i].empty()) probes_.push_back({access_.probes[i].index.number, views_[i]});
    }
    const bool wants_all = access_.kind == Access::Kind::all_index;
    if (probes_.empty() || (wants_all && probes_.size() < ranges_.size())) return true;
    Access access = access_by_probes(frame);
    const std::function<Result<void>()> may_go_on = [&run = frame.run]() -> Result<void> {
      if (run.should_stop()) return std::unexpected(*run.error);
      return {};
    };
    access.may_go_on = &may_go_on;
    const bool by_entries = access_.kind == Access::Kind::index || access_.is_covering;
    const auto opened = by_entries && !tells_keys_apart_ ? open_entries(access) : open_items(access);
    if (opened && tells_keys_apart_) tell_keys_apart(within_partition());
    // Too many items to keep the keys of: reading all takes no memory.
    const bool keeps_keys = access_.kind != Access::Kind::index;
    if (!opened && keeps_keys && opened.error().code == ErrorCode::out_of_memory && may_read_all(frame))
      return open_all(frame);
    return opened || fail(frame, opened.error());
  }

  // Once, in any case. Again for each row of another query only where there was room for so many keys that to
  // look them up is as much work: for want of a little memory all pairs would be read.
  bool may_read_all(const Frame& frame) const {
    constexpr double kKeyBytes = 64;
    const auto items = static_cast<double>(collection_->item_count());
    return static_cast<double>(frame.run.counters[node_number()].items_read) < items ||
           static_cast<double>(frame.run.memory.left()) > items / kLookupCost * kKeyBytes;
  }

  Result<void> open_entries(const Access& access) {
    bool is_again = false;
    if (entries_ != nullptr) {
      QUIRE_ASSIGN(is_again, entries_->reopen(access));
    }
    if (!is_again) {
      entries_.reset();  // first, since what it keeps may be as much as the next one takes
      QUIRE_ASSIGN(entries_, collection_->open_index(access));
    }
    cursor_ = entries_.get();
    return {};
  }
  Result<void> open_items(const Access& access) {
    QUIRE_ASSIGN(items_cursor_, collection_->open(access));
    cursor_ = items_cursor_.get();
    return {};
  }

  Access access_by_probes(const Frame& frame) const {
    Access access;
    access.kind = access_.kind;
    access.partition_key = key_;
    access.is_reverse = is_reverse_;
    access.probes = probes_;
    access.first_of_equal = access_.first_of_equal;
    access.memory = &frame.run.memory;
    return access;
  }

  // How many items are still to come: by what the cursor knows, else by what was expected. Where that says
  // nothing, since the reader may stop, or no more were expected, as many as have come.
  uint64_t expected() const {
    const auto estimated = static_cast<uint64_t>(std::max(access_.estimated_rows, 0.0));
    const uint64_t left = cursor_->most_left().value_or(std::max(estimated, 2 * given_) - given_);
    return may_stop_early_ ? std::min(left, given_) : left;
  }
  bool is_worth_threads() const { return given_ >= kFewItems && expected() >= kItemsWorthThread; }

  // The items that are still to come, if there are threads and snapshots to be had.
  void share(Frame& frame) {
    was_shared_ = true;
    using Text = SharedLookups::Text;
    const bool are_read = are_rows_ && frame.run.reads_text;
    const Text text = !are_read                           ? Text::none
                      : frame.run.omits_system_properties ? Text::members
                                                          : Text::whole;
    const size_t threads = std::min<uint64_t>(frame.run.threads, 2 + expected() / kItemsOfThread);
    shared_ = SharedLookups::begin({*collection_, *cursor_, skipped_ + given_}, access_by_probes(frame),
                                   *frame.run.workers, threads, text);
    frame.run.is_restartable &= shared_ == nullptr;  // its threads must not outlive the run
  }

  static bool fail(Frame& frame, Error error) {
    frame.run.set_error(std::move(error));
    return false;
  }

  static constexpr size_t kFirstBatch = 16;
  static constexpr size_t kWorthHop = 64;
  static constexpr size_t kFewRanges = 64;
  // Who reads so few may want no more. To begin a thread takes as long as finding some fifty to a hundred;
  // a third or later one is worth it for so many.
  static constexpr uint64_t kFewItems = 100;
  static constexpr uint64_t kItemsWorthThread = 300;
  static constexpr uint64_t kItemsOfThread = 1000;

  const AccessPath& access_;
  SlotNumber slot_;
  bool may_stop_early_, gives_rows_at_once_;
  size_t row_limit_;
  bool is_reverse_;
  bool are_rows_;  // the items, as they are stored
  uint8_t ends_given_ = 0;
  Collection* collection_ = nullptr;
  std::unordered_map<const BoundExpression*, std::unique_ptr<Evaluator>> operands_;
  struct Component {
    std::unique_ptr<Evaluator> evaluator;
    std::string text;  // of its value, if that is a string
  };
  std::vector<Component> partition_key_;
  std::vector<Value> key_;
  std::vector<std::unique_ptr<Evaluator>> decided_;
  // The cursor that is open, one of these. That of entries stays for the next run, which opens it again.
  Cursor* cursor_ = nullptr;
  std::unique_ptr<Cursor> items_cursor_;
  std::unique_ptr<IndexCursor> entries_;
  std::unique_ptr<SharedLookups> shared_;
  bool was_shared_ = false;  // or could not be
  uint64_t given_ = 0;       // items of what is open
  uint64_t skipped_ = 0;     // before them
  bool is_open_ = false;
  bool is_at_end_ = false;
  bool tells_keys_apart_ = false;
  bool reads_all_ = false;  // all items, since an index has no entries for a value that was asked for
  size_t next_batch_ = kFirstBatch;
  // What the cursor is opened with, by probe: kept for their memory, since a prepared statement opens it anew
  // in each run.
  std::vector<KeyRanges> ranges_;
  std::vector<std::vector<KeyRange>> views_;
  std::vector<IndexProbe> probes_;
  Column items_;
  Column values_;
  std::vector<Column> columns_;
  std::vector<RowNumber> selected_;
};

}  // namespace

std::unique_ptr<Operator> make_index_scan(const PlanNode& node, const PlannedQuery& query, Frame& frame) {
  return std::make_unique<IndexScan>(node, query, frame);
}

}  // namespace quire::sql
