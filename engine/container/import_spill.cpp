#include "engine/container/import_spill.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace quire::engine {
namespace {

std::unexpected<Error> io_error(std::string_view what) {
  const int cause = errno;
  const ErrorCode code = cause == ENOSPC || cause == EDQUOT ? ErrorCode::no_space : ErrorCode::io;
  return fail(code, fmt::format("the import's temporary file cannot be {}: {}", what, std::strerror(cause)));
}

}  // namespace

SpillFile::~SpillFile() {
  if (bytes_ != nullptr) ::munmap(const_cast<char*>(bytes_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> SpillFile::make() {
  descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return {};
  // A file system without O_TMPFILE.
  std::string name = folder_ + "/quire-import-XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) return io_error(fmt::format("made in '{}'", folder_));
  ::unlink(name.c_str());
  return {};
}

Result<void> SpillFile::append(std::string_view bytes) {
  if (descriptor_ < 0) QUIRE_TRY(make());
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return io_error("written");
    bytes.remove_prefix(static_cast<size_t>(count));
    size_ += static_cast<uint64_t>(count);
  }
  return {};
}

Result<void> SpillFile::map() {
  if (size_ == 0 || bytes_ != nullptr) return {};
  void* const bytes = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (bytes == MAP_FAILED) return io_error("read");
  bytes_ = static_cast<const char*>(bytes);
  (void)::madvise(bytes, size_, MADV_RANDOM);
  return {};
}

void SpillFile::advise(uint64_t begin, uint64_t end, int advice) const noexcept {
  begin -= begin % static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (begin < end) (void)::madvise(const_cast<char*>(bytes_) + begin, end - begin, advice);
}

void SpillFile::ask_for(uint64_t begin, uint64_t end) const noexcept {
  advise(begin, end, MADV_WILLNEED);
}

void SpillFile::bring_in(uint64_t begin, uint64_t end) const noexcept {
  advise(begin, end, MADV_POPULATE_READ);
}

void SpillFile::give_back(uint64_t begin, uint64_t end) const noexcept {
  const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin >= end) return;
  // Best effort: a file system that cannot do it keeps the pages until the file ends.
  (void)::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                    static_cast<off_t>(end - begin));
}

Result<void> SpillWriter::write(std::string_view bytes) {
  for (;;) {
    const size_t room = kBlock - (file_.size() + block_.size()) % kBlock;
    block_.append(bytes.substr(0, room));
    if (bytes.size() < room) return {};
    QUIRE_TRY(finish());
    bytes.remove_prefix(room);
  }
}

Result<void> SpillWriter::finish() {
  QUIRE_TRY(file_.append(block_));
  block_.clear();
  return {};
}

}  // namespace quire::engine
