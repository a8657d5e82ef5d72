// A table: a named sub-database of the file, ordered by key bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace quire::engine {

using Bytes = std::string_view;  // keys and records: raw bytes

// LMDB's bound on a key.
inline constexpr size_t kLongestTableKey = 511;

// An open table. Cheap to copy. Once the table is dropped and its slot given to another, operations with the
// old handle fail with container_not_found: the generation tells both apart.
class Table {
 public:
  constexpr Table() = default;
  constexpr Table(uint32_t slot, uint32_t generation) : slot_(slot), generation_(generation) {}
  constexpr uint32_t slot() const { return slot_; }
  constexpr uint32_t generation() const { return generation_; }
  friend constexpr bool operator==(const Table&, const Table&) = default;

 private:
  uint32_t slot_ = 0;
  uint32_t generation_ = 0;
};

}  // namespace quire::engine
