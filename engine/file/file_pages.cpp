// A look at a file's pages through read(2), before LMDB maps it.
//
// The file may end before its last page: pages taken and given back within one transaction are never written.
// A file is truncated if a page past its end is not in the free list.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/file/file_format.h"
#include "engine/file/free_pages.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_reader.h"

namespace quire::engine {
namespace {

using layout::Meta;

// Whether a file whose first page is no meta page has a second one.
bool has_second_meta(int descriptor) {
  for (uint32_t page_bytes = layout::kSmallestPage; page_bytes <= layout::kLargestPage; page_bytes *= 2)
    if (const auto meta = meta_at(descriptor, page_bytes); meta && meta->page_bytes == page_bytes)
      return true;
  return false;
}

struct Metas {
  Meta newest;
  std::optional<Meta> other;
  bool is_second_newer = false;
};

Result<Metas> read_metas(int descriptor, std::string_view path) {
  const std::optional<Meta> first = meta_at(descriptor, 0);
  if (!first && has_second_meta(descriptor))
    return fail(ErrorCode::corrupt, damaged_message(path, "page 0 does not say what the file is"));
  if (!first)
    return fail(ErrorCode::not_a_database, fmt::format("'{}' is not a Quire file", shown_path(path)));
  const std::optional<Meta> second = meta_at(descriptor, first->page_bytes);
  if (!second) return Metas{*first, std::nullopt};
  const bool is_second_newer = second->transaction == first->transaction
                                   ? layout::meta_page_of(first->transaction) == 1
                                   : second->transaction > first->transaction;
  return is_second_newer ? Metas{*second, first, true} : Metas{*first, second};
}

// LMDB looks for a commit on its own meta page alone. Its count of commits must not come round to
// 0: it takes the pages that older commits have freed for free.
Result<void> check_newest(const Metas& metas, std::string_view path) {
  const uint64_t commit = metas.newest.transaction;
  const bool is_on_both = !metas.other || metas.other->transaction == commit;
  if (commit <= layout::kMostCommits && (is_on_both || metas.is_second_newer == (commit % 2 == 1))) return {};
  return fail(ErrorCode::corrupt, damaged_message(path, fmt::format("page {} cannot be that of commit {}",
                                                                    metas.is_second_newer ? 1 : 0, commit)));
}

Result<void> check_metas(const Metas& metas, uint64_t size, std::string_view path) {
  if (!metas.other && size >= 2 * uint64_t{metas.newest.page_bytes})
    return fail(ErrorCode::corrupt, damaged_message(path, "page 1 does not say what the file is"));
  if (metas.other && metas.other->page_bytes != metas.newest.page_bytes)
    return fail(ErrorCode::corrupt, damaged_message(path, "pages 0 and 1 give different page sizes"));
  return check_newest(metas, path);
}

bool is_whole(int descriptor, const Metas& metas, uint64_t size) {
  const PageReader reader(descriptor, metas.newest.page_bytes, size);
  const uint64_t last = metas.newest.last_page;
  if (!metas.other) return false;
  if (last < reader.pages()) return true;
  const auto missing = FreePages(reader).collect(metas.newest.free_list.root, reader.pages());
  if (!missing) return false;
  const auto end = std::ranges::upper_bound(*missing, last);
  return static_cast<uint64_t>(end - missing->begin()) == last - reader.pages() + 1;
}

}  // namespace

std::string damaged_message(std::string_view path, std::string_view what) {
  return fmt::format("'{}' is damaged: {}; `.recover` saves what is intact into a new file", shown_path(path),
                     what);
}

// Others may be writing meanwhile. Pages are written before the meta page that needs them, so the size is
// taken after the meta page was read; and a file that looks cut off is looked at again if there was a commit
// meanwhile.
Result<bool> check_pages(int descriptor, std::string_view path) {
  QUIRE_ASSIGN(uint64_t size, size_of_file(descriptor, path));
  if (size == 0) return true;
  QUIRE_ASSIGN(Metas metas, read_metas(descriptor, path));
  for (;;) {
    QUIRE_ASSIGN(size, size_of_file(descriptor, path));
    QUIRE_TRY(check_metas(metas, size, path));
    if (is_whole(descriptor, metas, size)) return false;
    const uint64_t seen = metas.newest.transaction;
    QUIRE_ASSIGN(metas, read_metas(descriptor, path));
    if (metas.newest.transaction == seen) break;
  }
  return fail(
      ErrorCode::truncated,
      fmt::format("'{}' is truncated: it has {} bytes of {}; restore it from a backup, or save what is "
                  "left by `.recover`",
                  path, size, (metas.newest.last_page + 1) * metas.newest.page_bytes));
}

Result<Meta> newest_meta(int descriptor, std::string_view path) {
  QUIRE_ASSIGN(const Metas metas, read_metas(descriptor, path));
  QUIRE_TRY(check_newest(metas, path));
  return metas.newest;
}

Result<std::optional<Meta>> meta_of(int descriptor, uint64_t transaction) {
  const std::optional<Meta> first = meta_at(descriptor, 0);
  if (!first) return fail(ErrorCode::corrupt, "page 0 does not say what the file is");
  const std::optional<Meta> meta =
      layout::meta_page_of(transaction) == 0 ? first : meta_at(descriptor, first->page_bytes);
  return meta && meta->transaction == transaction ? meta : std::nullopt;
}

}  // namespace quire::engine
