// The format of a file: what is checked before LMDB may open it, and the rows of table "meta" that say whose
// it is.
//
//   meta row      value
//   "format"      "quire", three zero bytes, then the format version: 4 bytes, little-endian
//   "database"    the database number: 4 random bytes
//   "created"     Unix seconds, 8 bytes, little-endian
//   "dropped/" T  empty: table T was dropped, and waits to be removed
//   (engine/catalog keeps its counter of containers here, too)
#pragma once

#include <string>
#include <string_view>

#include "engine/file/file_state.h"
#include "sql/error.h"

namespace quire::engine {

// Looks at a file's first pages without mapping it. LMDB itself takes a cut-off file and dies of SIGBUS
// later. True if the file is new (empty); not_a_database, truncated, io.
Result<bool> check_pages(int descriptor, std::string_view path);

// Opens "meta" and "catalog" of an environment that nobody else uses yet, making them in a new file, and
// upgrading a file of an older format; removes tables that were dropped. not_a_database, newer_format,
// read_only.
Result<FileState::Facts> open_format(MDB_env* environment, WriteLock& lock, Clock::time_point deadline,
                                     bool read_only, std::string_view path);

std::string dropped_table_row(std::string_view table);

}  // namespace quire::engine
