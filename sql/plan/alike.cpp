#include "sql/plan/alike.h"

#include <algorithm>
#include <string>

#include "sql/value/comparison.h"
#include "sql/value/json.h"

namespace quire::sql {
namespace {

// Objects that are equal may have their members in another order, which some functions tell apart.
bool is_same_constant(const Value& a, const Value& b) {
  if (a.kind() != b.kind() || !deep_equal(a, b)) return false;
  if (!a.is_object() && !a.is_array()) return true;
  std::string a_text, b_text;
  write_json(a, a_text);
  write_json(b, b_text);
  return a_text == b_text;
}

// Their own parts, without their operands.
bool is_same_kind(const BoundExpression& a, const BoundExpression& b, const SameSlot& is_same_slot) {
  if (a.kind != b.kind || a.operands.size() != b.operands.size() || a.entries.size() != b.entries.size() ||
      a.negated != b.negated || a.function != b.function || a.escape != b.escape)
    return false;
  const bool has_steps_alike = std::ranges::equal(
      a.steps, b.steps, [](const auto& x, const auto& y) { return x.index == y.index && x.name == y.name; });
  if (!has_steps_alike) return false;
  switch (a.kind) {
    case BoundKind::constant:
      return is_same_constant(a.constant, b.constant);
    case BoundKind::parameter:
      return a.parameter == b.parameter;
    case BoundKind::slot:
      return a.is_stored_form == b.is_stored_form && is_same_slot(a.slot, b.slot);
    case BoundKind::path:
    case BoundKind::document_id:
      return is_same_slot(a.slot, b.slot);
    case BoundKind::system_property:
      return a.property == b.property && is_same_slot(a.slot, b.slot);
    case BoundKind::unary:
      return a.unary_operator == b.unary_operator;
    case BoundKind::binary:
      return a.binary_operator == b.binary_operator;
    case BoundKind::member:
    case BoundKind::index:
    case BoundKind::logical_and:
    case BoundKind::logical_or:
    case BoundKind::conditional:
    case BoundKind::coalesce:
    case BoundKind::in:
    case BoundKind::like:
    case BoundKind::is_null:
    case BoundKind::array:
    case BoundKind::object:
    case BoundKind::call:
      return true;
    case BoundKind::let:
    case BoundKind::in_query:
    case BoundKind::full_text_score:
    case BoundKind::aggregate:
    case BoundKind::group_key:
    case BoundKind::exists:
    case BoundKind::array_query:
    case BoundKind::scalar_query:
    case BoundKind::all_query:
    case BoundKind::first_query:
    case BoundKind::last_query:
    case BoundKind::changed:
    case BoundKind::user_function:
    case BoundKind::unsupported:
      return false;
  }
  return false;
}

}  // namespace

bool is_alike(const BoundExpression& a, const BoundExpression& b, const SameSlot& is_same_slot) {
  if (!is_same_kind(a, b, is_same_slot)) return false;
  for (size_t i = 0; i < a.operands.size(); ++i)
    if (!is_alike(*a.operands[i], *b.operands[i], is_same_slot)) return false;
  for (size_t i = 0; i < a.entries.size(); ++i)
    if (a.entries[i].key != b.entries[i].key ||
        !is_alike(*a.entries[i].value, *b.entries[i].value, is_same_slot))
      return false;
  return true;
}

}  // namespace quire::sql
