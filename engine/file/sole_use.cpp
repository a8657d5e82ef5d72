// What keeps others away is the lock that LMDB itself takes on the first byte of its lock file: shared by
// each process that has the environment open, exclusive while one sets it up. It is held exclusively here, by
// open file description.
#include "engine/file/sole_use.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "engine/file/lmdb_error.h"

namespace quire::engine {
namespace {

// Behind the bytes of WriteLock.
constexpr off_t kInUseByte = (off_t{1} << 62) + 2;
// Shared by who has the file open or wants to; exclusive for who keeps others out.
constexpr off_t kComingByte = kInUseByte + 1, kAloneByte = kInUseByte + 2;
constexpr off_t kOpeningByte = kInUseByte + 3;

struct flock range_of(short type, off_t byte) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return range;
}

bool is_locked_by_others(int descriptor, off_t byte) noexcept {
  struct flock range = range_of(F_WRLCK, byte);
  return fcntl(descriptor, F_OFD_GETLK, &range) != 0 || range.l_type != F_UNLCK;
}

std::unexpected<Error> is_being_opened(const std::string& path) {
  return fail(ErrorCode::busy,
              fmt::format("'{}' is being opened or compacted by another process, which did not end until the "
                          "busy timeout",
                          path));
}

constexpr std::chrono::milliseconds kBetweenLooksAtLock{2};
// Somebody may have left between two questions, and another have come.
constexpr int kLooks = 250;

// False past the deadline.
Result<bool> lock_until(int descriptor, struct flock range, const std::string& path,
                        Clock::time_point deadline) {
  while (fcntl(descriptor, F_OFD_SETLK, &range) != 0) {
    if (errno != EAGAIN && errno != EACCES) return cannot(errno, "lock", path);
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kBetweenLooksAtLock);
  }
  return true;
}

}  // namespace

Result<void> take_turn(int descriptor, const std::string& path, bool read_only, Clock::time_point deadline) {
  QUIRE_ASSIGN(const bool is_ours,
               lock_until(descriptor, range_of(read_only ? F_RDLCK : F_WRLCK, kOpeningByte), path, deadline));
  if (is_ours) return {};
  return is_being_opened(path);
}

void end_turn(int descriptor) noexcept {
  struct flock range = range_of(F_UNLCK, kOpeningByte);
  (void)fcntl(descriptor, F_OFD_SETLK, &range);
}

Result<void> mark_in_use(int descriptor, const std::string& path) {
  struct flock range = range_of(F_RDLCK, kInUseByte);
  if (fcntl(descriptor, F_OFD_SETLK, &range) == 0) return {};
  return cannot(errno, "lock", path);
}

void unmark_in_use(int descriptor) noexcept {
  struct flock range = range_of(F_UNLCK, kInUseByte);
  (void)fcntl(descriptor, F_OFD_SETLK, &range);
}

Result<void> come_in(int descriptor, const std::string& path, Clock::time_point deadline) {
  struct flock coming = range_of(F_RDLCK, kComingByte);
  if (fcntl(descriptor, F_OFD_SETLK, &coming) != 0) return cannot(errno, "lock", path);
  QUIRE_ASSIGN(const bool is_in, lock_until(descriptor, range_of(F_RDLCK, kAloneByte), path, deadline));
  if (is_in) return {};
  return fail(
      ErrorCode::busy,
      fmt::format("'{}' is open in another process, which did not let others in until the busy timeout",
                  path));
}

bool keep_others_out(int descriptor) noexcept {
  struct flock range = range_of(F_WRLCK, kAloneByte);
  return fcntl(descriptor, F_OFD_SETLK, &range) == 0;
}

void let_others_in(int descriptor) noexcept {
  struct flock range = range_of(F_RDLCK, kAloneByte);
  (void)fcntl(descriptor, F_OFD_SETLK, &range);
}

bool is_open_elsewhere(int descriptor) noexcept {
  return is_locked_by_others(descriptor, kComingByte);
}

// Whoever has the database file open lets go of its lock file first, and of the mark a moment later.
Result<void> refuse_without_lock_file(int descriptor, const std::string& path) {
  for (int look = 0; look < kLooks; ++look) {
    if (!is_locked_by_others(descriptor, kInUseByte)) return {};
    const auto by = opened_by(path);
    // What keeps the lock file from being opened LMDB tells of.
    if (!by || *by != OpenBy::nobody) return {};
    std::this_thread::sleep_for(kBetweenLooksAtLock);
  }
  return fail(ErrorCode::busy,
              fmt::format("'{}' is open in another process, whose lock file is not '{}-lock': that was "
                          "deleted, or the file was moved or linked here; close it there first",
                          path, path));
}

Result<void> check_lock_file(const std::string& path) {
  const std::string lock_path = path + "-lock";
  struct stat status;
  if (stat(lock_path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return {};
  return fail(
      ErrorCode::cannot_open,
      fmt::format("'{}' is no regular file, and that is the name of the lock file of '{}': move it away",
                  lock_path, path));
}

Result<void> wait_for_lock_file(const std::string& path, Clock::time_point deadline) {
  for (;;) {
    const auto by = opened_by(path);
    if (!by || *by != OpenBy::one_alone) return {};
    if (Clock::now() >= deadline) return is_being_opened(path);
    std::this_thread::sleep_for(kBetweenLooksAtLock);
  }
}

// Who has the lock file has come in to the database file before, and leaves it after.
Result<void> refuse_foreign_lock_file(int descriptor, const std::string& path) {
  for (int look = 0; look < kLooks; ++look) {
    const auto by = opened_by(path);
    // What keeps the lock file from being opened LMDB tells of.
    if (!by || *by != OpenBy::others || is_open_elsewhere(descriptor)) return {};
    std::this_thread::sleep_for(kBetweenLooksAtLock);
  }
  return foreign_lock_file(path);
}

std::unexpected<Error> foreign_lock_file(const std::string& path) {
  return fail(
      ErrorCode::busy,
      fmt::format("another file was under the name '{}' and is open: it was moved, replaced or deleted "
                  "meanwhile, and has the lock file '{}-lock'; close it first",
                  path, path));
}

Result<void> reserve_lock_file(const std::string& path) {
  constexpr off_t kLongestLockFile = off_t{128} << 10;  // of 1,024 readers, 64 bytes each, and a header
  const std::string lock_path = path + "-lock";
  const Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  // What else keeps it from being opened LMDB tells of, or can do without.
  if (lock.number() < 0 && errno != ENOSPC && errno != EDQUOT) return {};
  if (lock.number() >= 0 && fallocate(lock.number(), FALLOC_FL_KEEP_SIZE, 0, kLongestLockFile) == 0)
    return {};
  if (errno != ENOSPC && errno != EDQUOT) return {};  // a file system that cannot promise room
  return cannot(errno, "make", lock_path);
}

Result<std::optional<Descriptor>> lock_for_sole_use(const std::string& path) {
  const std::string lock_path = path + "-lock";
  Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.number() < 0) return cannot(errno, "open", lock_path);
  struct flock range = range_of(F_WRLCK, 0);
  if (fcntl(lock.number(), F_OFD_SETLK, &range) == 0) return lock;
  if (errno != EAGAIN && errno != EACCES) return cannot(errno, "lock", lock_path);
  return std::nullopt;
}

// Who only has it open shares the lock.
Result<OpenBy> opened_by(const std::string& path) {
  const std::string lock_path = path + "-lock";
  const Descriptor lock(::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (lock.number() < 0 && errno == ENOENT) return OpenBy::nobody;
  struct flock range = range_of(F_WRLCK, 0);
  if (lock.number() < 0 || fcntl(lock.number(), F_OFD_GETLK, &range) != 0)
    return cannot(errno, "look at", lock_path);
  if (range.l_type == F_UNLCK) return OpenBy::nobody;
  return range.l_type == F_RDLCK ? OpenBy::others : OpenBy::one_alone;
}

}  // namespace quire::engine
