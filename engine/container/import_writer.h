// The end of an import: the sorted items, written in commits of a bounded size. While one batch is committed
// by a thread of its own, the next is merged.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "engine/container/container.h"
#include "engine/container/import_sorter.h"
#include "engine/file/environment.h"
#include "sql/error.h"
#include "sql/value/arena.h"

namespace quire::engine {

class ImportWriter {
 public:
  struct Options {
    bool upsert = false;  // replace items that exist; of two with one key the later one stays, else the first
    bool skip_conflicts = false;  // leave out what conflicts, rather than fail
    // Numbers of items that are left out in any case.
    const std::unordered_set<uint64_t>* left_out = nullptr;
    // Called often, with what has been committed; an error ends the writing.
    std::function<Result<void>(uint64_t items)> report;
  };

  ImportWriter(Environment& environment, ContainerStore& store, Options options)
      : environment_(environment), store_(store), options_(std::move(options)) {}

  // How many items were written. An error says how many have been committed before it and stay.
  Result<uint64_t> write(ImportSorter& sorter);

 private:
  // What goes into one commit, and what came of it.
  struct Batch {
    std::vector<SortedItem> items;
    sql::Arena bytes;
    uint64_t written = 0;
  };

  Result<void> write_batches(ImportSorter& sorter);
  // Fills a batch with the next items; none at the end.
  Result<void> merge(ImportSorter& sorter, Batch& batch);
  Result<void> commit(Batch& batch);

  Environment& environment_;
  ContainerStore& store_;
  Options options_;
  const SortedItem* next_ = nullptr;  // taken from the sorter and not yet in a batch
  uint64_t written_ = 0;
};

}  // namespace quire::engine
