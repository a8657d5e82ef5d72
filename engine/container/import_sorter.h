// Sorts the items of an import by key in bounded memory. Each encoding thread fills a lane, which it sorts
// and writes to its temporary file as a run when it is full; at the end the runs, and what the lanes still
// hold, are merged. What fits into the lanes never sees a file.
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

namespace quire::engine {

// The items of one order lie in places that have nothing to do with each other. Memory is asked for those a
// few items ahead, so that their bytes are there when their turn comes.
inline constexpr size_t kItemsAhead = 8;
inline void prefetch_document(Bytes document) noexcept {
  constexpr size_t kCacheLine = 64, kMost = 16 * kCacheLine;
  const size_t size = std::min(document.size(), kMost);
  for (size_t at = 0; at < size; at += kCacheLine) __builtin_prefetch(document.data() + at);
}

// Its bytes stay where they are until the sorter ends or they are given back.
struct SortedItem {
  Bytes key;
  Bytes document;
  uint64_t hash = 0;    // document_hash()
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
    struct Entry {
      uint64_t prefix;  // of the key
      size_t offset;    // of the header in keys_
    };
    // The stretches of the file with the keys and the documents, one behind the other.
    struct Run {
      uint64_t keys = 0;
      uint64_t documents = 0;
      uint64_t end = 0;
    };
    Lane(std::string folder, size_t memory) : file_(std::move(folder)), memory_(memory) {}
    Bytes header_and_key(const Entry& entry) const;
    SortedItem item(const Entry& entry) const;
    void sort();
    // Of the item that comes so far in the order.
    void prefetch_key(size_t number) const noexcept;
    Result<void> spill();

    SpillFile file_;
    size_t memory_;
    std::vector<Run> runs_;
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

  // Begins to hand out the items in order, from the first. Nothing may be added afterwards.
  Result<void> begin();
  // The next item; its place is good until the next call. Null at the end.
  const SortedItem* next();

  // How far each run has been handed out, the last item not counted.
  struct Progress {
    std::vector<uint64_t> documents;
  };
  Progress progress() const;
  // Has the documents handed out up to there, and not brought in yet, be in memory when they are read.
  void bring_in(const Progress& progress);
  // Gives back the documents handed out up to there, so that the pages that they took in memory and on disk
  // are free for the database. There is no second begin() then.
  void give_back(const Progress& progress);

 private:
  // Walks over a run, or over a sorted lane.
  class Cursor {
   public:
    Cursor(const Lane& lane, const Lane::Run& run);
    explicit Cursor(const Lane& lane) : lane_(&lane) {}

    bool next();
    const SortedItem& item() const { return item_; }
    // Of a run: where the document of the item lies in the lane's file; at the end, where the run ends.
    uint64_t document_offset() const;
    void bring_in(uint64_t end);
    void give_back(uint64_t end);
    // The heap's order: the greater key further back.
    static bool is_after(const Cursor* a, const Cursor* b);

   private:
    const Lane* lane_;
    const Lane::Run* run_ = nullptr;  // null: over what the lane holds
    uint64_t key_ = 0;                // of the next item, in the file
    uint64_t document_ = 0;
    uint64_t brought_in_ = 0;  // the documents before
    uint64_t given_back_ = 0;  // likewise
    size_t entry_ = 0;         // the next item of the lane
    SortedItem item_;
    uint64_t prefix_ = 0;  // of its key
  };

  void begin_cursor(Cursor cursor);
  // Moves the cursor in front of the heap to its place, once it stands on another item.
  void sink_front();

  std::vector<Lane> lanes_;
  // While items are handed out: the cursors that have some left, a heap with the least key in front, which is
  // that of the item handed out last.
  std::vector<Cursor> cursors_;
  std::vector<Cursor*> heap_;
  bool has_begun_ = false;
  bool is_sorted_ = false;
};

}  // namespace quire::engine
