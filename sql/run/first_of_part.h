// The items of a part of a scan that can be among the first rows of an ORDER BY with TOP or LIMIT: as many as
// are wanted of all, since one behind so many others of its own part comes behind them in the whole, too.
#pragma once

#include <memory>
#include <vector>

#include "sql/run/evaluator.h"
#include "sql/run/kept_values.h"

namespace quire::sql {

// One thread at a time.
class FirstOfPart {
 public:
  explicit FirstOfPart(MemoryBudget& memory) : kept_keys_(memory) {}
  // Null where keeping all is as well: many rows are wanted.
  static std::unique_ptr<FirstOfPart> make(const PlanNode& sort, EvaluatorFactory& factory);

  // Begins another part.
  void clear();
  // More rows of the part. Puts their items into `kept`, or in the place of ones that come behind them.
  void take(Rows rows, Frame& frame, const Value* items, std::vector<Value>& kept);
  // At the part's end: those that are kept, in the order in which they came.
  void put_in_order(std::vector<Value>& kept);

 private:
  void take_row(RowNumber row, const Value& item, std::vector<Value>& kept);
  void store(uint32_t place);
  // Rows that compare equal keep the order in which they came.
  bool is_before(uint32_t a, uint32_t b) const;
  const Value* keys_of(uint32_t place) const { return values_.data() + place * keys_.size(); }

  size_t most_ = 0;
  std::vector<std::unique_ptr<Evaluator>> keys_;
  std::vector<bool> is_stable_, descending_;
  std::unique_ptr<Evaluator> defined_;  // rows where it is undefined do not count; may be null
  std::vector<Vector> vectors_;         // of the keys
  std::vector<Value> row_;              // the keys of a row
  // By place in what is kept.
  std::vector<Value> values_;  // of the keys, as many as there are for each
  KeptValues kept_keys_;       // those that do not lie in storage
  std::vector<uint64_t> arrival_;
  std::vector<uint32_t> heap_;  // places; once as many as are wanted are kept, the last row in front
  uint64_t arrivals_ = 0;
  std::vector<Value> ordered_;  // memory for that
};

}  // namespace quire::sql
