#include "engine/container/import_spill.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace quire::engine {
namespace {

std::unexpected<Error> io_error(std::string_view what) {
  const ErrorCode code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::no_space : ErrorCode::io;
  return fail(code,
              "the import's temporary file cannot be " + std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> SpillFile::make() {
  descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return {};
  // A file system without O_TMPFILE.
  std::string name = folder_ + "/quire-import-XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) return io_error("made");
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

Result<void> SpillFile::read(uint64_t offset, std::span<char> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0)
      return fail(ErrorCode::io, "the import's temporary file is shorter than what was written to it");
    if (count < 0) return io_error("read");
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return {};
}

Result<void> SpillWriter::write(std::string_view bytes) {
  if (block_.size() + bytes.size() > kBlock) QUIRE_TRY(finish());
  if (bytes.size() > kBlock) return file_.append(bytes);
  block_.append(bytes);
  return {};
}

Result<void> SpillWriter::finish() {
  QUIRE_TRY(file_.append(block_));
  block_.clear();
  return {};
}

Result<std::string_view> SpillReader::read(size_t size) {
  const size_t had = block_.size() - next_;
  if (had < size) {
    if (size - had > end_ - at_) return fail(ErrorCode::internal, "an import's run ends within an item");
    std::copy(block_.begin() + static_cast<ptrdiff_t>(next_), block_.end(), block_.begin());
    const size_t more =
        static_cast<size_t>(std::min<uint64_t>(std::max(block_size_, size - had), end_ - at_));
    block_.resize(had + more);
    next_ = 0;
    QUIRE_TRY(file_->read(at_, std::span(block_).subspan(had)));
    at_ += more;
  }
  const std::string_view bytes(block_.data() + next_, size);
  next_ += size;
  return bytes;
}

}  // namespace quire::engine
