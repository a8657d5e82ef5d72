// A look at a file's pages through read(2), before LMDB maps it. What is known here of LMDB's format (version
// 1, as LMDB 0.9 writes it; all little-endian on the machines that Quire runs on):
//
//   page    0..7 number, 10..11 flags, 12..13 end of the node table, then the node table: 2 bytes a node
//   meta    pages 0 and 1, behind the page's header of 16 bytes: 0..3 magic, 4..7 version, 24..71 the free
//   list's tree (24..27
//           page size, 6..7 depth, 40..47 root), 72..119 the main tree, 120..127 last page, 128..135
//           transaction
//   node    0..3 size of the data (leaf) or low part of a page number (branch), 4..5 flags (leaf: 1 means
//   that the data is a
//           page number; branch: high part), 6..7 size of the key, then key and data
//
// The file may end before its last page: pages taken and given back within one transaction are never written.
// A file is truncated if a page past its end is not in the free list.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "engine/file/file_format.h"
#include "engine/file/lmdb_error.h"

namespace quire::engine {
namespace {

constexpr uint32_t kMagic = 0xBEEFC0DE;
constexpr uint32_t kLmdbVersion = 1;
constexpr size_t kPageHeader = 16;
constexpr size_t kMetaBytes = 136;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr uint16_t kBranchPage = 1, kLeafPage = 2;
constexpr uint16_t kDataOnPages = 1;

template <typename Number>
Number load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

struct Meta {
  uint32_t page_bytes;
  uint64_t free_root;
  uint64_t last_page;
  uint64_t transaction;
};

std::optional<Meta> parse_meta(const char* page) {
  const char* meta = page + kPageHeader;
  if (load<uint32_t>(meta) != kMagic || load<uint32_t>(meta + 4) != kLmdbVersion) return std::nullopt;
  const Meta parsed{load<uint32_t>(meta + 24), load<uint64_t>(meta + 24 + 40), load<uint64_t>(meta + 120),
                    load<uint64_t>(meta + 128)};
  const bool is_power_of_two = (parsed.page_bytes & (parsed.page_bytes - 1)) == 0;
  if (!is_power_of_two || parsed.page_bytes < 256 || parsed.page_bytes > 65536) return std::nullopt;
  return parsed;
}

class PageReader {
 public:
  PageReader(int descriptor, uint32_t page_bytes, uint64_t pages)
      : descriptor_(descriptor), page_bytes_(page_bytes), pages_(pages) {}

  // `count` pages from `number` on; nothing if they are not all in the file.
  std::optional<std::vector<char>> read(uint64_t number, uint64_t count = 1) const {
    if (number >= pages_ || count > pages_ - number) return std::nullopt;
    std::vector<char> bytes(count * page_bytes_);
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t got = pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(number * page_bytes_ + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      done += static_cast<size_t>(got);
    }
    return bytes;
  }
  uint32_t page_bytes() const { return page_bytes_; }
  uint64_t pages() const { return pages_; }

 private:
  int descriptor_;
  uint32_t page_bytes_;
  uint64_t pages_;
};

// Collects the free pages past the file's end; false if a part of the list is itself missing.
class FreeList {
 public:
  explicit FreeList(const PageReader& reader) : reader_(reader) {}

  bool collect(uint64_t root) {
    std::vector<uint64_t> to_visit;
    if (root != kNoPage) to_visit.push_back(root);
    // Each page is visited once in a sound file: the bound ends a damaged file's circle.
    for (uint64_t visited = 0; !to_visit.empty(); ++visited) {
      const uint64_t number = to_visit.back();
      to_visit.pop_back();
      const auto page = reader_.read(number);
      if (visited > reader_.pages() || !page || !visit(*page, to_visit)) return false;
    }
    return true;
  }
  bool holds_all(uint64_t from, uint64_t to) {
    std::ranges::sort(past_end_);
    const auto duplicates = std::ranges::unique(past_end_);
    past_end_.erase(duplicates.begin(), duplicates.end());
    const auto first = std::ranges::lower_bound(past_end_, from);
    const auto last = std::ranges::upper_bound(past_end_, to);
    return static_cast<uint64_t>(last - first) == to - from + 1;
  }

 private:
  bool visit(const std::vector<char>& page, std::vector<uint64_t>& to_visit) {
    const uint16_t flags = load<uint16_t>(page.data() + 10);
    const size_t table_end = load<uint16_t>(page.data() + 12);
    if (table_end < kPageHeader || table_end > page.size()) return false;
    for (size_t at = kPageHeader; at + 2 <= table_end; at += 2) {
      const size_t node = load<uint16_t>(page.data() + at);
      if (node + 8 > page.size()) return false;
      const uint64_t low = load<uint32_t>(page.data() + node);
      const uint64_t node_flags = load<uint16_t>(page.data() + node + 4);
      if (flags & kBranchPage) {
        to_visit.push_back(low | node_flags << 32);
        continue;
      }
      const size_t data = node + 8 + load<uint16_t>(page.data() + node + 6);
      const bool is_sound =
          (flags & kLeafPage) &&
          (node_flags & kDataOnPages ? data + 8 <= page.size() && visit_pages(page.data() + data, low)
                                     : data + low <= page.size() && take(page.data() + data, low));
      if (!is_sound) return false;
    }
    return true;
  }

  bool visit_pages(const char* number, uint64_t size) {
    const auto pages = reader_.read(load<uint64_t>(number),
                                    (kPageHeader + size + reader_.page_bytes() - 1) / reader_.page_bytes());
    return pages && take(pages->data() + kPageHeader, size);
  }

  // A list: how many, then the page numbers.
  bool take(const char* list, uint64_t size) {
    if (size < 8) return false;
    const uint64_t count = load<uint64_t>(list);
    if (count > size / 8 - 1) return false;
    for (uint64_t i = 1; i <= count; ++i)
      if (const uint64_t number = load<uint64_t>(list + 8 * i); number >= reader_.pages())
        past_end_.push_back(number);
    return true;
  }

  const PageReader& reader_;
  std::vector<uint64_t> past_end_;
};

Result<uint64_t> size_of(int descriptor, std::string_view path) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return std::unexpected(lmdb_error(errno, fmt::format("look at '{}'", path)));
  return static_cast<uint64_t>(status.st_size);
}

struct NewestMeta {
  Meta meta;
  bool has_both = false;
};

// Of the two meta pages, the one of the last commit.
Result<NewestMeta> read_newest_meta(int descriptor, std::string_view path) {
  std::array<char, kPageHeader + kMetaBytes> page{};
  if (pread(descriptor, page.data(), page.size(), 0) < 0)
    return std::unexpected(lmdb_error(errno, fmt::format("read '{}'", path)));
  const std::optional<Meta> first = parse_meta(page.data());
  if (!first) return fail(ErrorCode::not_a_database, fmt::format("'{}' is not a Quire file", path));
  const ssize_t got = pread(descriptor, page.data(), page.size(), first->page_bytes);
  const auto second = got == static_cast<ssize_t>(page.size()) ? parse_meta(page.data()) : std::nullopt;
  if (!second) return NewestMeta{*first};
  return NewestMeta{second->transaction > first->transaction ? *second : *first, true};
}

bool is_whole(int descriptor, const NewestMeta& newest, uint64_t size) {
  const PageReader reader(descriptor, newest.meta.page_bytes, size / newest.meta.page_bytes);
  if (!newest.has_both) return false;
  if (newest.meta.last_page < reader.pages()) return true;
  FreeList free_list(reader);
  return free_list.collect(newest.meta.free_root) &&
         free_list.holds_all(reader.pages(), newest.meta.last_page);
}

}  // namespace

// Others may be writing meanwhile. Pages are written before the meta page that needs them, so the size is
// taken after the meta page was read; and a file that looks cut off is looked at again if there was a commit
// meanwhile.
Result<bool> check_pages(int descriptor, std::string_view path) {
  QUIRE_ASSIGN(uint64_t size, size_of(descriptor, path));
  if (size == 0) return true;
  QUIRE_ASSIGN(NewestMeta newest, read_newest_meta(descriptor, path));
  for (;;) {
    QUIRE_ASSIGN(size, size_of(descriptor, path));
    if (is_whole(descriptor, newest, size)) return false;
    const uint64_t seen = newest.meta.transaction;
    QUIRE_ASSIGN(newest, read_newest_meta(descriptor, path));
    if (newest.meta.transaction == seen) break;
  }
  return fail(ErrorCode::truncated,
              fmt::format("'{}' is truncated: it has {} bytes of {}; restore it from a backup", path, size,
                          (newest.meta.last_page + 1) * newest.meta.page_bytes));
}

}  // namespace quire::engine
