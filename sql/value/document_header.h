// The header of an array or object, written once the values lie behind the room for it: which form it takes,
// and its bytes as document_layout.h draws them. Private to document_writer.cpp.
//
// Keys and offsets are narrowed eight at a time where the processor has vectors, so that what is written of
// the last eight may reach past the header's end. The bytes there are kept, and put back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sql/value/document_layout.h"
#include "sql/value/resolved_key.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace quire::sql::document_header {

// A member or element of an unfinished container: where it starts in the writer's buffer, and its key.
struct Entry {
  uint32_t offset;
  uint32_t key;
};
// As many are read at a time: so many must be readable from each first of them on.
constexpr size_t kEntryStep = 8;
// So many bytes behind the header must be readable and writable.
constexpr size_t kBytesBehind = 16;

// The shortest that holds a container's keys and offsets.
struct Form {
  uint8_t bits;  // of the tag
  size_t size;   // of the header
};

// `key_bits`: of all its keys; `body`: bytes of its values.
template <bool kIsObject>
inline Form form_of(KeyNumber key_bits, size_t count, size_t body) noexcept {
  const bool has_short_keys = kIsObject && key_bits <= layout::kMostShortKey;
  const uint8_t bits = has_short_keys ? layout::kShortKeysBit : 0;
  const size_t keys = !kIsObject ? 0 : has_short_keys ? count : 2 * count;
  const size_t narrow = 2 + keys + (count + 1);
  if (narrow + body <= layout::kMostNarrowBytes)
    return {static_cast<uint8_t>(bits | layout::kNarrowBit), narrow};
  // Two bytes are counted for each key, whatever they take.
  const size_t most_keys = kIsObject ? 2 * count : 0;
  if (count > layout::kMostSmallCount || 2 + most_keys + 2 * (count + 1) + body > layout::kMostSmallBytes)
      [[unlikely]]
    return {layout::kLargeBit, 5 + most_keys + 4 * (count + 1)};
  return {bits, narrow + (count + 1)};
}

enum class Half : uint8_t { offsets, keys };

// Little-endian: the first bytes of a number are the number in fewer bytes.
template <typename Number>
inline char* put_low(char* to, uint32_t number) noexcept {
  std::memcpy(to, &number, sizeof(Number));
  return to + sizeof(Number);
}

template <typename Number, Half kHalf>
inline char* put_one_by_one(char* to, std::span<const Entry> entries, uint32_t added) noexcept {
  for (const Entry& entry : entries)
    to = put_low<Number>(to, (kHalf == Half::offsets ? entry.offset : entry.key) + added);
  return to;
}

#if defined(__SSE2__)
// Of eight entries, each sum of its half and what is added, which has room in a Number.
template <typename Number, Half kHalf>
inline void put_eight(char* to, const Entry* entries, uint32_t added) noexcept {
  const auto pair = [entries](int number) {
    return _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(entries) + number));
  };
  constexpr int kWhich = kHalf == Half::offsets ? 0x88 : 0xDD;
  const __m128i addend = _mm_set1_epi32(static_cast<int>(added));
  const __m128i four = _mm_add_epi32(_mm_castps_si128(_mm_shuffle_ps(pair(0), pair(1), kWhich)), addend);
  const __m128i next = _mm_add_epi32(_mm_castps_si128(_mm_shuffle_ps(pair(2), pair(3), kWhich)), addend);
  if constexpr (sizeof(Number) == 1) {
    const __m128i halves = _mm_packs_epi32(four, next);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(halves, halves));
  } else {
    // With their signs, so that none is more than what the smaller number holds.
    const auto as_signed = [](__m128i numbers) { return _mm_srai_epi32(_mm_slli_epi32(numbers, 16), 16); };
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packs_epi32(as_signed(four), as_signed(next)));
  }
}
#endif

template <typename Number, Half kHalf>
inline void put_all(char* to, std::span<const Entry> entries, uint32_t added) noexcept {
#if defined(__SSE2__)
  for (size_t i = 0; i < entries.size(); i += kEntryStep)
    put_eight<Number, kHalf>(to + sizeof(Number) * i, entries.data() + i, added);
#else
  put_one_by_one<Number, kHalf>(to, entries, added);
#endif
}

// `added` to the offsets, of which the last is `end`.
template <bool kIsObject>
[[gnu::noinline]] void put_large(char* at, uint8_t tag, std::span<const Entry> entries, uint32_t added,
                                 uint32_t end) noexcept {
  *at++ = static_cast<char>(tag | layout::kLargeBit);
  at = put_low<uint32_t>(at, static_cast<uint32_t>(entries.size()));
  if (kIsObject) at = put_one_by_one<uint16_t, Half::keys>(at, entries, 0);
  put_low<uint32_t>(put_one_by_one<uint32_t, Half::offsets>(at, entries, added), end);
}

// At `at`, for values that begin where offsets of entries are `start`. `tag`: that of a small container.
template <bool kIsObject>
inline void put(char* at, uint8_t tag, const Form& form, std::span<const Entry> entries, size_t start,
                size_t body) noexcept {
  const auto added = static_cast<uint32_t>(form.size - start);  // it may wrap around, and the sum back
  const auto end = static_cast<uint32_t>(form.size + body);
  if ((form.bits & layout::kLargeBit) != 0) [[unlikely]]
    return put_large<kIsObject>(at, tag, entries, added, end);
  char* const header_end = at + form.size;
  uint64_t behind[kBytesBehind / sizeof(uint64_t)];
  std::memcpy(behind, header_end, kBytesBehind);
  at[1] = static_cast<char>(entries.size());
  char* offsets = at + 2;
  if constexpr (kIsObject) {
    if ((form.bits & layout::kShortKeysBit) != 0) {
      put_all<uint8_t, Half::keys>(offsets, entries, 0);
      offsets += entries.size();
    } else {
      put_all<uint16_t, Half::keys>(offsets, entries, 0);
      offsets += 2 * entries.size();
    }
  }
  if ((form.bits & layout::kNarrowBit) != 0) {
    put_all<uint8_t, Half::offsets>(offsets, entries, added);
    put_low<uint8_t>(header_end - 1, end);
  } else {
    put_all<uint16_t, Half::offsets>(offsets, entries, added);
    put_low<uint16_t>(header_end - 2, end);
  }
  *at = static_cast<char>(tag | form.bits);
  std::memcpy(header_end, behind, kBytesBehind);
}

}  // namespace quire::sql::document_header
