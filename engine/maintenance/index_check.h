// Whether the entries of a container's indexes are those that its items ask for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/container/container.h"
#include "engine/container/long_work.h"
#include "engine/file/file_cursor.h"
#include "engine/file/transaction.h"
#include "engine/index/entry_extractor.h"
#include "engine/index/index_set.h"
#include "engine/maintenance/check.h"
#include "sql/error.h"

namespace quire::engine {

// A friend of ContainerStore: reads its tables. begin(), add_item() for each item that can be read, finish().
class IndexCheck {
 public:
  IndexCheck(const Transaction& snapshot, ContainerStore& store, LongWork& work, CheckReport& report)
      : snapshot_(snapshot), store_(store), work_(work), report_(report) {}

  Result<void> begin();
  Result<void> add_item(const sql::Value& root, Bytes item_key);
  Result<void> finish();

 private:
  // What a set of entries comes to, in whatever order they are met. Two sets that differ have the same sum
  // once in 2^128.
  struct EntrySum {
    uint64_t entries = 0;
    uint64_t cut_entries = 0;
    uint64_t low = 0;
    uint64_t high = 0;

    void add(Bytes key, Bytes record) noexcept;
    friend bool operator==(const EntrySum&, const EntrySum&) = default;
  };

  void check_definition();
  // The entries of an item in entries_, sorted.
  Result<void> extract(const sql::Value& root, Bytes item_key);
  Result<IndexNumber> note_missing_path(std::span<const sql::IndexStep> path);
  Result<void> sum_entries();
  Result<void> check_unique(const Index& index, Bytes key, Bytes record);
  Result<void> check_counters();
  Result<void> compare();
  Result<void> look_for_entries();
  Result<void> look_for_items(const Index& index);
  sql::Value sound_root(Bytes record) const;
  // What is wrong with an entry; empty: nothing that is not reported already.
  Result<std::string> fault_of(Bytes key, Bytes record, const IndexEntry& entry);

  void add(const Index& index, std::string where, std::string what);
  std::string item_text(Bytes item_key) const;
  EntrySum& sum(std::vector<EntrySum>& sums, IndexNumber number);

  const Transaction& snapshot_;
  ContainerStore& store_;
  LongWork& work_;
  CheckReport& report_;
  IndexSet set_;
  std::unique_ptr<EntryExtractor> extractor_;
  EntryList entries_;
  std::vector<EntrySum> asked_, found_;  // by number
  std::vector<bool> differs_;            // likewise
  std::string last_prefix_;              // of a unique index: number, scope and values of the entry before
};

}  // namespace quire::engine
