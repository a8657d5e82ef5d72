#include "engine/file/disk_room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace quire::engine {

int try_disk_room(int descriptor, uint64_t bytes) noexcept {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return errno;
  rlimit limit;  // the system tells of it by a signal
  const auto size = static_cast<rlim_t>(status.st_size);
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur - std::min(size, limit.rlim_cur) < bytes)
    return EFBIG;
  if (fallocate(descriptor, 0, status.st_size, static_cast<off_t>(bytes)) != 0) return errno;
  return ftruncate(descriptor, status.st_size) == 0 ? 0 : errno;
}

int explain_io_error(int descriptor, int code) noexcept {
  constexpr uint64_t kProbe = 1 << 20;
  if (code != EIO) return code;
  const int probed = try_disk_room(descriptor, kProbe);
  return is_no_room(probed) ? probed : code;
}

bool is_no_room(int code) noexcept {
  return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

}  // namespace quire::engine
