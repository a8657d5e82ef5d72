#include "sql/run/accumulator.h"

#include <utility>
#include <vector>

#include "sql/run/frame.h"
#include "sql/run/kept_values.h"
#include "sql/run/tuple_table.h"
#include "sql/value/comparison.h"
#include "sql/value/limited_array.h"

namespace quire::sql {
namespace {

// COUNT counts what is defined; COUNTIF what is true.
template <bool only_true>
class CountAccumulator final : public Accumulator {
 public:
  explicit CountAccumulator(MemoryBudget& memory) : counts_(&memory) {}

  void clear() override { counts_.clear(); }
  void set_group_count(size_t count) override { counts_.resize(count); }

  void add(Rows rows, const uint32_t* group_of, Vector values) override {
    if (values.is_single() && counts_.size() == 1) {
      counts_[0] += is_counted(*values.values) ? rows.size() : 0;
      return;
    }
    for (const RowNumber row : rows) counts_[group_of[row]] += is_counted(values[row]) ? 1 : 0;
  }

  Value result(size_t group, Arena&) const override {
    return Value::integer(static_cast<int64_t>(counts_[group]));
  }

 private:
  static bool is_counted(const Value& value) { return only_true ? value.is_true() : value.is_defined(); }

  LimitedArray<uint64_t> counts_;
};

// SUM and AVG: numbers only; any other defined value makes the result undefined.
template <bool average>
class SumAccumulator final : public Accumulator {
 public:
  explicit SumAccumulator(MemoryBudget& memory) : groups_(&memory) {}

  void clear() override { groups_.clear(); }
  void set_group_count(size_t count) override { groups_.resize(count); }

  void add(Rows rows, const uint32_t* group_of, Vector values) override {
    for (const RowNumber row : rows) {
      const Value& value = values[row];
      Group& group = groups_[group_of[row]];
      if (value.is_number()) {
        group.sum += value.as_double();
        ++group.count;
      } else if (value.is_defined()) {
        group.met_other = true;
      }
    }
  }

  Value result(size_t number, Arena&) const override {
    const Group& group = groups_[number];
    if (group.met_other || (average && group.count == 0)) return {};
    return Value::number(average ? group.sum / static_cast<double>(group.count) : group.sum);
  }

 private:
  struct Group {
    double sum = 0;
    uint64_t count = 0;
    bool met_other = false;
  };
  LimitedArray<Group> groups_;
};

// MIN and MAX among scalars, by the order of types; an array or object makes the result undefined.
template <bool greatest>
class ExtremeAccumulator final : public Accumulator {
 public:
  ExtremeAccumulator(bool stable, MemoryBudget& memory) : stable_(stable), kept_(memory), groups_(&memory) {}

  void clear() override {
    groups_.clear();
    kept_.clear();
  }
  void set_group_count(size_t count) override { groups_.resize(count); }

  void add(Rows rows, const uint32_t* group_of, Vector values) override {
    for (const RowNumber row : rows) {
      const Value& value = values[row];
      Group& group = groups_[group_of[row]];
      if (value.is_array() || value.is_object()) group.met_other = true;
      if (value.is_undefined() || group.met_other) continue;
      if (group.best.is_defined()) {
        const auto order = total_order(value, group.best);
        if (greatest ? order <= 0 : order >= 0) continue;
      }
      take(value, group);
    }
  }

  Value result(size_t group, Arena&) const override {
    return groups_[group].met_other ? Value::undefined() : groups_[group].best;
  }

 private:
  struct Group {
    Value best;
    bool met_other = false;
  };

  void take(const Value& value, Group& group) {
    const bool replaces = std::exchange(group.best, stable_ ? value : kept_.keep(value)).is_defined();
    if (stable_ || !replaces) return;
    kept_.let_go(groups_.size(), [this](const auto& move) {
      for (Group& held : groups_) move(held.best);
    });
  }

  bool stable_;
  KeptValues kept_;
  LimitedArray<Group> groups_;
};

// MAKELIST. The values of a group are chained in the order in which they came.
class ListAccumulator final : public Accumulator {
 public:
  ListAccumulator(bool stable, Arena& arena, MemoryBudget& memory)
      : stable_(stable), arena_(arena), groups_(&memory), links_(&memory) {}

  void clear() override {
    groups_.clear();
    links_.clear();
  }
  void set_group_count(size_t count) override { groups_.resize(count); }

  void add(Rows rows, const uint32_t* group_of, Vector values) override {
    for (const RowNumber row : rows) {
      const Value& value = values[row];
      if (value.is_undefined()) continue;
      Group& group = groups_[group_of[row]];
      const size_t place = links_.size();
      links_.push_back({stable_ ? value : retain(value, arena_), 0});
      (group.size++ == 0 ? group.first : links_[group.last].next) = place;
      group.last = place;
    }
  }

  Value result(size_t number, Arena& arena) const override {
    const Group& group = groups_[number];
    const std::span<Value> list = arena.make_array<Value>(group.size);
    size_t place = group.first;
    for (Value& value : list) {
      value = links_[place].value;
      place = links_[place].next;
    }
    return Value::array(list);
  }

 private:
  struct Group {
    size_t size = 0;
    size_t first = 0;
    size_t last = 0;
  };
  struct Link {
    Value value;
    size_t next;  // but of the last
  };

  bool stable_;
  Arena& arena_;
  LimitedArray<Group> groups_;
  LimitedArray<Link> links_;
};

// Passes each value of a group on once: MAKESET, COUNT(DISTINCT x), ...
class DistinctAccumulator final : public Accumulator {
 public:
  DistinctAccumulator(std::unique_ptr<Accumulator> inner, bool stable, Arena& arena, MemoryBudget& memory)
      : inner_(std::move(inner)), stable_(stable), arena_(arena), seen_(2, memory) {}

  void clear() override {
    inner_->clear();
    seen_.clear();
  }
  void set_group_count(size_t count) override { inner_->set_group_count(count); }

  void add(Rows rows, const uint32_t* group_of, Vector values) override {
    first_.clear();
    for (const RowNumber row : rows) {
      const Value pair[] = {Value::integer(group_of[row]), values[row]};
      const TupleTable::Inserted inserted = seen_.insert(pair);
      if (!inserted.is_new) continue;
      if (!stable_) seen_.tuple(inserted.number)[1] = retain(values[row], arena_);
      first_.push_back(row);
    }
    inner_->add(first_, group_of, values);
  }

  Value result(size_t group, Arena& arena) const override { return inner_->result(group, arena); }

 private:
  std::unique_ptr<Accumulator> inner_;
  bool stable_;
  Arena& arena_;
  TupleTable seen_;
  std::vector<RowNumber> first_;
};

std::unique_ptr<Accumulator> make_plain(Aggregate aggregate, bool stable, Arena& arena,
                                        MemoryBudget& memory) {
  switch (aggregate) {
    case Aggregate::count:
      return std::make_unique<CountAccumulator<false>>(memory);
    case Aggregate::count_if:
      return std::make_unique<CountAccumulator<true>>(memory);
    case Aggregate::sum:
      return std::make_unique<SumAccumulator<false>>(memory);
    case Aggregate::avg:
      return std::make_unique<SumAccumulator<true>>(memory);
    case Aggregate::min:
      return std::make_unique<ExtremeAccumulator<false>>(stable, memory);
    case Aggregate::max:
      return std::make_unique<ExtremeAccumulator<true>>(stable, memory);
    case Aggregate::make_list:
    case Aggregate::make_set:
      return std::make_unique<ListAccumulator>(stable, arena, memory);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Accumulator> make_accumulator(Aggregate aggregate, bool distinct, bool stable, Arena& arena,
                                              MemoryBudget& memory) {
  auto accumulator = make_plain(aggregate, stable, arena, memory);
  if (distinct || aggregate == Aggregate::make_set)
    return std::make_unique<DistinctAccumulator>(std::move(accumulator), stable, arena, memory);
  return accumulator;
}

}  // namespace quire::sql
