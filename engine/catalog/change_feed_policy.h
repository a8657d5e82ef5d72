// "changeFeedPolicy": {"retentionDuration": minutes}, as Cosmos names it: for how long the change feed keeps
// all versions of items and their deletions. Latest versions are kept in any case.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/error.h"

namespace quire::engine {

// A week: generous for a feed that is followed, and a bound on what it may add to the file.
inline constexpr uint32_t kLongestRetentionMinutes = 7 * 24 * 60;

// 0 for null: nothing is kept. invalid_definition.
Result<uint32_t> retention_minutes_from_json(std::string_view json);

}  // namespace quire::engine
