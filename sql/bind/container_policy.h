// What the policies in a container's definition say of the values at a path; empty where they say nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sql/bind/bound.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::sql {

// vectorEmbeddingPolicy: "cosine", "dotproduct" or "euclidean".
std::string distance_function_of(const Collection& collection, std::span<const BoundStep> path);
// fullTextPolicy: the code of a language, the policy's default if it does not name the path.
std::string text_language_of(const Collection& collection, std::span<const BoundStep> path);

struct OrderedPath {
  std::span<const BoundStep> steps;
  bool descending;
};
// Whether a composite index of indexingPolicy has these paths in this order, all directions the same or all
// opposite.
bool has_composite_index(const Collection& collection, std::span<const OrderedPath> paths);

}  // namespace quire::sql
