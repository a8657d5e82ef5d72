// What keeps others away is the lock that LMDB itself takes on the first byte of its lock file: shared by
// each process that has the environment open, exclusive while one sets it up. Held exclusively here, by open
// file description, it says that nobody has the file open; who comes meanwhile waits for it. The copy is made
// without LMDB's locks.
//
// Who waited finds the lock file as the old file left it, which a new file must not meet: its first bytes,
// LMDB's magic number, are set to zero, so that it is refused; open_shared_file() sees that the file is
// another one now and tries again.
#include "engine/file/compact_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "engine/file/file_format.h"
#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/open_file.h"
#include "engine/file/snapshot_pages.h"

namespace quire::engine {
namespace {

std::unexpected<Error> cannot(int code, std::string_view doing, const std::string& path) {
  return std::unexpected(lmdb_error(code, fmt::format("{} '{}'", doing, path)));
}

// Removes the unfinished copy.
class CopyGuard {
 public:
  explicit CopyGuard(std::string path) : path_(std::move(path)) {}
  ~CopyGuard() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  CopyGuard(const CopyGuard&) = delete;
  CopyGuard& operator=(const CopyGuard&) = delete;
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

// What is to be compacted must be a whole Quire file: of anything else nothing is touched.
Result<struct stat> look_at(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) return cannot(errno, "open", path);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::not_a_database,
                fmt::format("'{}' is not a Quire file: it is no regular file", path));
  QUIRE_ASSIGN(const bool is_new, check_pages(file.number(), path));
  if (is_new) return fail(ErrorCode::not_a_database, fmt::format("'{}' is empty: not a Quire file", path));
  return status;
}

// LMDB copies without a look at what it copies.
Result<void> check_all_pages(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return cannot(errno, "open", path);
  return check_unused(file.number(), path);
}

Result<Descriptor> lock_exclusively(const std::string& path) {
  const std::string lock_path = path + "-lock";
  Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.number() < 0) return cannot(errno, "open", lock_path);
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_len = 1;
  if (fcntl(lock.number(), F_OFD_SETLK, &range) == 0) return lock;
  if (errno != EAGAIN && errno != EACCES) return cannot(errno, "lock", lock_path);
  return fail(ErrorCode::busy,
              fmt::format("'{}' is open, here or in another process: it can be compacted only "
                          "when nobody uses it. A backup is compact too, and may be made at any time",
                          path));
}

Result<void> write_copy(const std::string& path, const std::string& copy, uint64_t bytes) {
  MDB_env* created = nullptr;
  int code = mdb_env_create(&created);
  const EnvironmentHandle environment(created);
  if (code == MDB_SUCCESS) code = mdb_env_set_mapsize(created, bytes);
  if (code == MDB_SUCCESS)
    code = mdb_env_open(created, path.c_str(), MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK, 0);
  if (code != MDB_SUCCESS) return cannot(code, "open", path);
  code = mdb_env_copy2(created, copy.c_str(), MDB_CP_COMPACT);
  if (code != MDB_SUCCESS) return cannot(code, "copy to", copy);
  return {};
}

Result<void> sync_to_disk(const std::string& path, int flags) {
  const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (file.number() < 0 || fsync(file.number()) != 0) return cannot(errno, "write to the disk", path);
  return {};
}

Result<Compaction> compact(const std::string& path) {
  QUIRE_TRY(look_at(path));
  QUIRE_ASSIGN(const Descriptor lock, lock_exclusively(path));
  QUIRE_ASSIGN(const struct stat before, look_at(path));
  QUIRE_TRY(check_all_pages(path));

  const std::string copy = path + "-compact";
  ::unlink(copy.c_str());  // of a compaction that was killed
  CopyGuard guard(copy);
  QUIRE_TRY(write_copy(path, copy, static_cast<uint64_t>(before.st_size)));
  if (chmod(copy.c_str(), before.st_mode & 07777) != 0) return cannot(errno, "set the permissions of", copy);
  QUIRE_TRY(sync_to_disk(copy, O_RDWR));
  struct stat after;
  if (stat(copy.c_str(), &after) != 0) return cannot(errno, "look at", copy);
  constexpr char kNoMagic[4] = {};
  if (pwrite(lock.number(), kNoMagic, sizeof kNoMagic, 0) != sizeof kNoMagic)
    return cannot(errno, "write to", path + "-lock");
  if (std::rename(copy.c_str(), path.c_str()) != 0) return cannot(errno, "rename", copy);
  guard.keep();
  QUIRE_TRY(sync_to_disk(std::filesystem::path(path).parent_path().string(), O_RDONLY | O_DIRECTORY));
  return Compaction{static_cast<uint64_t>(before.st_size), static_cast<uint64_t>(after.st_size)};
}

}  // namespace

Result<Compaction> compact_file(const std::string& given) {
  std::error_code failure;
  // A link stays one.
  const std::string path = std::filesystem::canonical(given, failure).string();
  if (failure) return cannot(failure.value(), "open", given);
  Compaction done;
  QUIRE_TRY(while_not_open(path, [&]() -> Result<void> {
    QUIRE_ASSIGN(done, compact(path));
    return {};
  }));
  return done;
}

}  // namespace quire::engine
