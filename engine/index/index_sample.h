// What some of an index's entries tell of all of them, where nobody has looked at them: for estimates.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "engine/file/transaction.h"
#include "engine/index/index_entry.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

// Looks at some 64 places of the index, at 33 entries each: as often as neighbours differ in their first
// parts, entries do. `entries`: that the index has, `all` that all indexes of the table have. Nothing known
// where the transaction is one that writes.
Result<sql::IndexStatistics> sample_index(const Transaction& transaction, Table table, IndexNumber number,
                                          const IndexShape& shape, uint64_t entries, uint64_t all);

// Those of a container's indexes that were sampled. Thread-safe.
class IndexSamples {
 public:
  // Nothing where none is kept of that version of the set, or of about as many entries.
  std::optional<sql::IndexStatistics> find(uint64_t version, IndexNumber number, uint64_t entries) const;
  void keep(uint64_t version, IndexNumber number, const sql::IndexStatistics& statistics);

 private:
  static constexpr size_t kMost = 256;

  mutable std::mutex mutex_;  // guards the rest
  uint64_t version_ = 0;
  std::map<IndexNumber, sql::IndexStatistics> known_;
};

}  // namespace quire::engine
