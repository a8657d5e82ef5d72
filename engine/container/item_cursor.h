// Hands out the items of a container in bulk: the hot path of every scan. An item costs the step of the
// table's cursor and a look at its record's header.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/container/lifetime.h"
#include "engine/file/file_cursor.h"
#include "sql/error.h"
#include "sql/value/value.h"

namespace quire::engine {

class ContainerStore;

// Some of the items of a partition, or of a container without partition key, whose items lie in the order of
// their ids.
struct IdRange {
  // No id before `from`, and none from `to` on, unless it is empty; some that are longer than a key tells may
  // come all the same.
  std::string_view from, to;
  bool is_ordered = false;  // by all of the ids, also where keys tell only their first bytes
  bool is_reverse = false;
};

// Must not outlive its transaction or its ContainerStore. In a write transaction, a write to the container
// ends it.
class ItemCursor {
 public:
  // Fills `roots` from the front with the next items, which stay valid as bytes of the transaction do; how
  // many, 0 at the end. corrupt, naming the item; what was filled before it is lost.
  Result<size_t> next(std::span<sql::Value> roots);

 private:
  friend class ContainerStore;
  // Items whose keys are from `from` on and, unless it is empty, before `to`.
  void confine(std::string from, std::string to);
  // Of a partition's items those; the range may go.
  void confine(const IdRange& range);
  // An empty partition key: all items.
  ItemCursor(const ContainerStore& store, FileCursor cursor, std::span<const sql::Value> partition_key,
             const Lifetime& lifetime, uint32_t now);

  bool is_visible(Bytes record) const noexcept {
    return !lifetime_.is_on() || !lifetime_.has_ended(read_header(record), now_);
  }
  // To the next entry of the range; false behind the last.
  Result<bool> step();
  // Many at once, where they lie on one page; 0 behind the last.
  Result<size_t> next_entries(std::span<TreeEntry> entries);
  Result<size_t> fill_in_order(std::span<sql::Value> roots);
  Result<void> take_long_ids();
  bool is_wanted(const sql::Value& root) const;
  // Of the entry that the cursor stands on, if it is visible and wanted; else undefined.
  Result<sql::Value> wanted_root() const;

  const ContainerStore* store_;
  FileCursor cursor_;
  Lifetime lifetime_;
  uint32_t now_;
  // Of a partition scan: the EPK, and the key itself, since partitions can share an EPK.
  std::string epk_prefix_;
  std::vector<sql::Value> partition_key_;
  std::unique_ptr<char[]> text_;  // what its strings point to
  // The keys to stay among; no end where range_to_ is empty.
  std::string range_from_, range_to_;
  bool is_ordered_ = false, is_reverse_ = false;
  // Items whose keys tell the same first bytes of their ids, in the order of the ids; those from next_long_
  // on are still to give.
  std::vector<sql::Value> long_ids_;
  size_t next_long_ = 0;
  bool stands_ = false;  // on an entry that was not given
  bool is_begun_ = false;
  bool is_done_ = false;
};

}  // namespace quire::engine
