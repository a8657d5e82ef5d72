// Paths as a policy writes them: /address/zip, /"odd name"/x, /tags/[], with /? or /* at the end of a
// pattern, and tuples: /items/[]/{a, b/c}/? stands for two patterns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/index/indexing_policy.h"
#include "sql/error.h"

namespace quire::engine {

Result<std::vector<PathPattern>> parse_pattern(std::string_view text);
// What a new policy may not have in its tuples, though parse_pattern reads it, as a file may hold it.
Result<void> check_tuples(std::string_view text);
// Whether a tuple has blanks or paths of several names, which earlier versions took for other names.
bool has_tuple_of_paths(std::string_view text);
// Without /?, /* and tuples. `what`: whose path it is, for messages.
Result<std::vector<sql::IndexStep>> parse_plain_path(std::string_view text, std::string_view what);

std::string pattern_text(const PathPattern& pattern);

}  // namespace quire::engine
