// What statements and writes ask of server-side code. engine/script, which stands above, implements it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/catalog/script_catalog.h"
#include "engine/container/container.h"
#include "engine/file/environment.h"
#include "engine/query/script_limits.h"
#include "sql/error.h"
#include "sql/source.h"
#include "sql/value/value.h"

namespace quire::engine {

// A call of a procedure, in one partition.
struct ProcedureCall {
  std::shared_ptr<ContainerStore> store;
  std::string_view name;
  std::span<const sql::Value> partition_key;
  std::string_view arguments;  // a JSON array
  ScriptLimits limits;
  const std::atomic<uint64_t>* interrupts = nullptr;
};

struct ProcedureOutcome {
  std::string body;   // JSON
  ScriptLog log;      // also where the call fails
  double charge = 0;  // request units
};

// Thread-safe. Triggers run under limits that are asked for at each write.
class Scripts : public WriteTriggers {
 public:
  // What holds for triggers; once, before the first write.
  virtual void use_limits(std::function<ScriptLimits()> limits, const std::atomic<uint64_t>* interrupts) = 0;

  // Whether the text can be run at all: syntax, with its line; not_executable in a build without JavaScript.
  virtual Result<void> check(const ScriptDefinition& script, const ScriptLimits& limits) = 0;
  // Runs a procedure in `transaction`, which began after `openings` was taken. After an error the caller
  // undoes all that the transaction did.
  virtual Result<void> execute(const ProcedureCall& call, WriteTransaction& transaction, uint64_t openings,
                               ProcedureOutcome& outcome) = 0;
  // Triggers were made or dropped in `transaction`.
  virtual void forget_triggers(WriteTransaction& transaction) = 0;
  // A user-defined function of a container, for one execution of a query; null if it has none of that name.
  virtual Result<std::unique_ptr<sql::UserFunction>> function(const Transaction& transaction,
                                                              const ContainerStore& store,
                                                              std::string_view name,
                                                              const ScriptLimits& limits,
                                                              const std::atomic<uint64_t>* interrupts) = 0;
};

}  // namespace quire::engine
