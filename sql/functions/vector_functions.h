// The forms of VECTORDISTANCE that the binder puts in place of the plain one.
#pragma once

#include <string_view>

#include "sql/functions/function.h"

namespace quire::sql {

bool is_vector_distance(const Function& function) noexcept;
// The name of one, in any case.
bool is_distance_function(std::string_view name) noexcept;
// With another default than the cosine, as a container's vector policy may name it; the plain form if there
// is no distance function of that name.
const Function& vector_distance_by(std::string_view distance_function) noexcept;
// Gives what grows as the vectors get closer, whatever the distance function: what ORDER BY and RRF sort by.
const Function& vector_closeness(const Function& vector_distance) noexcept;

}  // namespace quire::sql
