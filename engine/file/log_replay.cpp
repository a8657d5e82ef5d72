#include "engine/file/log_replay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/file/commit_log.h"
#include "engine/file/disk_room.h"
#include "engine/file/file_format.h"
#include "engine/file/file_state.h"
#include "engine/file/format_upgrades.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/lmdb_value.h"
#include "engine/file/log_records.h"
#include "engine/file/snapshot_pages.h"
#include "engine/file/unshared_environment.h"

namespace quire::engine {
namespace {

using namespace log_layout;

struct AbortTransaction {
  void operator()(MDB_txn* transaction) const noexcept { mdb_txn_abort(transaction); }
};

class Replay {
 public:
  Replay(int descriptor, const std::string& path) : descriptor_(descriptor), path_(path) {}

  // The commits behind an anchor with a log, to which the file has been taken back.
  Result<void> run(uint64_t file_bytes, const AnchorRecord& anchor) {
    QUIRE_TRY(begin(file_bytes));
    QUIRE_ASSIGN(const bool is_there, read_log());
    if (!is_there) return damaged("the log of its last commits is not there");
    const auto records = LogRecords::find(log_, LogStart::behind(anchor));
    if (!records) return damaged("the log of its last commits is another one's");
    return make_all(*records);
  }

  // What was pending behind the newest commit, where there was no sync. It counts but once.
  Result<void> run_pending(uint64_t file_bytes) {
    QUIRE_TRY(begin(file_bytes));
    const uint64_t newest = mdb_txn_id(transaction_.get()) - 1;
    QUIRE_ASSIGN(const MDB_dbi meta, table_of(kMetaTable));
    const auto place = find_place(transaction_.get(), meta, descriptor_);
    if (!place) return {};
    QUIRE_TRY(read_log());
    if (const auto records = LogRecords::find(log_, LogStart::behind_commit(newest)))
      QUIRE_TRY(make_all(*records));
    transaction_.reset();
    QUIRE_TRY(forget(*place));
    if (fdatasync(descriptor_) != 0) return cannot_write();
    return {};
  }

  Result<void> forget_pending(uint64_t file_bytes) {
    QUIRE_TRY(begin(file_bytes));
    QUIRE_ASSIGN(const MDB_dbi meta, table_of(kMetaTable));
    const auto place = find_place(transaction_.get(), meta, descriptor_);
    return place ? forget(*place) : Result<void>();
  }

 private:
  // As one commit.
  Result<void> make_all(const LogRecords& records) {
    QUIRE_ASSIGN(const bool is_whole,
                 records.for_each_change([&](const LoggedChange& change) -> Result<void> {
                   QUIRE_ASSIGN(const MDB_dbi table, table_of(change.table));
                   return change.record ? put(table, change.key, *change.record) : erase(table, change.key);
                 }));
    if (!is_whole) return damaged("the log of its last commits is cut off");
    return check(mdb_txn_commit(transaction_.release()));
  }

  // The headers alone: nothing counts without them.
  Result<void> forget(const Place& place) const {
    constexpr char kNothing[kHeaderBytes] = {};
    for (uint64_t half = 0; half < 2; ++half) {
      const auto at = static_cast<off_t>(place.at + half_at(half, place.bytes));
      if (pwrite(descriptor_, kNothing, sizeof kNothing, at) != sizeof kNothing) return cannot_write();
    }
    return {};
  }

  static std::unexpected<Error> cannot_write() {
    return std::unexpected(lmdb_error(errno == 0 ? EIO : errno, "write to the file"));
  }
  Result<void> check(int code) const {
    if (code == MDB_SUCCESS) return {};
    return std::unexpected(lmdb_error(explain_io_error(descriptor_, code),
                                      fmt::format("make the last commits of '{}' again", path_)));
  }
  std::unexpected<Error> damaged(std::string_view what) const {
    return fail(ErrorCode::corrupt, damaged_message(path_, what));
  }

  // What the log can add to the file is a multiple of its size, a page and the way to it for each change.
  Result<void> begin(uint64_t file_bytes) {
    constexpr uint64_t kRoom = uint64_t{4} << 30;
    int code = open_unshared(path_, file_bytes, kRoom, environment_);
    MDB_txn* begun = nullptr;
    if (code == MDB_SUCCESS) code = mdb_txn_begin(environment_.get(), nullptr, 0, &begun);
    transaction_.reset(begun);
    return check(code);
  }

  // A copy: what is made again may be anything, in a file from a stranger the log's own row.
  Result<bool> read_log() {
    QUIRE_ASSIGN(const MDB_dbi meta, table_of(kMetaTable));
    MDB_val key = lmdb_value(kRow), value;
    const int code = mdb_get(transaction_.get(), meta, &key, &value);
    if (code == MDB_NOTFOUND || (code == MDB_SUCCESS && value.mv_size < CommitLog::kLeastBytes)) return false;
    QUIRE_TRY(check(code));
    log_.assign(static_cast<const char*>(value.mv_data), std::min(value.mv_size, CommitLog::kMostBytes));
    return true;
  }

  Result<MDB_dbi> table_of(std::string_view name) {
    const auto found = tables_.find(name);
    if (found != tables_.end()) return found->second;
    MDB_dbi table = 0;
    const std::string text(name);
    const int code = mdb_dbi_open(transaction_.get(), text.c_str(), 0, &table);
    if (code == MDB_NOTFOUND) return damaged("a table of its last commits is not there");
    QUIRE_TRY(check(code));
    tables_.emplace(text, table);
    return table;
  }

  Result<void> put(MDB_dbi table, std::string_view key, std::string_view record) {
    MDB_val wanted = lmdb_value(key);
    MDB_val value = lmdb_value(record);
    return check(mdb_put(transaction_.get(), table, &wanted, &value, 0));
  }
  Result<void> erase(MDB_dbi table, std::string_view key) {
    MDB_val wanted = lmdb_value(key);
    const int code = mdb_del(transaction_.get(), table, &wanted, nullptr);
    return code == MDB_NOTFOUND ? Result<void>() : check(code);
  }

  int descriptor_;
  const std::string& path_;
  EnvironmentHandle environment_;
  std::unique_ptr<MDB_txn, AbortTransaction> transaction_;
  std::string log_;
  std::map<std::string, MDB_dbi, std::less<>> tables_;
};

Result<uint64_t> bytes_of(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return std::unexpected(lmdb_error(errno, "look at the file"));
  return static_cast<uint64_t>(status.st_size);
}

Result<uint64_t> checked_bytes(int descriptor, const std::string& path, bool is_trusted) {
  QUIRE_TRY(check_pages(descriptor, path));
  QUIRE_TRY(check_unused(descriptor, path, is_trusted));
  return bytes_of(descriptor);
}

}  // namespace

Result<void> replay_log(int descriptor, const std::string& path, const AnchorRecord& anchor,
                        bool is_trusted) {
  QUIRE_ASSIGN(const uint64_t bytes, checked_bytes(descriptor, path, is_trusted));
  return Replay(descriptor, path).run(bytes, anchor);
}

Result<void> replay_pending(int descriptor, const std::string& path, bool is_trusted) {
  QUIRE_ASSIGN(const uint64_t bytes, checked_bytes(descriptor, path, is_trusted));
  return Replay(descriptor, path).run_pending(bytes);
}

Result<void> forget_pending(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.number() < 0) return cannot(errno, "open", path);
  QUIRE_ASSIGN(const uint64_t bytes, bytes_of(file.number()));
  return Replay(file.number(), path).forget_pending(bytes);
}

}  // namespace quire::engine
