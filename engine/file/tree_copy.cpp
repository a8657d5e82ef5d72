#include "engine/file/tree_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>
#include <thread>

#include "engine/file/background_task.h"
#include "engine/file/file_state.h"

namespace quire::engine {
namespace {

// As LMDB's own copies: what is only to be on the disk need not push out of memory what is in use.
int make_file(const std::string& path, mode_t mode) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode & 0777) | S_IRUSR | S_IWUSR);
  const int flags = file < 0 ? -1 : fcntl(file, F_GETFL);
  // A file system that cannot do so takes the bytes all the same.
  if (flags >= 0) (void)fcntl(file, F_SETFL, flags | O_DIRECT);
  return file;
}

// LMDB's next write to the descriptor fails. Without a descriptor for that, the copy goes on to its end.
void end_writing(int descriptor) {
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  (void)dup2(nothing.number(), descriptor);
}

uint64_t bytes_of(int descriptor, uint64_t otherwise) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? static_cast<uint64_t>(status.st_size) : otherwise;
}

// Goes through the pages ahead of the copy, as far as memory is sure to keep them until it gets there.
class Forerunner {
 public:
  Forerunner(const WalkAhead& walk, int descriptor) : descriptor_(descriptor) {
    if (walk) is_running_ = task_.begin([this, &walk] { run(walk); });
  }
  ~Forerunner() {
    is_over_ = true;
    if (is_running_) (void)task_.wait(Clock::time_point::max());
  }
  Forerunner(const Forerunner&) = delete;
  Forerunner& operator=(const Forerunner&) = delete;

 private:
  void run(const WalkAhead& walk) noexcept {
    try {
      walk([this](uint64_t bytes) { return pace(bytes); });
    } catch (const std::bad_alloc&) {
      return;  // the copy goes on without it
    }
  }

  Result<void> pace(uint64_t bytes) {
    constexpr uint64_t kLead = uint64_t{16} << 20;
    constexpr std::chrono::milliseconds kBetweenLooks{1};
    read_ += bytes;
    while (!is_over_ && read_ > copied_ + kLead) {
      copied_ = bytes_of(descriptor_, copied_);
      if (read_ > copied_ + kLead) std::this_thread::sleep_for(kBetweenLooks);
    }
    return is_over_ ? fail(ErrorCode::interrupted, "the copy is done") : Result<void>();
  }

  int descriptor_;
  uint64_t read_ = 0, copied_ = 0;
  std::atomic<bool> is_over_ = false;
  bool is_running_ = false;
  BackgroundTask task_;
};

// Tells of what the file grows by until the copy is done.
Result<void> watch(BackgroundTask& copying, int descriptor, const OnBytes& on_bytes) {
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  uint64_t told = 0;
  do {
    const uint64_t bytes = bytes_of(descriptor, told);
    QUIRE_TRY(on_bytes(bytes - told));
    told = bytes;
  } while (!copying.wait(Clock::now() + kBetweenLooks));
  return {};
}

}  // namespace

// LMDB does not come back before it is done, so it has a thread of its own; and LMDB begins another.
Result<int> copy_tree(MDB_env* environment, const std::string& path, mode_t mode, const OnBytes& on_bytes,
                      const WalkAhead& walk_ahead) {
  const Descriptor file(make_file(path, mode));
  if (file.number() < 0) return errno;
  const Forerunner forerunner(walk_ahead, file.number());
  int code = MDB_SUCCESS;
  const auto copy = [&] { code = mdb_env_copyfd2(environment, file.number(), MDB_CP_COMPACT); };
  BackgroundTask copying;
  if (!on_bytes || !copying.begin(copy)) {
    copy();
  } else {
    const Result<void> watched = watch(copying, file.number(), on_bytes);
    if (!watched) end_writing(file.number());
    (void)copying.wait(Clock::time_point::max());
    if (!watched) return std::unexpected(watched.error());
  }
  if (code == EAGAIN)
    return fail(ErrorCode::out_of_memory, "a copy needs a thread, and the system gives no more");
  return code;
}

}  // namespace quire::engine
