// The paths that items have and an indexing policy covers, found before the write transaction in which they
// get their numbers: by several threads, while others write.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/container/container.h"
#include "engine/container/long_work.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

struct PolicyPaths {
  // They hold while the container's list of indexes, and its items, are those.
  uint64_t index_version = 0;
  Lsn last_lsn{};
  // Those that have no index yet, each once. An empty one as of EntryExtractor::Allot.
  std::vector<std::vector<sql::IndexStep>> paths;
};

// Nothing where no policy waits to be built, where there are so few items that it does not pay, or somebody
// writes to the container meanwhile. interrupted, corrupt, busy, io.
Result<std::optional<PolicyPaths>> find_policy_paths(Environment& environment, ContainerStore& store,
                                                     LongWork& work);

}  // namespace quire::engine
