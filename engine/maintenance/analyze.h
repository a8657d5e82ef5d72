// ANALYZE: looks at every entry of the indexes, so that queries are planned by what is there.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/container/long_work.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

// The indexes of one container, or of all where the name is empty; how many entries it looked at.
// container_not_found; interrupted, and nothing changed; busy; corrupt.
Result<uint64_t> analyze_database(Environment& environment, std::string_view container = {},
                                  const WorkOptions& options = {});

}  // namespace quire::engine
