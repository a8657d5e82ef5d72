// Sorts the items of an import by key in bounded memory: one buffer is filled while another is sorted and
// written to a temporary file as a run; at the end the runs are merged. What fits into one buffer never sees
// the file.
//
// Keys and documents lie apart, in the buffers and in the runs, so that a pass over the keys alone reads
// little:
//
//   buffer, run:  (header | key) x items | documents in the order of the keys (of a buffer: as they came)
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "engine/container/import_spill.h"
#include "engine/file/table.h"
#include "sql/error.h"

namespace quire::engine {

// Where the document of an item lies.
struct DocumentPlace {
  uint64_t offset = 0;
  uint32_t size = 0;
};

struct SortedItem {
  Bytes key;
  Bytes document;       // in a pass over the keys alone: empty
  uint64_t number = 0;  // of the item, in the order of the input; items of equal key come in this order
  uint32_t line = 0;    // of the input
  DocumentPlace place;
};

class ImportSorter {
 public:
  // The temporary file is made in `folder`.
  ImportSorter(std::string folder, size_t memory);
  ~ImportSorter();
  ImportSorter(const ImportSorter&) = delete;
  ImportSorter& operator=(const ImportSorter&) = delete;

  Result<void> add(Bytes key, Bytes document, uint32_t line);
  uint64_t items() const noexcept { return items_; }

  enum class Pass { keys, items };
  // Begins to hand out the items in order, from the first. Nothing may be added afterwards.
  Result<void> begin(Pass pass);
  // The next item, good until the next call; null at the end.
  Result<const SortedItem*> next();
  // The document of an item that any pass handed out.
  Result<std::string> document(const DocumentPlace& place) const;

 private:
  struct Buffer;
  struct Run;
  class RunCursor;

  Result<void> begin_spill();
  Result<void> end_spill();
  Result<void> write_run(Buffer& buffer);
  Result<void> begin_merge(Pass pass);

  size_t buffer_memory_;
  uint64_t items_ = 0;
  SpillFile file_;
  std::vector<Run> runs_;  // while a spill is at work, its own
  std::unique_ptr<Buffer> filling_;
  std::unique_ptr<Buffer> spilling_;
  // While items are handed out: the cursors that have some left, a heap with the least key in front. Without
  // runs: the place in the one buffer.
  std::vector<RunCursor> cursors_;
  std::vector<RunCursor*> heap_;
  RunCursor* current_ = nullptr;
  Pass pass_ = Pass::keys;
  size_t next_entry_ = 0;
  SortedItem item_;
  // Last, so that it is waited for before what it works on ends.
  std::future<Result<void>> spill_;
};

}  // namespace quire::engine
