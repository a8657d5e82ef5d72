#include "engine/file/free_pages.h"

#include <algorithm>

namespace quire::engine {

using layout::load;
using layout::Node;

Result<std::vector<uint64_t>> FreePages::collect(uint64_t root, uint64_t from) {
  from_ = from;
  found_.clear();
  to_visit_.clear();
  if (root != layout::kNoPage) to_visit_.push_back(root);
  std::vector<bool> visited(reader_.pages());
  std::vector<char> bytes;
  while (!to_visit_.empty()) {
    const uint64_t number = to_visit_.back();
    to_visit_.pop_back();
    QUIRE_TRY(reader_.read(number, 1, bytes));
    if (visited[number]) return fail(ErrorCode::corrupt, "the free list goes round in a circle");
    visited[number] = true;
    QUIRE_ASSIGN(const TreePage page, checker_.check(bytes.data(), number, KeyOrder::numbers));
    QUIRE_TRY(visit(page));
  }
  std::ranges::sort(found_);
  const auto repeated = std::ranges::unique(found_);
  found_.erase(repeated.begin(), repeated.end());
  return std::move(found_);
}

Result<void> FreePages::visit(const TreePage& page) {
  for (size_t i = 0; i < page.nodes(); ++i) {
    const Node node = page.node(i);
    if (page.is_branch()) {
      to_visit_.push_back(node.child());
    } else if (node.is_on_pages()) {
      QUIRE_TRY(reader_.read(node.first_page(),
                             layout::overflow_pages(node.data_bytes(), reader_.page_bytes()), data_));
      QUIRE_TRY(take(data_.data() + layout::kPageHeader, node.data_bytes()));
    } else {
      QUIRE_TRY(take(node.data(), node.data_bytes()));
    }
  }
  return {};
}

Result<void> FreePages::take(const char* list, uint64_t size) {
  constexpr size_t kNumber = sizeof(uint64_t);
  if (size < kNumber || load<uint64_t>(list) > size / kNumber - 1)
    return fail(ErrorCode::corrupt, "an entry of the free list is none");
  const uint64_t count = load<uint64_t>(list);
  for (uint64_t i = 1; i <= count; ++i)
    if (const auto number = load<uint64_t>(list + kNumber * i); number >= from_) found_.push_back(number);
  return {};
}

}  // namespace quire::engine
