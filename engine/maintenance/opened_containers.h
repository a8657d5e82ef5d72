// The containers of a file, opened, and a snapshot that sees all of them: tables are visible to transactions
// that begin after they were opened. Each store is one of its own: what the process has in memory for others
// is not what maintenance looks at.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/container/container.h"
#include "engine/file/environment.h"
#include "engine/maintenance/check.h"
#include "sql/error.h"

namespace quire::engine {

struct OpenedContainers {
  std::vector<std::shared_ptr<ContainerStore>> stores;
  ReadTransaction snapshot;
};

// One container, or all where the name is empty. container_not_found; busy; corrupt, but where there is a
// report: then it is a finding, and the container is left out.
Result<OpenedContainers> open_containers(Environment& environment, std::string_view container,
                                         CheckReport* report);

}  // namespace quire::engine
