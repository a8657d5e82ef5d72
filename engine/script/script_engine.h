// Server-side code of a database: the implementation of what engine/query asks for (scripts.h).
#pragma once

#include <memory>

#include "engine/query/open_containers.h"
#include "engine/query/scripts.h"
#include "engine/script/native_procedures.h"

namespace quire::engine {

// In a build without JavaScript, one that knows native procedures alone. Must outlive neither.
// `trusts_all`: scripts run wherever they were stored; otherwise those alone that have a seal of this machine
// and user (script_seals.h).
std::unique_ptr<Scripts> make_scripts(OpenContainers& containers, const NativeProcedures& natives,
                                      bool trusts_all);

}  // namespace quire::engine
