// Results of a correlated subquery, kept by the values of what it reads of the rows around it: where few of
// these differ, it runs once for each rather than for each row.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/run/evaluator.h"
#include "sql/run/tuple_table.h"
#include "sql/value/limited_array.h"

namespace quire::sql {

// Not thread-safe. Values are told apart by their bytes, not by equality, since a query may tell 0 from -0,
// or objects by the order of their members.
class KeptResults {
 public:
  // Of a query that has no outer_paths nothing is kept. `outer` makes what reads the rows around it.
  KeptResults(const PlannedQuery& query, EvaluatorFactory& outer);

  // Before any row of a batch is asked for. What find() gave for an earlier one is gone.
  void begin_batch(Rows rows, Frame& frame);
  // The results of this batch depend on these values, too.
  void depend_on(Vector values) {
    if (is_on()) key_values_.push_back(values);
  }

  // What is kept for a row; null: nothing, and keep() may be told what a run gives for it.
  const Value* find(RowNumber row) { return is_on() ? look_up(row) : nullptr; }
  // Of the row that was asked for last.
  void keep(const Value& result) {
    if (missed_) store(result);
  }

 private:
  struct Store {
    explicit Store(size_t bytes) : memory(bytes), arena(&memory), keys(1, memory), results(&memory) {}
    MemoryBudget memory;
    Arena arena;
    TupleTable keys;
    LimitedArray<Value> results;  // by number of the key
  };

  bool is_on() const { return !paths_.empty(); }
  bool is_worth_it(const RunState& run);
  bool has_room(const MemoryBudget& memory);
  const Value* look_up(RowNumber row);
  void store(const Value& result);
  bool write_key(RowNumber row);
  void give_up();

  std::vector<std::unique_ptr<Evaluator>> paths_;  // none: nothing is kept, or any more
  std::vector<uint32_t> nodes_;                    // of the query
  MemoryShare share_;
  std::optional<Store> store_;
  bool is_full_ = false;
  std::vector<Vector> key_values_;  // of the batch
  std::string key_;                 // of the row that was asked for last
  std::optional<uint32_t> missed_;  // the number of its key, if no result was kept by that
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  uint64_t judged_misses_ = 0;  // when is_worth_it() looked last
  uint64_t judged_rows_ = 0;
};

}  // namespace quire::sql
