#include "engine/file/disk_order.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "engine/file/file_state.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/sole_use.h"

namespace quire::engine {
namespace {

// LMDB's first two pages as it makes them: a header of 16 bytes, the magic number and version, and zeros but
// for a few fields; the number of the last transaction, at 144, is zero.
constexpr size_t kMagicAt = 16, kTransactionAt = 144, kTransactionEnd = 152;
constexpr std::array<unsigned char, 8> kMagic{0xDE, 0xC0, 0xEF, 0xBE, 1, 0, 0, 0};

bool is_zero(std::span<const unsigned char> bytes) {
  return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0; });
}

// One of the two, or what a power cut has left of it.
bool is_of_new_file(std::span<const unsigned char> page) {
  if (is_zero(page)) return true;
  return page.size() >= kTransactionEnd &&
         std::ranges::equal(page.subspan(kMagicAt, kMagic.size()), kMagic) &&
         is_zero(page.subspan(kTransactionAt, kTransactionEnd - kTransactionAt));
}

Result<void> sync_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.number() < 0 || fsync(file.number()) != 0) return cannot(errno, "write to the disk", path);
  return {};
}

}  // namespace

Result<bool> is_unfinished(int descriptor, const std::string& path) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return cannot(errno, "look at", path);
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0 || size > 2 * page_bytes) return false;
  std::vector<unsigned char> bytes(size);
  const ssize_t got = pread(descriptor, bytes.data(), bytes.size(), 0);
  if (got < 0) return cannot(errno, "read", path);
  if (static_cast<size_t>(got) < size) return false;
  const std::span all(bytes);
  const bool has_second = size > page_bytes;
  return is_of_new_file(all.first(std::min(size, page_bytes))) &&
         (!has_second || is_of_new_file(all.subspan(page_bytes)));
}

Result<bool> begin_anew(int descriptor, const std::string& path) {
  QUIRE_ASSIGN(const std::optional<Descriptor> lock, lock_for_sole_use(path));
  if (!lock) return false;
  // It may have been finished meanwhile.
  QUIRE_ASSIGN(const bool is_still_unfinished, is_unfinished(descriptor, path));
  if (is_still_unfinished && ftruncate(descriptor, 0) != 0) return cannot(errno, "begin anew", path);
  return true;
}

Result<void> sync_name(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0 || fsync(opened.number()) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return cannot(errno, "write to the disk the folder of", path);
}

UnfinishedFile::~UnfinishedFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<void> UnfinishedFile::make_as_private_as(const std::string& other) {
  struct stat status;
  const mode_t mode = stat(other.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
  const Descriptor made(
      ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode | S_IRUSR | S_IWUSR));
  return made.number() >= 0 ? Result<void>() : cannot(errno, "make", path_);
}

Result<void> UnfinishedFile::finish(const std::string& name, bool replaces) {
  QUIRE_TRY(sync_file(path_));
  int code = 0;
  if (replaces) {
    if (std::rename(path_.c_str(), name.c_str()) != 0) code = errno;
  } else if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) != 0) {
    code = errno;
    // Some file systems cannot look and rename at once.
    if (code == EINVAL) {
      code = access(name.c_str(), F_OK) == 0                 ? EEXIST
             : std::rename(path_.c_str(), name.c_str()) == 0 ? 0
                                                             : errno;
    }
  }
  if (code == EEXIST) return fail(ErrorCode::cannot_open, "there is a file already: " + name);
  if (code != 0) return std::unexpected(lmdb_error(code, fmt::format("rename '{}'", path_)));
  path_.clear();
  return sync_name(name);
}

}  // namespace quire::engine
