// Operators: the nodes of a plan made ready to run. Each pulls batches from the one below it. One operator a
// file; make_operator() is the list of them.
#pragma once

#include <memory>
#include <vector>

#include "sql/plan/plan.h"
#include "sql/run/evaluator.h"
#include "sql/run/frame.h"

namespace quire::sql {

class Operator {
 public:
  explicit Operator(const PlanNode& node) : node_number_(node.number) {}
  virtual ~Operator() = default;

  // The next batch: never empty but at the end, or when frame.run.error is set. What the frame's slots hold
  // stays until next() is called again.
  Rows next(Frame& frame) {
    const Rows rows = frame.run.measures_time ? pull_timed(frame) : pull(frame);
    frame.run.counters[node_number_].rows += rows.size();
    return rows;
  }

  // Starts anew, below as well: the outer slots may have changed.
  virtual void rewind(Frame& frame) = 0;

  // Before the first next(): goes past up to `most` rows that it need not make for that; how many. 0 where it
  // would have to, or at the end.
  virtual uint64_t skip(uint64_t /*most*/, Frame& /*frame*/) { return 0; }

 protected:
  virtual Rows pull(Frame& frame) = 0;
  uint32_t node_number() const { return node_number_; }

 private:
  Rows pull_timed(Frame& frame);

  uint32_t node_number_;
};

// A query at work: its frame, its operators, and the values that it gives.
class Pipeline {
 public:
  // `gives_output`: as Frame has it.
  Pipeline(RunState& run, const PlannedQuery& query, size_t batch_capacity, bool gives_output = false);

  // `outer_slots` of the query must be set in frame().slots before rewind() or the first next().
  Rows next() { return root_->next(frame_); }
  void rewind() { root_->rewind(frame_); }
  const Value& value(RowNumber row) const { return frame_.slots[value_slot_][row]; }
  Frame& frame() { return frame_; }

 private:
  Frame frame_;
  SlotNumber value_slot_;
  std::unique_ptr<Operator> root_;
};

// Sets the outer slots of a subquery's frame to one row of the query around it.
void bind_outer_row(const BoundQuery& query, const Frame& outer, RowNumber row, Frame& inner);

// TOP, OFFSET, LIMIT: a whole number within int32. A failure goes to run.error, and the result is 0.
uint64_t row_count(const BoundExpression& expression, std::string_view clause, RunState& run);
// How many of the first rows TOP, OFFSET and LIMIT leave to be read; nearly all that can be counted without.
uint64_t first_rows_wanted(const BoundQuery& query, RunState& run);

std::unique_ptr<Operator> make_operator(const PlanNode& node, const PlannedQuery& query, Frame& frame);

// What every maker takes: the node, its query, the frame, and the operator below (null for a leaf).
using Input = std::unique_ptr<Operator>;
std::unique_ptr<Operator> make_one_row(const PlanNode& node);
std::unique_ptr<Operator> make_scan(const PlanNode& node, const PlannedQuery& query, Frame& frame);
std::unique_ptr<Operator> make_index_scan(const PlanNode& node, const PlannedQuery& query, Frame& frame);
// Up to `most` items of a cursor as the next batch of a scan. A failure goes to run.error.
Rows next_items(Cursor& cursor, Frame& frame, size_t most, SlotNumber slot, Column& column, uint32_t node);
std::unique_ptr<Operator> make_bind_value(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                          Input input);
std::unique_ptr<Operator> make_elements(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                        Input input);
std::unique_ptr<Operator> make_subquery_rows(const PlanNode& node, Frame& frame, Input input);
std::unique_ptr<Operator> make_join(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                    Input input);
std::unique_ptr<Operator> make_filter(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                      Input input);
// `alone` does the same by one thread, where there can be no others.
std::unique_ptr<Operator> make_shared_filter(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                             Input alone);
std::unique_ptr<Operator> make_rows_by_key(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                           Input input);
std::unique_ptr<Operator> make_group(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                     Input input);
std::unique_ptr<Operator> make_sort(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                    Input input);
std::unique_ptr<Operator> make_project(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                       Input input);
std::unique_ptr<Operator> make_distinct(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                        Input input);
std::unique_ptr<Operator> make_limit(const PlanNode& node, Frame& frame, Input input);
std::unique_ptr<Operator> make_append(const PlanNode& node, const PlannedQuery& query, Frame& frame,
                                      Input input);

}  // namespace quire::sql
