// The table handles that this process has open in a file.
//
// LMDB keeps handles in slots of the environment and lets one transaction at a time open any; it must end
// before the next may; and a slot opened by one is unknown to transactions that began before. So whoever
// opens a table claims this registry until its transaction ends, and a write transaction that wants to open
// one but began before the latest opening has to run again (`version`).
#pragma once

#include <lmdb.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/reader_pool.h"
#include "engine/file/table.h"
#include "engine/file/this_thread.h"
#include "sql/error.h"

namespace quire::engine {

// Five for each container. A read transaction reserves about 50 bytes of address space for each.
inline constexpr unsigned kMostTables = 5120;

class TableRegistry {
 public:
  static constexpr unsigned kCoreTables = 2;  // LMDB's own slots: free list and main

  // Claims the right to open tables; busy past the deadline, misuse if this thread has claimed it already.
  Result<void> claim(Clock::time_point deadline);
  void release() noexcept;
  bool is_claimed_here() const;  // by the calling thread

  uint64_t version() const;
  // A table, if it is open and was so at `version`.
  std::optional<Table> find(std::string_view name, uint64_t version) const;
  std::optional<Table> find(std::string_view name) const { return find(name, UINT64_MAX); }

  // The name of an open table; empty if no table is open in that slot.
  std::string name_of(unsigned slot) const;

  // A handle for a slot that LMDB gave; enter it once its transaction has committed.
  Table handle(unsigned slot) const noexcept {
    return {slot, generations_[slot].load(std::memory_order_relaxed)};
  }
  void enter(std::string_view name, Table table);
  // The slot was closed, or never came to be: old handles are void.
  void forget(std::string_view name, Table table) noexcept;

  // A relaxed load: a slot is only closed while no transaction is at work.
  bool is_current(Table table) const noexcept {
    return table.slot() < generations_.size() &&
           generations_[table.slot()].load(std::memory_order_relaxed) == table.generation();
  }

  // Names of tables that were dropped and wait to be removed.
  void add_dropped(std::string name);
  std::vector<std::string> take_dropped();
  bool has_dropped() const noexcept { return has_dropped_.load(std::memory_order_relaxed); }

  // Names of tables that another process has dropped, and removes.
  void add_gone(std::vector<std::string> names);
  // Closes and forgets those of them that are open. No transaction of this process may be at work.
  void close_gone(MDB_env* environment) noexcept;

 private:
  struct Open {
    Table table;
    uint64_t version;
  };
  void forget_locked(std::string_view name, Table table) noexcept;

  mutable std::mutex mutex_;
  std::condition_variable released_;
  ThreadNumber owner_ = ThreadNumber::none;
  using OpenTables = std::map<std::string, Open, std::less<>>;
  OpenTables open_;
  std::array<const OpenTables::value_type*, kMostTables + kCoreTables> by_slot_{};  // null: not open
  uint64_t version_ = 0;
  std::array<std::atomic<uint32_t>, kMostTables + kCoreTables> generations_{};
  std::vector<std::string> dropped_, gone_;
  std::atomic<bool> has_dropped_ = false;
};

}  // namespace quire::engine
