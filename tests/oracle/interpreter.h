// A naive interpreter of bound queries: nested loops over rows that are vectors of values. It shares nothing
// with sql/plan and sql/run but values, operators on single values and function bodies, so what both say is
// most likely right.
#pragma once

#include <memory>
#include <vector>

#include "sql/bind/bound.h"
#include "sql/error.h"
#include "sql/source.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql::oracle {

// One run over a source. The rows live as long as the interpreter and the source. `parameters`: by number.
class Interpreter {
 public:
  Interpreter(const BoundStatement& statement, Source& source, std::span<const Value> parameters)
      : statement_(statement),
        source_(source),
        parameters_(parameters),
        item_slots_(statement.slot_count, nullptr) {}

  // Of a statement that changes items: the items as they will be, or those to remove.
  Result<std::vector<Value>> run();

 private:
  using Row = std::vector<Value>;  // by slot

  // What an expression after grouping refers to by number.
  struct Group {
    std::vector<Value> keys;
    std::vector<Row> rows;
    std::vector<Value> aggregates;
  };
  // A row with the group that it stands for, if any, and its ORDER BY keys.
  struct Candidate {
    Row row;
    const Group* group = nullptr;
    std::vector<Value> keys;
  };

  std::vector<Value> run_query(const BoundQuery& query, const Row& outer);
  std::vector<Value> run_alone(const BoundQuery& query, const Row& outer);
  std::vector<Row> source_rows(const BoundQuery& query, const Row& outer);
  std::vector<Row> extend(const BoundSource& source, const Row& row);
  std::vector<Value> values_of(const BoundSource& source, const Row& row);
  std::vector<Value> items_of(const BoundSource& source);
  std::vector<Group> group(const BoundQuery& query, const std::vector<Row>& rows);
  Value aggregate(const BoundAggregate& aggregate, const std::vector<Row>& rows);
  void sort(const BoundQuery& query, std::vector<Candidate>& candidates);
  std::vector<Value> limit(const BoundQuery& query, std::vector<Value> values);
  size_t count_of(const BoundExpression* expression, size_t otherwise);

  Value evaluate(const BoundExpression& expression, const Row& row, const Group* group);
  std::vector<Value> evaluate_all(std::span<BoundExpression* const> expressions, const Row& row,
                                  const Group* group);
  Value logical(const BoundExpression& expression, const Row& row, const Group* group);
  Value is_in(const BoundExpression& expression, const Row& row, const Group* group);
  Value like(const BoundExpression& expression, const Row& row, const Group* group);
  Value construct(const BoundExpression& expression, const Row& row, const Group* group);
  Value call(const BoundExpression& expression, const Row& row, const Group* group);
  Value subquery(const BoundExpression& expression, const Row& row);
  Value whole_item(const BoundExpression& expression, const Row& row);
  Value changed(const BoundExpression& expression, const Row& row);
  // `base` with the value at the path; undefined: taken away.
  Value with(const Value& base, std::span<const BoundStep> path, const Value& value);

  const BoundStatement& statement_;
  Source& source_;
  std::span<const Value> parameters_;
  std::vector<Collection*> item_slots_;
  Arena arena_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::optional<Error> error_;
};

}  // namespace quire::sql::oracle
