// The functions here have the names of the C library's, which they take the place of. They call the kernel
// themselves: to look for the C library's functions would need memory, which tests have run out.
#include "tests/crash/system_calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <mutex>

namespace quire::tests {
namespace {

std::atomic<CallObserver*> observer{nullptr};
std::mutex turn;

// Makes a call unless it is to fail, and tells of it where it succeeded.
template <typename Call, typename Tell>
auto observed(SystemCall kind, const Call& call, const Tell& tell) -> decltype(call()) {
  using Outcome = decltype(call());
  if (observer.load(std::memory_order_acquire) == nullptr) return call();
  const std::lock_guard lock(turn);
  CallObserver* const watching = observer.load(std::memory_order_acquire);
  if (watching == nullptr) return call();
  if (const int fault = watching->fault(kind); fault != 0) {
    errno = fault;
    return Outcome(-1);  // MAP_FAILED, too
  }
  const Outcome outcome = call();
  const int code = errno;
  if (outcome != Outcome(-1)) tell(*watching, outcome);
  errno = code;
  return outcome;
}

int open_file(int folder, const char* path, int flags, mode_t mode) {
  return observed(
      SystemCall::open, [&] { return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode)); },
      [&](CallObserver& watching, int descriptor) { watching.opened(path, descriptor, flags); });
}

// `flags`: RWF_DSYNC or none.
ssize_t write_at(int descriptor, const iovec* parts, int count, off_t offset, bool moves, int flags = 0) {
  if (moves) offset = static_cast<off_t>(syscall(SYS_lseek, descriptor, 0, SEEK_CUR));
  return observed(
      SystemCall::write,
      [&] {
        if (moves) return static_cast<ssize_t>(syscall(SYS_writev, descriptor, parts, count));
        return static_cast<ssize_t>(syscall(SYS_pwritev2, descriptor, parts, count, offset, 0, flags));
      },
      [&](CallObserver& watching, ssize_t written) {
        off_t at = offset;
        for (int i = 0; i < count && written > 0; ++i) {
          const size_t bytes = std::min(parts[i].iov_len, static_cast<size_t>(written));
          watching.wrote(descriptor, at, {static_cast<const char*>(parts[i].iov_base), bytes},
                         (flags & RWF_DSYNC) != 0);
          at += static_cast<off_t>(bytes);
          written -= static_cast<ssize_t>(bytes);
        }
      });
}

int sync_file(long number, int descriptor) {
  return observed(
      SystemCall::sync, [&] { return static_cast<int>(syscall(number, descriptor)); },
      [&](CallObserver& watching, int) { watching.synced(descriptor); });
}

int truncate_file(int descriptor, off_t length) {
  return observed(
      SystemCall::truncate, [&] { return static_cast<int>(syscall(SYS_ftruncate, descriptor, length)); },
      [&](CallObserver& watching, int) { watching.truncated(descriptor, length); });
}

int rename_file(const char* from, const char* to, unsigned flags) {
  return observed(
      SystemCall::rename,
      [&] { return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags)); },
      [&](CallObserver& watching, int) { watching.renamed(from, to); });
}

void* map_file(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  // Memory without a file is the allocator's business, and that of those who make threads.
  const auto call = [&] {
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, descriptor, offset));
  };
  if (descriptor < 0) return call();
  const long place =
      observed(SystemCall::map, [&] { return reinterpret_cast<long>(call()); }, [](CallObserver&, long) {});
  return reinterpret_cast<void*>(place);
}

}  // namespace

void observe_system_calls(CallObserver* next) {
  const std::lock_guard lock(turn);
  observer.store(next, std::memory_order_release);
}

std::unique_lock<std::mutex> turn_of_system_calls() {
  return std::unique_lock(turn);
}

}  // namespace quire::tests

#define QUIRE_IN_PLACE_OF_C __attribute__((visibility("default")))

extern "C" {

using namespace quire::tests;

static mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

QUIRE_IN_PLACE_OF_C int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file(AT_FDCWD, path, flags, mode);
}
QUIRE_IN_PLACE_OF_C int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file(AT_FDCWD, path, flags, mode);
}
QUIRE_IN_PLACE_OF_C ssize_t write(int descriptor, const void* bytes, size_t count) {
  const iovec part{const_cast<void*>(bytes), count};
  return write_at(descriptor, &part, 1, 0, true);
}
QUIRE_IN_PLACE_OF_C ssize_t writev(int descriptor, const iovec* parts, int count) {
  return write_at(descriptor, parts, count, 0, true);
}
QUIRE_IN_PLACE_OF_C ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  const iovec part{const_cast<void*>(bytes), count};
  return write_at(descriptor, &part, 1, offset, false);
}
QUIRE_IN_PLACE_OF_C ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  const iovec part{const_cast<void*>(bytes), count};
  return write_at(descriptor, &part, 1, offset, false);
}
QUIRE_IN_PLACE_OF_C ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  return write_at(descriptor, parts, count, offset, false);
}
QUIRE_IN_PLACE_OF_C ssize_t pwritev2(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  return write_at(descriptor, parts, count, offset, false, flags);
}
QUIRE_IN_PLACE_OF_C ssize_t pwritev64v2(int descriptor, const iovec* parts, int count, off64_t offset,
                                        int flags) {
  return write_at(descriptor, parts, count, offset, false, flags);
}
QUIRE_IN_PLACE_OF_C int fsync(int descriptor) {
  return sync_file(SYS_fsync, descriptor);
}
QUIRE_IN_PLACE_OF_C int fdatasync(int descriptor) {
  return sync_file(SYS_fdatasync, descriptor);
}
QUIRE_IN_PLACE_OF_C int ftruncate(int descriptor, off_t length) noexcept {
  return truncate_file(descriptor, length);
}
QUIRE_IN_PLACE_OF_C int ftruncate64(int descriptor, off64_t length) noexcept {
  return truncate_file(descriptor, length);
}
QUIRE_IN_PLACE_OF_C int rename(const char* from, const char* to) noexcept {
  return rename_file(from, to, 0);
}
QUIRE_IN_PLACE_OF_C int renameat2(int, const char* from, int, const char* to, unsigned flags) noexcept {
  return rename_file(from, to, flags);
}
QUIRE_IN_PLACE_OF_C int unlink(const char* path) noexcept {
  return observed(
      SystemCall::unlink, [&] { return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0)); },
      [&](CallObserver& watching, int) { watching.unlinked(path); });
}
QUIRE_IN_PLACE_OF_C void* mmap(void* address, size_t length, int protection, int flags, int descriptor,
                               off_t offset) noexcept {
  return map_file(address, length, protection, flags, descriptor, offset);
}
QUIRE_IN_PLACE_OF_C void* mmap64(void* address, size_t length, int protection, int flags, int descriptor,
                                 off64_t offset) noexcept {
  return map_file(address, length, protection, flags, descriptor, offset);
}
}
