// Procedures that the embedder wrote in C or C++ and registered under a name. They are called as JavaScript's
// are, in one partition and one transaction, and work on items through the same PartitionAccess.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/query/scripts.h"
#include "engine/script/partition_access.h"
#include "sql/error.h"

namespace quire::engine {

// What a native procedure works with; ends with the call.
class NativeCall {
 public:
  NativeCall(PartitionAccess& access, const ScriptLimits& limits, ProcedureOutcome& outcome)
      : access_(access), limits_(limits), outcome_(outcome) {}

  // Of the partition; counts as one of the operations that the limits allow. limit_exceeded past them,
  // timeout past the time of the statement.
  Result<PartitionAccess*> operation();
  // The response: JSON. invalid_json, limit_exceeded.
  Result<void> respond(std::string_view json);
  // A line of the log that the caller gets.
  void log(std::string_view line);

 private:
  PartitionAccess& access_;
  const ScriptLimits& limits_;
  ProcedureOutcome& outcome_;
  uint32_t operations_ = 0;
};

using NativeProcedure = std::function<Result<void>(NativeCall& call, std::string_view arguments)>;

// Thread-safe.
class NativeProcedures {
 public:
  // In the place of one of that name, if there is any; invalid_argument for a name that no procedure can
  // have.
  Result<void> add(std::string_view name, NativeProcedure procedure);
  // Shared with the calls that run it; null if there is none.
  std::shared_ptr<const NativeProcedure> find(std::string_view name) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const NativeProcedure>, std::less<>> procedures_;
};

// Runs it, to its end.
Result<void> run_native(const NativeProcedure& procedure, PartitionAccess& access, const ProcedureCall& call,
                        ProcedureOutcome& outcome);

}  // namespace quire::engine
