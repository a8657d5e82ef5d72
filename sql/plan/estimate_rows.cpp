#include "sql/plan/estimate_rows.h"

#include <algorithm>
#include <vector>

namespace quire::sql {
namespace {

// The share of the rows that a filter leaves, as far as nobody knows.
constexpr double kFilteredShare = 0.25;
constexpr double kPartitionShare = 0.01;
constexpr double kGroupShare = 0.1;
constexpr double kElements = 4;      // of an array
constexpr size_t kListed = 10;       // of an array of what is looked for
constexpr double kUsualCount = 100;  // of rows, where it is a parameter

double items_of(const PlanNode& scan, Source& source) {
  Collection* const collection = source.collection(scan.source->collection_name);
  return collection != nullptr ? static_cast<double>(collection->item_count()) : 0;
}

double choices_of(const AccessPath& access) {
  double count = 1;
  for (const KeyChoices& choices : access.choices)
    if (!choices.same_as) count *= static_cast<double>(choices.count().value_or(kListed));
  return count;
}

double rows_of_scan(const PlanNode& scan, Source& source) {
  const double items = items_of(scan, source);
  if (scan.access.asked_components > 0) return std::min(items, scan.access.estimated_rows);
  switch (scan.access.kind) {
    case Access::Kind::scan:
      return items;
    case Access::Kind::point:
    case Access::Kind::points:
      return std::min(items, choices_of(scan.access));
    case Access::Kind::partition:
    case Access::Kind::partitions:
      return items * std::min(1.0, kPartitionShare * choices_of(scan.access));
    case Access::Kind::index:
    case Access::Kind::any_index:
    case Access::Kind::all_index:
      return std::max(0.0, scan.access.estimated_rows);
  }
  return items;
}

double constant_or(const BoundExpression* expression, double otherwise) {
  const bool is_known = expression->kind == BoundKind::constant && expression->constant.is_number();
  return is_known ? std::max(0.0, expression->constant.as_double()) : otherwise;
}

const PlanNode& bottom_of(const PlanNode& top) {
  const PlanNode* node = &top;
  while (node->input != nullptr) node = node->input.get();
  return *node;
}

// A key of the left side is taken to be one of the items that the right side has before its conditions.
double rows_of_join(const PlanNode& join, double left, Source& source) {
  const double right = estimated_rows(*join.right->root, source);
  const PlanNode& scan = bottom_of(*join.right->root);
  double rows = left * right;
  if (join.is_lookup)
    rows = right;
  else if (!join.right_keys.empty())
    rows /= std::max(1.0, scan.kind == PlanKind::scan ? items_of(scan, source) : right);
  return join.keeps_unmatched ? std::max(rows, left) : rows;
}

double rows_of_node(const PlanNode& node, double input, Source& source) {
  switch (node.kind) {
    case PlanKind::scan:
      return rows_of_scan(node, source);
    case PlanKind::one_row:
      return 1;
    case PlanKind::filter:
    case PlanKind::by_key:
      return input * kFilteredShare;
    case PlanKind::elements:
      return input * kElements;
    case PlanKind::join:
      return rows_of_join(node, input, source);
    case PlanKind::group:
      return node.bound->group_by.empty() ? 1 : input * kGroupShare;
    case PlanKind::limit: {
      const BoundQuery& query = *node.bound;
      return std::min(input, constant_or(query.top != nullptr ? query.top : query.limit, input));
    }
    case PlanKind::subquery:
      return input * estimated_rows(*node.query->root, source);
    case PlanKind::expression:
    case PlanKind::sort:
    case PlanKind::project:
    case PlanKind::distinct:
    case PlanKind::append:
      return input;
  }
  return input;
}

// From below; `note` is told what each node gives.
template <typename Node, typename Note>
double walk(Node& top, Source& source, const Note& note) {
  std::vector<Node*> chain;
  for (Node* node = &top; node != nullptr; node = node->input.get()) chain.push_back(node);
  double rows = 0;
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    rows = rows_of_node(**at, rows, source);
    note(**at, rows);
  }
  return rows;
}

}  // namespace

std::optional<double> row_limit(const BoundQuery& query) {
  const auto count = [](const BoundExpression* expression) {
    return std::max(1.0, constant_or(expression, kUsualCount));
  };
  if (query.top != nullptr) return count(query.top);
  if (query.limit == nullptr) return std::nullopt;
  return count(query.limit) + row_offset(query);
}

double row_offset(const BoundQuery& query) {
  return query.top == nullptr && query.offset != nullptr ? constant_or(query.offset, kUsualCount) : 0;
}

double estimated_rows(const PlanNode& top, Source& source) {
  return walk(top, source, [](const PlanNode&, double) {});
}

void estimate_rows(PlannedQuery& query, Source& source) {
  const auto note = [](PlanNode& node, double rows) { node.estimated_rows = rows; };
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->right != nullptr) walk(*node->right->root, source, note);
  walk(*query.root, source, note);
}

}  // namespace quire::sql
