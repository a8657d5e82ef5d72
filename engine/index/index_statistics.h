// What was found out about an index when it was made or by ANALYZE, for estimates: row 's' of its number
// (index_set.h).
//
//   byte 0      version: 1
//        1      parts
//        2..9   entries then; integers are little-endian
//        then   how many different values the first part has, the first two together, ...: 8 bytes each
//        then   values at equal distances, ascending: length, 1 byte, then their first bytes
//
// Values at n equal distances stand for n equal shares of the entries, each for the one that it lies in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/table.h"
#include "engine/index/index_entry.h"
#include "sql/source.h"

namespace quire::engine {

// Made from all entries of an index in their order.
class IndexSummary {
 public:
  // `entries`: how many will come, as far as that is known.
  IndexSummary(const IndexShape& shape, uint64_t entries);
  void add(const IndexEntry& entry);
  sql::IndexStatistics finish();

 private:
  static constexpr uint64_t kSamples = 128;
  const IndexShape& shape_;
  uint64_t distance_;
  uint64_t next_sample_;
  sql::IndexStatistics statistics_;
  std::vector<std::string> bounds_;
  std::string last_values_;
};

std::string index_statistics_to_bytes(const sql::IndexStatistics& statistics);
// Nothing if the bytes are none: then the index is as if nobody had looked at it.
std::optional<sql::IndexStatistics> index_statistics_from_bytes(Bytes bytes);

}  // namespace quire::engine
