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

#include "engine/file/large_pages.h"
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

  // Places in another tree, always the same one, that look-ups in this one led to: by the hash of what was
  // looked for here, and asked for with its own place.
  TreePlaces leads() const noexcept { return {*places_, tree_ | kLeads}; }

 private:
  friend KnownPlaces;
  // In `tree_`, which is a commit above the number of a root. Larger ones are not noted.
  static constexpr uint64_t kLeads = uint64_t{1} << 31, kMostRoots = kLeads, kMostCommits = uint64_t{1} << 32;

  TreePlaces(KnownPlaces& places, uint64_t tree) noexcept : places_(&places), tree_(tree) {}

  KnownPlaces* places_ = nullptr;
  uint64_t tree_ = 0;
};

// Where a look-up led that may come again. Of a look-up of which nothing can be known: false, and nothing is
// noted.
struct Lead {
  TreePlaces places;
  uint64_t hashed = 0;
  std::optional<EntryPlace> place;  // where it led the last time

  explicit operator bool() const noexcept { return static_cast<bool>(places); }
  void note(const EntryPlace& found) const noexcept { places.note(hashed, found); }
};

// Of a file, for all its threads at once. Takes memory once so much is read that it is of use, the more the
// larger the file is, kMostBytes at most.
class KnownPlaces {
 public:
  static constexpr size_t kMostBytes = size_t{8} << 20;

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
    return root < TreePlaces::kMostRoots ? TreePlaces(*this, commit << 32 | root) : TreePlaces();
  }

 private:
  friend TreePlaces;
  static constexpr uint64_t kMostPages = uint64_t{1} << 28;  // larger numbers are not noted

  // Threads read and write both words without a lock. They belong together if `check` is what the tree and
  // the place make: words of two writers do not.
  struct Slot {
    std::atomic<uint64_t> check = 0, place = 0;
  };
  // What is looked for together: two lines of memory, beside each other. Of places that take four tenths of
  // all slots, an eighth push each other out where they share the slots of one line, a thirtieth of two.
  struct alignas(128) Bucket {
    std::array<Slot, 8> slots;
  };
  // Of kLargePage bytes.
  static constexpr uint64_t kBucketsOfBlock = kLargePage / sizeof(Bucket);

  bool settle(uint64_t commit, uint64_t pages) noexcept;
  bool take_buckets(uint64_t pages) noexcept;
  Bucket& bucket_of(uint64_t hashed) const noexcept;

  const uint64_t seed_;  // of hashes: nobody can choose keys that share one
  // Reads of a commit that were counted, until there are enough. Where one is settled, there are buckets.
  std::atomic<uint64_t> settled_commit_ = ~uint64_t{0}, counted_commit_ = 0, counted_ = 0;
  std::mutex taking_;
  std::atomic<uint64_t> buckets_ = 0;  // a power of two; they lie in:
  std::array<Bucket*, 4> blocks_{};
};

}  // namespace quire::engine
