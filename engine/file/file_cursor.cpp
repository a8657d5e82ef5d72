#include "engine/file/file_cursor.h"

#include <lmdb.h>

#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"

namespace quire::engine {

void FileCursor::Close::operator()(MDB_cursor* cursor) const noexcept {
  mdb_cursor_close(cursor);
}

Result<FileCursor> FileCursor::open(const Transaction& transaction, Table table) {
  if (!transaction.state().tables().is_current(table))
    return std::unexpected(lmdb_error(MDB_BAD_DBI, "open a cursor"));
  MDB_cursor* cursor = nullptr;
  const int code = mdb_cursor_open(transaction.handle(), table.slot(), &cursor);
  // A slot that this transaction does not know is an invalid argument to mdb_cursor_open.
  if (code != MDB_SUCCESS)
    return std::unexpected(lmdb_error(code == EINVAL ? MDB_BAD_DBI : code, "open a cursor"));
  return FileCursor(cursor);
}

Result<bool> FileCursor::move(int operation) {
  MDB_val key, record;
  const int code = mdb_cursor_get(cursor_.get(), &key, &record, static_cast<MDB_cursor_op>(operation));
  if (code == MDB_SUCCESS) [[likely]] {
    key_ = {static_cast<const char*>(key.mv_data), key.mv_size};
    record_ = {static_cast<const char*>(record.mv_data), record.mv_size};
    return true;
  }
  if (code == MDB_NOTFOUND) return false;
  return std::unexpected(lmdb_error(code, "read the file"));
}

Result<bool> FileCursor::first() {
  return move(MDB_FIRST);
}
Result<bool> FileCursor::last() {
  return move(MDB_LAST);
}
Result<bool> FileCursor::next() {
  return move(MDB_NEXT);
}
Result<bool> FileCursor::previous() {
  return move(MDB_PREV);
}

Result<bool> FileCursor::seek(Bytes target) {
  if (target.empty()) return first();
  MDB_val key{target.size(), const_cast<char*>(target.data())}, record;
  const int code = mdb_cursor_get(cursor_.get(), &key, &record, MDB_SET_RANGE);
  if (code == MDB_NOTFOUND) return false;
  if (code != MDB_SUCCESS) return std::unexpected(lmdb_error(code, "read the file"));
  key_ = {static_cast<const char*>(key.mv_data), key.mv_size};
  record_ = {static_cast<const char*>(record.mv_data), record.mv_size};
  return true;
}

}  // namespace quire::engine
