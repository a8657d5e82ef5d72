// Which triggers a write runs. That there are none, as nearly always, costs a look into the catalog once a
// transaction.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/catalog/script_catalog.h"
#include "engine/container/container.h"
#include "engine/container/write_triggers.h"
#include "sql/error.h"

namespace quire::engine {

// Thread-safe.
class TriggerLookup {
 public:
  explicit TriggerLookup(const Environment& environment) : catalog_(environment) {}

  Result<bool> concern(const Transaction& transaction, const ContainerStore& store,
                       const TriggerRequest& request);
  // Those that run before, or after, the write: those of every write by name, then the one that the request
  // names. not_found, and invalid_argument for one that is of another kind of write.
  Result<std::vector<ScriptDefinition>> find(const Transaction& transaction, const ContainerStore& store,
                                             const TriggerRequest& request, const TriggeredWrite& write,
                                             sql::TriggerTime time) const;
  // Triggers were made or dropped in `transaction`.
  void forget(WriteTransaction& transaction);

 private:
  struct Known {
    uint64_t commit = 0;  // as Transaction::number()
    uint64_t generation = 0;
    bool has_any = false;
  };

  ScriptCatalog catalog_;
  std::atomic<uint64_t> generation_ = 1;
  std::mutex mutex_;  // guards known_
  std::map<ContainerNumber, Known> known_;
};

}  // namespace quire::engine
