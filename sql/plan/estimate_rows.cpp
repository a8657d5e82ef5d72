#include "sql/plan/estimate_rows.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace quire::sql {
namespace {

// The share of the rows that a condition leaves, as far as nobody knows; a further one says less, since
// values depend on each other.
constexpr double kFilteredShare = 0.25;
constexpr double kOneValueShare = 0.1;
constexpr double kFurtherShare = 0.5;
constexpr double kLeastShare = 0.01;
constexpr double kGroupShare = 0.1;
constexpr double kElements = 4;      // of an array
constexpr size_t kListed = 10;       // of an array of what is looked for
constexpr double kUsualCount = 100;  // of rows, where it is a parameter

double items_of(const PlanNode& scan, Source& source) {
  Collection* const collection = source.collection(scan.source->collection_name);
  return collection != nullptr ? static_cast<double>(collection->item_count()) : 0;
}

double rows_of_scan(const PlanNode& scan, Source& source) {
  const double items = items_of(scan, source);
  if (scan.access.asked_components > 0) return std::min(items, scan.access.estimated_rows);
  switch (scan.access.kind) {
    case Access::Kind::scan:
      return items;
    case Access::Kind::point:
    case Access::Kind::points:
      return std::min(items, count_keys(scan.access, kListed));
    case Access::Kind::partition:
    case Access::Kind::partitions:
      return items * std::min(1.0, kPartitionShare * count_keys(scan.access, kListed));
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

// How many items the containers have whose items a row holds, by slot.
using ItemCounts = std::unordered_map<SlotNumber, double>;

// How many different keys a join has, at most: as many as the smaller of the two containers has items, for of
// a pair of paths that are compared one mostly names items, and the other refers to them.
double different_keys(const PlanNode& join, double right, const ItemCounts& left_items, Source& source) {
  const PlanNode& scan = bottom_of(*join.right->root);
  if (scan.kind != PlanKind::scan) return right;
  double of_left = 0;
  for (const BoundExpression* key : join.left_keys) {
    const auto found = left_items.find(key->slot);
    if (key->kind == BoundKind::path && found != left_items.end()) of_left = std::max(of_left, found->second);
  }
  const double items = items_of(scan, source);
  return of_left > 0 ? std::min(items, of_left) : items;
}

double rows_of_join(const PlanNode& join, double left, const ItemCounts& left_items, Source& source) {
  const double right = estimated_rows(*join.right->root, source);
  double rows = left * right;
  if (join.is_lookup)
    rows = right;
  else if (!join.right_keys.empty())
    rows /= std::max(1.0, different_keys(join, right, left_items, source));
  return join.keeps_unmatched ? std::max(rows, left) : rows;
}

bool is_known(const BoundExpression& operand) {
  return operand.kind == BoundKind::constant || operand.kind == BoundKind::parameter;
}

// A path that is one value.
bool is_equal_to_one(const BoundExpression& condition) {
  if (condition.kind != BoundKind::binary || condition.binary_operator != BinaryOperator::equal) return false;
  const BoundExpression& a = *condition.operands[0];
  const BoundExpression& b = *condition.operands[1];
  return (a.kind == BoundKind::path && is_known(b)) || (b.kind == BoundKind::path && is_known(a));
}

double share_of_filter(const PlanNode& filter) {
  const bool has_equality = std::ranges::any_of(
      filter.conditions, [](const BoundExpression* condition) { return is_equal_to_one(*condition); });
  double share = has_equality ? kOneValueShare : kFilteredShare;
  for (size_t further = 1; further < filter.conditions.size(); ++further) share *= kFurtherShare;
  return std::max(share, kLeastShare);
}

double rows_of_node(const PlanNode& node, double input, const ItemCounts& items, Source& source) {
  switch (node.kind) {
    case PlanKind::scan:
      return rows_of_scan(node, source);
    case PlanKind::one_row:
      return 1;
    case PlanKind::filter:
    case PlanKind::by_key:
      return input * share_of_filter(node);
    case PlanKind::elements:
      return input * kElements;
    case PlanKind::join:
      return rows_of_join(node, input, items, source);
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
  ItemCounts items;
  const bool has_join = std::ranges::find(chain, PlanKind::join, &PlanNode::kind) != chain.end();
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    rows = rows_of_node(**at, rows, items, source);
    note(**at, rows);
    const PlanNode& bottom = (*at)->kind == PlanKind::join ? bottom_of(*(*at)->right->root) : **at;
    if (has_join && bottom.kind == PlanKind::scan) items[bottom.source->slot] = items_of(bottom, source);
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
