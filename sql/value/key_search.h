// The search for one number in the unaligned key numbers of an object, of 8 or 16 bits: 16 bytes at a time
// where the processor has vectors. The innermost loop of every scan.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace quire::sql {

// The index of the first of `count` key numbers at `keys` that is `wanted`; `count` if none is. Reads nothing
// at or past `end`, though it may read past the keys: what lies there up to `end` is ignored.
inline uint32_t find_key_number(const std::byte* keys, uint32_t count, const std::byte* end,
                                uint16_t wanted) noexcept {
  uint32_t i = 0;
#if defined(__SSE2__)
  const __m128i needle = _mm_set1_epi16(static_cast<short>(wanted));
  for (; i < count && end - keys >= 2 * static_cast<ptrdiff_t>(i) + 16; i += 8) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(keys + 2 * size_t{i}));
    const auto hits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi16(eight, needle)));
    if (hits != 0) {
      const uint32_t hit = i + static_cast<uint32_t>(std::countr_zero(hits)) / 2;
      return hit < count ? hit : count;
    }
  }
#elif defined(__ARM_NEON)
  const uint16x8_t needle = vdupq_n_u16(wanted);
  for (; i < count && end - keys >= 2 * static_cast<ptrdiff_t>(i) + 16; i += 8) {
    const uint16x8_t eight =
        vreinterpretq_u16_u8(vld1q_u8(reinterpret_cast<const uint8_t*>(keys + 2 * size_t{i})));
    const uint64_t hits = vget_lane_u64(vreinterpret_u64_u8(vmovn_u16(vceqq_u16(eight, needle))), 0);
    if (hits != 0) {
      const uint32_t hit = i + static_cast<uint32_t>(std::countr_zero(hits)) / 8;
      return hit < count ? hit : count;
    }
  }
#endif
  for (; i < count; ++i) {
    uint16_t number;
    std::memcpy(&number, keys + 2 * size_t{i}, sizeof number);
    if (number == wanted) return i;
  }
  return count;
}

// The same for keys of one byte each.
inline uint32_t find_short_key(const std::byte* keys, uint32_t count, [[maybe_unused]] const std::byte* end,
                               uint8_t wanted) noexcept {
  uint32_t i = 0;
#if defined(__SSE2__)
  const __m128i needle = _mm_set1_epi8(static_cast<char>(wanted));
  for (; i < count && end - keys >= static_cast<ptrdiff_t>(i) + 16; i += 16) {
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(keys + i));
    const auto hits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, needle)));
    if (hits != 0) {
      const uint32_t hit = i + static_cast<uint32_t>(std::countr_zero(hits));
      return hit < count ? hit : count;
    }
  }
#endif
  for (; i < count; ++i)
    if (static_cast<uint8_t>(keys[i]) == wanted) return i;
  return count;
}

// Whether one of the key numbers is one of [first, last]; `end` as above.
inline bool has_key_number_between(const std::byte* keys, uint32_t count,
                                   [[maybe_unused]] const std::byte* end, uint16_t first,
                                   uint16_t last) noexcept {
  const auto range = static_cast<uint16_t>(last - first);
  uint32_t i = 0;
#if defined(__SSE2__)
  const __m128i firsts = _mm_set1_epi16(static_cast<short>(first));
  const __m128i ranges = _mm_set1_epi16(static_cast<short>(range));
  for (; i < count && end - keys >= 2 * static_cast<ptrdiff_t>(i) + 16; i += 8) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(keys + 2 * size_t{i}));
    // How far a number is behind the range, if it is: nothing where it lies in it.
    const __m128i behind = _mm_subs_epu16(_mm_sub_epi16(eight, firsts), ranges);
    auto hits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi16(behind, _mm_setzero_si128())));
    if (count - i < 8) hits &= (1U << 2 * (count - i)) - 1;
    if (hits != 0) return true;
  }
#endif
  for (; i < count; ++i) {
    uint16_t number;
    std::memcpy(&number, keys + 2 * size_t{i}, sizeof number);
    if (static_cast<uint16_t>(number - first) <= range) return true;
  }
  return false;
}

// The same for keys of one byte each.
inline bool has_short_key_between(const std::byte* keys, uint32_t count,
                                  [[maybe_unused]] const std::byte* end, uint8_t first,
                                  uint8_t last) noexcept {
  const auto range = static_cast<uint8_t>(last - first);
  uint32_t i = 0;
#if defined(__SSE2__)
  const __m128i firsts = _mm_set1_epi8(static_cast<char>(first));
  const __m128i ranges = _mm_set1_epi8(static_cast<char>(range));
  for (; i < count && end - keys >= static_cast<ptrdiff_t>(i) + 16; i += 16) {
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(keys + i));
    const __m128i behind = _mm_subs_epu8(_mm_sub_epi8(sixteen, firsts), ranges);
    auto hits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(behind, _mm_setzero_si128())));
    if (count - i < 16) hits &= (1U << (count - i)) - 1;
    if (hits != 0) return true;
  }
#endif
  for (; i < count; ++i)
    if (static_cast<uint8_t>(static_cast<uint8_t>(keys[i]) - first) <= range) return true;
  return false;
}

}  // namespace quire::sql
