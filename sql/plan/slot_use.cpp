#include "sql/plan/slot_use.h"

#include <algorithm>
#include <bit>

namespace quire::sql {

void SlotSet::add(const SlotSet& other) {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

void SlotSet::remove(const SlotSet& other) {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
}

void SlotSet::keep(const SlotSet& other) {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

bool SlotSet::intersects(const SlotSet& other) const {
  for (size_t i = 0; i < words_.size(); ++i)
    if ((words_[i] & other.words_[i]) != 0) return true;
  return false;
}

bool SlotSet::is_subset_of(const SlotSet& other) const {
  for (size_t i = 0; i < words_.size(); ++i)
    if ((words_[i] & ~other.words_[i]) != 0) return false;
  return true;
}

std::optional<SlotNumber> SlotSet::first() const {
  for (size_t i = 0; i < words_.size(); ++i)
    if (words_[i] != 0)
      return static_cast<SlotNumber>(i * 64 + static_cast<size_t>(std::countr_zero(words_[i])));
  return std::nullopt;
}

size_t SlotSet::count() const {
  size_t count = 0;
  for (const uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
  return count;
}

void add_slots_bound(const PlanNode& node, SlotSet& slots) {
  if (node.kind == PlanKind::join)
    add_all_slots_bound(*node.right->root, slots);
  else if (node.source != nullptr)
    slots.add(node.source->slot);
}

void add_all_slots_bound(const PlanNode& node, SlotSet& slots) {
  for (const PlanNode* at = &node; at != nullptr; at = at->input.get()) add_slots_bound(*at, slots);
}

void add_slots_read(const BoundExpression& expression, SlotSet& slots) {
  switch (expression.kind) {
    case BoundKind::slot:
    case BoundKind::path:
    case BoundKind::system_property:
    case BoundKind::document_id:
      slots.add(expression.slot);
      break;
    default:
      break;
  }
  for (const BoundExpression* operand : expression.operands) add_slots_read(*operand, slots);
  for (const BoundEntry& entry : expression.entries) add_slots_read(*entry.value, slots);
  if (expression.query != nullptr)
    for (SlotNumber slot : expression.query->outer_slots) slots.add(slot);
}

namespace {

void add_slots_read(const AccessPath& access, SlotSet& slots) {
  const auto add_all = [&](const auto& expressions) {
    for (const BoundExpression* expression : expressions) add_slots_read(*expression, slots);
  };
  add_all(access.partition_key);
  add_all(access.decided);
  if (access.id != nullptr) add_slots_read(*access.id, slots);
  for (const IndexBound& bound : access.id_bounds) add_all(bound.operands);
  for (const KeyChoices& choices : access.choices) add_all(choices.values);
  add_all(access.arm_keys);
  for (const PlannedProbe& probe : access.probes)
    for (const std::vector<IndexBound>& part : probe.parts)
      for (const IndexBound& bound : part) add_all(bound.operands);
}

}  // namespace

void add_slots_read_below(const PlanNode& top, SlotSet& slots) {
  for (const PlanNode* node = &top; node != nullptr; node = node->input.get()) {
    for (const BoundExpression* condition : node->conditions) add_slots_read(*condition, slots);
    add_slots_read(node->access, slots);
    if (node->kind == PlanKind::subquery)
      for (const SlotNumber slot : node->source->query->outer_slots) slots.add(slot);
    else if (node->source != nullptr && node->source->expression != nullptr)
      add_slots_read(*node->source->expression, slots);
  }
}

bool is_volatile(const BoundExpression& expression) {
  if (expression.kind == BoundKind::user_function) return true;
  if (expression.kind == BoundKind::call && expression.function != nullptr &&
      expression.function->volatility == Volatility::per_row)
    return true;
  for (const BoundExpression* operand : expression.operands)
    if (is_volatile(*operand)) return true;
  for (const BoundEntry& entry : expression.entries)
    if (is_volatile(*entry.value)) return true;
  return false;
}

namespace {

bool has_query(const BoundExpression& expression) {
  if (expression.query != nullptr) return true;
  return std::ranges::any_of(expression.operands, [](const auto* operand) { return has_query(*operand); }) ||
         std::ranges::any_of(expression.entries, [](const auto& entry) { return has_query(*entry.value); });
}

}  // namespace

bool may_be_asked_twice(const BoundExpression& expression) {
  return !is_volatile(expression) && !has_query(expression);
}

}  // namespace quire::sql
