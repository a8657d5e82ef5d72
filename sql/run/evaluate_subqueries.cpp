// Evaluators of subqueries within expressions: EXISTS, ARRAY, scalar subqueries, FIRST, LAST, ALL, IN. A
// query that reads nothing of the rows around it runs once; any other runs for each row, or once for those
// that it reads the same of.
#include "sql/functions/operators.h"
#include "sql/run/kept_results.h"
#include "sql/run/operator.h"
#include "sql/run/tuple_table.h"
#include "sql/value/comparison.h"
#include "sql/value/limited_array.h"

namespace quire::sql {
namespace {

// Rows that a subquery handles at a time. Small: most give a handful.
constexpr size_t kSubqueryBatch = 64;

class SubqueryEvaluator final : public Evaluator {
 public:
  SubqueryEvaluator(BoundKind kind, const PlannedQuery& query, EvaluatorFactory& factory)
      : kind_(kind),
        bound_(*query.bound),
        query_(factory.run(), query, kSubqueryBatch, factory.is_output()),
        kept_(query, factory),
        collected_(&factory.run().memory) {
    const bool takes_all =
        kind == BoundKind::array_query || kind == BoundKind::last_query || kind == BoundKind::all_query;
    if (!takes_all) query_.frame().rows_wanted = 1;
  }

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    if (rows.empty()) return Vector::column(out);
    if (bound_.outer_slots.empty()) {
      if (!has_run_) once_ = run_for(rows.front(), frame, frame.run.arena);
      has_run_ = true;
      return Vector::single(&once_);
    }
    kept_.begin_batch(rows, frame);
    for (const RowNumber row : rows) {
      const Value* const kept = kept_.find(row);
      out[row] = kept != nullptr ? *kept : run_for(row, frame, frame.arena);
      if (frame.run.error) break;
      kept_.keep(out[row]);
    }
    return Vector::column(out);
  }

 private:
  Value run_for(RowNumber row, Frame& frame, Arena& arena) {
    bind_outer_row(bound_, frame, row, query_.frame());
    query_.rewind();
    switch (kind_) {
      case BoundKind::exists:
        return Value::boolean(!query_.next().empty());
      case BoundKind::array_query:
        return collect(arena);
      case BoundKind::last_query:
        return last(arena);
      case BoundKind::all_query:
        return all(frame.run);
      default:
        return first(arena);
    }
  }

  Value first(Arena& arena) {
    const Rows rows = query_.next();
    return rows.empty() ? Value::undefined() : retain(query_.value(rows.front()), arena);
  }

  Value last(Arena& arena) {
    Value value;
    for (Rows rows = query_.next(); !rows.empty(); rows = query_.next())
      value = retain(query_.value(rows.back()), arena);
    return value;
  }

  // Every value is true; of none, true.
  Value all(RunState&) {
    for (Rows rows = query_.next(); !rows.empty(); rows = query_.next())
      for (const RowNumber row : rows)
        if (!query_.value(row).is_true()) return Value::boolean(false);
    return Value::boolean(true);
  }

  Value collect(Arena& arena) {
    collected_.clear();
    for (Rows rows = query_.next(); !rows.empty(); rows = query_.next())
      for (const RowNumber row : rows) collected_.push_back(retain(query_.value(row), arena));
    return Value::array(arena.copy_array(std::span<const Value>(collected_)));
  }

  BoundKind kind_;
  const BoundQuery& bound_;
  Pipeline query_;
  bool has_run_ = false;
  Value once_;
  KeptResults kept_;
  LimitedArray<Value> collected_;
  Column column_;
};

// needle IN (SELECT ...). The rows of a query that runs once stand in a hash table.
class InQueryEvaluator final : public Evaluator {
 public:
  InQueryEvaluator(const BoundExpression& expression, const PlannedQuery& query, EvaluatorFactory& factory)
      : expression_(expression),
        needle_(factory.make(*expression.operands[0])),
        query_(factory.run(), query, kSubqueryBatch),
        kept_(query, factory),
        found_once_(1, factory.run().memory) {}

  Vector evaluate(Rows rows, Frame& frame) override {
    Value* out = column_.reserve(rows);
    const Vector needles = needle_->evaluate(rows, frame);
    const bool runs_once = expression_.query->outer_slots.empty();
    if (runs_once && !has_run_ && !rows.empty()) fill(rows.front(), frame);
    kept_.begin_batch(rows, frame);
    kept_.depend_on(needles);
    for (const RowNumber row : rows) {
      if (frame.run.error) break;
      const Value& needle = needles[row];
      out[row] = Value();
      if (needle.is_undefined()) continue;
      const bool is_found =
          runs_once ? found_once_.find({&needle, 1}).has_value() : is_given(needle, row, frame);
      out[row] = Value::boolean(is_found != expression_.negated);
    }
    return Vector::column(out);
  }

  bool is_stable() const override { return true; }

 private:
  void fill(RowNumber row, Frame& frame) {
    has_run_ = true;
    start(row, frame);
    for (Rows found = query_.next(); !found.empty(); found = query_.next())
      for (const RowNumber each : found) {
        if (equals_nothing(query_.value(each))) continue;
        const auto inserted = found_once_.insert({&query_.value(each), 1});
        if (inserted.is_new)
          found_once_.tuple(inserted.number)[0] = retain(query_.value(each), frame.run.arena);
      }
  }

  bool is_given(const Value& needle, RowNumber row, Frame& frame) {
    if (const Value* const kept = kept_.find(row)) return kept->is_true();
    const bool is_found = gives(needle, row, frame);
    if (!frame.run.error) kept_.keep(Value::boolean(is_found));
    return is_found;
  }

  bool gives(const Value& needle, RowNumber row, Frame& frame) {
    start(row, frame);
    for (Rows found = query_.next(); !found.empty(); found = query_.next())
      for (const RowNumber each : found)
        if (equal_values(needle, query_.value(each)).is_true()) return true;
    return false;
  }

  void start(RowNumber row, Frame& frame) {
    bind_outer_row(*expression_.query, frame, row, query_.frame());
    query_.rewind();
  }

  const BoundExpression& expression_;
  std::unique_ptr<Evaluator> needle_;
  Pipeline query_;
  KeptResults kept_;
  TupleTable found_once_;
  bool has_run_ = false;
  Column column_;
};

}  // namespace

std::unique_ptr<Evaluator> make_in_query(const BoundExpression& expression, EvaluatorFactory& factory) {
  const PlannedQuery& query = *factory.run().plan.subqueries.at(expression.query);
  return std::make_unique<InQueryEvaluator>(expression, query, factory);
}

std::unique_ptr<Evaluator> make_subquery(const BoundExpression& expression, EvaluatorFactory& factory) {
  const PlannedQuery& query = *factory.run().plan.subqueries.at(expression.query);
  return std::make_unique<SubqueryEvaluator>(expression.kind, query, factory);
}

}  // namespace quire::sql
