// Names that a container computes: c.lower stands for LOWER(c.name).
#include <algorithm>

#include "sql/bind/binder.h"

namespace quire::sql {

Result<const ComputedProperty*> Binder::computed_property(const Collection& collection,
                                                          std::string_view name) {
  const std::string_view json = collection.definition_property("computedProperties");
  if (json.empty()) return nullptr;
  auto found = computed_.find(&collection);
  if (found == computed_.end()) {
    QUIRE_ASSIGN(std::vector<ComputedProperty> properties, read_computed_properties(json));
    const size_t first = statement_.computed.size();
    std::ranges::move(properties, std::back_inserter(statement_.computed));
    found = computed_.emplace(&collection, std::pair(first, statement_.computed.size())).first;
  }
  const auto [first, end] = found->second;
  for (size_t i = first; i < end; ++i)
    if (statement_.computed[i].name == name) return &statement_.computed[i];
  return nullptr;
}

Result<BoundExpression*> Binder::bind_computed(SlotNumber slot, std::string_view name, Span span) {
  const auto container = containers_.find(slot);
  if (container == containers_.end() || computed_span_) return nullptr;
  QUIRE_ASSIGN(const ComputedProperty* const property, computed_property(*container->second, name));
  if (property == nullptr) return nullptr;
  const size_t expressions_before = statement_.computed_count;
  computed_span_ = span;
  BoundQuery none;
  Scope scope(nullptr, none);
  scope.add({property->alias, slot, true});
  const Expression& expression = *property->expression;
  auto value = bind(expression, scope);
  computed_span_.reset();
  if (!value) return value;
  computed_expressions_ += statement_.computed_count - expressions_before;
  if (computed_expressions_ > kMostComputedExpressions)
    return refuse(ErrorCode::limit_exceeded, span,
                  "the computed properties of this statement stand for more than " +
                      std::to_string(kMostComputedExpressions) + " expressions");
  BoundExpression* own = make(BoundKind::path, span);
  own->slot = slot;
  const BoundStep step{name, -1};
  own->steps = statement_.arena->copy_array(std::span<const BoundStep>(&step, 1));
  BoundExpression* bound = make(BoundKind::coalesce, span);
  bound->operands = list_of({own, *value});
  return bound;
}

}  // namespace quire::sql
