// Many look-ups at once. Each alone waits for memory some five times: for the pages on its way, for the keys
// that it compares on each, for what it finds. Here the ways of all are gone together, step by step, and the
// memory of each next step is asked for before any of them is taken, so that they wait for it together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/file/table.h"
#include "engine/file/table_tree.h"
#include "engine/file/transaction.h"
#include "sql/value/short_bytes.h"

namespace quire::engine {

// A key of up to 32 bytes, which a node's key is held against by two steps of sixteen bytes, without a loop
// and jumps. Many keys agree in their first words: in their partition key, and in the front of their ids.
class WideKey {
 public:
  static constexpr size_t kBytes = 32;

  // In place: a copy of what was just written by pieces waits for all that was written before.
  void hold(Bytes key) noexcept {
    size_ = key.size();
    if (is_told()) sql::copy_bytes(bytes_, key.data(), size_);
  }
  bool is_told() const noexcept { return size_ <= kBytes; }
  // Whether it is not less than the key of a node, behind whose header kBytes bytes may be read.
  bool is_at_least(const char* node) const noexcept;

 private:
  alignas(16) char bytes_[kBytes] = {};  // held once: behind the key are zeros
  size_t size_ = 0;
};

// Must end before its transaction ends or is renewed.
class BatchGet {
 public:
  static constexpr size_t kMost = 32;

  // Finds nothing where it would not help: for a table that the processor's caches hold; nor in a transaction
  // some of whose pages are not in the map.
  BatchGet() = default;
  BatchGet(const Transaction& transaction, Table table);

  // keys.size() records, as Transaction::get would give them, and their memory is on its way. Where it finds
  // none it knows nothing of the key, and the record is one without data(). At most kMost.
  void find(std::span<const Bytes> keys, std::span<Bytes> records) noexcept;

 private:
  // Where a key is looked for on a page: among `count` nodes from `low` on; none: nowhere.
  struct Search {
    const char* page = nullptr;
    const char* probe = nullptr;  // the node that halves them, on its way from memory
    size_t low = 0, count = 0;
    WideKey key;
  };

  // Of a batch, what is not found by places that are known, and how many.
  struct Strangers;

  TreePlaces places_for(size_t keys) noexcept;
  void find_known(const TreePlaces& known, std::span<const Bytes> keys, std::span<Bytes> records,
                  Strangers& strangers) noexcept;
  void go_down(std::span<const Bytes> keys, std::span<Bytes> records, const TreePlaces& known,
               std::span<const uint64_t> hashes) const noexcept;
  void search(std::span<Search> searches, std::span<const Bytes> keys, bool is_sorted) const noexcept;
  void ask_for_probe(Search& search) const noexcept;
  void halve(Search& search, Bytes key) const noexcept;
  // Of a key that is pending: its record, without data() if it is erased.
  std::optional<Bytes> find_pending(Bytes key) const noexcept;
  Bytes record_of(const Search& search, Bytes key, const TreePlaces& known, uint64_t hashed) const noexcept;

  const Transaction* transaction_ = nullptr;
  uint32_t slot_ = 0;
  std::optional<TableTree> tree_;  // nothing: finds nothing
  size_t depth_ = 0;
  size_t strange_ = 0;  // keys in a row, so to speak, whose places were not known
};

}  // namespace quire::engine
