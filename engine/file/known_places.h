// Where entries lie that were looked up before: by a hash of what was looked for. A look-up goes there at
// once, where the way down from the root waits for memory at each page. Each commit of LMDB's moves entries
// without our knowing which, so that what is known of a tree holds for one commit, and is looked up with
// both: of other commits it is never found, and gives its room to what comes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "engine/file/table.h"

namespace quire::engine {

// An entry of a leaf.
struct EntryPlace {
  uint64_t page = 0;    // its number; no leaf has 0
  uint32_t offset = 0;  // of the node in the page
  uint32_t number = 0;  // of the node among those of the page
};

class KnownPlaces;

// Those of one tree as of one commit. To be copied freely; as good as the KnownPlaces.
class TreePlaces {
 public:
  TreePlaces() = default;  // knows nothing and learns nothing

  explicit operator bool() const noexcept { return places_ != nullptr; }
  uint64_t hash(Bytes wanted) const noexcept;
  // Has the memory brought where that is looked for.
  void ask_for(uint64_t hashed) const noexcept;
  // Where an entry was noted for something of that hash: the caller has to look whether it is what is wanted.
  std::optional<EntryPlace> find(uint64_t hashed) const noexcept;
  void note(uint64_t hashed, const EntryPlace& place) const noexcept;

 private:
  friend KnownPlaces;
  TreePlaces(KnownPlaces& places, uint64_t tree) noexcept : places_(&places), tree_(tree) {}

  KnownPlaces* places_ = nullptr;
  uint64_t tree_ = 0;
};

// Of a file, for all its threads at once. Takes kBytes of memory once so much is read that it is of use.
class KnownPlaces {
 public:
  static constexpr size_t kBytes = size_t{4} << 20;

  KnownPlaces();
  ~KnownPlaces();
  KnownPlaces(const KnownPlaces&) = delete;
  KnownPlaces& operator=(const KnownPlaces&) = delete;

  // Of the tree with that root, as of that commit of LMDB's, in a file of so many pages. One that knows
  // nothing where it would not help: in a file that the processor's caches hold, or where a commit comes
  // before much has been read of the last.
  TreePlaces of(uint64_t commit, uint64_t root, uint64_t pages) noexcept {
    if (settled_commit_.load(std::memory_order_acquire) != commit) [[unlikely]]
      if (!settle(commit, pages)) return {};
    return root < kMostPages ? TreePlaces(*this, commit << 32 | root) : TreePlaces();
  }

 private:
  friend TreePlaces;
  // Larger numbers of pages, and of commits, are not noted.
  static constexpr uint64_t kMostPages = uint64_t{1} << 32, kMostCommits = uint64_t{1} << 32;

  // Threads read and write both words without a lock. They belong together if `check` is what the tree and
  // the place make: words of two writers do not.
  struct Slot {
    std::atomic<uint64_t> check = 0, place = 0;
  };
  struct alignas(64) Line {
    std::array<Slot, 4> slots;
  };

  bool settle(uint64_t commit, uint64_t pages) noexcept;
  bool make_lines() noexcept;
  Line& line_of(uint64_t hashed) const noexcept;

  const uint64_t seed_;  // of hashes: nobody can choose keys that share one
  // Reads of a commit that were counted, until there are enough. Where one is settled, there are lines.
  std::atomic<uint64_t> settled_commit_ = ~uint64_t{0}, counted_commit_ = 0, counted_ = 0;
  std::once_flag is_made_;
  bool has_lines_ = false;
  std::array<Line*, 2> pages_{};  // of kLargePage bytes each
};

}  // namespace quire::engine
