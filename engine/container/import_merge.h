// The items of a sorter in the order of their keys: its runs, and what the lanes still hold, merged. Several
// merges of one sorter may go on at a time, each in its thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/container/import_sorter.h"

namespace quire::engine {

// Must not outlive the sorter, which is finished.
class ImportMerge {
 public:
  // Of the items whose keys are in one of so many parts (start_of_part()), as far as eight bytes tell.
  explicit ImportMerge(const ImportSorter& sorter, uint32_t part = 0, uint32_t parts = 1);
  ImportMerge(const ImportMerge&) = delete;
  ImportMerge& operator=(const ImportMerge&) = delete;

  // The next item; its place is good until the next call. Null at the end.
  const SortedItem* next();

  // How far each run has been handed out, the last item not counted. For a merge of all items.
  struct Progress {
    std::vector<uint64_t> documents;
  };
  Progress progress() const;
  // Has the documents handed out up to there, and not brought in yet, be in memory when they are read.
  void bring_in(const Progress& progress);
  // Gives back the documents handed out up to there, so that the pages that they took in memory and on disk
  // are free for the database. There can be no other merge then.
  void give_back(const Progress& progress);

 private:
  using Lane = ImportSorter::Lane;
  // The keys from the first prefix on, to before the other one; 0: to the end.
  struct Range {
    uint64_t from = 0;
    uint64_t to = 0;
  };

  // Walks over a run, or over a sorted lane.
  class Cursor {
   public:
    Cursor(const Lane& lane, const Lane::Run& run, Range range);
    Cursor(const Lane& lane, Range range);

    bool next();
    const SortedItem& item() const { return item_; }
    // Of a run: where the document of the item lies in the lane's file; at the end, where the run ends.
    uint64_t document_offset() const;
    void ask_for(uint64_t end);
    void bring_in(uint64_t end);
    void give_back(uint64_t end);
    // The heap's order: the greater key further back.
    static bool is_after(const Cursor* a, const Cursor* b);

   private:
    void seek(uint64_t from);
    SortedItem item_of_run();
    void pass(const SortedItem& item);

    const Lane* lane_;
    const Lane::Run* run_ = nullptr;  // null: over what the lane holds
    uint64_t to_ = 0;                 // as of Range
    uint64_t key_ = 0;                // of the next item, in the file
    uint64_t document_ = 0;
    uint64_t asked_for_ = 0;   // the keys before
    uint64_t brought_in_ = 0;  // the documents before
    uint64_t given_back_ = 0;  // likewise
    size_t entry_ = 0;         // the next item of the lane
    SortedItem item_;
    uint64_t prefix_ = 0;  // of its key
  };

  void begin_cursor(Cursor cursor);
  // Moves the cursor in front of the heap to its place, once it stands on another item.
  void sink_front();

  // Those that have some left, a heap with the least key in front, which is that of the item handed out last.
  std::vector<Cursor> cursors_;
  std::vector<Cursor*> heap_;
  bool has_begun_ = false;
};

}  // namespace quire::engine
