// LMDB's return codes and errno as errors of ours.
#pragma once

#include <string_view>

#include "sql/error.h"

namespace quire::engine {

// `doing` completes "Quire could not ...": "open 'a.quire'".
Error lmdb_error(int code, std::string_view doing);

}  // namespace quire::engine
