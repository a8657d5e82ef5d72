// Keys of items that entries of indexes lead to: gathered, put in order, joined with those of others. Each
// comes with the values of its entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/index/index_entry.h"
#include "sql/value/arena.h"

namespace quire::engine {

class KeyList {
 public:
  // `are_lasting`: keys that are added stay where they lie as long as the list; others are copied.
  explicit KeyList(bool are_lasting);

  void add(const IndexEntry& entry);
  void add(const KeyList& other);
  size_t size() const noexcept { return keys_.size(); }
  size_t memory() const noexcept;
  Bytes operator[](size_t at) const noexcept { return keys_[at].key_view(); }
  // Without its scope; its values count as cut where something else of it was.
  IndexEntry entry(size_t at) const noexcept;

  // In order, each once.
  void sort();
  // Leaves those that `other` has as well; both sorted.
  void intersect(const KeyList& other);

 private:
  static constexpr uint32_t kNotTold = UINT32_MAX;
  // The entry's values lie right before the key.
  struct Place {
    uint64_t prefix;
    const char* key;
    uint32_t key_bytes;
    uint32_t values_bytes;  // or kNotTold

    Bytes key_view() const noexcept { return {key, key_bytes}; }
  };

  std::unique_ptr<sql::Arena> copies_;  // null: the keys stay
  std::vector<Place> keys_;
};

}  // namespace quire::engine
