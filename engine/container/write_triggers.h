// What runs around writes: triggers. They are server-side code, which stands far above; here is what a
// container asks of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/file/transaction.h"
#include "sql/error.h"
#include "sql/run/time_limit.h"

namespace quire::engine {

class ContainerStore;

enum class WriteKind : uint8_t { create, upsert, replace, remove };

// What scripts write with console.log, a line each.
class ScriptLog {
 public:
  // What goes past `most_bytes` is left out, and said to be.
  void add(std::string_view line, size_t most_bytes) {
    if (is_full_) return;
    is_full_ = text_.size() + line.size() >= most_bytes;
    text_ += beginning_of(line, most_bytes - text_.size());
    text_ += is_full_ ? "...\n" : "\n";
  }
  void clear() noexcept {
    text_.clear();
    is_full_ = false;
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  bool is_full_ = false;
};

// Which triggers a write runs: those that the request names, and those that run at every write.
struct TriggerRequest {
  std::string_view pre;  // empty: none
  std::string_view post;
  bool runs_always = true;         // false within a trigger, so that none runs itself
  ScriptLog* log = nullptr;        // of the request; null: nobody asks
  sql::TimeLimit time_limit = {};  // of the statement that writes
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
