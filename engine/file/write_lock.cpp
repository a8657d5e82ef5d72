#include "engine/file/write_lock.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "engine/file/lmdb_error.h"

namespace quire::engine {
namespace {

constexpr off_t kLockByte = off_t{1} << 62;
constexpr off_t kTurnByte = kLockByte + 1;

int set_lock(int descriptor, off_t byte, short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

// Tries at growing intervals: there is no wait for a file lock that ends at a time.
Result<void> lock_within(int descriptor, off_t byte, const Patience& patience) {
  constexpr std::chrono::microseconds kShortest{20};
  constexpr std::chrono::microseconds kLongest{500};
  for (auto pause = kShortest;; pause = std::min(pause * 2, kLongest)) {
    const int code = set_lock(descriptor, byte, F_WRLCK);
    if (code == 0) return {};
    if (code != EAGAIN && code != EACCES && code != EINTR)
      return std::unexpected(lmdb_error(code, "lock the file for writing"));
    if (patience.is_over()) return patience.error("another process is writing to the file");
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

Result<void> WriteLock::acquire(const Patience& patience) {
  if (descriptor_ < 0 || is_held_) return {};
  QUIRE_TRY(lock_within(descriptor_, kTurnByte, patience));
  auto locked = lock_within(descriptor_, kLockByte, patience);
  set_lock(descriptor_, kTurnByte, F_UNLCK);
  is_held_ = locked.has_value();
  return locked;
}

void WriteLock::release() noexcept {
  if (descriptor_ < 0 || is_kept_) return;
  set_lock(descriptor_, kLockByte, F_UNLCK);
  is_held_ = false;
}

}  // namespace quire::engine
