// LMDB's copy of its trees, which tells how far it is and can be ended. Internal to engine/file.
#pragma once

#include <lmdb.h>

#include <string>

#include "engine/file/page_reader.h"
#include "sql/error.h"

namespace quire::engine {

// Writes the newest commit to a new file, without free pages and in the order of the keys. LMDB's code, errno
// (EEXIST where there is a file), or the error of `on_bytes`; what has been written stays.
Result<int> copy_tree(MDB_env* environment, const std::string& path, const OnBytes& on_bytes);

}  // namespace quire::engine
