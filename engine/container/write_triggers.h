// What runs around writes: triggers. They are server-side code, which stands far above; here is what a
// container asks of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/file/transaction.h"
#include "sql/error.h"

namespace quire::engine {

class ContainerStore;

enum class WriteKind : uint8_t { create, upsert, replace, remove };

// Which triggers a write runs: those that the request names, and those that run at every write.
struct TriggerRequest {
  std::string_view pre;  // empty: none
  std::string_view post;
  bool runs_always = true;  // false within a trigger, so that none runs itself
};

// `exists`: whether the item is there before the write, so that it is replaced.
struct TriggeredWrite {
  WriteKind kind = WriteKind::create;
  bool exists = false;
};

// Thread-safe.
class WriteTriggers {
 public:
  virtual ~WriteTriggers() = default;
  // Whether any trigger runs. Cheap where there is none.
  virtual Result<bool> concern(const Transaction& transaction, const ContainerStore& store,
                               const TriggerRequest& request) = 0;
  // `item`: the JSON to be written, which a pre-trigger may change; of a removal the item as it is. The
  // caller undoes all where this fails. not_found for a name that no trigger has.
  virtual Result<void> before(WriteTransaction& transaction, ContainerStore& store,
                              const TriggeredWrite& write, const TriggerRequest& request,
                              std::string& item) = 0;
  // `stored`: the item as it is now, with its system properties; empty after a removal.
  virtual Result<void> after(WriteTransaction& transaction, ContainerStore& store,
                             const TriggeredWrite& write, const TriggerRequest& request,
                             std::string_view item, std::string_view stored) = 0;
};

}  // namespace quire::engine
