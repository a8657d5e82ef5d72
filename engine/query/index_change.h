// CREATE INDEX and DROP INDEX: changes of member "indexes" of a container's definition.
#pragma once

#include "engine/container/index_build.h"
#include "engine/query/open_containers.h"
#include "sql/error.h"
#include "sql/parse/ast.h"

namespace quire::engine {

// container_not_found, invalid_definition (naming the path or the limit), also for a name that is taken;
// not_found; conflict if a unique index would have items with the same values; interrupted, the index then
// being built when the container is opened next.
Result<void> change_indexes(OpenContainers& containers, const sql::Statement& statement,
                            const WorkOptions& building);

}  // namespace quire::engine
