// Server-side code of a database: the implementation of what engine/query asks for (scripts.h).
#pragma once

#include <memory>

#include "engine/query/open_containers.h"
#include "engine/query/scripts.h"
#include "engine/script/native_procedures.h"

namespace quire::engine {

// In a build without JavaScript, one that knows native procedures alone. Must outlive neither.
std::unique_ptr<Scripts> make_scripts(OpenContainers& containers, const NativeProcedures& natives);

}  // namespace quire::engine
