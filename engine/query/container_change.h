// CREATE, ALTER and DROP CONTAINER.
#pragma once

#include "engine/query/open_containers.h"
#include "sql/error.h"
#include "sql/parse/ast.h"

namespace quire::engine {

// Errors: invalid_definition, container_exists, container_not_found, and those of the file.
Result<void> change_containers(OpenContainers& containers, const sql::Statement& statement,
                               const WorkOptions& building);

}  // namespace quire::engine
