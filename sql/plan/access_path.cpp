// Which items a scan has to visit. Equality of every path of the partition key (or of the first paths of a
// hierarchical key) with something that the row does not decide routes to one partition; `id` as well makes
// it a point read. IN, or ARRAY_CONTAINS of a list, in the place of an equality makes it several. The
// conditions so used leave the filter: the access path alone decides them, also where the other side turns
// out, at run time, to be no scalar (no item can match).
#include <algorithm>
#include <optional>

#include "sql/plan/bottom.h"
#include "sql/plan/plan.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// Past this many combinations of IN a scan is no more work.
constexpr size_t kMostKeys = 65'536;

// condition: path = other, other = path, path IN (others), path IN (SELECT ...), or ARRAY_CONTAINS(other,
// path).
struct Equality {
  const BoundExpression* condition;
  const BoundExpression* path;
  KeyChoices others;
};

class AccessPathChooser {
 public:
  AccessPathChooser(const BoundQuery& bound, const SlotSet& own_slots)
      : own_slots_(own_slots),
        has_join_(std::ranges::count(bound.sources, BoundSourceKind::collection, &BoundSource::kind) > 1) {}

  // The filter right above the scan, or null.
  void choose(PlanNode& scan, PlanNode* filter, const Collection& collection) {
    if (filter == nullptr) return;
    for (const BoundExpression* condition : filter->conditions)
      find_equalities(*condition, scan.source->slot);
    const auto& paths = collection.partition_key_paths();
    // A list that the query is given may be of any length, and each partition has a cursor.
    Keys keys = keys_of(paths, true);
    if (!keys.are_points) keys = keys_of(paths, false);
    const bool wants_partitions = keys.choices.empty() && !paths.empty() && !has_join_;
    if (!keys.are_points && choose_arms(scan, *filter, paths, wants_partitions)) return;
    if (keys.choices.empty() || (!keys.are_points && keys.count > kMostPartitions)) return;
    AccessPath access;
    access.kind = keys.are_points ? Access::Kind::point : Access::Kind::partition;
    const bool has_several = std::ranges::any_of(keys.choices, &KeyChoices::may_be_several);
    if (has_several) {
      access.kind = keys.are_points ? Access::Kind::points : Access::Kind::partitions;
      access.choices = std::move(keys.choices);
    } else {
      for (const KeyChoices& choices : keys.choices) access.partition_key.push_back(choices.values[0]);
      if (keys.are_points) {
        access.id = access.partition_key.back();
        access.partition_key.pop_back();
      }
    }
    std::erase_if(filter->conditions, [&](const BoundExpression* condition) {
      return std::ranges::find(keys.used, condition) != keys.used.end();
    });
    access.routing = std::move(keys.used);
    scan.access = std::move(access);
  }

 private:
  explicit AccessPathChooser(const SlotSet& own_slots) : own_slots_(own_slots) {}

  // What the partition key's components may be, and the id; by place, the condition that says so.
  struct Keys {
    std::vector<KeyChoices> choices;
    std::vector<const BoundExpression*> used;
    size_t count = 1;  // how many keys that makes, but for the list's length
    bool has_list = false;
    bool are_points = false;
    bool says_no_more = false;  // of an arm of an OR, whose conditions are all used
  };

  Keys keys_of(const std::vector<std::vector<std::string>>& paths, bool may_have_list) const {
    Keys keys;
    const bool have_partition =
        std::ranges::all_of(paths, [&](const auto& path) { return take(path, may_have_list, keys); });
    keys.are_points = have_partition && take({"id"}, may_have_list, keys);
    return keys;
  }

  bool take(const std::vector<std::string>& path, bool may_have_list, Keys& keys) const {
    const Equality* const equality = find(path, may_have_list);
    if (equality == nullptr) return false;
    KeyChoices choices = equality->others;
    const auto count = choices.count();
    if (const auto same = std::ranges::find(keys.used, equality->condition); same != keys.used.end()) {
      choices.same_as = static_cast<size_t>(same - keys.used.begin());
    } else if (!count) {
      if (keys.has_list || keys.count > 1) return false;
      keys.has_list = true;
    } else {
      if ((keys.has_list && *count > 1) || keys.count * *count > kMostKeys) return false;
      keys.count *= *count;
    }
    keys.choices.push_back(std::move(choices));
    keys.used.push_back(equality->condition);
    return true;
  }

  // ---- OR

  // (c.pk = 1 AND c.id = 'a') OR (c.pk = 2 AND c.id = 'b'): each arm names a key. False: none does so. Whole
  // partitions only where they are wanted: what a join looks up there by an index is less.
  bool choose_arms(PlanNode& scan, PlanNode& filter, const std::vector<std::vector<std::string>>& paths,
                   bool wants_partitions) {
    for (const BoundExpression*& condition : filter.conditions) {
      if (condition->kind != BoundKind::logical_or) continue;
      std::vector<Keys> arms = keys_of_arms(*condition, scan.source->slot, paths);
      if (arms.empty()) continue;
      const bool are_points = std::ranges::all_of(arms, &Keys::are_points);
      if (!are_points && (!wants_partitions || arms.size() > kMostPartitions)) continue;
      AccessPath access;
      access.kind = are_points ? Access::Kind::points : Access::Kind::partitions;
      access.arm_key_size = paths.size() + (are_points ? 1 : 0);
      for (const Keys& arm : arms)
        for (const KeyChoices& choices : std::span(arm.choices).first(access.arm_key_size))
          access.arm_keys.push_back(choices.values[0]);
      const bool say_no_more = std::ranges::all_of(arms, [&](const Keys& arm) {
        return arm.says_no_more && arm.choices.size() == access.arm_key_size;
      });
      if (say_no_more) {
        access.routing = {condition};
        std::erase(filter.conditions, condition);
      }
      scan.access = std::move(access);
      return true;
    }
    return false;
  }

  // Of each arm; none, if one has none.
  std::vector<Keys> keys_of_arms(const BoundExpression& either, SlotNumber slot,
                                 const std::vector<std::vector<std::string>>& paths) const {
    std::vector<Keys> keys;
    if (either.operands.size() > kMostKeys) return keys;
    for (const BoundExpression* arm : either.operands) {
      AccessPathChooser chooser(own_slots_);
      chooser.find_equalities_within(*arm, slot);
      Keys of_arm = chooser.keys_of(paths, false);
      const bool are_one = std::ranges::none_of(
          of_arm.choices, [](const KeyChoices& choices) { return choices.may_be_several(); });
      if (of_arm.choices.size() < paths.size() || !are_one) return {};
      // One condition may be used twice, where the partition key is /id.
      const auto is_used = [&](const BoundExpression* condition) {
        return std::ranges::find(of_arm.used, condition) != of_arm.used.end();
      };
      of_arm.says_no_more =
          arm->kind == BoundKind::logical_and ? std::ranges::all_of(arm->operands, is_used) : is_used(arm);
      keys.push_back(std::move(of_arm));
    }
    return keys;
  }

  void find_equalities_within(const BoundExpression& arm, SlotNumber slot) {
    if (arm.kind != BoundKind::logical_and) return find_equalities(arm, slot);
    for (const BoundExpression* operand : arm.operands) find_equalities(*operand, slot);
  }

  // ---- Equalities

  void find_equalities(const BoundExpression& condition, SlotNumber slot) {
    if (condition.kind == BoundKind::in && !condition.negated) add_in(condition, slot);
    if (condition.kind == BoundKind::in_query && !condition.negated && condition.operands.size() == 2)
      add_list(condition, *condition.operands[1], *condition.operands[0], slot);
    if (condition.kind == BoundKind::call) add_array_contains(condition, slot);
    if (condition.kind != BoundKind::binary || condition.binary_operator != BinaryOperator::equal) return;
    const BoundExpression* left = condition.operands[0];
    const BoundExpression* right = condition.operands[1];
    if (is_path_of(*left, slot) && is_known_before_the_scan(*right))
      equalities_.push_back({&condition, left, {.values = {right}}});
    else if (is_path_of(*right, slot) && is_known_before_the_scan(*left))
      equalities_.push_back({&condition, right, {.values = {left}}});
  }

  void add_array_contains(const BoundExpression& condition, SlotNumber slot) {
    if (condition.function != nullptr && condition.function->name == "ARRAY_CONTAINS" &&
        condition.operands.size() == 2)
      add_list(condition, *condition.operands[0], *condition.operands[1], slot);
  }

  void add_list(const BoundExpression& condition, const BoundExpression& list, const BoundExpression& path,
                SlotNumber slot) {
    if (is_path_of(path, slot) && is_known_before_the_scan(list))
      equalities_.push_back({&condition, &path, {.values = {&list}, .are_elements = true}});
  }

  void add_in(const BoundExpression& condition, SlotNumber slot) {
    const auto others = condition.operands.subspan(1);
    const bool is_usable =
        is_path_of(*condition.operands[0], slot) &&
        std::ranges::all_of(others, [&](const BoundExpression* e) { return is_known_before_the_scan(*e); });
    if (is_usable)
      equalities_.push_back({&condition, condition.operands[0], {.values = {others.begin(), others.end()}}});
  }

  static bool is_path_of(const BoundExpression& expression, SlotNumber slot) {
    return expression.kind == BoundKind::path && expression.slot == slot;
  }

  bool is_known_before_the_scan(const BoundExpression& expression) const {
    if (expression.kind == BoundKind::constant) return true;
    SlotSet reads(own_slots_.capacity());
    add_slots_read(expression, reads);
    return !reads.intersects(own_slots_) && !is_volatile(expression);
  }

  // A list of any length only where nothing else is said.
  const Equality* find(const std::vector<std::string>& path, bool may_be_list) const {
    const Equality* found = nullptr;
    for (const Equality& equality : equalities_) {
      const bool is_list = !equality.others.count();
      if (is_list && (!may_be_list || found != nullptr)) continue;
      const auto& steps = equality.path->steps;
      const bool same = std::equal(steps.begin(), steps.end(), path.begin(), path.end(),
                                   [](const BoundStep& step, const std::string& name) {
                                     return !step.is_index() && step.name == name;
                                   });
      if (same) found = &equality;
      if (same && !is_list) break;
    }
    return found;
  }

  const SlotSet& own_slots_;
  bool has_join_ = false;
  std::vector<Equality> equalities_;
};

}  // namespace

void choose_access_path_in(const PlannedQuery& query, const SlotSet& own_slots, Place& root, Source& source) {
  const Bottom bottom = find_bottom(root);
  PlanNode& scan = **bottom.scan;
  if (scan.kind != PlanKind::scan) return;
  const Collection* collection = source.collection(scan.source->collection_name);
  if (collection == nullptr || !collection->finds_by_key()) return;
  PlanNode* const filter = bottom.filter != nullptr ? bottom.filter->get() : nullptr;
  AccessPathChooser(*query.bound, own_slots).choose(scan, filter, *collection);
  if (filter != nullptr && filter->conditions.empty()) take_out(*bottom.filter);
}

double count_keys(const AccessPath& access, double listed) {
  if (access.arm_key_size > 0) return static_cast<double>(access.arm_keys.size() / access.arm_key_size);
  double count = 1;
  for (const KeyChoices& choices : access.choices)
    if (!choices.same_as) count *= choices.count() ? static_cast<double>(*choices.count()) : listed;
  return count;
}

void choose_access_path(Plan& plan, PlannedQuery& query, Source& source) {
  SlotSet own_slots(plan.slot_count);
  for (const BoundSource& from : query.bound->sources) own_slots.add(from.slot);
  for (PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    if (node->right != nullptr) choose_access_path_in(query, own_slots, node->right->root, source);
  choose_access_path_in(query, own_slots, query.root, source);
}

}  // namespace quire::sql
