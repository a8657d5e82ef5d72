#include "engine/file/page_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "engine/file/lmdb_error.h"

namespace quire::engine {

Result<void> PageReader::read_at(uint64_t offset, std::span<char> into) const {
  for (size_t done = 0; done < into.size();) {
    const ssize_t got =
        pread(descriptor_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(lmdb_error(errno, fmt::format("read the file at {}", offset + done)));
    if (got == 0) return fail(ErrorCode::corrupt, "it lies past the end of the file");
    done += static_cast<size_t>(got);
  }
  return {};
}

Result<void> PageReader::read(uint64_t number, uint64_t count, std::vector<char>& into) const {
  if (number >= pages_ || count > pages_ - number)
    return fail(ErrorCode::corrupt, "it lies past the end of the file");
  into.resize(count * page_bytes_);
  QUIRE_TRY(read_at(number * page_bytes_, into));
  return on_bytes_ ? on_bytes_(into.size()) : Result<void>();
}

Result<void> PageReader::read_head(uint64_t number, std::span<char> into) const {
  if (number >= pages_) return fail(ErrorCode::corrupt, "it lies past the end of the file");
  return read_at(number * page_bytes_, into);
}

bool PageReader::is_reading_disk() const noexcept {
  rusage usage;
  if (::getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  return std::exchange(known_blocks_, usage.ru_inblock) != usage.ru_inblock;
}

void PageReader::ask_for(uint64_t number, uint64_t count) const noexcept {
  if (number >= pages_ || count > pages_ - number) return;
  (void)posix_fadvise(descriptor_, static_cast<off_t>(number * page_bytes_),
                      static_cast<off_t>(count * page_bytes_), POSIX_FADV_WILLNEED);
}

bool is_in_place(int descriptor, std::string_view begin, uint32_t page_bytes) noexcept {
  std::array<char, 4096> bytes;
  if (begin.size() < layout::kPageHeader || begin.size() > bytes.size()) return false;
  const auto at = static_cast<off_t>(layout::page_number(begin.data()) * page_bytes);
  return pread(descriptor, bytes.data(), begin.size(), at) == static_cast<ssize_t>(begin.size()) &&
         std::memcmp(bytes.data(), begin.data(), begin.size()) == 0;
}

std::optional<layout::Meta> meta_at(int descriptor, uint64_t offset) noexcept {
  std::array<char, layout::kPageHeader + layout::kMetaBytes> page;
  const ssize_t got = pread(descriptor, page.data(), page.size(), static_cast<off_t>(offset));
  return got == static_cast<ssize_t>(page.size()) ? layout::parse_meta(page.data()) : std::nullopt;
}

Result<uint64_t> size_of_file(int descriptor, std::string_view path) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return cannot(errno, "look at", path);
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace quire::engine
