// Which states of a damaged file its pages tell of.

#include <algorithm>
#include <array>
#include <utility>

#include "engine/file/page_reader.h"
#include "engine/file/salvage_pages.h"

namespace quire::engine {
namespace {

using layout::Meta;
using layout::Node;

bool is_table(const Node& node) {
  return node.flags() == layout::kDataIsTree && node.data_bytes() == layout::kTreeBytes;
}

class ViewFinder {
 public:
  ViewFinder(int descriptor, const PageReader& reader)
      : descriptor_(descriptor), reader_(reader), checker_(reader.page_bytes()) {}

  Result<std::vector<SalvageView>> run(const AnchorRecord& anchor) {
    if (anchor.is_set && anchor.has_log)
      if (const auto meta = layout::parse_meta_content(anchor.meta.data()))
        QUIRE_TRY(add(meta->main.root, meta));
    std::vector<Meta> metas;
    for (const uint64_t offset : {uint64_t{0}, uint64_t{reader_.page_bytes()}})
      if (const auto meta = meta_at(descriptor_, offset)) metas.push_back(*meta);
    std::ranges::sort(metas, std::greater(), &Meta::transaction);
    for (const Meta& meta : metas) QUIRE_TRY(add(meta.main.root, meta));
    if (metas.size() == layout::kMetaPages && !views_.empty())
      views_.front().is_newest = views_.front().meta->transaction == metas.front().transaction;
    // The one that is missing may have been the newer.
    if (metas.size() < layout::kMetaPages || !has_whole_one()) QUIRE_TRY(search());
    return std::move(views_);
  }

 private:
  Result<void> add(uint64_t root, const std::optional<Meta>& meta) {
    if (++tried_ > kMostTried) return {};
    SalvageView view;
    view.meta = meta;
    SalvageWalk walk(reader_);
    QUIRE_ASSIGN(view.lost_pages, walk.run(root, [&](const Node& node, bool is_sound) -> Result<void> {
      if (is_sound && is_table(node))
        view.tables.push_back({std::string(node.key()), layout::parse_tree(node.data())});
      return {};
    }));
    for (const SalvageView::Table& table : view.tables) view.sound_roots += is_root_sound(table.tree);
    if (!view.tables.empty()) views_.push_back(std::move(view));
    return {};
  }

  bool is_root_sound(const layout::Tree& tree) {
    if (tree.root == layout::kNoPage) return true;
    const auto read = reader_.read(tree.root, 1, page_);
    return read && checker_.check(page_.data(), tree.root, KeyOrder::bytes).has_value();
  }

  bool has_whole_one() const {
    return std::ranges::any_of(views_, [](const SalvageView& view) {
      return view.lost_pages == 0 && view.sound_roots == view.tables.size();
    });
  }

  // Leaf pages that hold nothing but tables, and branch pages whose first child is one.
  Result<void> search() {
    std::vector<bool> holds_tables(reader_.pages());
    std::vector<std::pair<uint64_t, uint64_t>> branches;  // page, first child
    for (uint64_t number = layout::kMetaPages; number < reader_.pages(); ++number) {
      const auto read = reader_.read(number, 1, page_);
      if (!read && is_missing(read.error())) continue;
      QUIRE_TRY(read);
      const auto page = checker_.check(page_.data(), number, KeyOrder::bytes);
      if (!page) continue;
      if (page->is_branch())
        branches.emplace_back(number, page->node(0).child());
      else if (is_table(page->node(0)) && is_table(page->node(page->nodes() - 1)))
        holds_tables[number] = true;
    }
    for (const auto& [number, child] : branches)
      if (child < holds_tables.size() && holds_tables[child]) QUIRE_TRY(add(number, std::nullopt));
    for (uint64_t number = 0; number < holds_tables.size(); ++number)
      if (holds_tables[number]) QUIRE_TRY(add(number, std::nullopt));
    return {};
  }

  // Pages that look like the root of the tree of tables: each costs a walk, and a file may be full of them.
  static constexpr size_t kMostTried = 1000;

  int descriptor_;
  const PageReader& reader_;
  TreePageChecker checker_;
  std::vector<char> page_;
  size_t tried_ = 0;
  std::vector<SalvageView> views_;
};

// How many of the first pages bear their own number.
uint64_t count_numbered(int descriptor, uint32_t page_bytes, uint64_t file_bytes) {
  constexpr uint64_t kPagesLookedAt = 1000;
  const PageReader reader(descriptor, page_bytes, file_bytes);
  std::array<char, layout::kPageHeader> head;
  uint64_t count = 0;
  for (uint64_t page = layout::kMetaPages; page < std::min(reader.pages(), kPagesLookedAt); ++page)
    count += reader.read_head(page, head) && layout::page_number(head.data()) == page;
  return count;
}

}  // namespace

Result<std::vector<SalvageView>> find_views(int descriptor, const PageReader& reader,
                                            const AnchorRecord& anchor) {
  return ViewFinder(descriptor, reader).run(anchor);
}

Result<std::optional<uint32_t>> find_page_bytes(int descriptor, uint64_t file_bytes) {
  if (const auto meta = meta_at(descriptor, 0)) return meta->page_bytes;
  uint64_t most = 0;
  std::optional<uint32_t> found;
  for (uint32_t size = layout::kSmallestPage; size <= layout::kLargestPage; size *= 2) {
    if (const auto meta = meta_at(descriptor, size); meta && meta->page_bytes == size) return size;
    const uint64_t count = count_numbered(descriptor, size, file_bytes);
    if (count > most) {
      most = count;
      found = size;
    }
  }
  return found;
}

}  // namespace quire::engine
