// The file is copied while nobody else has it open (sole_use.h), without LMDB's locks; who comes meanwhile
// waits.
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
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "engine/file/anchor.h"
#include "engine/file/disk_order.h"
#include "engine/file/file_format.h"
#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/log_replay.h"
#include "engine/file/map_advice.h"
#include "engine/file/open_file.h"
#include "engine/file/snapshot_pages.h"
#include "engine/file/sole_use.h"
#include "engine/file/standard_descriptors.h"
#include "engine/file/tree_copy.h"

namespace quire::engine {
namespace {

// What is to be compacted must be a whole Quire file: of anything else nothing is touched.
Result<struct stat> look_at(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) return cannot(errno, "open", path);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::not_a_database,
                fmt::format("'{}' is not a Quire file: it is no regular file", shown_path(path)));
  QUIRE_ASSIGN(const bool is_new, check_pages(file.number(), path));
  if (is_new)
    return fail(ErrorCode::not_a_database, fmt::format("'{}' is empty: not a Quire file", shown_path(path)));
  return status;
}

// LMDB copies without a look at what it copies.
Result<void> check_all_pages(const std::string& path, const OnBytes& on_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return cannot(errno, "open", path);
  return check_unused(file.number(), path, false, on_bytes);
}

Result<void> write_copy(const std::string& path, const std::string& copy, const struct stat& status,
                        const OnBytes& on_bytes) {
  const auto bytes = static_cast<uint64_t>(status.st_size);
  MDB_env* created = nullptr;
  int code = mdb_env_create(&created);
  const EnvironmentHandle environment(created);
  if (code == MDB_SUCCESS) code = mdb_env_set_mapsize(created, bytes);
  const bool is_read_exactly = bytes > half_of_memory();
  const unsigned flags = MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK | (is_read_exactly ? MDB_NORDAHEAD : 0);
  if (code == MDB_SUCCESS) code = mdb_env_open(created, path.c_str(), flags, 0);
  if (code != MDB_SUCCESS) return cannot(code, "open", path);
  WalkAhead walk_ahead;
  if (is_read_exactly)
    walk_ahead = [&path](const OnBytes& on_read) {
      const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      (void)walk_unused(file.number(), path, {.asks_for_long_data = true}, on_read);
    };
  QUIRE_ASSIGN(code, copy_tree(created, copy, status.st_mode, on_bytes, walk_ahead));
  if (code != MDB_SUCCESS) return cannot(code, "copy to", copy);
  return {};
}

struct FileInTurn {
  Descriptor file;
  ProcessMark mark;
};
// While this compaction waited for its turn, another one may have put its copy in the file's place: then the
// turn is to be had at that.
Result<FileInTurn> take_turn_at(const std::string& path) {
  constexpr std::chrono::milliseconds kPatience{100};
  for (;;) {
    FileInTurn taken;
    taken.file = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct stat status = {};
    if (taken.file.number() < 0 || fstat(taken.file.number(), &status) != 0)
      return cannot(errno, "open", path);
    QUIRE_ASSIGN(taken.mark, ProcessMark::set(taken.file.number(), path));
    QUIRE_TRY(take_turn(taken.file.number(), path, false, Clock::now() + kPatience));
    QUIRE_ASSIGN(const struct stat now, look_at(path));
    if (now.st_dev == status.st_dev && now.st_ino == status.st_ino) return taken;
  }
}

// Who may use the file may use what takes its place: nobody else, and nobody less.
Result<void> give_to_owner(const std::string& copy, const struct stat& before) {
  struct stat made;
  if (stat(copy.c_str(), &made) != 0) return cannot(errno, "look at", copy);
  const bool is_others = made.st_uid != before.st_uid || made.st_gid != before.st_gid;
  if (is_others && chown(copy.c_str(), before.st_uid, before.st_gid) != 0)
    return cannot(errno, "keep the owner and the group of the file for", copy);
  if (chmod(copy.c_str(), before.st_mode & 07777) != 0) return cannot(errno, "set the permissions of", copy);
  return {};
}

Result<Compaction> compact(const std::string& path, const OnBytes& on_bytes) {
  QUIRE_ASSIGN(const struct stat found, look_at(path));
  if (found.st_uid != geteuid() && geteuid() != 0)
    return fail(ErrorCode::permission,
                fmt::format("'{}' belongs to another user, who alone can compact it: a compaction puts a new "
                            "file in its place, which would be yours",
                            shown_path(path)));
  QUIRE_ASSIGN(const FileInTurn taken, take_turn_at(path));
  QUIRE_ASSIGN(const std::optional<Descriptor> lock, lock_for_sole_use(path));
  if (!lock)
    return fail(ErrorCode::busy,
                fmt::format("'{}' is open, here or in another process: it can be compacted only "
                            "when nobody uses it. A backup is compact too, and may be made at any time",
                            shown_path(path)));
  // A power cut may have come since somebody had it open.
  QUIRE_TRY(settle_anchor_alone(taken.file.number(), path, false));
  QUIRE_ASSIGN(const struct stat before, look_at(path));
  QUIRE_TRY(check_all_pages(path, on_bytes));

  const std::string copy = path + "-compact";
  ::unlink(copy.c_str());  // of a compaction that was killed
  UnfinishedFile unfinished(copy);
  QUIRE_TRY(write_copy(path, copy, before, on_bytes));
  QUIRE_TRY(forget_pending(copy));
  QUIRE_TRY(give_to_owner(copy, before));
  struct stat after;
  if (stat(copy.c_str(), &after) != 0) return cannot(errno, "look at", copy);
  constexpr char kNoMagic[4] = {};
  if (pwrite(lock->number(), kNoMagic, sizeof kNoMagic, 0) != sizeof kNoMagic)
    return cannot(errno, "write to", path + "-lock");
  QUIRE_TRY(unfinished.finish(path, true));
  return Compaction{static_cast<uint64_t>(before.st_size), static_cast<uint64_t>(after.st_size)};
}

}  // namespace

Result<Compaction> compact_file(const std::string& given, const OnBytes& on_bytes) {
  occupy_standard_descriptors();
  if (given.empty()) return fail(ErrorCode::cannot_open, "the path of the database is empty");
  std::error_code failure;
  // A link stays one.
  const std::string path = std::filesystem::canonical(given, failure).string();
  if (failure) return cannot(failure.value(), "open", given);
  Compaction done;
  QUIRE_TRY(while_not_open(path, [&]() -> Result<void> {
    QUIRE_ASSIGN(done, compact(path, on_bytes));
    return {};
  }));
  return done;
}

}  // namespace quire::engine
