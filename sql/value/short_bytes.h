// Copying and comparing short byte strings, inlined. Most strings and names of a document are shorter than
// two dozen bytes, where a call of memcpy or memcmp with an unknown length costs more than the work. Both
// touch exactly the given bytes: two loads of a fixed width, which overlap in the middle, cover any length
// between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quire::sql {

namespace short_bytes {

template <typename Word>
inline void copy_two(char* to, const char* from, size_t length) noexcept {
  Word first;
  Word last;
  std::memcpy(&first, from, sizeof first);
  std::memcpy(&last, from + length - sizeof last, sizeof last);
  std::memcpy(to, &first, sizeof first);
  std::memcpy(to + length - sizeof last, &last, sizeof last);
}

template <typename Word>
inline bool equal_two(const char* a, const char* b, size_t length) noexcept {
  Word words[4];
  std::memcpy(&words[0], a, sizeof(Word));
  std::memcpy(&words[1], b, sizeof(Word));
  std::memcpy(&words[2], a + length - sizeof(Word), sizeof(Word));
  std::memcpy(&words[3], b + length - sizeof(Word), sizeof(Word));
  return ((words[0] ^ words[1]) | (words[2] ^ words[3])) == 0;
}

struct Sixteen {
  uint64_t words[2];
};

}  // namespace short_bytes

inline void copy_bytes(char* to, const char* from, size_t length) noexcept {
  using namespace short_bytes;
  if (length > 32) [[unlikely]]
    std::memcpy(to, from, length);
  else if (length >= 16)
    copy_two<Sixteen>(to, from, length);
  else if (length >= 8)
    copy_two<uint64_t>(to, from, length);
  else if (length >= 4)
    copy_two<uint32_t>(to, from, length);
  else
    for (size_t i = 0; i < length; ++i) to[i] = from[i];
}

inline bool equal_bytes(const char* a, const char* b, size_t length) noexcept {
  using namespace short_bytes;
  if (length > 16) [[unlikely]]
    return std::memcmp(a, b, length) == 0;
  if (length >= 8) return equal_two<uint64_t>(a, b, length);
  if (length >= 4) return equal_two<uint32_t>(a, b, length);
  for (size_t i = 0; i < length; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace quire::sql
