// What vectorEmbeddingPolicy, fullTextPolicy and geospatialConfig may say in a container's definition, as
// Azure takes them: what queries do not know they would pass over without a word.
#pragma once

#include <string_view>

#include "sql/error.h"

namespace quire::sql {

// `json`: the member's value, null for none. invalid_definition, which names the member and what it may be.
Result<void> check_vector_policy(std::string_view json);
Result<void> check_full_text_policy(std::string_view json);
// Geography alone: shapes lie on the globe here, and what a plane is to give would be metres on it.
Result<void> check_geospatial_config(std::string_view json);

}  // namespace quire::sql
