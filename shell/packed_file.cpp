#include "shell/packed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "shell/interrupt.h"

namespace quire::shell {

// Packs text into a file. Both are false on failure, as errno says.
class PackedFile::Packer {
 public:
  virtual ~Packer() = default;
  virtual bool write(std::string_view text, bool is_last) = 0;
};

namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

bool write_all(std::FILE* file, const char* data, size_t size) {
  return std::fwrite(data, 1, size, file) == size;
}

class Gzip : public PackedFile::Packer {
 public:
  explicit Gzip(std::FILE* file) : file_(file) {
    constexpr int kGzip = 15 + 16;
    deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
  }
  ~Gzip() override { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  bool write(std::string_view text, bool is_last) override {
    std::array<char, kBufferBytes> out{};
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = out.size();
      deflate(&stream_, is_last ? Z_FINISH : Z_NO_FLUSH);
      if (!write_all(file_, out.data(), out.size() - stream_.avail_out)) return false;
    } while (stream_.avail_out == 0);
    return true;
  }

 private:
  std::FILE* file_;
  z_stream stream_{};
};

class Zstd : public PackedFile::Packer {
 public:
  explicit Zstd(std::FILE* file) : file_(file) {}

  bool write(std::string_view text, bool is_last) override {
    std::array<char, kBufferBytes> buffer{};
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    size_t left = 1;
    while (in.pos < in.size || (is_last && left != 0)) {
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      left = ZSTD_compressStream2(stream_.get(), &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0) {
        errno = EIO;
        return false;
      }
      if (!write_all(file_, buffer.data(), out.pos)) return false;
    }
    return true;
  }

 private:
  struct Release {
    void operator()(ZSTD_CStream* stream) const noexcept { ZSTD_freeCStream(stream); }
  };
  std::FILE* file_;
  std::unique_ptr<ZSTD_CStream, Release> stream_{ZSTD_createCStream()};
};

constexpr std::string_view kStandardOutput = "-";

// Where links lead, whether or not there is a file yet.
std::string target_of(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux
  if (path == kStandardOutput) return path;
  std::filesystem::path target = path;
  std::error_code failure;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target, failure); ++i) {
    std::filesystem::path next = std::filesystem::read_symlink(target, failure);
    if (failure) break;
    target = target.parent_path() / next;
  }
  return target.string();
}

// A new file beside that of the path, under a name that no other file has. -1 on failure, as errno says.
int create_beside(const std::string& path, mode_t mode, std::string& name) {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    name = fmt::format("{}.part-{}-{}", path, getpid(), i);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

// A pipe waits for its reader, and not through an interrupt. -1 on failure, as errno says.
int open_in_place(const std::string& path) {
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      const int flags = fcntl(descriptor, F_GETFL);
      if (flags >= 0) static_cast<void>(fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK));
      return descriptor;
    }
    // Of others than pipes it is an error for good.
    std::error_code failure;
    if (errno != ENXIO || !std::filesystem::is_fifo(path, failure)) {
      if (failure) errno = failure.value();
      return -1;
    }
    if (is_interrupted()) {
      errno = EINTR;
      return -1;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

bool is_written_in_place(const std::string& path) {
  std::error_code failure;
  // Links that go in a circle: opening one fails and says so.
  if (std::filesystem::is_symlink(path, failure)) return true;
  const auto kind = std::filesystem::status(path, failure).type();
  using enum std::filesystem::file_type;
  return kind == character || kind == block || kind == fifo || kind == socket;
}

}  // namespace

PackedFile::PackedFile(const std::string& path) : path_(target_of(path)), file_(open()) {
  if (!is_open()) return;
  if (path.ends_with(".gz")) packer_ = std::make_unique<Gzip>(file_);
  if (path.ends_with(".zst")) packer_ = std::make_unique<Zstd>(file_);
}

std::FILE* PackedFile::open() {
  if (path_ == kStandardOutput) return stdout;
  if (is_written_in_place(path_)) {
    const int descriptor = open_in_place(path_);
    return descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  }
  // Who may read what was there may read what takes its place, and nobody else, from the beginning on.
  struct stat status{};
  const bool replaces = stat(path_.c_str(), &status) == 0;
  const int descriptor = create_beside(path_, replaces ? 0600 : 0666, partial_path_);
  if (descriptor < 0) return nullptr;
  const bool has_owner = !replaces || fchown(descriptor, status.st_uid, status.st_gid) == 0 || errno == EPERM;
  if (replaces && has_owner) static_cast<void>(fchmod(descriptor, status.st_mode & 07777));
  return fdopen(descriptor, "wb");
}

PackedFile::~PackedFile() {
  if (is_standard_output() || !is_open()) return;
  std::fclose(file_);
  if (!partial_path_.empty()) ::unlink(partial_path_.c_str());
}

bool PackedFile::write(std::string_view text) {
  return packer_ ? packer_->write(text, false) : write_all(file_, text.data(), text.size());
}

bool PackedFile::finish() {
  if (packer_ && !packer_->write("", true)) return false;
  if (is_standard_output()) return std::fflush(file_) == 0;
  // What takes the place of a file is on the disk before: a power cut leaves the one or the other.
  struct stat status{};
  const bool replaces = !partial_path_.empty() && stat(path_.c_str(), &status) == 0;
  const bool is_written = !replaces || (std::fflush(file_) == 0 && fsync(fileno(file_)) == 0);
  const bool is_closed = std::fclose(file_) == 0 && is_written;
  file_ = nullptr;
  if (partial_path_.empty()) return is_closed;
  if (is_closed && std::rename(partial_path_.c_str(), path_.c_str()) == 0) return true;
  const int reason = errno;
  ::unlink(partial_path_.c_str());
  errno = reason;
  return false;
}

}  // namespace quire::shell
