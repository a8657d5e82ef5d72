// Which items a scan has to visit. Equality of every path of the partition key (or of the first paths of a
// hierarchical key) with something that the row does not decide routes to one partition; `id` as well makes
// it a point read. IN in the place of an equality makes it several. The conditions so used leave the filter:
// the access path alone decides them, also where the other side turns out, at run time, to be no scalar (no
// item can match).
#include <algorithm>
#include <optional>

#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// Past this many combinations of IN a scan is no more work.
constexpr size_t kMostKeys = 65'536;
constexpr size_t kMostPartitions = 4096;  // each has a cursor

// condition: path = other, other = path, or path IN (others).
struct Equality {
  const BoundExpression* condition;
  const BoundExpression* path;
  std::vector<const BoundExpression*> others;
};

class AccessPathChooser {
 public:
  AccessPathChooser(const Plan& plan, const BoundQuery& bound) : own_slots_(plan.slot_count) {
    for (const BoundSource& source : bound.sources) own_slots_.add(source.slot);
  }

  // The filter right above the scan, or null.
  void choose(PlanNode& scan, PlanNode* filter, const Collection& collection) {
    if (filter == nullptr) return;
    find_equalities(*filter, scan.source->slot);
    AccessPath access;
    std::vector<const BoundExpression*> used;
    size_t keys = 1;
    const auto take = [&](const std::vector<std::string>& path) {
      const Equality* const equality = find(path);
      if (equality == nullptr || equality->others.empty() || keys * equality->others.size() > kMostKeys)
        return false;
      keys *= equality->others.size();
      access.choices.push_back(equality->others);
      used.push_back(equality->condition);
      return true;
    };
    const auto& paths = collection.partition_key_paths();
    for (const std::vector<std::string>& path : paths)
      if (!take(path)) break;
    const size_t components = access.choices.size();
    const bool is_point = components == paths.size() && take({"id"});
    if (access.choices.empty() || (!is_point && keys > kMostPartitions)) return;
    access.kind = is_point ? Access::Kind::point : Access::Kind::partition;
    const bool has_several = std::ranges::any_of(access.choices, [](const auto& c) { return c.size() > 1; });
    if (has_several) {
      access.kind = is_point ? Access::Kind::points : Access::Kind::partitions;
    } else {
      for (size_t i = 0; i < components; ++i) access.partition_key.push_back(access.choices[i][0]);
      if (is_point) access.id = access.choices.back()[0];
      access.choices.clear();
    }
    scan.access = std::move(access);
    std::erase_if(filter->conditions, [&](const BoundExpression* condition) {
      return std::find(used.begin(), used.end(), condition) != used.end();
    });
  }

 private:
  void find_equalities(const PlanNode& filter, SlotNumber slot) {
    for (const BoundExpression* condition : filter.conditions) {
      if (condition->kind == BoundKind::in && !condition->negated) add_in(*condition, slot);
      if (condition->kind != BoundKind::binary || condition->binary_operator != BinaryOperator::equal)
        continue;
      const BoundExpression* left = condition->operands[0];
      const BoundExpression* right = condition->operands[1];
      if (is_path_of(*left, slot) && is_known_before_the_scan(*right))
        equalities_.push_back({condition, left, {right}});
      else if (is_path_of(*right, slot) && is_known_before_the_scan(*left))
        equalities_.push_back({condition, right, {left}});
    }
  }

  void add_in(const BoundExpression& condition, SlotNumber slot) {
    const auto others = condition.operands.subspan(1);
    const bool is_usable =
        is_path_of(*condition.operands[0], slot) &&
        std::ranges::all_of(others, [&](const BoundExpression* e) { return is_known_before_the_scan(*e); });
    if (is_usable) equalities_.push_back({&condition, condition.operands[0], {others.begin(), others.end()}});
  }

  static bool is_path_of(const BoundExpression& expression, SlotNumber slot) {
    return expression.kind == BoundKind::path && expression.slot == slot;
  }

  bool is_known_before_the_scan(const BoundExpression& expression) const {
    SlotSet reads(own_slots_.capacity());
    add_slots_read(expression, reads);
    return !reads.intersects(own_slots_) && !is_volatile(expression);
  }

  const Equality* find(const std::vector<std::string>& path) const {
    for (const Equality& equality : equalities_) {
      const auto& steps = equality.path->steps;
      const bool same = std::equal(steps.begin(), steps.end(), path.begin(), path.end(),
                                   [](const BoundStep& step, const std::string& name) {
                                     return !step.is_index() && step.name == name;
                                   });
      if (same) return &equality;
    }
    return nullptr;
  }

  SlotSet own_slots_;
  std::vector<Equality> equalities_;
};

using Place = std::unique_ptr<PlanNode>;

// The scan at the bottom of `root`, with the filter right above it.
void choose_in(const Plan& plan, const BoundQuery& bound, Place& root, Source& source) {
  Place* above = nullptr;
  Place* at = &root;
  while ((*at)->input != nullptr) {
    above = at;
    at = &(*at)->input;
  }
  if ((*at)->kind != PlanKind::scan) return;
  const Collection* collection = source.collection((*at)->source->collection_name);
  if (collection == nullptr) return;
  PlanNode* filter = above != nullptr && (*above)->kind == PlanKind::filter ? above->get() : nullptr;
  AccessPathChooser(plan, bound).choose(**at, filter, *collection);
  if (filter != nullptr && filter->conditions.empty()) {
    Place scan = std::move(filter->input);
    *above = std::move(scan);
  }
}

}  // namespace

void choose_access_path(Plan& plan, PlannedQuery& query, Source& source) {
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->right != nullptr) choose_in(plan, *query.bound, node->right->root, source);
  choose_in(plan, *query.bound, query.root, source);
}

}  // namespace quire::sql
