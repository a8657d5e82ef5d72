// Computed properties (DIALECT.md, section 10): names that a container's definition gives to expressions over
// an item, {"name": "lowerName", "query": "SELECT VALUE LOWER(c.name) FROM c"}. In a query c.lowerName stands
// for the expression, where the item has no property of that name; SELECT * does not show it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/error.h"
#include "sql/parse/ast.h"

namespace quire::sql {

inline constexpr size_t kMostComputedProperties = 20;
inline constexpr size_t kLongestComputedQuery = 4096;  // bytes
inline constexpr uint32_t kMostComputedDepth = 64;     // of its expression
// What all references of a statement to computed properties may stand for.
inline constexpr size_t kMostComputedExpressions = 65'536;

struct ComputedProperty {
  std::string name;
  std::unique_ptr<ParsedStatement> parsed;
  std::string_view alias;  // of the item in `expression`
  const Expression* expression = nullptr;
};

// Of the JSON of "computedProperties". invalid_definition, naming the property and what it may not hold.
Result<std::vector<ComputedProperty>> read_computed_properties(std::string_view json);
// The same, and binds each, so that unknown names and functions are found.
Result<void> check_computed_properties(std::string_view json);

}  // namespace quire::sql
