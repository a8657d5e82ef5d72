// A file without its free pages in the place of the one that is there.
#pragma once

#include <cstdint>
#include <string>

#include "engine/file/page_reader.h"
#include "sql/error.h"

namespace quire::engine {

struct Compaction {
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;
};

// Writes a copy beside the file, without its free pages and in the order of its keys, and renames it over the
// file once it is on the disk: whenever the machine stops, there is one whole file under the path. Nobody may
// have the file open, in this process or another: busy. While it is being copied, who opens it waits. Errors
// besides: cannot_open, permission, not_a_database, no_space, io; the file is as it was then. `on_bytes` is
// told of those that were read, to look at the pages first, and then of those that were written.
Result<Compaction> compact_file(const std::string& path, const OnBytes& on_bytes = nullptr);

}  // namespace quire::engine
