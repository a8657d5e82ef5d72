// Sorts the items of an import by key in bounded memory. Each encoding thread fills a lane, which it sorts
// and writes to its temporary file as a run when it is full; at the end the runs, and what the lanes still
// hold, are merged (import_merge.h). What fits into the lanes never sees a file.
//
//   lane, run:  (header | key) x items  |  their documents
//
// as they came in a lane, in the order of the keys in a run. Keys and documents lie apart, so that sorting,
// and a walk over the keys alone, read little.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/container/import_spill.h"
#include "engine/file/table.h"
#include "sql/error.h"
#include "sql/value/prefetch.h"

namespace quire::engine {

// The items of one order lie in places that have nothing to do with each other. Memory is asked for those a
// few items ahead, so that their bytes are there when their turn comes.
inline constexpr size_t kItemsAhead = 8;
inline void prefetch_document(Bytes document) noexcept {
  constexpr size_t kCacheLine = 64, kMost = 16 * kCacheLine;
  const size_t size = std::min(document.size(), kMost);
  for (size_t at = 0; at < size; at += kCacheLine) sql::prefetch(document.data() + at);
}

// Its bytes stay where they are until the sorter ends or they are given back.
struct SortedItem {
  Bytes key;
  Bytes document;
  uint64_t number = 0;  // of the item, in the order of the input; items of equal key come in this order
  uint32_t line = 0;    // of the input
};

class ImportSorter {
 public:
  // What one thread adds to, beside others in theirs.
  class Lane {
   public:
    Result<void> add(const SortedItem& item);

   private:
    friend class ImportSorter;
    friend class ImportMerge;
    static constexpr size_t kHeaderBytes = 32;
    struct Entry {
      uint64_t prefix;  // of the key
      size_t offset;    // of the header in keys_
    };
    // Where one in so many items of a run lies, so that a walk can begin there.
    static constexpr size_t kItemsBetweenMarks = 1024;
    struct RunMark {
      uint64_t prefix;  // of its key
      uint64_t key;     // its header
      uint64_t document;
    };
    // The stretches of the file with the keys and the documents, one behind the other.
    struct Run {
      uint64_t keys = 0;
      uint64_t documents = 0;
      std::vector<RunMark> marks;
    };
    Lane(std::string folder, size_t memory) : file_(std::move(folder)), memory_(memory) {}
    Bytes header_and_key(const Entry& entry) const;
    SortedItem item(const Entry& entry) const;
    void sort();
    // Of the item that comes so far in the order.
    void prefetch_key(size_t number) const noexcept;
    Result<void> spill();
    Result<void> write_run();
    // Of the header and the key at `at`, and its document.
    static SortedItem item_at(const char* at, const char* document) noexcept;

    SpillFile file_;
    size_t memory_;
    std::vector<Run> runs_;
    uint64_t bytes_ = 0;  // added
    std::string keys_;
    std::string documents_;
    std::vector<Entry> entries_;
    bool has_large_pages_ = false;  // where the system has such
  };

  // Temporary files are made in `folder`; `memory` is shared out among the lanes.
  ImportSorter(const std::string& folder, size_t memory, size_t lanes);
  ImportSorter(const ImportSorter&) = delete;
  ImportSorter& operator=(const ImportSorter&) = delete;

  Lane& lane(size_t number) { return lanes_[number]; }

  // Of the keys and documents that were added.
  uint64_t bytes() const noexcept;

  // Sorts what the lanes still hold, by several threads. Nothing may be added afterwards, and only then can
  // there be a merge.
  Result<void> finish();

 private:
  friend class ImportMerge;

  std::vector<Lane> lanes_;
};

}  // namespace quire::engine
