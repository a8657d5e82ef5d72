#include "engine/file/table_registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace quire::engine {

Result<void> TableRegistry::claim(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (owner_ == this_thread())
    return fail(
        ErrorCode::misuse,
        "this thread's write transaction has made or opened a container; end it before opening others");
  if (!released_.wait_until(lock, deadline, [&] { return owner_ == ThreadNumber::none; }))
    return fail(ErrorCode::busy, "another transaction that makes or opens containers did not end in time");
  owner_ = this_thread();
  return {};
}

void TableRegistry::release() noexcept {
  const std::lock_guard lock(mutex_);
  owner_ = ThreadNumber::none;
  released_.notify_all();
}

bool TableRegistry::is_claimed_here() const {
  const std::lock_guard lock(mutex_);
  return owner_ == this_thread();
}

uint64_t TableRegistry::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::optional<Table> TableRegistry::find(std::string_view name, uint64_t version) const {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(name);
  if (found == open_.end() || found->second.version > version) return std::nullopt;
  return found->second.table;
}

std::string TableRegistry::name_of(unsigned slot) const {
  const std::lock_guard lock(mutex_);
  return slot < by_slot_.size() && by_slot_[slot] != nullptr ? by_slot_[slot]->first : std::string();
}

void TableRegistry::enter(std::string_view name, Table table) {
  const std::lock_guard lock(mutex_);
  const auto [open, is_new] = open_.try_emplace(std::string(name));
  if (!is_new) by_slot_[open->second.table.slot()] = nullptr;
  open->second = {table, ++version_};
  by_slot_[table.slot()] = &*open;
}

void TableRegistry::forget(std::string_view name, Table table) noexcept {
  const std::lock_guard lock(mutex_);
  forget_locked(name, table);
}

void TableRegistry::forget_locked(std::string_view name, Table table) noexcept {
  generations_[table.slot()].fetch_add(1, std::memory_order_relaxed);
  const auto found = open_.find(name);
  if (found == open_.end() || found->second.table != table) return;
  by_slot_[table.slot()] = nullptr;
  open_.erase(found);
}

void TableRegistry::add_dropped(std::string name) {
  const std::lock_guard lock(mutex_);
  dropped_.push_back(std::move(name));
  has_dropped_.store(true, std::memory_order_relaxed);
}

std::vector<std::string> TableRegistry::take_dropped() {
  const std::lock_guard lock(mutex_);
  has_dropped_.store(false, std::memory_order_relaxed);
  return std::exchange(dropped_, {});
}

void TableRegistry::add_gone(std::vector<std::string> names) {
  const std::lock_guard lock(mutex_);
  gone_.insert(gone_.end(), std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
}

void TableRegistry::close_gone(MDB_env* environment) noexcept {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : gone_) {
    // What this process has dropped itself has still to be removed, by its handle.
    const auto found = std::ranges::find(dropped_, name) == dropped_.end() ? open_.find(name) : open_.end();
    if (found == open_.end()) continue;
    const Table table = found->second.table;
    mdb_dbi_close(environment, table.slot());
    forget_locked(name, table);
  }
  gone_.clear();
}

}  // namespace quire::engine
