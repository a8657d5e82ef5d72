// What a damaged file still holds, read page by page without LMDB and without trust. The file is only read.
//
// A view is a state of the file that some page tells of: that of an anchor or a meta page, or, where none of
// those leads to whole trees, that of a page which looks like the root of the tree of tables. The commits
// that it lacks are taken from the log, where that is the view's. What the trees of a view do not lead to may
// lie in pages beside them: strays. Those are of any age.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/page_reader.h"
#include "engine/file/table.h"
#include "sql/error.h"

namespace quire::engine {

class PageSalvage {
 public:
  struct Entry {
    Bytes key;  // empty: a record without its key
    Bytes record;
    // Whether all around it is as it should be. If not, the bytes are no more than a guess, which a checksum
    // must confirm; the record may have bytes behind its end where the key is missing.
    bool is_sound = false;
  };
  // Good for the call. An error ends the reading.
  using Visitor = std::function<Result<void>(const Entry&)>;

  // `on_bytes` is told of what is read, then and later. cannot_open, permission, not_a_database, io.
  static Result<PageSalvage> open(const std::string& path, const OnBytes& on_bytes = nullptr);
  PageSalvage(PageSalvage&&) noexcept;
  ~PageSalvage();

  // Those that lead to tables; the newest first, as far as that can be told.
  size_t views() const;
  // Whether the first is for certain, and leads to all tables that the file has.
  bool is_newest_known() const;
  // Before anything below. The first is chosen from the start.
  void choose(size_t view);
  std::vector<std::string> tables() const;
  // Every entry of the table, those that the commits in the log have left first, then those that its tree
  // leads to, in order; how many pages of that are damaged or missing. A table that the view does not have
  // has one missing page.
  Result<uint64_t> read_table(std::string_view name, const Visitor& visitor);
  // The entries of leaf pages, and the long records, that no table read so far leads to and that are not
  // known to be free.
  Result<void> read_strays(const Visitor& visitor);
  // Whether somebody has written to the file since it was opened.
  Result<bool> has_changed() const;

 private:
  class Work;
  explicit PageSalvage(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace quire::engine
