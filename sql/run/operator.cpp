#include "sql/run/operator.h"

#include <chrono>

namespace quire::sql {

Rows Operator::pull_timed(Frame& frame) {
  const auto begin = std::chrono::steady_clock::now();
  const Rows rows = pull(frame);
  const auto spent = std::chrono::steady_clock::now() - begin;
  frame.run.counters[node_number_].nanoseconds +=
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
  return rows;
}

std::unique_ptr<Operator> make_operator(const PlanNode& node, const PlannedQuery& query, Frame& frame) {
  Input input = node.input != nullptr ? make_operator(*node.input, query, frame) : nullptr;
  switch (node.kind) {
    case PlanKind::one_row:
      return make_one_row(node);
    case PlanKind::scan:
      return make_scan(node, query, frame);
    case PlanKind::expression:
      return make_bind_value(node, query, frame, std::move(input));
    case PlanKind::elements:
      return make_elements(node, query, frame, std::move(input));
    case PlanKind::subquery:
      return make_subquery_rows(node, frame, std::move(input));
    case PlanKind::join:
      return make_join(node, query, frame, std::move(input));
    case PlanKind::filter:
      return make_filter(node, query, frame, std::move(input));
    case PlanKind::by_key:
      return make_rows_by_key(node, query, frame, std::move(input));
    case PlanKind::group:
      return make_group(node, query, frame, std::move(input));
    case PlanKind::sort:
      return make_sort(node, query, frame, std::move(input));
    case PlanKind::project:
      return make_project(node, query, frame, std::move(input));
    case PlanKind::distinct:
      return make_distinct(node, query, frame, std::move(input));
    case PlanKind::limit:
      return make_limit(node, frame, std::move(input));
    case PlanKind::append:
      return make_append(node, query, frame, std::move(input));
  }
  return make_one_row(node);
}

namespace {

// How many items a scan can give at most; `most` where that is not known, or more.
size_t most_items(const AccessPath& access, size_t most) {
  if (access.kind == Access::Kind::point) return 1;
  if (access.kind != Access::Kind::points) return most;
  return static_cast<size_t>(
      std::clamp(count_keys(access, static_cast<double>(most)), 1.0, static_cast<double>(most)));
}

// A query that reads few items, or none, needs no room for more.
size_t capacity_for(const PlannedQuery& query, size_t most) {
  size_t capacity = 1;
  for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
    const bool makes_rows = node->kind == PlanKind::elements || node->kind == PlanKind::subquery ||
                            node->kind == PlanKind::append || node->kind == PlanKind::group ||
                            node->kind == PlanKind::join;
    if (makes_rows) return most;
    if (node->kind == PlanKind::scan) capacity = most_items(node->access, most);
  }
  return capacity;
}

}  // namespace

Pipeline::Pipeline(RunState& run, const PlannedQuery& query, size_t batch_capacity, bool gives_output)
    : frame_(run, capacity_for(query, batch_capacity), gives_output),
      value_slot_(query.value_slot),
      root_(make_operator(*query.root, query, frame_)) {}

void bind_outer_row(const BoundQuery& query, const Frame& outer, RowNumber row, Frame& inner) {
  for (const SlotNumber slot : query.outer_slots)
    if (outer.slots[slot].values != nullptr) inner.slots[slot] = Vector::single(&outer.slots[slot][row]);
}

uint64_t row_count(const BoundExpression& expression, std::string_view clause, RunState& run) {
  run.is_restartable &= expression.kind != BoundKind::parameter;
  const Value value =
      expression.kind == BoundKind::parameter ? run.parameters[expression.parameter] : expression.constant;
  const bool is_whole = value.kind() == Kind::integer ||
                        (value.kind() == Kind::real && value.as_real() >= 0 && value.as_real() <= INT32_MAX &&
                         value.as_real() == static_cast<double>(static_cast<int64_t>(value.as_real())));
  const int64_t count = !is_whole                       ? -1
                        : value.kind() == Kind::integer ? value.as_integer()
                                                        : static_cast<int64_t>(value.as_real());
  if (count >= 0 && count <= INT32_MAX) return static_cast<uint64_t>(count);
  run.set_error({ErrorCode::invalid_argument,
                 std::string(clause) + " must be a whole number from 0 to 2147483647",
                 position_of(run.plan.statement->parsed->text, expression.span.offset)});
  return 0;
}

uint64_t first_rows_wanted(const BoundQuery& query, RunState& run) {
  constexpr uint64_t kAll = UINT64_MAX / 2;  // whatever is added to it
  const uint64_t top = query.top != nullptr ? row_count(*query.top, "TOP", run) : kAll;
  const uint64_t limit = query.limit != nullptr ? row_count(*query.limit, "LIMIT", run) : kAll;
  const uint64_t offset = query.offset != nullptr ? row_count(*query.offset, "OFFSET", run) : 0;
  return offset + std::min(top, limit);
}

}  // namespace quire::sql
