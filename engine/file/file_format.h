// The format of a file: what is checked before LMDB may open it, and the rows of table "meta" that say whose
// it is.
//
//   meta row      value
//   "format"      "quire", three zero bytes, then the format version: 4 bytes, little-endian
//   "database"    the database number: 4 random bytes
//   "created"     Unix seconds, 8 bytes, little-endian
//   "log"         of durable commits: commit_log.h
//   "dropped/" T  empty: table T was dropped, and waits to be removed
//   (engine/catalog keeps its counter of containers here, too, and the seals of scripts: script_seals.h)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/file/file_state.h"
#include "engine/file/page_layout.h"
#include "sql/error.h"

namespace quire::engine {

// Looks at a file's first pages without mapping it. LMDB itself takes a cut-off file and dies of SIGBUS
// later. True if the file is new (empty); not_a_database, corrupt, truncated, io.
Result<bool> check_pages(int descriptor, std::string_view path);

// What a user is told of a damaged file, and what to do.
std::string damaged_message(std::string_view path, std::string_view what);

// Of the last commit. not_a_database, corrupt.
Result<layout::Meta> newest_meta(int descriptor, std::string_view path);

// The meta page of a commit; nothing if it has been overwritten since. corrupt.
Result<std::optional<layout::Meta>> meta_of(int descriptor, uint64_t transaction);

// Opens "meta" and "catalog" of a file whose state nobody else uses yet, making them in a new file, and
// upgrading a file of an older format; removes tables that were dropped. not_a_database, newer_format,
// read_only. `check_commit` is asked before any page of the file is read, about the commit that is being
// read; false: about a newer one.
Result<FileState::Facts> open_format(FileState& state, std::string_view path,
                                     const std::function<Result<bool>(uint64_t commit)>& check_commit);

std::string dropped_table_row(std::string_view table);

// Writes row "format" of table "meta" once more, as it is: LMDB makes no commit of a transaction that writes
// nothing. LMDB's code.
int rewrite_format_row(MDB_txn* transaction, MDB_dbi meta) noexcept;

}  // namespace quire::engine
