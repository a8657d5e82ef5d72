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

#include "engine/file/large_pages.h"
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

// Where many entries are dealt out to: as much memory again, kept from one sort to the next.
template <typename Entry>
class SortRoom {
 public:
  std::span<Entry> of(size_t entries) {
    if (entries > capacity_) {
      const size_t capacity = entries + entries / 2;
      entries_ = std::make_unique_for_overwrite<Entry[]>(capacity);
      capacity_ = capacity;  // only now: where there was no memory the room stays as it was
      prefer_large_pages(entries_.get(), capacity_ * sizeof(Entry));
    }
    return {entries_.get(), entries};
  }

 private:
  std::unique_ptr<Entry[]> entries_;
  size_t capacity_ = 0;
};

// By `prefix`, which an Entry has; equal ones stay in their order. Many are dealt out by each digit in which
// they differ, the last one first. Larger digits are worth it where prefixes are short.
template <unsigned kDigitBits = 8, typename Entry>
void sort_by_prefix(std::span<Entry> entries, SortRoom<Entry>& room) {
  constexpr size_t kFewEntries = 1024, kDigits = size_t{1} << kDigitBits;
  if (entries.size() < kFewEntries) {
    std::ranges::stable_sort(entries, {}, &Entry::prefix);
    return;
  }
  uint64_t different = 0;
  for (const Entry& entry : entries) different |= entry.prefix ^ entries[0].prefix;
  std::span<Entry> from = entries, to = room.of(entries.size());
  for (unsigned shift = 0; shift < 64; shift += kDigitBits) {
    const auto digit_of = [shift](uint64_t prefix) { return prefix >> shift & (kDigits - 1); };
    if (digit_of(different) == 0) continue;
    std::array<size_t, kDigits> begins{};
    for (const Entry& entry : from) ++begins[digit_of(entry.prefix)];
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), size_t{0});
    for (const Entry& entry : from) to[begins[digit_of(entry.prefix)]++] = entry;
    std::swap(from, to);
  }
  if (from.data() != entries.data()) std::ranges::copy(from, entries.begin());
}

template <unsigned kDigitBits = 8, typename Entry>
void sort_by_prefix(std::span<Entry> entries) {
  SortRoom<Entry> room;
  sort_by_prefix<kDigitBits>(entries, room);
}

}  // namespace quire::engine
