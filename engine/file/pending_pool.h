// Lists of pending commits that nobody sees any more, for those that follow: while commits come in a row, a
// list takes the memory of the one before the last, and need not have the system put pages there once more.
// Internal to engine/file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/file/pending_commits.h"

namespace quire::engine {

// From any thread. Lists that it has given may outlive it.
class PendingPool {
 public:
  // As PendingCommits' constructor. bad_alloc.
  std::shared_ptr<PendingCommits> take(uint64_t base, size_t bytes);
  // Keeps none of those that are there.
  void clear() noexcept { kept_->clear(); }

 private:
  class Kept {
   public:
    std::unique_ptr<PendingCommits> take() noexcept;
    void give_back(std::unique_ptr<PendingCommits> list) noexcept;
    void clear() noexcept;

   private:
    static constexpr size_t kMostBytes = size_t{16} << 20;  // of a list that is worth keeping

    std::mutex mutex_;
    std::array<std::unique_ptr<PendingCommits>, 2> lists_;  // as many as are seen at a time
  };

  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace quire::engine
