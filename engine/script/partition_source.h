// A source that shows one container as if the items of one partition were all it has: what a query sees that
// a procedure runs.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/snapshot_source.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

// Where a query that is read page by page stands. Rows then come in the order of the items' ids, and each
// item is handed out alone, so that `last_id` is that of the row at hand.
struct PagePosition {
  std::string after_id;  // items up to this one are left out; empty: none
  std::string last_id;
};

// Reading past it fails with timeout.
using Deadline = std::chrono::steady_clock::time_point;
inline Error past_script_time() {
  return {ErrorCode::timeout, "a query of the script went on past the time that the script may take"};
}

class PartitionCollection;

// Belongs to one thread at a time. All that it is made from must outlive it.
class PartitionSource final : public sql::Source {
 public:
  PartitionSource(SnapshotSource& base, ContainerStore& store, std::span<const sql::Value> partition_key,
                  PagePosition* position, Deadline deadline);
  ~PartitionSource() override;

  sql::Collection* collection(std::string_view name) override;
  std::vector<std::string> collection_names() const override;
  Result<std::unique_ptr<sql::UserFunction>> user_function(std::string_view name) override {
    return base_.user_function(name);
  }

 private:
  SnapshotSource& base_;
  ContainerStore& store_;
  std::span<const sql::Value> partition_key_;
  PagePosition* position_;
  Deadline deadline_;
  std::unique_ptr<PartitionCollection> collection_;
};

}  // namespace quire::engine
