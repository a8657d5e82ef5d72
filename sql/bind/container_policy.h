// What the policies in a container's definition say of the values at a path; empty where they say nothing.
#pragma once

#include <span>
#include <string>

#include "sql/bind/bound.h"
#include "sql/source.h"

namespace quire::sql {

// vectorEmbeddingPolicy: "cosine", "dotproduct" or "euclidean".
std::string distance_function_of(const Collection& collection, std::span<const BoundStep> path);

}  // namespace quire::sql
