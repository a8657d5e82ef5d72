#include "sql/plan/index_bounds.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>

#include "sql/functions/like.h"
#include "sql/plan/alike.h"
#include "sql/plan/slot_use.h"

namespace quire::sql {
namespace {

// First bytes of encodings (key_encoding.h), and what lies behind the last of a type.
struct TypeTest {
  std::string_view function;
  uint8_t first;
  uint8_t last;
};
constexpr TypeTest kTypeTests[] = {
    {"IS_DEFINED", 0x10, 0xFF}, {"IS_NULL", 0x10, 0x11},      {"IS_BOOL", 0x20, 0x22},
    {"IS_NUMBER", 0x30, 0x31},  {"IS_STRING", 0x40, 0x41},    {"IS_ARRAY", 0x50, 0x51},
    {"IS_OBJECT", 0x60, 0x61},  {"IS_PRIMITIVE", 0x10, 0x50},
};

class BoundFinder {
 public:
  BoundFinder(const BoundExpression& condition, std::span<const PlacedSlot> slots, const SlotSet& own_slots)
      : condition_(condition), slots_(slots), own_slots_(own_slots) {}

  std::vector<IndexBound> find_all() {
    if (condition_.kind == BoundKind::exists) return of_existing();
    if (condition_.kind == BoundKind::call && condition_.function != nullptr &&
        condition_.function->name == "ARRAY_CONTAINS" && condition_.operands.size() == 3)
      return of_matching_element();
    std::vector<IndexBound> found;
    if (auto one = find_one()) found.push_back(std::move(*one));
    return found;
  }

 private:
  std::optional<IndexBound> find_one() const {
    switch (condition_.kind) {
      case BoundKind::binary:
        return comparison();
      case BoundKind::in:
        return condition_.negated ? std::nullopt : membership();
      case BoundKind::in_query:
        return condition_.negated ? std::nullopt : membership_in_rows();
      case BoundKind::like:
        return condition_.negated ? std::nullopt : like();
      case BoundKind::is_null:
        return condition_.negated ? std::nullopt : type_test(*condition_.operands[0], 0x10, 0x11);
      case BoundKind::unary:
        return negation();
      case BoundKind::call:
        return call();
      case BoundKind::logical_or:
        if (auto made = listed_element()) return made;
        return either();
      default:
        return std::nullopt;
    }
  }

  bool is_known(const BoundExpression& expression) const {
    SlotSet reads(own_slots_.capacity());
    add_slots_read(expression, reads);
    return !reads.intersects(own_slots_) && !is_volatile(expression);
  }

  std::optional<IndexBound> bound(BoundCheck check, const BoundExpression& path,
                                  std::span<BoundExpression* const> operands) const {
    bool is_of_elements = false;
    auto steps = placed_path(path, is_of_elements);
    if (!steps) return std::nullopt;
    for (const BoundExpression* operand : operands)
      if (!is_known(*operand)) return std::nullopt;
    IndexBound made{check, std::move(*steps), {}, 0, 0, &condition_, !is_of_elements};
    made.operands.assign(operands.begin(), operands.end());
    return made;
  }

  // The path of an expression from the item on.
  std::optional<std::vector<IndexStep>> placed_path(const BoundExpression& expression,
                                                    bool& is_of_elements) const {
    for (const PlacedSlot& placed : slots_) {
      auto steps = indexable_path(expression, placed.slot);
      if (!steps && expression.kind == BoundKind::slot && expression.slot == placed.slot) steps.emplace();
      if (!steps) continue;
      is_of_elements = std::ranges::any_of(placed.path, &IndexStep::is_element);
      steps->insert(steps->begin(), placed.path.begin(), placed.path.end());
      if (!steps->empty()) return steps;
    }
    return std::nullopt;
  }

  std::optional<IndexBound> comparison() const {
    const auto operands = condition_.operands;
    if (auto made = compared(operands[0], operands[1], condition_.binary_operator)) return made;
    return compared(operands[1], operands[0], mirrored(condition_.binary_operator));
  }

  static BinaryOperator mirrored(BinaryOperator op) {
    switch (op) {
      case BinaryOperator::less:
        return BinaryOperator::greater;
      case BinaryOperator::less_equal:
        return BinaryOperator::greater_equal;
      case BinaryOperator::greater:
        return BinaryOperator::less;
      case BinaryOperator::greater_equal:
        return BinaryOperator::less_equal;
      default:
        return op;
    }
  }

  std::optional<IndexBound> compared(BoundExpression* path, BoundExpression* other, BinaryOperator op) const {
    const auto with = [&](BoundCheck check) { return bound(check, *path, std::span(&other, 1)); };
    switch (op) {
      case BinaryOperator::equal:
        return with(BoundCheck::equal);
      case BinaryOperator::less:
        return with(BoundCheck::less);
      case BinaryOperator::less_equal:
        return with(BoundCheck::less_equal);
      case BinaryOperator::greater:
        return with(BoundCheck::greater);
      case BinaryOperator::greater_equal:
        return with(BoundCheck::greater_equal);
      default:
        return std::nullopt;
    }
  }

  std::optional<IndexBound> membership() const {
    return bound(BoundCheck::in, *condition_.operands[0], condition_.operands.subspan(1));
  }

  std::optional<IndexBound> membership_in_rows() const {
    if (condition_.operands.size() < 2) return std::nullopt;
    return bound(BoundCheck::in_array, *condition_.operands[0], condition_.operands.subspan(1));
  }

  // The text before the first wildcard; 'x%' says no more than that.
  std::optional<IndexBound> like() const {
    if (condition_.escape) return std::nullopt;
    auto made = bound(BoundCheck::like, *condition_.operands[0], condition_.operands.subspan(1));
    if (!made) return std::nullopt;
    const BoundExpression& pattern = *condition_.operands[1];
    if (pattern.kind != BoundKind::constant || !pattern.constant.is_string()) {
      made->is_exact = false;
      return made;
    }
    const std::string_view text = pattern.constant.as_string();
    made->is_exact &= text.substr(text_before_wildcards(text).size()) == "%";
    return made;
  }

  std::optional<IndexBound> type_test(const BoundExpression& path, uint8_t first, uint8_t last) const {
    auto made = bound(BoundCheck::of_types, path, {});
    if (!made) return std::nullopt;
    made->first_type = first;
    made->last_type = last;
    return made;
  }

  // NOT IS_DEFINED: items without the path.
  std::optional<IndexBound> negation() const {
    const BoundExpression& negated = *condition_.operands[0];
    if (condition_.unary_operator != UnaryOperator::logical_not || negated.kind != BoundKind::call ||
        negated.function == nullptr || negated.function->name != "IS_DEFINED")
      return std::nullopt;
    return type_test(*negated.operands[0], kUndefinedType, kUndefinedType + 1);
  }

  std::optional<IndexBound> call() const {
    if (condition_.function == nullptr) return std::nullopt;
    const std::string_view name = condition_.function->name;
    const auto operands = condition_.operands;
    for (const TypeTest& test : kTypeTests)
      if (name == test.function) return type_test(*operands[0], test.first, test.last);
    if (name == "STARTSWITH" && operands.size() == 2)
      return bound(BoundCheck::prefix, *operands[0], operands.subspan(1));
    if (name == "ARRAY_CONTAINS" && operands.size() == 2) return array_contains();
    if (name == "ARRAY_CONTAINS_ANY") return has_element(BoundCheck::in, operands.subspan(1));
    if (name == "ARRAY_CONTAINS_ALL" && operands.size() > 1) return has_all_elements();
    return std::nullopt;
  }

  // An array of the item that has a value, or an array that has a value of the item.
  std::optional<IndexBound> array_contains() const {
    const auto operands = condition_.operands;
    auto made = has_element(BoundCheck::equal, operands.subspan(1));
    return made ? made : bound(BoundCheck::in_array, *operands[1], operands.first(1));
  }

  // An array of the item that has one of these values.
  std::optional<IndexBound> has_element(BoundCheck check, std::span<BoundExpression* const> values) const {
    auto made = bound(check, *condition_.operands[0], values);
    if (made) made->path.push_back({{}, true});
    return made;
  }

  // ARRAY_CONTAINS(c.items, {id: 7, size: 1}, true): an element whose id is that, whose size is that. Objects
  // and arrays match those that have more, so only scalars lead to items.
  std::vector<IndexBound> of_matching_element() const {
    std::vector<IndexBound> found;
    const BoundExpression& is_partial = *condition_.operands[2];
    if (is_partial.kind != BoundKind::constant || !is_partial.constant.is_true()) return found;
    const BoundExpression& wanted = *condition_.operands[1];
    for (const BoundEntry& entry : wanted.entries) {
      auto made = has_element_with(entry.key, entry.value);
      if (!made) continue;
      made->is_exact = false;
      found.push_back(std::move(*made));
    }
    if (wanted.kind != BoundKind::constant || !wanted.constant.is_object()) return found;
    for (uint32_t i = 0; i < wanted.constant.size(); ++i) {
      const Member member = wanted.constant.member_at(i);
      auto value = std::make_shared<BoundExpression>();
      value->kind = BoundKind::constant;
      value->constant = member.value;
      auto made = has_element_with(member.name, value.get());
      if (!made) continue;
      made->is_exact &= wanted.constant.size() == 1;
      made->own_operand = std::move(value);
      found.push_back(std::move(*made));
    }
    return found;
  }
  static bool may_be_scalar(const BoundExpression& value) {
    return value.kind == BoundKind::parameter ||
           (value.kind == BoundKind::constant && !value.constant.is_array() && !value.constant.is_object());
  }
  std::optional<IndexBound> has_element_with(std::string_view name, BoundExpression* value) const {
    if (!may_be_scalar(*value)) return std::nullopt;
    auto made = has_element(BoundCheck::equal, std::span(&value, 1));
    if (!made) return std::nullopt;
    made->path.push_back({std::string(name), false});
    made->is_of_scalars = true;
    return made;
  }

  // The first of them leads to the items; the condition tells which of these have the others.
  std::optional<IndexBound> has_all_elements() const {
    auto made = has_element(BoundCheck::equal, condition_.operands.subspan(1, 1));
    if (made) made->is_exact &= condition_.operands.size() == 2;
    return made;
  }

  // EXISTS(SELECT ... FROM t IN c.tags WHERE t.a = 'x' AND t.b > 1): an element for which each holds.
  std::vector<IndexBound> of_existing() const {
    std::vector<IndexBound> found;
    const BoundQuery& query = *condition_.query;
    if (query.sources.size() != 1 || query.sources[0].kind != BoundSourceKind::elements ||
        query.where == nullptr || query.is_grouped || query.next != nullptr ||
        query.sources[0].expression == nullptr)
      return found;
    bool is_of_elements = false;
    auto path = placed_path(*query.sources[0].expression, is_of_elements);
    if (!path) return found;
    path->push_back({{}, true});
    const PlacedSlot element{query.sources[0].slot, std::move(*path)};
    SlotSet own = own_slots_;
    own.add(element.slot);
    add_within(*query.where, element, own, found);
    for (IndexBound& bound : found) bound.condition = &condition_;
    return found;
  }

  // e = 1 OR e IN (2, 3) of an element, whose bounds are never exact, says what IN does. Of an item's own
  // path each arm finds an index.
  std::optional<IndexBound> listed_element() const {
    std::optional<IndexBound> made;
    for (const BoundExpression* arm : condition_.operands) {
      if (arm->kind != BoundKind::binary && arm->kind != BoundKind::in) return std::nullopt;
      auto found = find_index_bound(*arm, slots_, own_slots_);
      if (!found || found->is_exact) return std::nullopt;
      if (found->check != BoundCheck::equal && found->check != BoundCheck::in) return std::nullopt;
      if (!made)
        made = std::move(found);
      else if (made->path == found->path)
        std::ranges::copy(found->operands, std::back_inserter(made->operands));
      else
        return std::nullopt;
    }
    made->check = BoundCheck::in;
    made->condition = &condition_;
    return made;
  }

  // `c.a > 1 OR (c.a = 1 AND c.b > 2)`, as pages are asked for by the last key of the one before: c.a is at
  // least 1.
  std::optional<IndexBound> either() const {
    std::vector<std::vector<IndexBound>> arms;
    for (const BoundExpression* arm : condition_.operands)
      if (add_comparisons(*arm, arms.emplace_back()); arms.back().empty()) return std::nullopt;
    for (const BoundCheck check : {BoundCheck::at_least, BoundCheck::at_most}) {
      for (const IndexBound& candidate : arms.front()) {
        const bool is_common = std::ranges::all_of(arms, [&](const std::vector<IndexBound>& arm) {
          return std::ranges::any_of(arm, [&](const IndexBound& bound) {
            return says(bound, check) && bound.path == candidate.path && compare_alike(bound, candidate);
          });
        });
        if (!is_common) continue;
        IndexBound made = candidate;
        made.check = check;
        made.condition = &condition_;
        made.is_exact = false;
        return made;
      }
    }
    return std::nullopt;
  }

  void add_comparisons(const BoundExpression& condition, std::vector<IndexBound>& out) const {
    constexpr size_t kMostOfArm = 8;  // each is held against those of all arms
    if (condition.kind == BoundKind::logical_and)
      for (const BoundExpression* operand : condition.operands) add_comparisons(*operand, out);
    if (condition.kind != BoundKind::binary || out.size() == kMostOfArm) return;
    if (auto found = find_index_bound(condition, slots_, own_slots_)) out.push_back(std::move(*found));
  }
  static bool says(const IndexBound& bound, BoundCheck check) {
    const bool is_least = check == BoundCheck::at_least;
    return bound.check == BoundCheck::equal ||
           bound.check == (is_least ? BoundCheck::greater : BoundCheck::less) ||
           bound.check == (is_least ? BoundCheck::greater_equal : BoundCheck::less_equal);
  }
  static bool compare_alike(const IndexBound& a, const IndexBound& b) {
    return is_alike(*a.operands[0], *b.operands[0], std::equal_to<>());
  }

  static void add_within(const BoundExpression& condition, const PlacedSlot& element,
                         const SlotSet& own_slots, std::vector<IndexBound>& out) {
    if (condition.kind == BoundKind::logical_and)
      for (const BoundExpression* operand : condition.operands) add_within(*operand, element, own_slots, out);
    else
      std::ranges::move(find_index_bounds(condition, std::span(&element, 1), own_slots),
                        std::back_inserter(out));
  }

  const BoundExpression& condition_;
  std::span<const PlacedSlot> slots_;
  const SlotSet& own_slots_;
};

}  // namespace

std::optional<size_t> known_size(const BoundExpression& array) noexcept {
  if (array.kind == BoundKind::array) return array.operands.size();
  if (array.kind != BoundKind::constant) return std::nullopt;
  return array.constant.is_array() ? array.constant.size() : 0;
}

size_t IndexBound::named_values() const noexcept {
  constexpr size_t kGuess = 10;
  if (check == BoundCheck::looked_up) return 1;
  return check == BoundCheck::in_array ? known_size(*operands[0]).value_or(kGuess) : operands.size();
}

std::vector<IndexBound> find_index_bounds(const BoundExpression& condition, std::span<const PlacedSlot> slots,
                                          const SlotSet& own_slots) {
  return BoundFinder(condition, slots, own_slots).find_all();
}

std::optional<IndexBound> find_index_bound(const BoundExpression& condition,
                                           std::span<const PlacedSlot> slots, const SlotSet& own_slots) {
  std::vector<IndexBound> found = find_index_bounds(condition, slots, own_slots);
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::optional<std::vector<IndexStep>> indexable_path(const BoundExpression& expression, SlotNumber slot) {
  if (expression.kind != BoundKind::path || expression.slot != slot) return std::nullopt;
  std::vector<IndexStep> path;
  for (const BoundStep& step : expression.steps) {
    if (step.is_index()) return std::nullopt;
    path.push_back({std::string(step.name), false});
  }
  return path;
}

}  // namespace quire::sql
