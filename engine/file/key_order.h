// The order of keys, which is that of their bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/file/page_layout.h"
#include "engine/file/table.h"

namespace quire::engine {

// Less than eight bytes as a number that is ordered as they are, among those of as many: their first half and
// their last, which may overlap.
inline uint64_t order_of_short(const char* at, size_t bytes) noexcept {
  const auto halves = [&]<typename Half>(Half) {
    return uint64_t{std::byteswap(layout::load<Half>(at))} << (8 * sizeof(Half)) |
           std::byteswap(layout::load<Half>(at + bytes - sizeof(Half)));
  };
  if (bytes >= sizeof(uint32_t)) return halves(uint32_t{});
  if (bytes >= sizeof(uint16_t)) return halves(uint16_t{});
  return bytes == 0 ? 0 : layout::load<uint8_t>(at);
}

// Whether a <= b, by eight bytes at a time: keys begin with hashes, which differ in the first of them, or are
// short ids.
inline bool is_at_most(Bytes a, Bytes b) noexcept {
  constexpr size_t kWord = sizeof(uint64_t);
  const size_t both = std::min(a.size(), b.size());
  if (both < kWord) {
    const uint64_t in_a = order_of_short(a.data(), both), in_b = order_of_short(b.data(), both);
    return in_a != in_b ? in_a < in_b : a.size() <= b.size();
  }
  // The last word begins within the one before it where the keys are no whole number of words long.
  for (size_t at = 0;; at = std::min(at + kWord, both - kWord)) {
    const auto in_a = layout::load<uint64_t>(a.data() + at), in_b = layout::load<uint64_t>(b.data() + at);
    if (in_a != in_b) return std::byteswap(in_a) < std::byteswap(in_b);
    if (at == both - kWord) return a.size() <= b.size();
  }
}

}  // namespace quire::engine
