// How items lie in partitions: sizes, the largest, skew, and when their items were written. Fed with every
// item in key order, in which a partition's items stand together; memory is bounded however many there are.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/advisor/tally.h"
#include "sql/value/resolved_key.h"
#include "sql/value/value.h"

namespace quire::engine {

// The value of a partition key as JSON: the one, or an array of those of a hierarchical key. A missing path
// is null.
std::string partition_key_json(std::span<const sql::Value> components);

struct Partition {
  std::string key;  // JSON
  uint64_t items = 0;
  uint64_t bytes = 0;
};

class PartitionSurvey {
 public:
  PartitionSurvey() = default;
  PartitionSurvey(const std::vector<std::vector<std::string>>& paths, sql::DictionaryNumber dictionary);

  bool has_key() const noexcept { return !paths_.empty(); }
  // The components are good until the next call.
  std::span<const sql::Value> key_of(const sql::Value& item);
  void add(const sql::Value& item, uint64_t bytes, int64_t written);
  // After the last item.
  void finish() { end_partition(); }

  uint64_t count() const noexcept { return items_.count(); }
  const Tally& items() const noexcept { return items_; }
  const Tally& bytes() const noexcept { return bytes_; }
  // By bytes, the largest first; at most kLargest.
  const std::vector<Partition>& largest() const noexcept { return largest_; }
  // Items whose key, or a component of it, is missing or null.
  uint64_t items_without_key() const noexcept { return items_without_key_; }
  // Partitions whose key is a date or a time.
  uint64_t dated() const noexcept { return dated_; }

  // The share of the writes of a short span of time that went to the partition with the most of them, on
  // average over spans; 0 where the times of writing do not tell (an import, too few items).
  double busiest_share() const;

  static constexpr size_t kLargest = 10;

 private:
  struct Write {
    int64_t at;
    uint64_t partition;
  };
  void end_partition();
  void keep_write(const Write& write);

  std::vector<std::vector<sql::ResolvedKey>> paths_;
  std::vector<sql::Value> key_;
  std::vector<sql::Value> current_;
  Partition open_;
  uint64_t number_ = 0;  // of the partition at hand
  Tally items_;
  Tally bytes_;
  std::vector<Partition> largest_;
  uint64_t items_without_key_ = 0;
  uint64_t dated_ = 0;
  // A sample of all writes, each as likely to be in it as any other.
  std::vector<Write> writes_;
  uint64_t writes_seen_ = 0;
  std::minstd_rand random_;
};

}  // namespace quire::engine
