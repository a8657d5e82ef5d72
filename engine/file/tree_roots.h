// Where the trees of the tables begin, each as of one commit: LMDB looks that up in the tree of tables again
// in each snapshot. Shared by the threads of a process, which may all note and find at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "engine/file/table.h"
#include "engine/file/table_registry.h"

namespace quire::engine {

class TreeRoots {
 public:
  // The page that the table's tree begins at as of that commit of LMDB's, or kNone; nothing if not known.
  static constexpr uint64_t kNone = (uint64_t{1} << 48) - 1;  // of an empty tree: LMDB's numbers have 48 bits
  std::optional<uint64_t> find(Table table, uint64_t commit) const noexcept {
    const Known& known = known_[table.slot()];
    if (known.commit.load(std::memory_order_acquire) != commit) return std::nullopt;
    const uint64_t root = known.root.load(std::memory_order_acquire);
    // Others may have been noted meanwhile, this commit's again the last, and the slot may have been another
    // table's.
    if (known.commit.load(std::memory_order_relaxed) != commit || root >> 48 != mark_of(table, commit))
      return std::nullopt;
    return root & kNone;
  }
  // How many pages lie on the way to an entry, as was noted last of any commit: a hint.
  size_t depth(Table table) const noexcept {
    return known_[table.slot()].depth.load(std::memory_order_relaxed);
  }
  void note(Table table, uint64_t commit, uint64_t root, uint16_t depth) noexcept {
    Known& known = known_[table.slot()];
    uint64_t before = known.commit.load(std::memory_order_relaxed);
    if (before == kBusy || !known.commit.compare_exchange_strong(before, kBusy)) return;
    known.root.store(mark_of(table, commit) << 48 | (root & kNone), std::memory_order_release);
    known.depth.store(depth, std::memory_order_relaxed);
    known.commit.store(commit, std::memory_order_release);
  }

 private:
  static constexpr uint64_t kBusy = ~uint64_t{0};
  // The lower bits are enough: a table that comes to have the slot later has a higher generation, and no
  // lower commit is noted of it; and what is noted between two looks at it is of commits that are near.
  static uint64_t mark_of(Table table, uint64_t commit) noexcept {
    return (table.generation() + commit) & 0xFFFF;
  }

  struct Known {
    std::atomic<uint64_t> commit = kBusy - 1, root = 0;  // of no commit
    std::atomic<uint16_t> depth = 0;
  };
  std::array<Known, kMostTables + TableRegistry::kCoreTables> known_;
};

}  // namespace quire::engine
