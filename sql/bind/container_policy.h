// What the policies in a container's definition say of the values at a path; empty where they say nothing.
#pragma once

#include <span>
#include <string>

#include "sql/bind/bound.h"
#include "sql/source.h"

namespace quire::sql {

// vectorEmbeddingPolicy: "cosine", "dotproduct" or "euclidean".
std::string distance_function_of(const Collection& collection, std::span<const BoundStep> path);
// fullTextPolicy: the code of a language, the policy's default if it does not name the path.
std::string text_language_of(const Collection& collection, std::span<const BoundStep> path);

}  // namespace quire::sql
