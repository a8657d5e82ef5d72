// What the users of a table keep in memory about it, once for all Environments that this process has open on
// its file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/file/table.h"

namespace quire::engine {

// Thread-safe. The objects live as long as their users have them.
class SharedObjects {
 public:
  // `make` is called where there is none; null from it is passed on and not kept.
  std::shared_ptr<void> find_or_make(Table table, const std::function<std::shared_ptr<void>()>& make) {
    const std::lock_guard lock(mutex_);
    const std::pair key(table.slot(), table.generation());
    if (const auto found = objects_.find(key); found != objects_.end())
      if (std::shared_ptr<void> object = found->second.lock()) return object;
    std::erase_if(objects_, [](const auto& row) { return row.second.expired(); });
    std::shared_ptr<void> made = make();
    if (made != nullptr) objects_.insert_or_assign(key, made);
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint32_t>, std::weak_ptr<void>> objects_;  // by slot and generation
};

}  // namespace quire::engine
