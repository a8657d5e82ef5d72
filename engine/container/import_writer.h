// The end of an import: the sorted items, written in commits of a bounded size. While one batch is committed,
// a thread merges the next, and what earlier ones wrote is on its way to the disk, which is waited for at the
// end: once for what the first commits have left behind them, which the last ones fill, and once for all.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "engine/container/bulk_writer.h"
#include "engine/container/container.h"
#include "engine/container/handover.h"
#include "engine/container/import_merge.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

// The error that ends an import. Who waits for his turn to write is told of others when he is interrupted,
// which may be threads of the import.
Error error_of_import(Error error);

class ImportWriter {
 public:
  struct Options {
    bool upsert = false;  // replace items that exist; of two with one key the later one stays, else the first
    // What defer_indexes() gave: while the set of indexes has this version, they are left to build_indexes().
    uint64_t deferred_version = 0;
    // Numbers of items that are left out in any case.
    const std::unordered_set<uint64_t>* left_out = nullptr;
    // Told of each item that conflicts with what is there, once the others of its commit are written; null:
    // such an item ends the writing.
    std::function<Result<void>(Error)> skip;
    // Called after each commit but the last; an error ends the writing.
    std::function<Result<void>()> look;
  };

  ImportWriter(Environment& environment, ContainerStore& store, Options options)
      : environment_(environment),
        store_(store),
        options_(std::move(options)),
        ttl_(sql::resolve_key("ttl", store.dictionary().number())) {}

  // How many items were written. An error says how many have been committed before it and stay. In either
  // case these are as durable as commits are.
  Result<uint64_t> write(const ImportSorter& sorter);

 private:
  // What goes into one commit.
  struct Batch {
    std::vector<SortedItem> items;
    std::vector<DocumentFacts> facts;  // of each one's document
    ImportMerge::Progress end;
    bool is_near_end = false;  // so few are left as go into two commits
    bool is_last = false;
  };

  Result<void> write_batches(const ImportSorter& sorter);
  void merge_all(const ImportSorter& sorter, Handover<Batch>& batches);
  Result<void> commit_all(Handover<Batch>& batches);
  // Without a thread for the merge.
  Result<void> write_by_turns(const ImportSorter& sorter);
  Result<void> commit_next(const Batch& batch);
  // The items of the next commit.
  void merge(ImportMerge& items, Batch& batch);
  // By the thread that merges: it has less to do than those that encode, and than the one that commits, which
  // then finds the documents near.
  void find_facts(Batch& batch) const;
  // How many of them were written.
  Result<uint64_t> commit(const Batch& batch);

  Environment& environment_;
  ContainerStore& store_;
  Options options_;
  // As of the dictionary that was read when the keys were checked: it knows the names of all items.
  sql::ResolvedKey ttl_;
  const SortedItem* next_ = nullptr;  // taken from the merge and not yet in a batch
  uint64_t left_ = 0;                 // bytes that the merge has not handed out
  uint64_t written_ = 0;
  bool must_sync_ = false;    // there is more than one commit, and none waits for the disk
  bool reuses_room_ = false;  // what commits have left
};

}  // namespace quire::engine
