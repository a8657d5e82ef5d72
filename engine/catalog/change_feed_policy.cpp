#include "engine/catalog/change_feed_policy.h"

#include <fmt/format.h>

#include <cmath>

#include "sql/value/arena.h"
#include "sql/value/json.h"

namespace quire::engine {

Result<uint32_t> retention_minutes_from_json(std::string_view json) {
  sql::JsonReader reader;
  sql::Arena arena;
  QUIRE_ASSIGN(const sql::Value policy, reader.to_value(json, arena));
  if (policy.is_null()) return 0;
  const sql::Value minutes = policy.is_object() ? policy.member("retentionDuration") : sql::Value();
  const bool is_alone = policy.is_object() && policy.size() == 1;
  if (!is_alone || !minutes.is_number() || minutes.as_double() < 0 ||
      minutes.as_double() > kLongestRetentionMinutes ||
      std::floor(minutes.as_double()) != minutes.as_double())
    return fail(ErrorCode::invalid_definition,
                fmt::format(R"("changeFeedPolicy" must look like {{"retentionDuration": 60}}: for how many )"
                            "minutes all versions and deletes are kept, 0 (none) to {}",
                            kLongestRetentionMinutes));
  return static_cast<uint32_t>(minutes.as_double());
}

}  // namespace quire::engine
