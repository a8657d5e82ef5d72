// What a correlated subquery reads of the rows around it. Where that is a few paths, and nothing in it gives
// another value each time, its result is a function of their values, and is kept by them
// (sql/run/kept_results.h): it runs once for each combination of values rather than for each row. A query
// that reads no container, but an array of the row, is less work than to look its result up.
#include <algorithm>
#include <functional>

#include "sql/plan/alike.h"
#include "sql/plan/plan.h"

namespace quire::sql {
namespace {

// With more of them hardly two rows have the same values.
constexpr size_t kMostPaths = 8;

class OuterReads {
 public:
  OuterReads(const Plan& plan, const BoundQuery& query) : plan_(plan), outer_slots_(query.outer_slots) {
    add(query);
  }

  // None: the result is not worth keeping by them.
  std::vector<const BoundExpression*> take_paths() {
    if (!reads_container_ || reads_item_ || paths_.size() > kMostPaths) return {};
    return std::move(paths_);
  }

 private:
  void add(const BoundQuery& query) {
    for (const BoundSource& source : query.sources) {
      reads_container_ |= source.kind == BoundSourceKind::collection;
      add(source.expression);
      add(source.on);
      if (source.query != nullptr) add_inner(*source.query);
    }
    add(query.where);
    add_all(query.group_by);
    for (const BoundAggregate& aggregate : query.aggregates) add(aggregate.argument);
    add(query.having);
    for (const BoundOrderItem& item : query.order_by) add(item.expression);
    add(query.value);
    if (query.next != nullptr) add(*query.next);
  }

  // One that reads nothing around it runs once.
  void add_inner(const BoundQuery& query) {
    if (!query.outer_slots.empty()) add(query);
  }

  void add(const BoundExpression* expression) {
    if (expression == nullptr) return;
    switch (expression->kind) {
      case BoundKind::slot:
      case BoundKind::path:
      case BoundKind::system_property:
      case BoundKind::document_id:
        add_read(*expression);
        break;
      default:
        break;
    }
    add_all(expression->operands);
    for (const BoundEntry& entry : expression->entries) add(entry.value);
    if (expression->query != nullptr) add_inner(*expression->query);
  }
  template <typename Range>
  void add_all(const Range& expressions) {
    for (const BoundExpression* expression : expressions) add(expression);
  }

  void add_read(const BoundExpression& expression) {
    if (std::ranges::find(outer_slots_, expression.slot) == outer_slots_.end()) return;
    reads_item_ |= expression.kind == BoundKind::slot && !plan_.item_slots[expression.slot].empty();
    const auto is_known = [&](const BoundExpression* path) {
      return is_alike(*path, expression, std::equal_to<SlotNumber>());
    };
    if (paths_.size() <= kMostPaths && std::ranges::none_of(paths_, is_known)) paths_.push_back(&expression);
  }

  const Plan& plan_;
  const std::vector<SlotNumber>& outer_slots_;
  std::vector<const BoundExpression*> paths_;
  bool reads_container_ = false;
  bool reads_item_ = false;  // as a whole, of which there are no two alike
};

}  // namespace

void find_outer_paths(const Plan& plan, PlannedQuery& query) {
  if (query.bound->outer_slots.empty() || query.bound->is_volatile) return;
  query.outer_paths = OuterReads(plan, *query.bound).take_paths();
}

}  // namespace quire::sql
