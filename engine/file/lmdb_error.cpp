#include "engine/file/lmdb_error.h"

#include <fmt/format.h>
#include <lmdb.h>

#include <cerrno>

namespace quire::engine {
namespace {

struct Row {
  int code;
  ErrorCode error;
  std::string_view reason;
};

constexpr Row kRows[] = {
    {MDB_BAD_DBI, ErrorCode::container_not_found,
     "the container was dropped, or opened only after this transaction or snapshot began"},
    {MDB_READERS_FULL, ErrorCode::busy, "all 1,024 places for open snapshots are taken; end some"},
    {MDB_DBS_FULL, ErrorCode::limit_exceeded, "this process has as many containers open as it can"},
    {MDB_MAP_FULL, ErrorCode::busy, "the file's map has to grow first; run the transaction again"},
    {MDB_TXN_FULL, ErrorCode::limit_exceeded,
     "the transaction changes too many pages; commit in smaller parts"},
    {MDB_BAD_TXN, ErrorCode::misuse,
     "the transaction has ended, or failed before and can only be rolled back"},
    {MDB_BAD_VALSIZE, ErrorCode::limit_exceeded, "a key is empty or too long, or a record too long"},
    {MDB_KEYEXIST, ErrorCode::conflict, "the key is there already"},
    {MDB_CORRUPTED, ErrorCode::corrupt, "the file is damaged"},
    {MDB_PAGE_NOTFOUND, ErrorCode::corrupt, "the file is damaged: a page is missing"},
    {MDB_PAGE_FULL, ErrorCode::corrupt, "the file is damaged: a page overflows"},
    {MDB_CURSOR_FULL, ErrorCode::corrupt, "the file is damaged: a tree is too deep"},
    {MDB_PANIC, ErrorCode::io, "an earlier write failed half-way; close the database and open it again"},
    {MDB_INVALID, ErrorCode::not_a_database, "it is not a Quire file"},
    {MDB_VERSION_MISMATCH, ErrorCode::not_a_database, "it, or its lock file, is of another version of LMDB"},
    {ESTALE, ErrorCode::busy,
     "another process writes to the file by another lock file; it was moved or linked while open: close it "
     "there"},
    {ENOMEM, ErrorCode::out_of_memory, "memory or address space ran out"},
    {ENOSPC, ErrorCode::no_space, "the disk is full"},
    {EDQUOT, ErrorCode::no_space, "the disk quota is used up"},
    {EFBIG, ErrorCode::no_space, "the file would pass the largest size allowed"},
    {EACCES, ErrorCode::permission, "permission is denied"},
    {EPERM, ErrorCode::permission, "permission is denied"},
    {EROFS, ErrorCode::permission, "the file system is read-only"},
    {ENOENT, ErrorCode::cannot_open, "there is no such file or folder"},
    {ENOTDIR, ErrorCode::cannot_open, "a part of the path is no folder"},
    {EISDIR, ErrorCode::cannot_open, "it is a folder"},
    {ENAMETOOLONG, ErrorCode::cannot_open, "the path is too long"},
    {ELOOP, ErrorCode::cannot_open, "the path goes round in symbolic links"},
    {EMFILE, ErrorCode::cannot_open, "the process has too many files open"},
    {ENFILE, ErrorCode::cannot_open, "the system has too many files open"},
    {EAGAIN, ErrorCode::cannot_open, "another program holds a lock on it"},
    {EBUSY, ErrorCode::cannot_open, "another program holds a lock on it"},
};

}  // namespace

Error lmdb_error(int code, std::string_view doing) {
  for (const Row& row : kRows)
    if (row.code == code) {
      // The file itself is in order then.
      if (code == MDB_BAD_DBI) return {row.error, std::string(row.reason)};
      return {row.error, fmt::format("Quire could not {}: {}", doing, row.reason)};
    }
  return {ErrorCode::io, fmt::format("Quire could not {}: {}", doing, mdb_strerror(code))};
}

std::string shown_path(std::string_view path) {
  constexpr size_t kMostBytes = 500;
  return shortened(path, kMostBytes);
}

std::unexpected<Error> cannot(int code, std::string_view doing, std::string_view path) {
  return std::unexpected(lmdb_error(code, fmt::format("{} '{}'", doing, shown_path(path))));
}

std::unexpected<Error> cannot(std::string_view doing) {
  return std::unexpected(lmdb_error(errno == 0 ? EIO : errno, doing));
}

}  // namespace quire::engine
