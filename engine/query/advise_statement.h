// ADVISE container: the advisor over one snapshot of all containers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advisor/workload.h"
#include "engine/query/open_containers.h"
#include "engine/query/session.h"
#include "sql/error.h"

namespace quire::engine {

struct AdviseRequest {
  std::string_view container;
  // Of a statement that was prepared on a container: it stands for whatever name is given. May be null.
  std::shared_ptr<ContainerStore> scope;
  Session::Current transaction;  // within BEGIN: what it sees
  WorkOptions work = {};
};

// Rows as JSON; container_not_found, with the nearest name; interrupted.
Result<std::vector<std::string>> run_advise(OpenContainers& containers, const Workload& workload,
                                            const AdviseRequest& request);

}  // namespace quire::engine
