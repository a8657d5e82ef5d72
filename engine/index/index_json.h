// An index's row: its definition as JSON.
//
//   {"name": "byCity", "parts": [{"path": ["location", "city"]}], "holds": "every_item"}
//
// and where they say anything "descending" in a part, "unique", "condition", "policy", "building". A step of
// a path is a name, or null for each element of an array.
#pragma once

#include <string>
#include <string_view>

#include "engine/index/index_set.h"
#include "sql/error.h"

namespace quire::engine {

std::string index_to_json(const Index& index);
// Without the number. corrupt if it is none.
Result<Index> index_from_json(std::string_view json);

}  // namespace quire::engine
