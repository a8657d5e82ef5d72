// Sorts the items of an import by key in bounded memory: a buffer is filled, sorted and written to a temporary file as a
// run; at the end the runs are merged. What fits into one buffer never sees the file. There are two buffers: while one
// is filled, a thread sorts and writes the other.
#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/table.h"
#include "sql/error.h"

namespace quire::engine {

struct SortedItem {
  Bytes key;
  Bytes document;
  uint64_t line = 0;  // of the input; items of equal key come in the order of their lines
};

class ImportSorter {
 public:
  // The temporary file is made in `folder`, and has no name.
  ImportSorter(std::string folder, size_t memory);
  ~ImportSorter();
  ImportSorter(const ImportSorter&) = delete;
  ImportSorter& operator=(const ImportSorter&) = delete;

  Result<void> add(Bytes key, Bytes document, uint64_t line);
  uint64_t items() const noexcept { return items_; }

  // Begins, or begins anew, to hand out the items in order. Nothing may be added afterwards.
  Result<void> rewind();
  // The next item, good until the next call; null at the end.
  Result<const SortedItem*> next();

 private:
  struct Entry;
  struct Run;
  struct Buffer {
    std::vector<char> bytes;
    size_t used = 0;
    std::vector<Entry> entries;

    void sort();
    void clear();
  };

  // Hands the filled buffer to the thread, once that has written the one before.
  Result<void> begin_spill();
  Result<void> end_spill();
  Result<void> write_run(Buffer& buffer);
  Result<void> advance(Run& run);

  std::string folder_;
  size_t memory_;
  uint64_t items_ = 0;
  Buffer filling_;
  Buffer spilling_;
  std::future<Result<void>> spill_;
  int file_ = -1;
  uint64_t file_size_ = 0;
  std::vector<Run> runs_;
  // While items are handed out: the runs that have some left, a heap with the least key in front. Without a
  // file: the place in the filled buffer.
  std::vector<Run*> heap_;
  Run* current_ = nullptr;
  size_t next_entry_ = 0;
  SortedItem item_;
};

}  // namespace quire::engine
