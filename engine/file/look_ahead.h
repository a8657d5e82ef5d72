// Many look-ups at once. Each alone waits for memory some five times: for the pages on its way, for the keys
// that it compares on the last one, for what it finds. Here the ways of all are gone together, page by page,
// and the memory of each next step is asked for before any of them is taken, so that they wait for it
// together.
//
// Of what is read here only hints are made: the look-ups themselves are LMDB's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/file/page_layout.h"
#include "engine/file/table.h"
#include "engine/file/transaction.h"

namespace quire::engine {

// Must end before its transaction ends or is renewed.
class LookAhead {
 public:
  static constexpr size_t kMost = 32;

  // Does nothing where it would not help: in a write transaction, whose pages are not all in the map, and for
  // a table that the processor's caches hold.
  LookAhead() = default;
  LookAhead(const Transaction& transaction, Table table);

  // Asks for what looking up these keys, kMost at most, will read; for how many of them it went all the way.
  size_t ask_for(std::span<const Bytes> keys) const noexcept;

 private:
  const char* page(uint64_t number) const noexcept;
  size_t search_leaves(std::span<const char* const> leaves, std::span<const Bytes> keys) const noexcept;

  const char* map_ = nullptr;  // null: does nothing
  uint64_t pages_ = 0;
  uint32_t page_bytes_ = 0;
  layout::Tree tree_;
};

}  // namespace quire::engine
