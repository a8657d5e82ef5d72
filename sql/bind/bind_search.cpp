// Functions that search by likeness. What they mean without options is in the policies of the container that
// their first argument comes from.
#include "sql/bind/binder.h"
#include "sql/bind/container_policy.h"
#include "sql/functions/vector_functions.h"

namespace quire::sql {

const Collection* Binder::collection_of(const BoundExpression& path, Scope& scope) {
  if (path.kind != BoundKind::path) return nullptr;
  for (Scope* at = &scope; at != nullptr; at = at->outer())
    for (const BoundSource& source : at->query().sources)
      if (source.slot == path.slot && source.kind == BoundSourceKind::collection)
        return source_.collection(source.collection_name);
  return nullptr;
}

const Function& Binder::by_policy(const Function& function, std::span<BoundExpression* const> operands,
                                  Scope& scope) {
  if (!is_vector_distance(function)) return function;
  // Either vector may be the container's.
  for (const BoundExpression* vector : operands.first(2)) {
    const Collection* collection = collection_of(*vector, scope);
    if (collection == nullptr) continue;
    const std::string measure = distance_function_of(*collection, vector->steps);
    if (!measure.empty()) return vector_distance_by(measure);
  }
  return function;
}

BoundOrderItem Binder::natural_order(BoundExpression* expression) {
  if (expression->kind != BoundKind::call || !is_vector_distance(*expression->function))
    return {expression, false};
  BoundExpression* closeness = statement_.arena->make<BoundExpression>();
  *closeness = *expression;
  closeness->function = &vector_closeness(*expression->function);
  return {closeness, true};
}

}  // namespace quire::sql
