// Fan-out: a filter right above a scan of a whole container may be shared out among threads, each of which
// walks ranges of the items' hashes. What stands above takes the rows in their order, by one thread, so that
// no result depends on it. Small containers are not worth the threads, nor is a query that stops early.
#include <algorithm>

#include "sql/functions/function.h"
#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

constexpr uint64_t kLeastItems = 20'000;

// What only reads its row: no subqueries, whose results are kept, no user-defined functions, which belong to
// a thread, nothing that gives another value each time.
bool only_reads_its_row(const BoundExpression& expression) {
  switch (expression.kind) {
    case BoundKind::constant:
    case BoundKind::parameter:
    case BoundKind::path:
    case BoundKind::system_property:
    case BoundKind::member:
    case BoundKind::index:
    case BoundKind::unary:
    case BoundKind::binary:
    case BoundKind::logical_and:
    case BoundKind::logical_or:
    case BoundKind::conditional:
    case BoundKind::coalesce:
    case BoundKind::in:
    case BoundKind::like:
    case BoundKind::is_null:
    case BoundKind::array:
    case BoundKind::object:
      break;
    case BoundKind::call:
      if (expression.function == nullptr || expression.function->volatility == Volatility::per_row)
        return false;
      break;
    default:
      return false;
  }
  return std::ranges::all_of(expression.operands,
                             [](const BoundExpression* operand) { return only_reads_its_row(*operand); }) &&
         std::ranges::all_of(expression.entries,
                             [](const BoundEntry& entry) { return only_reads_its_row(*entry.value); });
}

}  // namespace

bool may_stop_early(const PlannedQuery& query) {
  bool is_limited = false;
  for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
    if (node->kind == PlanKind::limit) is_limited = true;
    const bool reads_all = node->kind == PlanKind::sort && node->ordered_keys == 0;
    if (reads_all || node->kind == PlanKind::group) is_limited = false;
  }
  return is_limited;
}

void fan_out(PlannedQuery& query, Source& source) {
  if (may_stop_early(query)) return;
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get()) {
    const PlanNode* const scan = node->input.get();
    if (node->kind != PlanKind::filter || scan == nullptr || scan->kind != PlanKind::scan) continue;
    if (scan->access.kind != Access::Kind::scan || !scan->access.probes.empty()) return;
    const Collection* const collection = source.collection(scan->source->collection_name);
    // Without a partition key all items have one hash.
    if (collection == nullptr || collection->partition_key_paths().empty()) return;
    node->may_fan_out = collection->item_count() >= kLeastItems &&
                        std::ranges::all_of(node->conditions, [](const BoundExpression* condition) {
                          return only_reads_its_row(*condition);
                        });
    return;
  }
}

}  // namespace quire::sql
