// Sorting by keys that lie anywhere in memory, where comparing two costs two looks there: eight bytes of each
// are kept beside its place, and these are sorted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "engine/file/table.h"

namespace quire::engine {

inline constexpr size_t kPrefixBytes = 8;

// Bytes of a key from `depth` on as a number that sorts like them; past its end, zeros.
inline uint64_t key_prefix(Bytes key, size_t depth = 0) noexcept {
  uint64_t prefix = 0;
  if (depth + kPrefixBytes <= key.size()) [[likely]]
    std::memcpy(&prefix, key.data() + depth, kPrefixBytes);
  else if (depth < key.size())
    std::memcpy(&prefix, key.data() + depth, key.size() - depth);
  return std::endian::native == std::endian::little ? __builtin_bswap64(prefix) : prefix;
}

// By `prefix`, which an Entry has; equal ones stay in their order. Many are dealt out by each byte in which
// they differ, the last one first, which takes as much memory again.
template <typename Entry>
void sort_by_prefix(std::span<Entry> entries) {
  constexpr size_t kFewEntries = 1024;
  if (entries.size() < kFewEntries) {
    std::ranges::stable_sort(entries, {}, &Entry::prefix);
    return;
  }
  uint64_t different = 0;
  for (const Entry& entry : entries) different |= entry.prefix ^ entries[0].prefix;
  const auto room = std::make_unique_for_overwrite<Entry[]>(entries.size());
  std::span<Entry> from = entries, to(room.get(), entries.size());
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if ((different >> shift & 0xFF) == 0) continue;
    const auto byte_of = [shift](const Entry& entry) { return entry.prefix >> shift & 0xFF; };
    std::array<size_t, 256> begins{};
    for (const Entry& entry : from) ++begins[byte_of(entry)];
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), size_t{0});
    for (const Entry& entry : from) to[begins[byte_of(entry)]++] = entry;
    std::swap(from, to);
  }
  if (from.data() != entries.data()) std::ranges::copy(from, entries.begin());
}

}  // namespace quire::engine
