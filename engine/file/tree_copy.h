// LMDB's copy of its trees, which tells how far it is and can be ended. Internal to engine/file.
#pragma once

#include <lmdb.h>
#include <sys/types.h>

#include <functional>
#include <string>

#include "engine/file/page_reader.h"
#include "sql/error.h"

namespace quire::engine {

// Reads the pages of the same commit in the same order, and tells of each: an error ends it.
using WalkAhead = std::function<void(const OnBytes& on_bytes)>;

// Writes the newest commit to a new file, which those of `mode` may use whom the umask leaves, without free
// pages and in the order of the keys. LMDB's code, errno
// (EEXIST where there is a file), or the error of `on_bytes`; what has been written stays.
// LMDB waits for each page of a file that is not in memory; `walk_ahead`, if not empty, has a thread that
// brings them a little before.
Result<int> copy_tree(MDB_env* environment, const std::string& path, mode_t mode, const OnBytes& on_bytes,
                      const WalkAhead& walk_ahead = nullptr);

}  // namespace quire::engine
