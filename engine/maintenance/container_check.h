// What a container holds: its property names, its records one by one, and what its counters say of them.
#pragma once

#include <string>
#include <string_view>

#include "engine/container/container.h"
#include "engine/container/long_work.h"
#include "engine/file/transaction.h"
#include "engine/maintenance/check.h"
#include "engine/maintenance/index_check.h"
#include "sql/error.h"

namespace quire::engine {

// A friend of ContainerStore: reads its tables.
class ContainerCheck {
 public:
  // `store` was opened for the check and is nobody else's.
  ContainerCheck(const Transaction& snapshot, ContainerStore& store, LongWork& work, CheckReport& report);

  // Adds to the report. Errors are those of check_database().
  Result<void> run();

 private:
  Result<void> check_names();
  Result<void> check_items();
  Result<void> check_item(Bytes key, Bytes record);
  Result<void> check_counters();
  Result<void> check_feed();
  void check_header(Bytes key, Bytes record);
  // The item's root, if the rest of the check can go by it.
  sql::Value check_document(Bytes key, Bytes record);
  void check_key(Bytes key, const sql::Value& root);

  // What a step finds damaged in the tables themselves is a finding as well.
  Result<void> noted(Result<void> step, std::string_view where);
  void add(std::string where, std::string what, std::string repair);
  std::string item_text(Bytes key) const;

  const Transaction& snapshot_;
  ContainerStore& store_;
  LongWork& work_;
  CheckReport& report_;
  IndexCheck indexes_;
  ContainerStatistics counted_;  // what the counters should say; the last two: the highest that items have
  bool has_counters_ = false;
  ContainerStatistics counters_;
  bool has_unreadable_ = false;
};

}  // namespace quire::engine
