#include "engine/file/pending_pool.h"

#include <utility>

namespace quire::engine {

std::shared_ptr<PendingCommits> PendingPool::take(uint64_t base, size_t bytes) {
  std::unique_ptr<PendingCommits> list = kept_->take();
  if (list == nullptr)
    list = std::make_unique<PendingCommits>(base, bytes);
  else
    list->begin_anew(base, bytes);
  return {list.release(), [kept = kept_](PendingCommits* seen_by_nobody) {
            kept->give_back(std::unique_ptr<PendingCommits>(seen_by_nobody));
          }};
}

std::unique_ptr<PendingCommits> PendingPool::Kept::take() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& list : lists_)
    if (list != nullptr) return std::move(list);
  return nullptr;
}

void PendingPool::Kept::give_back(std::unique_ptr<PendingCommits> list) noexcept {
  if (list->memory() > kMostBytes) return;
  const std::lock_guard lock(mutex_);
  for (auto& place : lists_)
    if (place == nullptr) {
      place = std::move(list);
      return;
    }
}

void PendingPool::Kept::clear() noexcept {
  std::array<std::unique_ptr<PendingCommits>, 2> lists;
  const std::lock_guard lock(mutex_);
  lists.swap(lists_);
}

}  // namespace quire::engine
