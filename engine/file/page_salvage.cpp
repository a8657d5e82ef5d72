#include "engine/file/page_salvage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "engine/file/anchor.h"
#include "engine/file/commit_log.h"
#include "engine/file/file_format.h"
#include "engine/file/file_state.h"
#include "engine/file/format_upgrades.h"
#include "engine/file/free_pages.h"
#include "engine/file/lmdb_error.h"
#include "engine/file/log_records.h"
#include "engine/file/salvage_pages.h"

namespace quire::engine {

using layout::Node;

class PageSalvage::Work {
 public:
  Work(Descriptor descriptor, uint32_t page_bytes, uint64_t file_bytes, const OnBytes& on_bytes)
      : descriptor_(std::move(descriptor)),
        reader_(descriptor_.number(), page_bytes, file_bytes, on_bytes),
        seen_(reader_.pages()) {}

  Result<void> find() {
    QUIRE_ASSIGN(anchor_, read_anchor(descriptor_.number(), reader_.page_bytes()));
    QUIRE_ASSIGN(views_, find_views(descriptor_.number(), reader_, anchor_));
    QUIRE_ASSIGN(heads_, read_heads());
    return {};
  }
  const std::vector<SalvageView>& views() const { return views_; }
  void choose(size_t view) {
    chosen_ = view;
    seen_.assign(reader_.pages(), false);
    // The log of an anchor is the same for all: a file may have many views.
    if (!has_log_of_anchor() || (changes_ && changes_->empty())) changes_.reset();
  }
  const SalvageView& view() const { return views_[chosen_]; }

  // The log's first: of a damaged page an older version may come under a key that is not quite its own.
  Result<uint64_t> read_table(std::string_view name, const Visitor& visitor) {
    if (!changes_) QUIRE_TRY(read_log());
    const auto changed = changes_->find(name);
    if (changed == changes_->end()) return read_tree(name, visitor);
    for (const auto& [key, record] : changed->second)
      if (record) QUIRE_TRY(visitor({.key = key, .record = *record, .is_sound = true}));
    return read_tree(name, [&](const Entry& entry) -> Result<void> {
      return changed->second.contains(entry.key) ? Result<void>() : visitor(entry);
    });
  }

  Result<void> read_strays(const Visitor& visitor) {
    std::vector<bool> seen = seen_;
    QUIRE_TRY(mark_free_pages(seen));
    SalvageWalk walk(reader_);
    SalvageData data(reader_, seen);
    const auto on_node = [&](const Node& node, bool is_sound) { return data.give(node, is_sound, visitor); };
    for (uint64_t page = layout::kMetaPages; page < reader_.pages(); ++page)
      if (!seen[page]) {
        QUIRE_ASSIGN(seen[page], walk.read_leaf(page, on_node));
      }
    // What of the long records is left has lost its leaf.
    for (uint64_t page = layout::kMetaPages; page < reader_.pages(); ++page)
      if (!seen[page]) QUIRE_TRY(data.give_run(page, visitor));
    return {};
  }

  Result<bool> has_changed() const {
    QUIRE_ASSIGN(const std::string now, read_heads());
    return now != heads_;
  }

 private:
  // By table and key, as the last of the commits left it; nothing: erased.
  using Changes =
      std::map<std::string, std::map<std::string, std::optional<std::string>, std::less<>>, std::less<>>;

  bool has_log_of_anchor() const { return anchor_.is_set && anchor_.has_log; }

  // The commits that the view lacks, as far as the log is there.
  Result<void> read_log() {
    if (!has_log_of_anchor() && !view().meta) {
      changes_.emplace();
      return {};
    }
    std::string log;
    QUIRE_TRY(read_tree(kMetaTable, [&](const Entry& entry) -> Result<void> {
      if (entry.is_sound && entry.key == log_layout::kRow) log = entry.record;
      return {};
    }));
    const auto records =
        LogRecords::find(log, has_log_of_anchor() ? LogStart::behind(anchor_)
                                                  : LogStart::behind_commit(view().meta->transaction));
    Changes changes;
    if (records)
      QUIRE_TRY(records->for_each_change([&](const LoggedChange& change) -> Result<void> {
        changes[std::string(change.table)][std::string(change.key)] = change.record;
        return {};
      }));
    changes_ = std::move(changes);
    return {};
  }

  Result<uint64_t> read_tree(std::string_view name, const Visitor& visitor) {
    const auto table = std::ranges::find(view().tables, name, &SalvageView::Table::name);
    if (table == view().tables.end()) return uint64_t{1};
    SalvageWalk walk(reader_);
    SalvageData data(reader_, seen_);
    QUIRE_ASSIGN(const uint64_t lost, walk.run(table->tree.root, [&](const Node& node, bool is_sound) {
      return data.give(node, is_sound, visitor);
    }));
    for (size_t page = 0; page < seen_.size(); ++page)
      if (walk.seen()[page]) seen_[page] = true;
    return lost;
  }

  // If the list is damaged none is known.
  Result<void> mark_free_pages(std::vector<bool>& seen) {
    if (!view().meta) return {};
    auto pages = FreePages(reader_).collect(view().meta->free_list.root, layout::kMetaPages);
    if (!pages && !is_missing(pages.error())) return std::unexpected(std::move(pages.error()));
    if (!pages) return {};
    for (const uint64_t page : *pages)
      if (page < seen.size()) seen[page] = true;
    return {};
  }

  // Of the meta pages: each commit changes one.
  Result<std::string> read_heads() const {
    std::string heads;
    for (uint64_t page = 0; page < std::min(layout::kMetaPages, reader_.pages()); ++page) {
      std::string head(layout::kPageHeader + layout::kMetaBytes, '\0');
      if (reader_.read_head(page, head)) heads += head;
    }
    return heads;
  }

  Descriptor descriptor_;
  PageReader reader_;
  std::vector<SalvageView> views_;
  AnchorRecord anchor_;
  size_t chosen_ = 0;
  std::optional<Changes> changes_;  // of the view
  std::vector<bool> seen_;          // by page: what tables lead to
  std::string heads_;
};

PageSalvage::PageSalvage(std::unique_ptr<Work> work) : work_(std::move(work)) {}
PageSalvage::PageSalvage(PageSalvage&&) noexcept = default;
PageSalvage::~PageSalvage() = default;

Result<PageSalvage> PageSalvage::open(const std::string& path, const OnBytes& on_bytes) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (descriptor.number() < 0 || fstat(descriptor.number(), &status) != 0) return cannot(errno, "open", path);
  const auto bytes = static_cast<uint64_t>(status.st_size);
  std::optional<uint32_t> page_bytes;
  if (S_ISREG(status.st_mode)) {
    QUIRE_ASSIGN(page_bytes, find_page_bytes(descriptor.number(), bytes));
  }
  if (!page_bytes)
    return fail(ErrorCode::not_a_database, fmt::format("'{}' has no page of a Quire file", shown_path(path)));
  auto work = std::make_unique<Work>(std::move(descriptor), *page_bytes, bytes, on_bytes);
  QUIRE_TRY(work->find());
  if (work->views().empty())
    return fail(
        ErrorCode::not_a_database,
        fmt::format("no page of '{}' tells which tables it has: nothing can be saved", shown_path(path)));
  return PageSalvage(std::move(work));
}

size_t PageSalvage::views() const {
  return work_->views().size();
}
bool PageSalvage::is_newest_known() const {
  const SalvageView& first = work_->views().front();
  return first.is_newest && first.lost_pages == 0;
}
void PageSalvage::choose(size_t view) {
  work_->choose(view);
}
std::vector<std::string> PageSalvage::tables() const {
  std::vector<std::string> names;
  for (const SalvageView::Table& table : work_->view().tables) names.push_back(table.name);
  return names;
}
Result<uint64_t> PageSalvage::read_table(std::string_view name, const Visitor& visitor) {
  return work_->read_table(name, visitor);
}
Result<void> PageSalvage::read_strays(const Visitor& visitor) {
  return work_->read_strays(visitor);
}
Result<bool> PageSalvage::has_changed() const {
  return work_->has_changed();
}

}  // namespace quire::engine
