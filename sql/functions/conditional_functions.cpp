// Choices among arguments. All of them have been evaluated before: the language has no side effects.
#include "sql/functions/families.h"
#include "sql/functions/integers.h"

namespace quire::sql {
namespace {

using Arguments = std::span<const Value>;

Value iif(CallContext&, Arguments arguments) {
  return arguments[0].is_true() ? arguments[1] : arguments[2];
}

Value choose(CallContext&, Arguments arguments) {
  const int64_t index = integer_argument(arguments[0]);
  if (index < 1 || static_cast<uint64_t>(index) >= arguments.size()) return Value::undefined();
  return arguments[static_cast<size_t>(index)];
}

constexpr Function kConditionalRows[] = {
    {"CHOOSE", "ix*", choose, "CHOOSE(index, value, ...)", "The value at an index, which counts from 1"},
    {"IIF", "xxx", iif, "IIF(condition, value, otherwise)",
     "The value if the condition is true, else the other"},
};

}  // namespace

std::span<const Function> conditional_functions() noexcept {
  return kConditionalRows;
}

}  // namespace quire::sql
