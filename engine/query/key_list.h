// Keys of items that entries of indexes lead to: gathered, put in order, joined with those of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/file/table.h"
#include "sql/value/arena.h"

namespace quire::engine {

class KeyList {
 public:
  // `are_lasting`: keys that are added stay where they lie as long as the list; others are copied.
  explicit KeyList(bool are_lasting);

  void add(Bytes key);
  void add(const KeyList& other);
  size_t size() const noexcept { return keys_.size(); }
  size_t memory() const noexcept;
  Bytes operator[](size_t at) const noexcept { return keys_[at].key; }

  // In order, each once.
  void sort();
  // Leaves those that `other` has as well; both sorted.
  void intersect(const KeyList& other);

 private:
  struct Place {
    uint64_t prefix;
    Bytes key;
  };

  std::unique_ptr<sql::Arena> copies_;  // null: the keys stay
  std::vector<Place> keys_;
};

}  // namespace quire::engine
