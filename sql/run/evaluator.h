// An expression made ready to run over batches: a tree of evaluators, one for each node of the bound
// expression. One virtual call serves a whole batch; the loops within are free of calls where the work is
// small.
//
// An evaluator belongs to one execution and to one Frame. What it returns stays until it is asked again, or
// until the frame's arena is rewound.
#pragma once

#include <memory>
#include <vector>

#include "sql/bind/bound.h"
#include "sql/run/frame.h"
#include "sql/run/vector.h"

namespace quire::sql {

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Values for the given rows; other rows of the result are left as they were. A failure goes to
  // frame.run.error, and the values do not matter then.
  virtual Vector evaluate(Rows rows, Frame& frame) = 0;

  // The rows for which the value is true, in order, written to `selected` (room for all of `rows`; may be the
  // memory of `rows` itself). Comparisons do it without making a column.
  virtual size_t select_true(Rows rows, Frame& frame, RowNumber* selected);

  // True if values outlive the batch without retain(): they lie in storage, or are no strings and no built
  // values.
  virtual bool is_stable() const { return false; }
};

// The rows for which every condition is true, written to `selected`, which has room for them.
Rows select_rows(std::span<const std::unique_ptr<Evaluator>> conditions, Rows rows, Frame& frame,
                 RowNumber* selected);

// Makes the evaluator of an expression of `query` (whose group keys and aggregates it may name). `is_output`:
// of what its rows give, where these are the statement's own.
class EvaluatorFactory {
 public:
  EvaluatorFactory(Frame& frame, const PlannedQuery& query, bool is_output = false)
      : frame_(frame), query_(query), is_output_(is_output) {}

  // Failures go to run.error; the evaluator is never null.
  std::unique_ptr<Evaluator> make(const BoundExpression& expression);
  std::vector<std::unique_ptr<Evaluator>> make_all(std::span<BoundExpression* const> expressions);

  Frame& frame() { return frame_; }
  RunState& run() { return frame_.run; }
  const PlannedQuery& query() const { return query_; }
  bool is_output() const { return is_output_; }

 private:
  Frame& frame_;
  const PlannedQuery& query_;
  bool is_output_;
};

// One family of evaluators a file.
std::unique_ptr<Evaluator> make_constant(const Value& value);
std::unique_ptr<Evaluator> make_parameter(uint32_t parameter);
std::unique_ptr<Evaluator> make_slot(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_plain_slot(SlotNumber slot, EvaluatorFactory& factory);
// Of a value that was made before: in what is given an item as a whole loses what the run omits.
std::unique_ptr<Evaluator> make_value_slot(SlotNumber slot, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_let(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_path(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_system_property(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_member(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_index(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_unary(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_binary(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_logical(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_conditional(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_coalesce(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_in(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_in_query(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_like(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_is_null(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_array(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_object(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_call(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_call_with_state(const BoundExpression& expression, EvaluatorFactory& factory,
                                                std::unique_ptr<CallState> state);
// Whether a table of an array's elements is made in less time than they are compared with a few rows.
bool is_worth_table(const Value& array);
// Null where the array is not the same for all rows: then it is a call as any other.
std::unique_ptr<Evaluator> make_array_contains(const BoundExpression& call, EvaluatorFactory& factory);
// The operands of a call that are constants or parameters.
std::vector<std::optional<Value>> constant_operands(const BoundExpression& expression, RunState& run);
std::unique_ptr<Evaluator> make_full_text_score(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_document_id(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_user_function(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_changed(const BoundExpression& expression, EvaluatorFactory& factory);
std::unique_ptr<Evaluator> make_subquery(const BoundExpression& expression, EvaluatorFactory& factory);

}  // namespace quire::sql
