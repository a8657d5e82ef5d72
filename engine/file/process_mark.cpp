// A shared lock, by open file description, on a byte that stands for the process: it conflicts with one of
// this process by another description, and with nobody else's.
#include "engine/file/process_mark.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "engine/file/lmdb_error.h"

namespace quire::engine {
namespace {

// Behind the bytes of sole_use.cpp, and farther than there are processes.
constexpr off_t kFirstProcess = (off_t{1} << 62) + (off_t{1} << 32);

struct flock range_of_number(uint32_t process, short type) noexcept {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = kFirstProcess + process;
  range.l_len = 1;
  return range;
}
struct flock range_of_this_process(short type) noexcept {
  return range_of_number(static_cast<uint32_t>(getpid()), type);
}

}  // namespace

Result<ProcessMark> ProcessMark::set(int descriptor, const std::string& path) {
  struct flock range = range_of_this_process(F_RDLCK);
  if (fcntl(descriptor, F_OFD_SETLK, &range) != 0) return cannot(errno, "lock", path);
  ProcessMark mark(descriptor);
  range = range_of_this_process(F_WRLCK);
  if (fcntl(descriptor, F_OFD_GETLK, &range) != 0) return cannot(errno, "lock", path);
  if (range.l_type == F_UNLCK) return mark;
  return fail(ErrorCode::misuse,
              fmt::format("'{}' is open in this process by another copy of the Quire library: let all parts "
                          "of the program use one libquire.so (or in another container, by a process that "
                          "has the number {} there, too: give it another)",
                          path, getpid()));
}

// Not left to the close: a child of fork() has the description, too.
ProcessMark::~ProcessMark() {
  if (descriptor_ < 0) return;
  struct flock range = range_of_this_process(F_UNLCK);
  (void)fcntl(descriptor_, F_OFD_SETLK, &range);
}

bool ProcessMark::is_set_by(uint32_t process) const noexcept {
  struct flock range = range_of_number(process, F_WRLCK);
  return descriptor_ < 0 || fcntl(descriptor_, F_OFD_GETLK, &range) != 0 || range.l_type != F_UNLCK;
}

}  // namespace quire::engine
