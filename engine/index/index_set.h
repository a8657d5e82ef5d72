// Which indexes a container has, as a transaction sees it: the rows of number 0 in <c>/index.
//
//   key 00 00 'v'           version of the set, 8 bytes; next number, 2; 1 if the policy's paths are being
//                           built; little-endian. Missing: no index.
//       00 00 'p'           the indexing policy as Cosmos JSON, if it includes any path
//       00 00 'd' | number  an index as JSON
//       00 00 'n' | block   counters of 64 numbers: entries and cut ones (IndexCounters), 8 bytes each
//       00 00 's' | number  what was found out about an index (index_statistics.h)
//       00 00 'b'           while indexes are being built: the process at it, 4 bytes; then the key of the
//                           last item whose entries are all there
//
// Each change of the set (not of the counters) makes a new version, so that who knows a version knows the
// set: also who has seen one in a transaction that was undone, since versions grow by random steps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/this_process.h"
#include "engine/file/transaction.h"
#include "engine/index/index_entry.h"
#include "engine/index/indexing_policy.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

enum class UniqueScope : uint8_t { none, partition, container };

struct Index {
  IndexNumber number{};
  std::string name;
  std::vector<sql::IndexPart> parts;
  sql::IndexHolds holds = sql::IndexHolds::every_item;
  UniqueScope unique = UniqueScope::none;
  std::string condition;      // of CREATE INDEX ... WHERE
  bool is_of_expiry = false;  // of the items' times, by which they expire (lifetime.h); not for queries
  bool is_of_policy = false;  // a path that the policy covers, given a number when an item first had it
  bool is_building = false;   // not yet complete: kept up to date, but not read
  // What was found out about it, if anything. Shared, since sets are copied.
  std::shared_ptr<const sql::IndexStatistics> statistics;

  bool is_multi_valued() const noexcept;
  // The same index, whatever its number and whether it is complete.
  bool is_same(const Index& other) const noexcept;
};

// At the end of the policy of a set whose indexes cover what tuples with blanks or paths stand for. Earlier
// versions read them otherwise and wrote no such sign: what they made is built anew.
inline constexpr char kTuplesAreRead = '\n';

struct IndexSet {
  uint64_t version = 0;
  uint16_t next_number = 1;
  bool is_policy_building = false;
  std::string policy_json;
  std::optional<IndexingPolicy> policy;
  std::vector<Index> indexes;  // in the order of their numbers

  bool is_empty() const noexcept { return indexes.empty() && !policy; }
  bool is_building() const noexcept;
  const Index* find(IndexNumber number) const noexcept;
};

// 0 if there is no index, and never was.
Result<uint64_t> read_index_version(const Transaction& transaction, Table table);
Result<IndexSet> load_index_set(const Transaction& transaction, Table table);

// Gives a changed set its next version. That one undone transaction and a later one come to the same is a
// chance of one in 2^32; where the system has no random numbers, versions count up by one.
void renew_index_version(IndexSet& set) noexcept;

// The parts of it that change; `save_index_header` makes the new version known and comes with each of them.
Result<void> save_index_header(WriteTransaction& transaction, Table table, const IndexSet& set);
Result<void> save_index_policy(WriteTransaction& transaction, Table table, const IndexSet& set);
Result<void> save_index(WriteTransaction& transaction, Table table, const Index& index);
Result<void> save_index_statistics(WriteTransaction& transaction, Table table, IndexNumber number,
                                   const sql::IndexStatistics& statistics);
// Its row, counters and entries. The entries of a large index take time.
Result<void> erase_index(WriteTransaction& transaction, Table table, IndexNumber number);

// The lower half of `cut_entries` counts those whose values are cut, the upper one those whose item's key is
// (cuts_of()): neither come in the order of what was cut.
struct IndexCounters {
  uint64_t entries;
  uint64_t cut_entries;
};

// The counters of all indexes, read and written by blocks, so that an item with many entries costs few rows.
class IndexCounterBlocks {
 public:
  Result<IndexCounters> read(const Transaction& transaction, Table table, IndexNumber number);
  // Starts from what the file has.
  void clear() noexcept { blocks_.clear(); }
  // One more entry, or one less, with that record.
  Result<void> add(const Transaction& transaction, Table table, IndexNumber number, Bytes record);
  Result<void> remove(const Transaction& transaction, Table table, IndexNumber number, Bytes record);
  Result<void> set(const Transaction& transaction, Table table, IndexNumber number, IndexCounters counters);
  Result<void> save(WriteTransaction& transaction, Table table);

 private:
  static constexpr size_t kBlockCounters = 64;
  // Its counters are made from the row, or cleared where there is none.
  struct Block {
    explicit Block(uint16_t of) noexcept : number(of) {}
    uint16_t number;
    bool is_changed = false;
    std::array<IndexCounters, kBlockCounters> counters;
  };
  Result<Block*> block(const Transaction& transaction, Table table, IndexNumber number);
  std::vector<Block> blocks_;
};

// The build that is under way, if any.
struct IndexBuild {
  ProcessIdentity process;
  std::string position;  // key of the last item that is done; empty: none
};
Result<std::optional<IndexBuild>> read_index_build(const Transaction& transaction, Table table);
// nullopt: it is done.
Result<void> save_index_build(WriteTransaction& transaction, Table table,
                              const std::optional<IndexBuild>& build);

}  // namespace quire::engine
