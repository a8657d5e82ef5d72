// Fan-out: a filter right above a scan of a whole container may be shared out among threads, each of which
// walks ranges of the items' keys. What stands above takes the rows in their order, by one thread, so that
// no result depends on it. Of an ORDER BY under a limit each range gives its own first rows alone. Small
// containers are not worth the threads, nor is a query that stops early.
#include <algorithm>
#include <memory>
#include <utility>

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

bool may_share_scan(const PlanNode& scan, Source& source) {
  const AccessPath& access = scan.access;
  if (access.kind != Access::Kind::scan || !access.probes.empty() || !access.id_bounds.empty() ||
      access.is_ordered || scan.only_counts)
    return false;
  const Collection* const collection = source.collection(scan.source->collection_name);
  return collection != nullptr && collection->item_count() >= kLeastItems;
}

// Of a part of the rows no more than of all of them can be among the first.
bool may_share_sort(const PlanNode& node) {
  if (node.kind != PlanKind::sort || !node.top_k || node.ordered_keys > 0 || node.bound->fusion) return false;
  return (node.defined == nullptr || only_reads_its_row(*node.defined)) &&
         std::ranges::all_of(node.bound->order_by,
                             [](const BoundOrderItem& item) { return only_reads_its_row(*item.expression); });
}

void put_filter_above(Plan& plan, const PlannedQuery& query, std::unique_ptr<PlanNode>& scan) {
  auto filter = std::make_unique<PlanNode>();
  filter->kind = PlanKind::filter;
  filter->number = plan.node_count++;
  filter->bound = query.bound;
  filter->input = std::move(scan);
  scan = std::move(filter);
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

bool gives_rows_at_once(const PlannedQuery& query) {
  for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->kind == PlanKind::sort || node->kind == PlanKind::group) return false;
  return true;
}

void fan_out(Plan& plan, PlannedQuery& query, Source& source) {
  if (may_stop_early(query)) return;
  PlanNode* above = nullptr;
  for (PlanNode* node = query.root.get(); node != nullptr; above = node, node = node->input.get()) {
    PlanNode* const scan = node->input.get();
    if (scan == nullptr || scan->kind != PlanKind::scan) continue;
    const bool is_sort = may_share_sort(*node);
    if ((node->kind != PlanKind::filter && !is_sort) || !may_share_scan(*scan, source)) return;
    if (is_sort) put_filter_above(plan, query, node->input);
    PlanNode& filter = is_sort ? *node->input : *node;
    const PlanNode* const sort = is_sort ? node : above;
    filter.may_fan_out = std::ranges::all_of(
        filter.conditions, [](const BoundExpression* condition) { return only_reads_its_row(*condition); });
    if (sort != nullptr && may_share_sort(*sort)) filter.first_of = sort;
    return;
  }
}

}  // namespace quire::sql
